package traces

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"blis/workload"
)

// The public traces are not part of the project; counts and sums are those of
// their publishers' files.
const samples = "../../../shared/data/traces"

// realConversations reads a file of token ids with the libraries alone.
func realConversations(t *testing.T, path string) []conversation {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Skip("no samples here")
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var list []conversation
	for scan := json.NewDecoder(bufio.NewReader(z)); scan.More(); {
		var c conversation
		if err := scan.Decode(&c); err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// Rows as the list of sources counts them, the sums taken with other tools.
// shared are the leading prompt tokens that an earlier prompt or answer had.
func TestPublicTracesHaveTheirCountsAndSums(t *testing.T) {
	for _, c := range []struct {
		name                        string
		format                      Format
		rows, input, output, shared int64
		last                        int64 // arrival in µs
	}{
		{"azure_llm_2023_conv.csv", Azure, 19366, 22361870, 4088665, 0, 3501721937},
		{"azure_llm_2023_code.csv", Azure, 8819, 18059974, 245896, 0, 3435948056},
		{"mooncake_fast25_conversation_trace.jsonl", Mooncake, 12031, 144793823, 4122048, 54098411, 3536999000},
		{"mooncake_fast25_synthetic_trace.jsonl", Mooncake, 3993, 61194628, 595432, 39852661, 1022025000},
		{"sharegpt_300_permuted_ids.jsonl.gz", Tokens, 300, 257239, 195753, 20069, 29183763},
		{"vidur_arxiv_summarization_stats.csv", Lengths, 28257, 73131321, 8234948, 0, 28257000},
	} {
		path := filepath.Join(samples, c.name)
		if _, err := os.Stat(path); err != nil {
			t.Skip("no samples here")
		}
		trace, err := OpenFile(path, Options{Pace: &steps{gap: 1000}})
		if err != nil {
			t.Fatal(err)
		}
		all := pull(t, trace)
		input, output, shared := int64(0), int64(0), idealHit(all)
		for _, r := range all {
			input += int64(r.Input)
			output += int64(r.Output)
		}
		last := int64(all[len(all)-1].Arrival)
		if trace.Format() != c.format || int64(len(all)) != c.rows || input != c.input || output != c.output || shared != c.shared || last != c.last {
			t.Errorf("%s: format %s, %d rows, %d input, %d output, %d shared tokens, last arrival %d", c.name, trace.Format(), len(all), input, output, shared, last)
		}
	}
}

// idealHit is how many leading prompt tokens an earlier request had, in prompt
// or answer: what a cache without limits, of blocks of one token, hits.
func idealHit(all []workload.Request) int64 {
	seen := map[uint64]int32{} // longest run of each content in its place
	hit := int64(0)
	for i := range all {
		r := &all[i]
		key, whole := workload.RootKey, true
		for _, s := range r.Spans {
			k := workload.BlockKey(key, workload.Piece{Content: s.Content, Length: 1})
			if whole {
				n := min(seen[k], s.Length)
				hit += int64(n)
				whole = n == s.Length
			}
			seen[k] = max(seen[k], s.Length)
			key = workload.BlockKey(key, workload.Piece{Content: s.Content, Length: s.Length})
		}
		if r.OutputContent != 0 {
			k := workload.BlockKey(key, workload.Piece{Content: r.OutputContent, Length: 1})
			seen[k] = max(seen[k], r.Output)
		}
	}
	return hit
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
