package measured

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// What load generators wrote becomes requests as a client measured them: in order
// of arrival, in µs after the first; those that cannot be compared are counted.
func TestResultsOfLoadGeneratorsAreMeasuredRuns(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"vllm_bench.json", `vllm_bench of meta-llama/Llama-3.1-8B-Instruct: 0:512:3:50000:71000 500000:100:1:30123:30123 1274151:512:4:60000:84510 1774151:300:0:failed`},
		{"guidellm.json", `guidellm of : 0:128:10:50000:500000 500000:64:1:12500:12500 750000:0:0:failed; 1 of 4 requests were cut off as the run ended`},
		{"guidellm_0.3.json", `guidellm_0.3.1 of : 0:11:5:100000:900000
guidellm_0.3.2 of : 0:13:7:1000000:1500000 250000:12:6:250000:1500000`},
		{"aiperf.jsonl", `aiperf of : 0:550:9:255887:297525 1000000:300:0:failed 1500000:700:25:100000:500000; 1 of 4 requests are of the warmup`},
		{"genai_perf.json", `genai_perf of : 0:36:2:60000:70000 250000:40:3:100000:100000 500000:0:0:failed`},
		{"inference_perf.json", `inference_perf of : 0:100:3:250000:500000 250000:0:0:failed; 1 of 3 requests had an answer that was not streamed`},
		{"inference_perf_0.2.json", `inference_perf_0.2 of : 0:20:3:125000:375000 1000000:21:2:250000:375000`},
	} {
		runs, err := ReadRuns(filepath.Join("..", "..", "testdata", "loadgen", c.file))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		var lines []string
		for i := range runs {
			r := &runs[i]
			if err := r.Load(); err != nil {
				t.Fatal(err)
			}
			if !r.Client || r.TP != 0 || r.AsyncScheduling != nil || r.DataParallel != 1 || r.Engine != "vLLM" {
				t.Errorf("%s: %+v", c.file, r)
			}
			line := fmt.Sprintf("%s of %s:", r.ID, r.Model)
			for _, q := range r.Requests {
				line += fmt.Sprintf(" %d:%d:%d", int64(q.Arrival), q.Input, q.Output)
				if q.Failed {
					line += ":failed"
				} else {
					line += fmt.Sprintf(":%d:%d", int64(q.TTFT), int64(q.E2E))
				}
				if q.Prompt != -1 {
					t.Errorf("%s: prompt %d", c.file, q.Prompt)
				}
			}
			lines = append(lines, strings.Join(append([]string{line}, r.Notes...), "; "))
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.file, got, c.want)
		}
	}
}
