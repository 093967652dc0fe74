package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"blis/report"
)

// clientRow is a request of servedRuns, in µs.
type clientRow struct{ arrival, input, output, ttft, e2e int64 }

func clientRows(t *testing.T, dir, run string) (rows []clientRow) {
	t.Helper()
	table, err := csv.NewReader(strings.NewReader(read(t, filepath.Join(dir, "requests", run+".csv")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, fields := range table[1:] {
		var n [5]int64
		for i := range n {
			if n[i], err = strconv.ParseInt(fields[i], 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		rows = append(rows, clientRow{n[0], n[1], n[2], n[3], n[4]})
	}
	return rows
}

// us prints µs as seconds, as Python does those of its clocks.
func us(n int64) string { return fmt.Sprintf("%d.%06d", n/1e6, n%1e6) }

// asTool writes rows as a load generator would have.
func asTool(tool string, rows []clientRow) string {
	const epoch = 1_754_000_000_000_000 // µs
	var list []string
	lists := map[string][]string{}
	for _, r := range rows {
		start, first, last := epoch+r.arrival, epoch+r.arrival+r.ttft, epoch+r.arrival+r.e2e
		switch tool {
		case "vllm-bench":
			lists["input_lens"] = append(lists["input_lens"], fmt.Sprint(r.input))
			lists["output_lens"] = append(lists["output_lens"], fmt.Sprint(r.output))
			lists["ttfts"] = append(lists["ttfts"], us(r.ttft))
			lists["itls"] = append(lists["itls"], "["+us(r.e2e-r.ttft)+"]")
			lists["start_times"] = append(lists["start_times"], us(r.arrival+77))
		case "guidellm":
			list = append(list, fmt.Sprintf(`{"prompt_tokens":%d,"output_tokens":%d,"info":{"timings":{"request_start":%s,"first_token_iteration":%s,"last_token_iteration":%s,"request_end":%s}}}`,
				r.input, r.output, us(start), us(first), us(last), us(last+50)))
		case "aiperf":
			list = append(list, fmt.Sprintf(`{"metadata":{"request_start_ns":%d000,"benchmark_phase":"profiling"},"metrics":{"input_sequence_length":{"value":%d,"unit":"tokens"},"output_sequence_length":{"value":%d,"unit":"tokens"},"time_to_first_token":{"value":%d.%03d,"unit":"ms"},"request_latency":{"value":%d.%03d,"unit":"ms"}},"error":null}`,
				start, r.input, r.output, r.ttft/1000, r.ttft%1000, r.e2e/1000, r.e2e%1000))
		case "genai-perf":
			list = append(list, fmt.Sprintf(`{"timestamp":%d000,"response_timestamps":[%d000,%d000],"response_outputs":[{"response":"data: {\"choices\":[{\"text\":\"a\"}]}"},{"response":"data: {\"choices\":[{\"text\":\"b\"}],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}"}]}`,
				start, first, last, r.input, r.output))
		case "inference-perf":
			list = append(list, fmt.Sprintf(`{"start_time":%s,"end_time":%s,"request":"","info":{"input_tokens":%d,"response_metrics":{"output_tokens":%d,"output_token_times":[%s,%s]}},"error":null}`,
				us(r.arrival), us(r.arrival+r.e2e+9), r.input, r.output, us(r.arrival+r.ttft), us(r.arrival+r.e2e)))
		}
	}
	all := strings.Join(list, ",\n")
	switch tool {
	case "vllm-bench":
		text := `{"model_id":"meta-llama/Llama-3.1-8B"`
		for _, name := range []string{"input_lens", "output_lens", "ttfts", "itls", "start_times"} {
			text += fmt.Sprintf(`,%q:[%s]`, name, strings.Join(lists[name], ","))
		}
		return text + "}"
	case "guidellm":
		return `{"benchmarks":[{"requests":{"successful":[` + all + `]}}]}`
	case "genai-perf":
		return `{"experiments":[{"requests":[` + all + `]}]}`
	case "aiperf":
		return strings.Join(list, "\n")
	}
	return "[" + all + "]"
}

// One run, written as each load generator would have written it, is one run: what
// is measured and what is predicted is the same to the microsecond, and the same
// as of our own table.
func TestEveryLoadGeneratorGivesTheSameValidation(t *testing.T) {
	dir := servedRuns(t)
	rows := clientRows(t, dir, "code")
	set := servedSet(t)
	validate := func(args ...string) (j report.ValidationJSON) {
		t.Helper()
		args = append([]string{"validate", "--latency-model", "physics", "--coefficients", set, "--format", "json"}, args...)
		if err := json.Unmarshal([]byte(done(t, args...).out), &j); err != nil {
			t.Fatal(err)
		}
		if len(j.Models) != 1 || len(j.Models[0].Runs) != 1 || j.Models[0].Doubt != nil {
			t.Fatalf("%+v", j)
		}
		return j
	}
	var first report.ValidationJSON
	for _, tool := range []string{"vllm-bench", "guidellm", "aiperf", "genai-perf", "inference-perf"} {
		path := file(t, "run.json", asTool(tool, rows))
		args := []string{path, "--hardware", "H100", "--max-num-seqs", "64", "--max-num-batched-tokens", "2048"}
		if tool != "vllm-bench" {
			args = append(args, "--model", "Llama-3.1-8B")
		}
		j := validate(args...)
		got := j.Models[0].Runs[0]
		if got.Run != "run" || got.All == nil || got.All.Requests != len(rows) || got.Overloaded {
			t.Fatalf("%s: %+v", tool, got)
		}
		if first.Models == nil {
			first = j
			continue
		}
		if want := first.Models[0].Runs[0]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nwant %+v", tool, got, want)
		}
	}
	own := validate(filepath.Join(dir, "requests", "code.csv"))
	for i, s := range own.Models[0].Runs[0].All.Scores {
		if o := first.Models[0].Runs[0].All.Scores[i]; o.Metric != s.Metric || o.Statistic != s.Statistic || o.Measured != s.Measured {
			t.Errorf("measured %+v, in our table %+v", o, s)
		}
	}
}

// With another model than the one that was served all errors have one sign and
// similar size, and the output asks.
func TestValidateAsksWhetherTheModelIsRight(t *testing.T) {
	path := file(t, "run.json", asTool("vllm-bench", clientRows(t, servedRuns(t), "code")))
	args := []string{"validate", path, "--hardware", "H100", "--latency-model", "physics", "--coefficients", servedSet(t), "--max-num-seqs", "64"}
	if s := done(t, args...); strings.Contains(s.out, "right model?") {
		t.Errorf("asked of the right model:\n%s", s.out)
	}
	wrong := append(args, "--model", "CodeLlama-34b-Instruct-hf")
	s := done(t, wrong...)
	if !strings.Contains(s.out, "too high: is codellama/CodeLlama-34b-Instruct-hf on H100 at TP 1 the right model?") {
		t.Errorf("not asked:\n%s", s.out)
	}
	var j report.ValidationJSON
	if err := json.Unmarshal([]byte(done(t, append(wrong, "--format", "json")...).out), &j); err != nil || j.Models[0].Doubt == nil {
		t.Errorf("%v, %+v", err, j.Models[0].Doubt)
	}
}

func TestValidateOfPrefillsAsksWhetherTheModelIsRight(t *testing.T) {
	var spans []string
	for i := range 5 {
		spans = append(spans, fmt.Sprintf(`{"name":"llm_request","traceId":"%d","spanId":"1","startTimeUnixNano":"%d000000000","endTimeUnixNano":"%d900000000","attributes":[
 {"key":"gen_ai.usage.prompt_tokens","value":{"intValue":"%d"}},{"key":"gen_ai.usage.completion_tokens","value":{"intValue":"20"}},{"key":"gen_ai.latency.time_in_model_prefill","value":{"doubleValue":%.1f}}]}`, i, i+1, i+1, 1000*(i+1), 0.3*float64(i+1)))
	}
	trace := file(t, "trace.json", `{"resourceSpans":[{"scopeSpans":[{"spans":[`+strings.Join(spans, ",")+`]}]}]}`)
	args := []string{"validate", "--otlp", trace, "--model", "Llama-3.1-8B", "--hardware", "H100", "--coefficients", servedSet(t)}
	s := done(t, args...)
	if !strings.Contains(s.out, "all 5 predictions of prefills are ") || !strings.HasSuffix(s.out, "too low: is meta-llama/Llama-3.1-8B on H100 at TP 1 the right model?\n") {
		t.Errorf("%s", s.out)
	}
}

// What is left out of a result, or missing in it, is said.
func TestValidateOfResultsThatLackSomething(t *testing.T) {
	dir := filepath.Join("..", "testdata", "loadgen")
	s := done(t, "validate", filepath.Join(dir, "aiperf.jsonl"), "--hardware", "H100", "--model", "Llama-3.1-8B", "--latency-model", "roofline")
	if !strings.HasPrefix(s.out, "left out   aiperf: 1 of 4 requests are of the warmup\n") || !strings.Contains(s.out, "aiperf: overloaded") {
		t.Errorf("%s", s.out)
	}
	untimed := file(t, "old.json", `{"model_id":"Llama-3.1-8B","input_lens":[5],"output_lens":[2],"ttfts":[0.1],"itls":[[0.1]]}`)
	unary := file(t, "unary.json", `[{"start_time":1,"end_time":2,"request":"","info":{"input_tokens":5,"output_tokens":2},"error":null}]`)
	summary := file(t, "summary.json", `{"load_summary":{},"successes":{}}`)
	other := file(t, "other.json", `{"a":1}`)
	metrics := file(t, "metrics.txt", "# HELP vllm:x y\n")
	strange := file(t, "strange.json", strings.Replace(asTool("vllm-bench", []clientRow{{0, 5, 2, 9, 99}}), "meta-llama/Llama-3.1-8B", "/models/x", 1))
	for _, c := range []struct {
		want string
		args []string
	}{
		{"run vllm_bench: its data names no GPU: give --hardware", []string{filepath.Join(dir, "vllm_bench.json")}},
		{"run aiperf: its file names no model: give --model", []string{filepath.Join(dir, "aiperf.jsonl"), "--hardware", "H100"}},
		{untimed + ": no request tells when it was sent (vllm bench serve writes start_times since vLLM 0.15): want a file that does", []string{untimed, "--hardware", "H100"}},
		{unary + ": no request completed with a time to its first token (1 of 1 requests had an answer that was not streamed, 0 failed): want a run with streamed answers", []string{unary, "--hardware", "H100"}},
		{summary + ": a summary of inference-perf: want per_request_lifecycle_metrics.json, written with report.request_lifecycle.per_request: true", []string{summary}},
		{other + ": JSON of no load generator that is known: want a result of vllm-bench, guidellm, aiperf, genai-perf, inference-perf, or a table of measured runs", []string{other}},
		{metrics + ": metrics in Prometheus' text format, which have no requests: want what a load generator wrote, or spans (OTLP-JSON)", []string{metrics}},
		{filepath.Join(dir, "otlp.json") + ": spans (OTLP-JSON): want them under --otlp", []string{filepath.Join(dir, "otlp.json")}},
		{`run strange: unknown model "/models/x"; give the folder of any other model's config.json with --model-config-folder; its file calls the model so, --model wins`, []string{strange, "--hardware", "H100"}},
		{"--max-num-seqs is -1: want 1 or more, 0 for what vLLM's server chooses", []string{strange, "--max-num-seqs=-1"}},
	} {
		s := blis(t, nil, append([]string{"validate"}, c.args...)...)
		if s.code != exitInput || s.err != "blis: "+c.want+"\n" {
			t.Errorf("%v: exit %d\n got %s\nwant %s", c.args, s.code, s.err, c.want)
		}
	}
}

// Real spans of a CodeLlama-34B that are said to be of a Llama-2-7B.
func TestTheWrongModelOfRealSpansIsAskedFor(t *testing.T) {
	path := filepath.Join("..", "..", "shared", "reference", "measured", "otlp", "codellama-34b-tp1.json.gz")
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	args := []string{"validate", "--otlp", path, "--hardware", "H100", "--model"}
	wrong := done(t, append(args, "Llama-2-7b-hf")...)
	if !strings.HasSuffix(wrong.out, "\nall 23 predictions of prefills are 77 to 80 % too low: is meta-llama/Llama-2-7b-hf on H100 at TP 1 the right model?\n") {
		t.Errorf("%s", wrong.out)
	}
	if right := done(t, append(args, "CodeLlama-34b-Instruct-hf")...); strings.Contains(right.out, "right model?") {
		t.Errorf("%s", right.out)
	}
}
