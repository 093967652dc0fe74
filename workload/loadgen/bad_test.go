package loadgen

import (
	"bufio"
	"errors"
	"strings"
	"testing"

	"blis/input/textio"
)

func readText(text string, tool Tool, o Options) ([]Run, error) {
	return Read("t", bufio.NewReaderSize(strings.NewReader(text), textio.Buffer), tool, o)
}

func TestBadFilesOfToolsAreOneClearLine(t *testing.T) {
	const usage = `[{"response":"data: {\"choices\":[{\"text\":\"a\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}"}]`
	for _, c := range []struct {
		name string
		tool Tool
		text string
		want string
	}{
		{"no lists", VLLMBench, `{"model_id":"m","num_prompts":10,"request_throughput":1.5}`, `t:1: input_lens, output_lens: not there: a result without its requests: want one of vllm bench serve --save-result --save-detailed`},
		{"embeddings", VLLMBench, `{"input_lens":[1],"latencies":[0.1]}`, `t:1: input_lens, output_lens: not there: a result without its requests: want one of vllm bench serve --save-result --save-detailed`},
		{"lengths differ", VLLMBench, `{"input_lens":[1,2],"output_lens":[1]}`, "t:1: output_lens: 1 values: want 2, as many as input_lens has"},
		{"start times differ", VLLMBench, `{"input_lens":[1,2],"output_lens":[1,2],"start_times":[1,2,3]}`, "t:1: start_times: 3 values: want 2, as many as input_lens has"},
		{"errors differ", VLLMBench, `{"input_lens":[1],"output_lens":[1],"itls":[[]],"errors":["",""]}`, "t:1: itls, errors: 1 and 2 values: want 1, as many as input_lens has"},
		{"a decimal", VLLMBench, `{"input_lens":[1.5],"output_lens":[1]}`, `t:1: input_lens[0]: "1.5": want a whole number from 0 to 2147483647`},
		{"a negative time", VLLMBench, `{"input_lens":[1],"output_lens":[1],"ttfts":[-0.5]}`, `t:1: ttfts[0]: "-0.5": want seconds from 0 to 4611686018`},
		{"NaN", VLLMBench, `{"input_lens":[1],"output_lens":[1],"start_times":[NaN]}`, `t:1: start_times[0]: "NaN": want seconds from 0 to 4611686018`},
		{"no list", VLLMBench, `{"input_lens":{"0":5},"output_lens":[1]}`, `t:1: input_lens: "no list": want a list`},
		{"an empty prompt", VLLMBench, `{"input_lens":[0],"output_lens":[1],"ttfts":[1]}`, `t:1: request 1: tokens of the prompt: "0": want from 1 to 2147483647`},
		{"no requests", VLLMBench, `{"input_lens":[],"output_lens":[]}`, "t: no requests"},
		{"TTFT beyond E2E", VLLMBench, `{"input_lens":[1],"output_lens":[1],"ttfts":[2],"latencies":[1.5]}`, `t:1: request 1: time to the first token: "2.000000000 s": want at most 1.500000000 s, that to the last`},

		{"no benchmarks", GuideLLM, `{"metadata":{"guidellm_version":"0.5"}}`, "t: benchmarks: not there: want a report of GuideLLM"},
		{"no requests", GuideLLM, `{"benchmarks":[{"requests":{"successful":[],"incomplete":[],"errored":[]}}]}`, "t: no requests"},
		{"a sample", GuideLLM, `{"benchmarks":[{"metrics":{"request_totals":{"successful":300,"incomplete":0,"errored":0}},"requests":{"successful":[{"prompt_tokens":5,"output_tokens":1,"start_time":5}]}}]}`, "t: benchmarks[0]: a sample of its requests (1 successful ones of 300): want a report with all of them"},
		{"a sample of old", GuideLLM, `{"benchmarks":[{"request_samples":{"successful":1},"requests":{"successful":[{"prompt_tokens":5,"output_tokens":1,"start_time":5}]}}]}`, "t: benchmarks[0]: a sample of its requests (1 successful ones of 1): want a report with all of them"},
		{"a full sample", GuideLLM, `{"benchmarks":[{"config":{"sample_size":1},"requests":{"successful":[{"prompt_tokens":5,"output_tokens":1,"start_time":5}]}}]}`, "t: benchmarks[0]: a sample of its requests (1 successful ones of 1): want a report with all of them"},
		{"no start", GuideLLM, "{\"benchmarks\":[{\"requests\":{\"successful\":[\n{\"prompt_tokens\":5,\"output_tokens\":1}]}}]}", "t:2: request_start: not there: want seconds since 1970"},
		{"no tokens", GuideLLM, `{"benchmarks":[{"requests":{"successful":[{"prompt_tokens":null,"output_tokens":1,"start_time":5}]}}]}`, "t:1: tokens of the prompt: not there: want their number, from 1"},
		{"text for a number", GuideLLM, `{"benchmarks":[{"requests":{"successful":[{"prompt_tokens":"5","output_tokens":1,"start_time":5}]}}]}`, `t:1: prompt_tokens: "a string": want a number of tokens`},

		{"no start", AIPerf, `{"metadata":{"benchmark_phase":"profiling"},"metrics":{}}`, "t:1: metadata.request_start_ns: not there: want nanoseconds since 1970"},
		{"no metadata", AIPerf, `{"metrics":{}}`, "t:1: metadata: not there: want a record of AIPerf's profile_export.jsonl"},
		{"unit", AIPerf, `{"metadata":{"request_start_ns":1},"metrics":{"request_latency":{"value":1,"unit":"min"}}}`, `t:1: request_latency.unit: "min": want ns, us, ms or sec`},
		{"no unit", AIPerf, `{"metadata":{"request_start_ns":1},"metrics":{"time_to_first_token":{"value":1}}}`, `t:1: time_to_first_token.unit: "": want ns, us, ms or sec`},
		{"no output", AIPerf, `{"metadata":{"request_start_ns":1},"metrics":{"input_sequence_length":{"value":1,"unit":"tokens"}}}`, "t:1: tokens of the answer: not there: want their number, from 0"},
		{"cut", AIPerf, "{\"metadata\":{\"request_start_ns\":1},\n\"metrics\":", "t: after line 2: the data end too early: want the whole file"},
		{"second line", AIPerf, "{\"metadata\":{\"request_start_ns\":1,\"benchmark_phase\":\"warmup\"}}\n{\"metadata\":{\"request_start_ns\":-1}}", `t:2: request_start_ns: "-1": want nanoseconds from 0 to 4611686018427387904`},

		{"texts", GenAIPerf, `{"experiments":[{"requests":[{"timestamp":1,"response_timestamps":[2],"response_outputs":[{"response":"data: {}"}]}]}]}`, "t: no token counts: the requests and answers are texts: want answers with usage (genai-perf profile --extra-inputs '{\"stream_options\":{\"include_usage\":true}}'), or AIPerf's profile_export.jsonl"},
		{"lists differ", GenAIPerf, `{"experiments":[{"requests":[{"timestamp":1,"response_timestamps":[2,3],"response_outputs":` + usage + `}]}]}`, `t:1: response_timestamps: "": want as many as response_outputs, 1, not 2`},
		{"no timestamp", GenAIPerf, `{"experiments":[{"requests":[{"response_timestamps":[2],"response_outputs":` + usage + `}]}]}`, "t:1: timestamp: not there: want nanoseconds since 1970"},

		{"no start", InferencePerf, `[{"end_time":2,"info":{"input_tokens":5,"output_tokens":1}}]`, "t:1: start_time: not there: want seconds"},
		{"no info", InferencePerf, `[{"start_time":1,"end_time":2,"info":null,"error":null}]`, "t:1: tokens of the prompt: not there: want their number, from 1"},
		{"a list in a list", InferencePerf, `[[{"start_time":1}]]`, `t:1: request: "no object": want an object`},

		{"no spans", OTLP, `{"resourceSpans":[]}`, "t: no requests: want spans called llm_request, or others with gen_ai.usage.* attributes"},
		{"time", OTLP, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"llm_request","startTimeUnixNano":"x"}]}]}]}`, `t:1: startTimeUnixNano: "x": want a whole number from 0 to 4611686018427387904`},
		{"tokens", OTLP, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"llm_request","startTimeUnixNano":1,"attributes":[{"key":"gen_ai.usage.prompt_tokens","value":{"intValue":"-5"}}]}]}]}]}`, `t:1: gen_ai.usage.prompt_tokens: "-5": want a whole number from 0 to 2147483647`},

		{"no JSON", VLLMBench, `{"input_lens":[1,],"output_lens":[1]}`, `t:1: no JSON: "]": want a value`},
		{"no JSON", AIPerf, `{"metadata":{"request_start_ns":01}}`, `t:1: no JSON: "01": want a value`},
		{"no comma", AIPerf, `{"metadata":{} "metrics":{}}`, `t:1: no JSON: '"' behind a value: want ',' or '}'`},
		{"deep", OTLP, `{"a":` + strings.Repeat("[", 300), "t:1: no JSON: more than 200 values within each other"},
	} {
		_, err := readText(c.text, c.tool, Options{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s, %s:\n got %v\nwant %s", c.tool, c.name, err, c.want)
		}
	}
}

// A bad request is left out and told of when the caller wants that; the rest of
// the file is read.
func TestBadRequestsAreSkipped(t *testing.T) {
	var reasons []error
	o := Options{Skip: func(err error) { reasons = append(reasons, err) }}
	text := `[{"start_time":1,"end_time":2,"info":{"input_tokens":"x","output_tokens":1}},` + "\n" +
		`{"start_time":3,"end_time":4,"info":{"input_tokens":5,"output_tokens":1}}]`
	runs, err := readText(text, InferencePerf, o)
	if err != nil || len(runs) != 1 || brief(runs) != "3000000000:5:1:-1:1000000000\n" {
		t.Errorf("%v, %v", runs, err)
	}
	if want := `t:1: input_tokens: "a string": want a number of tokens`; len(reasons) != 1 || reasons[0].Error() != want {
		t.Errorf("%v", reasons)
	}
	_, err = readText(`[{"start_time":1}]`, InferencePerf, o)
	if want := "t: no requests: all 1 are bad, the first: t:1: tokens of the prompt: not there: want their number, from 1"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestErrorsOfReadingAreKept(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := Read("t", bufio.NewReader(&failing{text: `[{"start_time":1,`, err: broken}), InferencePerf, Options{})
	if !errors.Is(err, broken) && (err == nil || !strings.Contains(err.Error(), "the disk is gone")) {
		t.Errorf("%v", err)
	}
}

type failing struct {
	text string
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.text == "" {
		return 0, f.err
	}
	n := copy(p, f.text)
	f.text = f.text[n:]
	return n, nil
}

// Texts of 100 MB are passed over and not held.
func TestTextsAreNotHeld(t *testing.T) {
	long := strings.Repeat("x", 100<<20)
	text := `[{"start_time":1,"end_time":2,"request":"` + long + `","info":{"input_tokens":5,"output_tokens":1}}]`
	n := testing.AllocsPerRun(1, func() {
		if runs, err := readText(text, InferencePerf, Options{}); err != nil || len(runs[0].Requests) != 1 {
			t.Fatal(err)
		}
	})
	if n > 200 {
		t.Errorf("%v allocations", n)
	}
}

// small is a short file of each tool.
var small = []string{
	`{"input_lens":[1],"output_lens":[1],"ttfts":[0.5],"itls":[[1e-3]],"errors":[""],"start_times":[1.5]}`,
	`{"benchmarks":[{"requests":{"successful":[{"prompt_tokens":5,"output_tokens":1,"info":{"timings":{"request_start":5.5,"first_token_iteration":6}}}]}}]}`,
	`{"metadata":{"request_start_ns":1},"metrics":{"input_sequence_length":{"value":1},"output_sequence_length":{"value":1},"request_latency":{"value":1,"unit":"ms"}}}`,
	`{"experiments":[{"requests":[{"timestamp":1,"response_timestamps":[2],"response_outputs":[{"response":"{\"usage\":{\"prompt_tokens\":1}}"}]}]}]}`,
	`[{"start_time":1,"end_time":2,"info":{"input_tokens":5,"response_info":{"output_tokens":1,"chunk_times":[1.5]}},"error":null}]`,
	`{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"llm_request","spanId":"a","startTimeUnixNano":"1","attributes":[{"key":"gen_ai.usage.prompt_tokens","value":{"intValue":"5"}}]}]}]}]}`,
}

// TestFilesThatEndTooEarly cuts a file of each tool at every byte and gives it to
// every reader: an error names the file.
func TestFilesThatEndTooEarly(t *testing.T) {
	for _, text := range small {
		for n := range text {
			for _, tool := range Tools() {
				if _, err := readText(text[:n], tool, Options{}); err != nil && !strings.HasPrefix(err.Error(), "t:") {
					t.Errorf("%v: %q: %v", tool, text[:n], err)
				}
			}
		}
	}
}

// FuzzRead holds every reader to requests that can be, or one line of error.
func FuzzRead(f *testing.F) {
	for _, seed := range small {
		for k := range Tools() {
			f.Add(seed, uint8(k))
		}
	}
	f.Fuzz(func(t *testing.T, text string, k uint8) {
		tool := Tools()[int(k)%len(Tools())]
		runs, err := readText(text, tool, Options{})
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "t:") {
				t.Errorf("not one line that names its place: %v", err)
			}
			return
		}
		n := 0
		for _, run := range runs {
			for _, q := range run.Requests {
				n++
				if q.Input < Unknown || q.Output < Unknown || q.Start < Unknown || q.TTFT < Unknown || q.E2E < Unknown {
					t.Errorf("%+v", q)
				}
				if q.State == Completed && (q.Input < 1 || q.Output < 0 || q.TTFT != Unknown && q.E2E != Unknown && q.TTFT > q.E2E) {
					t.Errorf("%+v", q)
				}
			}
		}
		if n == 0 {
			t.Error("no requests and no error")
		}
		skipped := 0
		lax, err := readText(text, tool, Options{Skip: func(error) { skipped++ }})
		if err != nil || skipped != 0 || brief(lax) != brief(runs) {
			t.Errorf("when bad ones are skipped: %v, %d skipped", err, skipped)
		}
	})
}
