package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// blis run replays what load generators wrote; requests and tokens were counted
// by hand.
func TestRunReplaysResultsOfLoadGenerators(t *testing.T) {
	for file, want := range map[string][3]int{ // requests, tokens of prompts, tokens of answers
		"vllm_bench.json":         {4, 512 + 100 + 512 + 300, 3 + 1 + 4},
		"guidellm.json":           {3, 128 + 64 + 200, 10 + 1 + 3},
		"guidellm_0.3.json":       {3, 11 + 12 + 13, 5 + 6 + 7},
		"aiperf.jsonl":            {3, 550 + 700 + 300, 9 + 25},
		"genai_perf.json":         {2, 36 + 40, 2 + 3},
		"inference_perf.json":     {2, 100 + 50, 3 + 7},
		"inference_perf_0.2.json": {2, 20 + 21, 3 + 2},
		"otlp.json":               {2, 1000 + 300, 20 + 7},
	} {
		s := done(t, "run", "--trace", filepath.Join("..", "testdata", "loadgen", file), "--format", "json")
		var j struct {
			Injected int `json:"injected_requests"`
			Input    int `json:"total_input_tokens"`
			Output   int `json:"total_output_tokens"`
		}
		if err := json.Unmarshal([]byte(s.out), &j); err != nil {
			t.Fatal(err)
		}
		if got := [3]int{j.Injected, j.Input, j.Output}; got != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}

// What of a trace is left out is a note of the run, and the columns that the user
// wants ignored are among it.
func TestRunNotesWhatItLeavesOutOfATrace(t *testing.T) {
	path := file(t, "t.csv", ",arrival_us,input_tokens,output_tokens,cost,slo_class\n0,5,7,8,0.1,standrad\n1,9,7,8,0.1,mine\n")
	s := blis(t, nil, "run", "--trace", path)
	if s.code != exitInput || !strings.Contains(s.err, `unknown "cost"`) || !strings.Contains(s.err, "trace-ignore-columns leaves others out") {
		t.Errorf("exit %d: %s", s.code, s.err)
	}
	var j struct{ Setup struct{ Notes []string } }
	out := done(t, "run", "--trace", path, "--trace-ignore-columns", "cost", "--slo-targets", "mine:ttft=1s", "--format", "json").out
	if err := json.Unmarshal([]byte(out), &j); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(j.Setup.Notes, "\n")
	for _, want := range []string{
		`not used of ` + path + `: column 1, which has no name, "cost"`,
		`1 of 2 requests of ` + path + ` are of classes that are not among critical, standard, sheddable, batch, background: "standrad" (1; near: standard)`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no note %q in\n%s", want, all)
		}
	}
}
