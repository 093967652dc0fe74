package measured

import (
	"io"
	"path/filepath"
	"testing"

	"blis/input/textio"
	"blis/workload/loadgen"
)

// Spans of a real server are the same requests for traffic as for validation:
// two readers, which know nothing of each other.
func TestSpansAreTheSameRequestsForTraffic(t *testing.T) {
	files, err := filepath.Glob("../../../shared/reference/measured/otlp/*.json.gz")
	if err != nil || len(files) == 0 {
		t.Skip("no measured spans beside the project")
	}
	for _, path := range append(files, filepath.Join("..", "..", "testdata", "loadgen", "otlp.json")) {
		trace, err := ReadOTLP(path)
		if err != nil {
			t.Fatal(err)
		}
		runs, err := readFile(path, func(name string, r io.Reader) ([]loadgen.Run, error) {
			text, err := textio.Open(r)
			if err != nil {
				return nil, err
			}
			return loadgen.Read(name, text, loadgen.OTLP, loadgen.Options{})
		})
		if err != nil {
			t.Fatal(err)
		}
		type request struct {
			start         int64
			input, output int32
		}
		seen := map[request]int{}
		for _, q := range trace.Requests {
			seen[request{int64(q.Start - trace.Requests[0].Start), q.Input, q.Output}]++
		}
		first := int64(1 << 62)
		for _, q := range runs[0].Requests {
			first = min(first, q.Start)
		}
		for _, q := range runs[0].Requests {
			seen[request{int64(micros(q.Start - first)), max(q.Input, 0), max(q.Output, 0)}]--
		}
		for q, n := range seen {
			if n != 0 {
				t.Errorf("%s: %+v: %+d more for validation than for traffic", path, q, n)
			}
		}
		if len(trace.Requests) != len(runs[0].Requests) {
			t.Errorf("%s: %d and %d requests", path, len(trace.Requests), len(runs[0].Requests))
		}
	}
}
