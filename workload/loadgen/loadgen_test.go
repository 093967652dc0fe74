package loadgen

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blis/input/textio"
)

// open reads a file of testdata as the tool that it is told to be of.
func open(t testing.TB, name string) (Tool, []Run) {
	t.Helper()
	path := filepath.Join("..", "..", "testdata", "loadgen", name)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := textio.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	start, _ := text.Peek(textio.Buffer)
	tool, err := Recognise(string(start))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := Read(name, text, tool, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tool, runs
}

// brief prints start:input:output:TTFT:E2E of each request, in ns, and its state
// and session where it has one.
func brief(runs []Run) string {
	var b strings.Builder
	for _, run := range runs {
		for _, q := range run.Requests {
			fmt.Fprintf(&b, "%d:%d:%d:%d:%d", q.Start, q.Input, q.Output, q.TTFT, q.E2E)
			switch q.State {
			case Failed:
				b.WriteString(":failed")
			case Incomplete:
				b.WriteString(":incomplete")
			}
			if q.Session != "" {
				b.WriteString(":" + q.Session)
			}
			b.WriteByte('\n')
		}
		if len(runs) > 1 {
			b.WriteString("--\n")
		}
	}
	return b.String()
}

// Each file was written by hand in the form of its tool; the values were computed
// by hand.
func TestFilesOfToolsAreRead(t *testing.T) {
	for _, c := range []struct {
		file string
		tool Tool
		want string
	}{
		{"vllm_bench.json", VLLMBench, `353399725848632:512:3:50000000:71000000
353400225848632:100:1:30123457:30123457
353401000000000:512:4:60000000:84510000
353401500000000:300:0:-1:-1:failed
`},
		{"guidellm.json", GuideLLM, `1754000000250000000:128:10:50000000:500000000:c1
1754000000750000000:64:1:12500000:12500000:c2
1754000001250000000:200:3:50000000:150000000:incomplete
1754000001000000000:-1:-1:-1:-1:failed
`},
		{"guidellm_0.3.json", GuideLLM, `1750000000500000000:11:5:100000000:900000000
--
1750000010500000000:12:6:250000000:1500000000
1750000010250000000:13:7:1000000000:1500000000
--
`},
		{"aiperf.jsonl", AIPerf, `1759813207532900363:550:9:255886568:297525228:s1
1759813209032900363:700:25:100000000:500000000:s1
1759813208532900363:300:-1:-1:-1:failed:s2
`},
		{"genai_perf.json", GenAIPerf, `1700000000000000000:36:2:60000000:70000000
1700000000250000000:40:3:100000000:100000000
1700000000500000000:-1:-1:-1:-1:failed
`},
		{"inference_perf.json", InferencePerf, `4217250000000:100:3:250000000:500000000
4217500000000:-1:-1:-1:500000000:failed
4217000000000:50:7:-1:125000000
`},
		{"inference_perf_0.2.json", InferencePerf, `10500000000:20:3:125000000:375000000
11500000000:21:2:250000000:375000000
`},
		{"otlp.json", OTLP, `1700000000000000000:1000:20:-1:-1
1700000001000500000:300:7:-1:-1
1700000000500000000:-1:-1:-1:-1:failed
`},
	} {
		tool, runs := open(t, c.file)
		if got := brief(runs); tool != c.tool || got != c.want {
			t.Errorf("%s, of %s:\n%s\nwant of %s:\n%s", c.file, tool, got, c.tool, c.want)
		}
	}
	_, runs := open(t, "vllm_bench.json")
	if runs[0].Model != "meta-llama/Llama-3.1-8B-Instruct" {
		t.Errorf("model %q", runs[0].Model)
	}
	if _, runs = open(t, "aiperf.jsonl"); runs[0].Warmup != 1 {
		t.Errorf("%d of the warmup", runs[0].Warmup)
	}
	if _, runs = open(t, "otlp.json"); runs[0].Other != 2 {
		t.Errorf("%d other spans", runs[0].Other)
	}
}
