package traces

import (
	"os"
	"path/filepath"
	"testing"
)

// The public traces are not part of the project; counts and sums are those of
// their publishers' files.
const samples = "../../../shared/data/traces"

func TestPublicTracesHaveTheirCountsAndSums(t *testing.T) {
	for _, c := range []struct {
		name                string
		format              Format
		rows, input, output int64
	}{
		{"azure_llm_2023_conv.csv", Azure, 19366, 22361870, 4088665},
		{"mooncake_fast25_conversation_trace.jsonl", Mooncake, 12031, 144793823, 4122048},
		{"azure_llm_2023_code.csv", Azure, 8819, 0, 0},
		{"mooncake_fast25_synthetic_trace.jsonl", Mooncake, 3993, 0, 0},
	} {
		path := filepath.Join(samples, c.name)
		if _, err := os.Stat(path); err != nil {
			t.Skip("no samples here")
		}
		trace, err := OpenFile(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		rows, input, output := int64(0), int64(0), int64(0)
		for _, r := range pull(t, trace) {
			rows++
			input += int64(r.Input)
			output += int64(r.Output)
		}
		if trace.Format() != c.format || rows != c.rows || c.input > 0 && (input != c.input || output != c.output) {
			t.Errorf("%s: format %s, %d rows, %d input, %d output tokens", c.name, trace.Format(), rows, input, output)
		}
	}
}

func TestConformanceTracesAreRead(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/reference/conformance/*/requests.csv")
	if len(files) == 0 {
		t.Skip("no samples here")
	}
	for _, f := range files {
		trace, err := OpenFile(f, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if all := pull(t, trace); all[0].Arrival == 0 {
			t.Errorf("%s: its origin was not kept", f)
		}
	}
}
