package measured

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blis/vtime"
)

// write makes files below a new folder, given as name and text, one after the
// other.
func write(t *testing.T, files ...string) string {
	t.Helper()
	folder := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(folder, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

const (
	twoRuns = "stages, id,model,gpu,tp,engine,max_num_seqs,max_num_batched_tokens,max_model_len,block_size,prefix_caching,chunked_prefill,async_scheduling,kv_blocks,reserve_full_isl,cpu_offload_gib,note,requests,completed\n" +
		"5x600;2.5x0.000001,one,m/x,H100,2,vLLM 0.15.1,128,2048,4096,16,1,true,0,1000,,8,cold,3,2\n" +
		",two,m/y,,1,vLLM 0.19.0rc1,64,8192,4096,16,0,1,1,,0,,,,\n"
	threeRequests = "e2e_us,arrival_us,input_tokens,output_tokens,prompt,ttft_us,ok\n" +
		"900,1500,10,7,3,100,1\n" +
		"800,1000,11,7,4,100,true\n" +
		",2000,0,7,,,0\n"
)

func TestRunsOfATable(t *testing.T) {
	folder := write(t, "runs.csv", twoRuns, "requests/one.csv", threeRequests, "requests/two.csv.gz", zipped("arrival_us,input_tokens,output_tokens,ttft_us,e2e_us\n5,1,1,2,2\n"))
	for _, path := range []string{folder, filepath.Join(folder, "runs.csv")} {
		list, err := ReadRuns(path)
		if err != nil {
			t.Fatal(err)
		}
		one, two := &list[0], &list[1]
		if one.ID != "one" || one.Model != "m/x" || one.GPU != "H100" || one.TP != 2 || one.DataParallel != 1 || one.MaxNumSeqs != 128 || one.KVBlocks != 1000 ||
			!one.PrefixCaching || !one.ChunkedPrefill || *one.AsyncScheduling || one.ReserveFullISL || one.CPUOffloadGiB != 8 || one.Requests != nil {
			t.Errorf("%+v", *one)
		}
		if !slices.Equal(one.Stages, []Stage{{5, 600 * vtime.Second}, {2.5, 1}}) {
			t.Errorf("stages %v", one.Stages)
		}
		if two.KVBlocks != 0 || two.ReserveFullISL || two.Rows != -1 || two.Completed != -1 || two.Stages != nil {
			t.Errorf("%+v", *two)
		}
		for range 2 { // all anew
			if err := one.Load(); err != nil {
				t.Fatal(err)
			}
			want := []Request{
				{Arrival: 0, Input: 11, Prompt: 4, Output: 7, TTFT: 100, E2E: 800},
				{Arrival: 500, Input: 10, Prompt: 3, Output: 7, TTFT: 100, E2E: 900},
				{Arrival: 1000, Input: 0, Prompt: -1, Output: 7, Failed: true},
			}
			if !slices.Equal(one.Requests, want) {
				t.Errorf("got  %+v\nwant %+v", one.Requests, want)
			}
		}
		if err := two.Load(); err != nil || len(two.Requests) != 1 {
			t.Errorf("%+v, %v", two.Requests, err)
		}
	}
	list, err := ReadRuns(filepath.Join(folder, "requests", "two.csv.gz"))
	if err != nil || len(list) != 1 || list[0].ID != "two" {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestRunsThatDoNotFitTheirFiles(t *testing.T) {
	fewer := strings.Replace(threeRequests, "900,1500,10,7,3,100,1\n", "", 1)
	failed := strings.Replace(threeRequests, "100,true", "100,0", 1)
	for _, c := range []struct {
		name, want string
		path       string
		files      []string
	}{
		{"no table", "F: want a folder with runs.csv, or with meta.json and requests.jsonl", "", nil},
		{"nothing", "stat F/x: no such file or directory", "x", nil},
		{"no requests", `F/runs.csv: id: "one": want its requests in F/requests/one.csv or F/requests/one.csv.gz`, "", []string{"runs.csv", twoRuns}},
		{"requests alone", `F/requests/one.csv: requests of an unknown run: want F/runs.csv to describe it under id "one"`, "requests/one.csv", []string{"requests/one.csv", threeRequests}},
		{"requests of another", `F/runs.csv: no run "three": want one, for F/requests/three.csv`, "requests/three.csv", []string{"runs.csv", twoRuns, "requests/three.csv", threeRequests}},
		{"fewer", "F/requests/one.csv: 2 requests: want 3, as its description says", "requests/one.csv", []string{"runs.csv", twoRuns, "requests/one.csv", fewer}},
		{"more failed", "F/requests/one.csv: 1 requests that did not fail: want 2, as its description says", "requests/one.csv", []string{"runs.csv", twoRuns, "requests/one.csv", failed}},
		{"bad requests", `F/requests/one.csv:2: ttft_us: "": want a whole number from 1 to 4611686018427387904`, "requests/one.csv", []string{"runs.csv", twoRuns, "requests/one.csv", strings.Replace(threeRequests, "3,100,1", "3,,1", 1)}},
		{"engine without requests", "F: want requests.jsonl, or requests.jsonl.gz, beside meta.json", "", []string{"meta.json", metaText}},
		{"engine", `F/meta.json: vllm_version: not there: want a text`, "", []string{"meta.json", `{"model":"x"}`}},
		{"engine with fewer", "F/requests.jsonl: 1 requests: want 2, as its description says", "", []string{"meta.json", metaText, "requests.jsonl", `{"input_toks":1,"output_toks":1,"arrival_time":5}`}},
	} {
		folder := write(t, c.files...)
		list, err := ReadRuns(filepath.Join(folder, c.path))
		if err == nil {
			err = list[0].Load()
		}
		if want := strings.ReplaceAll(c.want, "F", folder); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, want)
		}
	}
	run := Run{ID: "mine"}
	if err := run.Load(); err == nil || err.Error() != `run "mine": no file of requests: want a run that ReadRuns returned` {
		t.Error(err)
	}
}

func TestEngineRun(t *testing.T) {
	rows := `{"input_toks":20,"output_toks":8,"arrival_time":1712345678.5000004,"queued_ts":9.4999999,"scheduled_ts":9.5,"first_token_ts":10,"last_token_ts":11.0000005,"note":[1,{"input_toks":7}]}
{"input_toks":10,"output_toks":1,"arrival_time":1712345678.2500,"queued_ts":9.4999994,"scheduled_ts":9.4999994,"first_token_ts":9.6,"last_token_ts":9.6}
{"input_toks":10,"output_toks":0,"arrival_time":1712345679,"queued_ts":9.6,"scheduled_ts":9.7,"first_token_ts":0.0,"last_token_ts":null}`
	folder := write(t, "meta.json", strings.Replace(metaText, `"num_requests": 2`, `"num_requests": 3`, 1), "requests.jsonl.gz", zipped(rows))
	r, err := readEngine(folder)
	if err != nil {
		t.Fatal(err)
	}
	if r.ID != filepath.Base(folder) || r.Model != "m/x" || r.Engine != "vLLM 0.19.0" || r.GPU != "GPU" || r.TP != 2 || r.DataParallel != 1 || r.MaxNumSeqs != 32 ||
		r.MaxNumBatchedTokens != 2048 || r.MaxModelLen != 8192 || r.BlockSize != 16 || r.KVBlocks != 100 || r.CPUOffloadGiB != 4 ||
		r.PrefixCaching || !r.ChunkedPrefill || *r.AsyncScheduling || r.ReserveFullISL || r.Rows != 3 || r.Completed != -1 {
		t.Errorf("%+v", *r)
	}
	if err := r.Load(); err != nil {
		t.Fatal(err)
	}
	want := []Request{ // the second was queued 500 ns after the first: to even, 0
		{Arrival: 0, Input: 10, Prompt: -1, Output: 1, TTFT: 100_001, E2E: 100_001, Queued: 0, Scheduled: 0, FirstToken: 100_001, LastToken: 100_001, HasEngineTimes: true},
		{Arrival: 250_000, Input: 20, Prompt: -1, Output: 8, TTFT: 500_001, E2E: 1_500_001, Queued: 0, Scheduled: 1, FirstToken: 500_001, LastToken: 1_500_001, HasEngineTimes: true},
		{Arrival: 750_000, Input: 10, Prompt: -1, Output: 0, Failed: true},
	}
	if !slices.Equal(r.Requests, want) {
		t.Errorf("got  %+v\nwant %+v", r.Requests, want)
	}
}

// What a meta.json does not say is as that version of vLLM has it.
func TestEngineDefaults(t *testing.T) {
	for version, want := range map[string]struct{ async, reserve bool }{
		"0.11.0": {}, "0.13.9": {}, "0.14.0": {async: true}, "0.18.2.dev1": {async: true}, "0.19.0": {true, true}, "0.19rc1": {true, true}, "v1.0": {true, true}, "nightly": {},
	} {
		r, err := readMeta("t", strings.NewReader(fmt.Sprintf(`{"model":"m","vllm_version":%q}`, version)))
		if err != nil {
			t.Fatal(err)
		}
		if *r.AsyncScheduling != want.async || r.ReserveFullISL != want.reserve || !r.PrefixCaching || !r.ChunkedPrefill || r.TP != 1 || r.DataParallel != 1 ||
			r.MaxNumSeqs != 0 || r.MaxNumBatchedTokens != 0 || r.MaxModelLen != 0 || r.BlockSize != 0 || r.KVBlocks != 0 || r.Rows != -1 {
			t.Errorf("%s: %+v", version, *r)
		}
	}
	if since("SGLang 0.19.0", 0, 14) || since("vLLM", 0, 14) || since("", 0, 0) {
		t.Error("no vLLM of a version")
	}
}

// Requests written as a table and read again are the same.
func TestRequestsSurviveATable(t *testing.T) {
	const seed = 11
	random := rand.New(rand.NewPCG(seed, 0))
	var list []Request
	text := strings.Builder{}
	text.WriteString(strings.Join(requestColumns, ",") + "\n")
	at := vtime.Time(0)
	for i := range 500 {
		r := Request{Arrival: at, Input: 1 + random.Int32N(1e6), Prompt: random.Int32N(100) - 1, Output: 1 + random.Int32N(1e6)}
		prompt, ok := "", 0
		if r.Prompt >= 0 {
			prompt = fmt.Sprint(r.Prompt)
		}
		if r.Failed = random.IntN(5) == 0; !r.Failed {
			ok = 1
			r.TTFT = 1 + vtime.Duration(random.Int64N(1<<40))
			r.E2E = r.TTFT + vtime.Duration(random.Int64N(1<<40))
		}
		list = append(list, r)
		fmt.Fprintf(&text, "%d,%d,%d,%d,%d,%s,%d\n", int64(r.Arrival), r.Input, r.Output, int64(r.TTFT), int64(r.E2E), prompt, ok)
		if i%3 > 0 {
			at += vtime.Time(random.Int64N(1 << 30))
		}
	}
	got, err := readRequests("t", strings.NewReader(text.String()))
	if err != nil || !slices.Equal(got, list) {
		t.Errorf("seed %d: %v", seed, err)
	}
}
