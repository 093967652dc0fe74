package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blis/cputime"
)

const (
	requestColumns = "arrival_us,input_tokens,output_tokens,ttft_us,e2e_us\n"
	goodRequests   = requestColumns + "0,100,9,20000,90000\n900000,200,5,25000,60000\n"
	failedRequests = "arrival_us,input_tokens,output_tokens,ttft_us,e2e_us,ok\n0,100,9,,,0\n900000,200,5,25000,60000,1\n"
	stepColumns    = "batch.num_prefill_reqs,batch.num_decode_reqs,batch.prefill_tokens,batch.decode_tokens,period_us\n"
	engineMeta     = `{"model":"meta-llama/Llama-3.1-8B","vllm_version":"0.19.0","kv_cache":{"num_gpu_blocks":2000}}`
	engineRow      = `{"input_toks":10,"output_toks":3,"arrival_time":1000.0,"queued_ts":5.0,"scheduled_ts":5.1,"first_token_ts":5.2,"last_token_ts":5.3}` + "\n"
)

// badFolder has a folder of measured runs for everything that can be wrong with
// them.
func badFolder(t *testing.T) string {
	run := func(id, rest string) string { return servedColumns + "\n" + id + "," + rest + "\n" }
	const llama = "Llama-3.1-8B,H100,1,vLLM 0.15.1,64,2048,4096,16,9000,1,1,1,1,0,"
	edit := func(old, new string) string { return strings.Replace(llama, old, new, 1) }
	files := map[string]string{
		"good/runs.csv":   servedColumns + "\na," + llama + "\nb," + edit("Llama-3.1-8B", "Llama-2-7b-hf") + "\n",
		"two-ways.csv":    servedColumns + "\na," + llama + "\nb," + edit("1,1,1,1,0,", "1,1,0,1,0,") + "\n",
		"requests/a.csv":  goodRequests,
		"requests/b.csv":  goodRequests,
		"empty/README.md": "",

		"twins/runs.csv":        run("a", edit("1,1,1,1,0,", "1,1,1,2,0,")),
		"heads/runs.csv":        run("a", edit("H100,1,", "H100,3,")),
		"huge/runs.csv":         run("a", strings.Replace(edit("9000", ""), "Llama-3.1-8B", "Llama-3.1-70B", 1)),
		"model/runs.csv":        run("a", edit("Llama-3.1-8B", "Lama-3.1-8B")),
		"gpu/runs.csv":          run("a", edit("H100", "H101")),
		"limits/runs.csv":       run("a", edit("64,2048", "4096,2048")),
		"nan/runs.csv":          run("a", edit("9000", "NaN")),
		"none/runs.csv":         servedColumns + "\n",
		"columns/runs.csv":      "id,model\na,b\n",
		"lost/runs.csv":         run("z", llama),
		"failed/runs.csv":       run("a", llama),
		"count/runs.csv":        strings.Replace(run("a", llama), "\n", ",requests\n", 1),
		"rows/runs.csv":         run("a", llama),
		"nothing/runs.csv":      run("a", llama),
		"long/runs.csv":         run("a", edit("4096", "50")),
		"failed/requests/a.csv": failedRequests,
		"rows/requests/a.csv":   requestColumns + "0,100,9,20000,90000\n1,100,9,NaN,90000\n",

		"nothing/requests/a.csv": requestColumns,

		"engine/meta.json":      engineMeta,
		"engine/requests.jsonl": engineRow,

		"steps.csv":   stepColumns + strings.Repeat("1,0,100,0,9000\n", 60),
		"nan.csv":     stepColumns + "1,0,100,0,NaN\n",
		"few.csv":     strings.TrimSpace(stepColumns) + ",prefill_pairs,prefill_context,decode_context,sampled_rows\n" + strings.Repeat("1,0,100,0,9000,5050,0,0,1\n", 60),
		"trace.json":  otlpSpans,
		"busy.json":   strings.ReplaceAll(otlpSpans, `"2000000000"`, `"1500000000"`),
		"loops.csv":   loopBenchmarks,
		"other.json":  `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"GET /health"}]}]}]}`,
		"set.yaml":    "schema: blis.physics/v1\nname: x\nalfa: [1]\n",
		"broken.yaml": "schema: [\n",
	}
	files["count/runs.csv"] = strings.TrimSpace(files["count/runs.csv"]) + ",3\n"
	for _, name := range []string{"good", "twins", "heads", "huge", "model", "gpu", "limits", "nan", "columns", "count", "long"} {
		files[name+"/requests/a.csv"] = goodRequests
	}
	files["good/requests/b.csv"] = goodRequests
	return folder(t, files)
}

// Every fault of what train and validate are given is told in one line, with the
// exit code of bad input or of a model that does not fit, and at once.
func TestBadMeasurements(t *testing.T) {
	dir := badFolder(t)
	for _, c := range []struct {
		name string
		args string // DIR stands for the folder
		want string
		code int
	}{
		{"nothing to train", "train", "nothing to fit to: want measured runs, --closed-loop, or --steps", 2},
		{"nothing to validate", "validate", "nothing to compare with: want measured runs, --otlp or --closed-loop", 2},
		{"closed loops without columns", "validate --closed-loop DIR/steps.csv", "DIR/steps.csv:1: header: missing model, gpu, input_tokens, output_tokens, concurrency, tp, mean_ttft_ms, mean_tpot_ms: want the columns model,gpu,input_tokens,output_tokens,concurrency,tp,mean_ttft_ms,mean_tpot_ms", 2},
		{"no file of closed loops", "validate --closed-loop DIR/no.csv", "DIR/no.csv: no such file or directory", 2},
		{"a config of one of several models", "validate --closed-loop DIR/steps.csv --model-config-folder DIR", "--model-config-folder: want --model too: which of the models of the benchmarks it describes", 2},
		{"closed loops for blackbox", "train --closed-loop DIR/loops.csv --latency-model blackbox", "--closed-loop: benchmarks are fitted to by physics, not by blackbox", 2},
		{"closed loops without weight", "train --closed-loop DIR/loops.csv --closed-loop-weight 0", "--closed-loop-weight is 0: want above 0, at most 1000000", 2},
		{"closed loops of other models", "train --closed-loop DIR/loops.csv --only mixtral", "--closed-loop: no benchmark of such a model that can be simulated; blis validate lists why", 2},
		{"no such folder", "train DIR/no", "DIR/no: no such file or directory", 2},
		{"no such folder to validate", "validate DIR/no", "DIR/no: no such file or directory", 2},
		{"an empty folder", "train DIR/empty", "DIR/empty: want a folder with runs.csv, or with meta.json and requests.jsonl", 2},
		{"an empty folder to validate", "validate DIR/empty", "DIR/empty: want a folder with runs.csv, or with meta.json and requests.jsonl", 2},
		{"unknown hold-out", "train DIR/good --hold-out day", `--hold-out is "day": want workload, model, tail or none`, 2},
		{"share 0", "train DIR/good --train-share 0", "--train-share is 0: want above 0 and below 1", 2},
		{"share 1", "train DIR/good --train-share 1", "--train-share is 1: want above 0 and below 1", 2},
		{"share NaN", "train DIR/good --train-share NaN", "--train-share is NaN: want above 0 and below 1", 2},
		{"lambda 0", "train DIR/good --lambda 0", "--lambda is 0: want above 0, at most 1000000: features that look alike need a ridge to be told apart", 2},
		{"own below 0", "train DIR/good --own -1", "--own is -1: want 0 or more", 2},
		{"own NaN", "train DIR/good --own NaN", "--own is NaN: want 0 to 1000000", 2},
		{"own without others", "train DIR/good --own 1", "--own: want --closed-loop and --only, the model whose fit is drawn to that of all models", 2},
		{"lambda NaN", "train DIR/good --lambda NaN", "--lambda is NaN: want above 0, at most 1000000: features that look alike need a ridge to be told apart", 2},
		{"no iterations", "train DIR/good --iterations 0", "--iterations is 0: want 1 to 10000", 2},
		{"negative polish", "train DIR/good --polish=-1", "--polish is -1: want 0 to 100000", 2},
		{"negative workers", "train DIR/good --workers=-1", "--workers is -1: want 1 or more, 0 for one per core", 2},
		{"negative workers of validate", "validate DIR/good --workers=-1", "--workers is -1: want 1 or more, 0 for one per core", 2},
		{"clients without patience", "validate DIR/good --client-timeout 0", "--client-timeout is 0: want a time above 0: it is after this that requests failed", 2},
		{"no budget", "validate --otlp DIR/trace.json --model Llama-3.1-8B --hardware H100 --max-num-batched-tokens=-1", "--max-num-batched-tokens is -1: want 1 or more, 0 for what vLLM's server chooses", 2},
		{"unknown latency model to train", "train DIR/good --latency-model roofline", `--latency-model must be one of "physics","blackbox" but got "roofline"`, 2},
		{"unknown latency model", "validate DIR/good --latency-model auto,pysics", `--latency-model is "pysics": want some of auto, physics, roofline, blackbox`, 2},
		{"unknown format", "train DIR/good --format xml", `--format must be one of "text","json" but got "xml"`, 2},
		{"coefficient file missing", "validate DIR/good --coefficients DIR/no.yaml", "--coefficients: DIR/no.yaml: no such file or directory", 2},
		{"coefficient file is a folder", "validate DIR/good --coefficients DIR/good", "--coefficients: DIR/good: is a directory", 2},
		{"coefficient file with an unknown field", "validate DIR/good --coefficients DIR/set.yaml", `DIR/set.yaml:3: alfa: unknown field "alfa" (there are: schema, name, specification, trained_on, errors, notes, alpha, beta)`, 2},
		{"coefficient file is no YAML", "validate DIR/good --coefficients DIR/broken.yaml", "DIR/broken.yaml:1: not valid YAML: sequence end token ']' not found", 2},
		{"unknown set", "validate DIR/good --coefficients h100-codelama", `--coefficients: unknown coefficient set "h100-codelama"; nearest: h100-codellama-34b; or give a file that blis train wrote`, 2},
		{"steps without sums", "train --steps DIR/steps.csv --model Llama-3.1-8B --hardware H100", "steps of DIR/steps.csv: chunked prefill, and nothing of the requests in its batches, so their attention is not known: want columns prefill_pairs, prefill_context, decode_context, sampled_rows, or REQUEST_SNAPSHOT events", 2},
		{"steps without a model", "train --steps DIR/steps.csv", "--model and --hardware: want the model and GPU that --otlp and --steps files were measured on", 2},
		{"steps without a GPU", "train --steps DIR/steps.csv --model Llama-3.1-8B", "--model and --hardware: want the model and GPU that --otlp and --steps files were measured on", 2},
		{"NaN in steps", "train --steps DIR/nan.csv --model Llama-3.1-8B --hardware H100", `DIR/nan.csv:2: period_us: "NaN": want a number from 0 to 8.64e+10`, 2},
		{"no steps file", "train --steps DIR/no.csv --model Llama-3.1-8B --hardware H100", "DIR/no.csv: no such file or directory", 2},
		{"a trace without steps", "train --steps DIR/trace.json --model Llama-3.1-8B --hardware H100", "DIR/trace.json: a trace without steps: want events step.BATCH_SUMMARY", 2},
		{"steps and runs", "train DIR/good --steps DIR/steps.csv", "--steps: want steps alone, or runs, --otlp and --closed-loop without it: a regression on steps knows nothing of requests", 2},
		{"steps and prefills", "train --otlp DIR/trace.json --steps DIR/steps.csv", "--steps: want steps alone, or runs, --otlp and --closed-loop without it: a regression on steps knows nothing of requests", 2},
		{"two schedulers alone", "train DIR/twins", "no run that can be replayed: a: 2 schedulers share its requests; a replay has one", 2},
		{"two schedulers alone to validate", "validate DIR/twins", "no run that can be replayed: a: 2 schedulers share its requests; a replay has one", 2},
		{"heads that TP does not divide", "train DIR/heads", "run a: meta-llama/Llama-3.1-8B on H100 at TP 3: tp is 3, want a divisor of the 32 attention heads", 2},
		{"heads that --tp does not divide", "validate --otlp DIR/trace.json --model Llama-3.1-8B --hardware H100 --tp 3", "meta-llama/Llama-3.1-8B on H100 at TP 3: tp is 3, want a divisor of the 32 attention heads", 2},
		{"steps of heads that --tp does not divide", "train --steps DIR/few.csv --model Llama-3.1-8B --hardware H100 --tp 5", "meta-llama/Llama-3.1-8B on H100 at TP 5: tp is 5, want a divisor of the 32 attention heads", 2},
		{"unknown model", "train DIR/model", `run a: unknown model "Lama-3.1-8B"; nearest: meta-llama/Llama-3.1-8B, meta-llama/Llama-3.1-70B, meta-llama/Llama-3.1-405B; give the folder of any other model's config.json with --model-config-folder`, 2},
		{"unknown model of a trace", "validate --otlp DIR/trace.json --model Lama-3.1-8B --hardware H100", `unknown model "Lama-3.1-8B"; nearest: meta-llama/Llama-3.1-8B, meta-llama/Llama-3.1-70B, meta-llama/Llama-3.1-405B; or give any other model's config.json, or its folder`, 2},
		{"unknown GPU", "train DIR/gpu", `run a: unknown GPU "H101"; nearest: H100; there are A100-80, B200, B300, H100, H200, L40S, MI300X, RTX-PRO-6000, RTX4090; describe others in a file given with --hardware-config`, 2},
		{"unknown GPU of a flag", "train DIR/good --hardware H101", `run a: unknown GPU "H101"; nearest: H100; there are A100-80, B200, B300, H100, H200, L40S, MI300X, RTX-PRO-6000, RTX4090; describe others in a file given with --hardware-config`, 2},
		{"seats beyond the budget", "train DIR/limits", "run a: --max-num-batched-tokens is 2048: want at least --max-num-seqs 4096", 2},
		{"NaN in the table of runs", "train DIR/nan", `DIR/nan/runs.csv:2: kv_blocks: "NaN": want a whole number from 1 to 4611686018427387904`, 2},
		{"no runs", "validate DIR/none", "DIR/none/runs.csv: no runs: want a row for each below the header", 2},
		{"missing columns", "train DIR/columns", "DIR/columns/runs.csv:1: header: missing gpu, tp, engine, max_num_seqs, max_num_batched_tokens, max_model_len, block_size, prefix_caching, chunked_prefill, async_scheduling: want the columns id,model,gpu,tp,engine,max_num_seqs,max_num_batched_tokens,max_model_len,block_size,prefix_caching,chunked_prefill,async_scheduling", 2},
		{"requests that are not there", "train DIR/lost", `DIR/lost/runs.csv: id: "z": want its requests in DIR/lost/requests/z.csv or DIR/lost/requests/z.csv.gz`, 2},
		{"NaN in requests", "validate DIR/rows", `DIR/rows/requests/a.csv:3: ttft_us: "NaN": want a whole number from 1 to 4611686018427387904`, 2},
		{"no requests", "validate DIR/nothing", "DIR/nothing/requests/a.csv: no requests: want a row for each below the header", 2},
		{"another number of requests", "train DIR/count", "DIR/count/requests/a.csv: 2 requests: want 3, as its description says", 2},
		{"requests of an unknown run", "train DIR/requests/a.csv", `DIR/requests/a.csv: requests of an unknown run: want DIR/runs.csv to describe it under id "a"`, 2},
		{"all runs overloaded", "train DIR/failed", "no run to fit to: requests of every run failed, so that latencies say how patient clients were", 2},
		{"all prompts too long", "train DIR/long", "nothing to fit: want requests that completed, measured and in the replay", 2},
		{"no GPU", "train DIR/engine", "run engine: its data names no GPU: give --hardware", 2},
		{"no GPU to validate", "validate DIR/engine", "run engine: its data names no GPU: give --hardware", 2},
		{"only what is not there", "train DIR/good --only mistral", `--only "mistral": no run of such a model that can be replayed`, 2},
		{"one set for two kinds of engine", "train DIR/two-ways.csv", "runs a and b differ in async scheduling or chunked prefill: want a set for each", 2},
		{"blackbox of two models", "train DIR/good --latency-model blackbox", "--latency-model blackbox: its coefficients hold for one model, GPU and TP, the runs are of meta-llama/Llama-3.1-8B on H100 at TP 1 and meta-llama/Llama-2-7b-hf on H100 at TP 1: want --only", 2},
		{"a file of blackbox", "train DIR/good --only 3.1 --latency-model blackbox --out DIR/out.yaml", "--out: blackbox has no coefficient file: its coefficients are flags of blis run, which the report ends with", 2},
		{"prefills for blackbox", "train DIR/good --only 3.1 --latency-model blackbox --otlp DIR/trace.json --model Llama-3.1-8B --hardware H100", "--otlp: prefills of requests that ran alone are fitted to by physics, not by blackbox", 2},
		{"a trace without a model", "validate --otlp DIR/trace.json", "--model and --hardware: want the model and GPU that --otlp and --steps files were measured on", 2},
		{"a trace without a model to train with", "train DIR/good --otlp DIR/trace.json", "--model and --hardware: want the model and GPU that --otlp and --steps files were measured on", 2},
		{"no trace", "validate --otlp DIR/no.json --model Llama-3.1-8B --hardware H100", "DIR/no.json: no such file or directory", 2},
		{"nobody alone", "validate --otlp DIR/busy.json --model Llama-3.1-8B --hardware H100", "DIR/busy.json: no request of the trace ran alone with its prefill told: want llm_request spans that do not overlap", 2},
		{"a trace of others", "validate --otlp DIR/other.json --model Llama-3.1-8B --hardware H100", "DIR/other.json: no request of the trace ran alone with its prefill told: want llm_request spans that do not overlap", 2},
		{"no coefficients cover a trace", "validate --otlp DIR/trace.json --model Llama-3.1-8B --hardware MI300X", "no shipped coefficients cover meta-llama/Llama-3.1-8B on MI300X at TP 1: give --coefficients", 2},
		{"a folder that is not there to write to", "train DIR/good --out DIR/no/set.yaml", "--out: DIR/no/set.yaml: no such file or directory", 2},
		{"no day", "train DIR/good --dates 2026-01-32,2026-02-01 --out DIR/out.yaml", `physics set trained: trained_on.dates[0] is "2026-01-32", want a day such as 2026-01-31`, 2},
		{"one day", "train DIR/good --dates 2026-01-31", "physics set trained: trained_on.dates has 1 days, want the first and the last", 2},
		{"no name", "train DIR/good --name=", "physics set : name is missing", 2},
		{"no GPUs of one's own", "train DIR/good --hardware-config DIR/no.yaml", "run a: --hardware-config: DIR/no.yaml: no such file or directory", 2},
		{"a model that does not fit", "train DIR/huge", "run a: meta-llama/Llama-3.1-70B does not fit on H100 at TP 1: it needs 132.35 GiB for weights, activations and one KV block, there are 71.27 GiB; 2 of these GPUs would do (--tp 2)", 3},
		{"a model of a trace that does not fit", "validate --otlp DIR/trace.json --model Llama-3.1-70B --hardware H100", "meta-llama/Llama-3.1-70B does not fit on H100 at TP 1: it needs 132.35 GiB for weights, activations and one KV block, there are 71.27 GiB; 2 of these GPUs would do (--tp 2)", 3},
		{"no model of one's own", "train DIR/good --model-config-folder DIR/empty", "run a: --model-config-folder: DIR/empty/config.json: no such file or directory", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s session
			took := cputime.OfAll(func() { s = blis(t, nil, strings.Fields(strings.ReplaceAll(c.args, "DIR", dir))...) })
			want := "blis: " + strings.ReplaceAll(c.want, "DIR", dir) + "\n"
			if s.code != c.code || s.err != want || s.out != "" {
				t.Errorf("exit %d, want %d; printed %q\nwant %q; result %.100q", s.code, c.code, s.err, want, s.out)
			}
			if took > time.Second {
				t.Errorf("after %v", took)
			}
		})
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "out*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
