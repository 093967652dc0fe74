package traces

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What load generators wrote is replayed from the first request on, in the order
// in which requests were sent.
func TestFilesOfLoadGeneratorsAreTraffic(t *testing.T) {
	for _, c := range []struct {
		file   string
		format Format
		want   string
		notes  []string
	}{
		{"vllm_bench.json", VLLMBench, "0:512:3 500000:100:1 1274151:512:4 1774151:300:0",
			[]string{"1 of 4 requests failed; they are replayed with the answers that they had"}},
		{"guidellm.json", GuideLLM, "0:128:10 500000:64:1 1000000:200:3",
			[]string{"1 of 4 requests tell no length of prompt or no time, and are left out", "1 of 4 requests were cut off as the run ended; they are replayed with the answers that they had"}},
		{"guidellm_0.3.json", GuideLLM, "0:11:5 9750000:13:7 10000000:12:6",
			[]string{"the file has 2 runs, which are replayed one after the other"}},
		{"aiperf.jsonl", AIPerf, "0:550:9 1000000:300:0 1500000:700:25",
			[]string{"1 of 3 requests failed; they are replayed with the answers that they had", "1 of 4 requests are of the warmup, and left out",
				"the file does not tell what prompts have in common: rounds of a session share nothing here"}},
		{"genai_perf.json", GenAIPerf, "0:36:2 250000:40:3",
			[]string{"1 of 3 requests tell no length of prompt or no time, and are left out"}},
		{"inference_perf.json", InferencePerf, "0:50:7 250000:100:3",
			[]string{"1 of 3 requests tell no length of prompt or no time, and are left out"}},
		{"inference_perf_0.2.json", InferencePerf, "0:20:3 1000000:21:2", nil},
		{"otlp.json", OTLP, "0:1000:20 1000500:300:7",
			[]string{"1 of 3 requests tell no length of prompt or no time, and are left out", "2 of 5 spans are no requests"}},
	} {
		trace, err := OpenFile(filepath.Join("..", "..", "testdata", "loadgen", c.file), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		t.Run(c.file, func(t *testing.T) { reads(t, trace, c.format, c.want, c.notes...) })
	}
}

// The two rounds of a conversation are a session; the request alone is none.
func TestConversationsOfLoadGeneratorsAreSessions(t *testing.T) {
	trace, err := OpenFile(filepath.Join("..", "..", "testdata", "loadgen", "aiperf.jsonl"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range pull(t, trace) {
		got = append(got, fmt.Sprintf("%d/%d", r.Session, r.Round))
	}
	if s := strings.Join(got, " "); s != "1/0 0/0 1/1" {
		t.Errorf("sessions and rounds %s", s)
	}
}

// Before version 0.15 vllm bench serve did not write when it sent its requests:
// they need a rate, as lengths do.
func TestResultsWithoutTimesNeedARate(t *testing.T) {
	const text = `{"model_id":"m","input_lens":[5,6],"output_lens":[1,2],"ttfts":[0.1,0.2],"itls":[[],[0.1]],"errors":["",""]}`
	_, err := Open("t", strings.NewReader(text), Options{})
	if want := "rate: not given: want --rate, requests per second: the rows of t have no arrivals (format vllm-bench)"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	trace := traceText(t, text, Options{Pace: &steps{gap: 9}})
	reads(t, trace, VLLMBench, "9:5:1 18:6:2")
	if !trace.Paced() {
		t.Error("not paced")
	}
}

// Runs of one file are replayed in turn only if one clock says so.
func TestRunsOnSeveralClocksAreRefused(t *testing.T) {
	run := func(start float64) string {
		return fmt.Sprintf(`{"model_id":"m","input_lens":[5,6],"output_lens":[1,2],"ttfts":[0.1,0.2],"itls":[[],[0.1]],"start_times":[%g,%g]}`+"\n", start, start+1)
	}
	reads(t, traceText(t, run(100)+run(200), Options{}), VLLMBench, "0:5:1 1000000:6:2 100000000:5:1 101000000:6:2",
		"the file has 2 runs, which are replayed one after the other")
	_, err := Open("t", strings.NewReader(run(200)+run(100)), Options{})
	if err == nil || err.Error() != "t: run 2 begins before the last request of run 1 was sent, so their clocks are not one: want one run a file" {
		t.Errorf("%v", err)
	}
}

func TestBadRequestsOfLoadGeneratorsAreCounted(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "loadgen", "inference_perf_0.2.json"))
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.Replace(string(text), `"input_tokens": 21`, `"input_tokens": -21`, 1)
	_, err = Open("t", strings.NewReader(bad), Options{})
	want := `t:2: input_tokens: "-21": want a whole number from 0 to 2147483647`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	trace := traceText(t, bad, Options{SkipBadRows: true})
	reads(t, trace, InferencePerf, "0:20:3")
	if n, first := trace.Skipped(); n != 1 || first.Error() != want {
		t.Errorf("%d skipped, the first: %v", n, first)
	}
}

func FuzzLoadGenerators(f *testing.F) {
	files, err := filepath.Glob("../../testdata/loadgen/*")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	var seeds []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, string(text))
	}
	fuzzTrace(f, Guess, seeds...)
}
