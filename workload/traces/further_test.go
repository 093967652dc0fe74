package traces

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

// Files as tools, spreadsheets and shells write them: each is read to the
// requests that were computed by hand, with a note where something was left out,
// or refused in words that say what it is. None is read as something else.
func TestFurtherFilesAreReadOrNamed(t *testing.T) {
	const azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
	const bench = `{"model_id": "m", "request_rate": "inf", "burstiness": Infinity, "input_lens": [5, 6], "output_lens": [1, 2], "ttfts": [0.1, 0.2], "itls": [[], [0.1]], "start_times": [10.5, 11.0]}`
	for _, c := range []struct {
		name, text string
		format     Format
		want       string // requests as brief prints them; or the beginning of the error
		note       string // the beginning of the first; empty: none
	}{
		// Spreadsheets.
		{"semicolons of a European spreadsheet", "TIMESTAMP;ContextTokens;GeneratedTokens\r\n2023-11-16 18:15:46,5;374;44\r\n2023-11-16 18:15:47;1;2\r\n", "",
			`t:2: TIMESTAMP: "2023-11-16 18:15:46,5": want a date such as`, ""},
		{"semicolons", "TIMESTAMP;ContextTokens;GeneratedTokens\r\n2023-11-16 18:15:46.5;374;44\r\n", Azure, "0:374:44", "the fields of t are separated by semicolons"},
		{"a date as a spreadsheet shows it", azure + "11/16/2023 6:15:46 PM,374,44\n", "", `t:2: TIMESTAMP: "11/16/2023 6:15:46 PM": want a date such as`, ""},
		{"an empty last column", "arrival_us,input_tokens,output_tokens,\n5,1,2,\n", BLIS, "5:1:2", "not used of t: column 4, which has no name"},
		{"thousands", "arrival_us,input_tokens,output_tokens\n5,\"1,024\",2\n", "", `t:2: input_tokens: "1,024": want a whole number`, ""},
		{"a line of sums", "arrival_us,input_tokens,output_tokens\n5,1,2\nTotal,1,2\n", "", `t:3: arrival_us: "Total": want a whole number`, ""},
		{"lines that end in CR", strings.ReplaceAll(azure, "\n", "\r") + "2023-11-16 18:15:46,374,44\r2023-11-16 18:15:47,1,2\r", Azure, "0:374:44 1000000:1:2", ""},
		{"tabs and quotes", "\"arrival_us\"\t\"input_tokens\"\t\"output_tokens\"\t\"tenant\"\n5\t1\t2\t\"a\tb\"\n", BLIS, "5:1:2", "the fields of t are separated by tabs"},
		// pandas.
		{"an index that was read and written again", ",Unnamed: 0,arrival_us,input_tokens,output_tokens\n0,0,5,1,2\n", "", `t:1: header: ",Unnamed: 0,arrival_us,input_tokens,output_tokens": unknown "Unnamed: 0"`, ""},
		{"an index that was read", "Unnamed: 0,arrival_us,input_tokens,output_tokens\n0,5,1,2\n", BLIS, "5:1:2", "not used of t: column 1, which has no name"},
		{"floats", "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5.0,ChatGPT,472.0,18.0,490.0,API log\n", BurstGPT, "5000000:472:18", ""},
		{"a float that is no whole number", "Timestamp,Request tokens,Response tokens\n5.0,472.5,18.0\n", "", `t:2: Request tokens: "472.5": want a whole number`, ""},
		{"a value that was missing", "Timestamp,Request tokens,Response tokens\n5.0,nan,18.0\n", "", `t:2: Request tokens: "nan": want a whole number`, ""},
		{"to_json(orient='records')", `[{"timestamp":0,"input_length":600,"output_length":5,"hash_ids":[0,1]},{"timestamp":3000,"input_length":600.0,"output_length":5.0,"hash_ids":null}]`, Mooncake, "0:600:5 3000000:600:5", ""},
		{"to_json()", `{"timestamp":{"0":0,"1":3000},"input_length":{"0":600,"1":600},"output_length":{"0":5,"1":5}}`, "", `t:1: timestamp: "{\"0\":0,\"1\":3000}": want milliseconds`, ""},
		// Shells and jq.
		{"jq", "{\n  \"timestamp\": 0,\n  \"input_length\": 600,\n  \"output_length\": 5\n}\n{\n  \"timestamp\": 2,\n  \"input_length\": 7,\n  \"output_length\": 5,\n  \"hash_ids\": [\n    1\n  ]\n}\n", Mooncake, "0:600:5 2000:7:5", "1 of 2 rows have no hash_ids"},
		{"a mark and CR LF", "\xef\xbb\xbf" + strings.ReplaceAll(azure+"2023-11-16 18:15:46,374,44\n", "\n", "\r\n"), Azure, "0:374:44", ""},
		{"two files behind each other", azure + "2023-11-16 18:15:46,374,44\n" + azure + "2023-11-16 18:15:47,1,2\n", "", `t:3: TIMESTAMP: "TIMESTAMP": want a date`, ""},
		{"a zone behind a blank", azure + "2023-11-16T18:15:46.68 +0130,374,44\n2023-11-16 16:45:47 UTC,1,2\n2023-11-16 18:45:47.25+02,1,2\n", Azure, "0:374:44 320000:1:2 570000:1:2", ""},
		{"seconds since 1970 for dates", azure + "1700158546.68,374,44\n", "", `t:2: TIMESTAMP: "1700158546.68": want a date such as`, ""},
		{"milliseconds for dates", `{"timestamp":"2023-11-16T18:15:46","input_length":5,"output_length":1}`, "", `t:1: timestamp: "\"2023-11-16T18:15:46\"": want milliseconds`, ""},
		{"zip", zipOf("trace/a.csv", azure+"2023-11-16 18:15:46,374,44\n"), Azure, "0:374:44", ""},
		{"gzip of a list", gzipOf(`[{"arrival_time_ns":1000,"input_toks":2,"output_toks":1,"input_tok_ids":[7,8]}]`), Tokens, "1:2:1", ""},
		{"zstd", "\x28\xb5\x2f\xfd\x00", "", "t: data packed with zstd: want text", ""},
		{"Parquet", "PAR1\x15\x04\x15", "", "t: a Parquet file: want text", ""},
		{"a web page", "<!DOCTYPE html>\n<html><title>Not found", "", "t: a web page (HTML) in place of the file", ""},
		{"a Git LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "", "t: a Git LFS pointer in place of the file", ""},
		// Results of load generators, and what lies beside them.
		{"vllm bench serve, printed by json.tool", strings.NewReplacer(", \"", ",\n    \"", "{", "{\n    ", "}", "\n}\n").Replace(bench), VLLMBench, "0:5:1 500000:6:2", ""},
		{"--append-result", bench + "\n" + strings.Replace(bench, "[10.5, 11.0]", "[20.5, 21.0]", 1), VLLMBench, "0:5:1 500000:6:2 10000000:5:1 10500000:6:2", "the file has 2 runs"},
		{"without --save-detailed", `{"date": "20260801-101500", "backend": "openai", "model_id": "m", "num_prompts": 2, "request_rate": 2.0, "request_throughput": 1.2, "latencies": [0.1, 0.2]}`, "", "t:1: input_lens, output_lens: not there: a result without its requests: want one of vllm bench serve --save-result --save-detailed", ""},
		{"bench_serving of SGLang", `{"backend": "sglang", "dataset_name": "random", "max_concurrency": 16, "input_lens": [5], "output_lens": [2], "ttfts": [0.1], "itls": [[0.01]], "generated_texts": ["x"], "errors": [""]}`, "", "rate: not given: want --rate", ""},
		{"GuideLLM as YAML", "type_: generative_benchmarks_report\nbenchmarks:\n- type_: generative_benchmark\n", "", "t: a report of GuideLLM as YAML: want benchmarks.json", ""},
		{"GuideLLM without requests", `{"metadata":{"guidellm_version":"0.7.3"},"benchmarks":[{"requests":{"successful":[],"incomplete":[],"errored":[]}}]}`, "", "t: no requests", ""},
		{"AIPerf's records in a list", `[{"metadata":{"request_start_ns":1759813207532900363,"benchmark_phase":"profiling"},"metrics":{"input_sequence_length":{"value":550,"unit":"tokens"},"output_sequence_length":{"value":9,"unit":"tokens"}},"error":null}]`, AIPerf, "0:550:9", ""},
		{"AIPerf's summary", `{"request_throughput":{"unit":"requests/sec","avg":1.5},"request_latency":{"unit":"ms","avg":5},"input_config":{"endpoint":{}}}`, "", "t: a summary of AIPerf or genai-perf: want AIPerf's profile_export.jsonl", ""},
		{"AIPerf's raw records", `{"metadata":{"request_start_ns":1},"start_perf_ns":1,"payload":{"messages":[]},"responses":[]}`, "", "t: AIPerf's raw records, texts without token counts", ""},
		{"AIPerf's table", "Metric,avg,min,max,p99\nRequest Latency (ms),5,1,9,9\n", "", `t:1: header: "Metric,avg,min,max,p99": missing arrival_us`, ""},
		{"a summary of inference-perf", `{"load_summary":{"count":5},"successes":{"count":5},"failures":{"count":0}}`, "", "t: a summary of inference-perf: want per_request_lifecycle_metrics.json", ""},
		{"a span on each line", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"llm_request","startTimeUnixNano":"2000000000","attributes":[{"key":"gen_ai.usage.prompt_tokens","value":{"intValue":"9"}},{"key":"gen_ai.usage.completion_tokens","value":{"intValue":"3"}}]}]}]}]}` + "\n" +
			`{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"llm_request","startTimeUnixNano":"1000000000","attributes":[{"key":"gen_ai.usage.prompt_tokens","value":{"intValue":"8"}},{"key":"gen_ai.usage.completion_tokens","value":{"intValue":"2"}}]}]}]}]}`, OTLP, "0:8:2 1000000:9:3", ""},
		{"Jaeger", `{"data":[{"traceID":"1","spans":[{"traceID":"1","operationName":"llm_request"}]}]}`, "", "t: spans as Jaeger exports them: want OTLP-JSON", ""},
		{"Zipkin", `[{"traceId":"1","id":"1","name":"llm_request","timestamp":1,"localEndpoint":{}}]`, "", "t: spans as Zipkin exports them: want OTLP-JSON", ""},
		{"metrics", "# HELP vllm:num_requests_running Number of requests\n# TYPE vllm:num_requests_running gauge\n", "", "t: metrics in Prometheus' text format, which have no requests", ""},
		{"ShareGPT", `[{"id":"a","conversations":[{"from":"human","value":"hi"}]}]`, "", "t: a dataset of conversations (ShareGPT)", ""},
		{"a batch of OpenAI's", `{"custom_id":"1","method":"POST","url":"/v1/completions","body":{}}`, "", "t: a batch of OpenAI's API", ""},
		{"points of k6", `{"type":"Point","metric":"http_reqs","data":{"value":1}}`, "", `t: JSON of no known form, with the keys "type", "metric", "data": want a trace of one of the formats`, ""},
		{"a table of Locust", "Type,Name,Request Count,Failure Count\nPOST,/v1/completions,5,0\n", "", `t:1: header: "Type,Name,Request Count,Failure Count": missing arrival_us`, ""},
		{"a result of ours", `{"schema": "blis.run/v1", "completed_requests": 3}`, "", "t: a result of blis run: want the rows", ""},
		{"rows of ours", "request,arrival_us,state,input_tokens,output_tokens,ttft_us\n0,5,completed,7,8,9\n", BLIS, "5:7:8", `not used of t: "request", "state", "ttft_us"`},
		{"measured requests", "arrival_us,input_tokens,output_tokens,ttft_us,e2e_us,prompt,ok\n5,7,8,9,10,3,1\n", BLIS, "5:7:8", `not used of t: "ttft_us", "e2e_us", "prompt", "ok"`},
		{"a misspelt column", "arrival_us,input_tokens,output_token\n5,7,8\n", "", `t:1: header: "arrival_us,input_tokens,output_token": missing output_tokens; unknown "output_token"`, ""},
		{"Mooncake with texts", `{"timestamp":1,"text_input":"a","output_length":5}`, "", `t:1: input_length: "": want this key in every line`, ""},
	} {
		trace, err := Open("t", strings.NewReader(c.text), Options{})
		if c.format == "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := brief(pull(t, trace)); got != c.want || trace.Format() != c.format {
			t.Errorf("%s: %s of format %s, want %s of %s", c.name, got, trace.Format(), c.want, c.format)
		}
		if n := trace.Notes(); len(n) > 0 != (c.note != "") || len(n) > 0 && !strings.HasPrefix(n[0], c.note) {
			t.Errorf("%s: notes %q, want %q", c.name, n, c.note)
		}
	}
}

func gzipOf(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

func zipOf(name, text string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if file, err := w.Create(name); err == nil {
		io.WriteString(file, text)
	}
	w.Close()
	return b.String()
}
