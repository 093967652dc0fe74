package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"blis/actors"
	"blis/setup"
)

// A workload's lengths are those of setup; distribution is what the flags say.
func TestWorkloadsAreLengths(t *testing.T) {
	for _, name := range setup.WorkloadNames()[2:] {
		got, _ := parsed(t, "--workload", name, "--rate", "3")
		want := actors.DefaultConfig()
		want.Rate = 3
		if err := want.UseWorkload(name, func(string) bool { return false }); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(actors.Config{}, "Custom")); d != "" || got.PromptTokens == actors.DefaultConfig().PromptTokens {
			t.Errorf("%s: %v prompt tokens: %s", name, got.PromptTokens, d)
		}
	}
	usual, _ := parsed(t, "--workload", "distribution", "--prompt-tokens", "9")
	want := actors.DefaultConfig()
	want.PromptTokens = 9
	if d := cmp.Diff(want, usual, cmpopts.IgnoreFields(actors.Config{}, "Custom")); d != "" {
		t.Error(d)
	}
}

// Single lengths win where they count as much as --workload, or more.
func TestLengthsWinOverPresets(t *testing.T) {
	config := file(t, "run.yaml", "prompt-tokens: 33\n")
	for _, c := range []struct {
		args           []string
		env            map[string]string
		prompt, output string
	}{
		{[]string{"--workload", "chatbot", "--output-tokens", "77"}, nil, "256", "77"},
		{[]string{"--output-tokens", "77", "--workload", "chatbot"}, nil, "256", "77"},
		{[]string{"--workload", "chatbot", "--config", config}, map[string]string{"BLIS_OUTPUT_TOKENS": "5"}, "256", "256"},
		{[]string{"--prompt-tokens", "1000", "--config", config}, map[string]string{"BLIS_WORKLOAD": "contentgen"}, "1000", "1024"},
		{nil, map[string]string{"BLIS_WORKLOAD": "multidoc", "BLIS_OUTPUT_TOKENS": "500"}, "10240", "500"},
	} {
		s := blis(t, c.env, append([]string{"run", "--print-config"}, c.args...)...)
		if !strings.Contains(s.out, "\nprompt-tokens: "+c.prompt+"\n") || !strings.Contains(s.out, "\noutput-tokens: "+c.output+"\n") || s.err != "" {
			t.Errorf("%v %v: exit %d: %s%s", c.args, c.env, s.code, s.err, s.out)
		}
	}
}

// A command line of the public simulator runs, and shows what its flags say.
func TestWorkloadOfThePublicSimulator(t *testing.T) {
	trace := "../testdata/traces/blis.csv"
	if s := done(t, "workload", "show", "--workload", "traces", "--workload-traces-filepath", trace); !strings.Contains(s.out, "4 requests of blis.csv") {
		t.Errorf("%.200s", s.out)
	}
	old := done(t, "run", "--format", "json", "--workload", "distribution", "--max-prompts", "70", "--rate", "5", "--prompt-tokens", "100", "--prompt-tokens-stdev", "30",
		"--prompt-tokens-min", "50", "--prompt-tokens-max", "160", "--output-tokens", "20", "--output-tokens-stdev", "9", "--output-tokens-min", "3", "--output-tokens-max", "60", "--prefix-tokens", "40")
	r := resultOf(t, old.out)
	if r["completed_requests"] != 70.0 {
		t.Errorf("%v of 70 requests completed", r["completed_requests"])
	}
	show := resultOf(t, showOf(t, "--format", "json", "--workload", "summarization", "--num-requests", "4000").out)
	input := show["input_tokens"].(map[string]any)
	if mean := input["mean"].(float64); mean < 4096-5*500/63 || mean > 4096+5*500/63 || input["max"].(float64) > 8192 {
		t.Errorf("summaries are of %v tokens", input)
	}
	s := done(t, "compare", "round-robin", "least-loaded", "--workload", "chatbot", "--num-requests", "50", "--num-instances", "2", "--seeds", "2", "--format", "json")
	if config, ok := resultOf(t, s.out)["config"].(map[string]any); !ok || config["prompt-tokens"] != 256.0 {
		t.Errorf("compare takes %v", config["prompt-tokens"])
	}
	for args, want := range map[string]string{ // any order: each is a call of its own
		"run --workload chatbt":                         `--workload: unknown workload "chatbt", the nearest is "chatbot" (there are: distribution, traces, chatbot, contentgen, summarization, multidoc)`,
		"run --workload sanity":                         "--workload: sanity: a scenario, want --scenario sanity",
		"run --workload traces":                         "--workload: traces: no file is given, want --trace FILE",
		"run --workload distribution --trace " + trace:  "--workload distribution and --trace: each says what arrives: want one of them",
		"run --workload chatbot --scenario sanity":      "--workload chatbot and --scenario: each says what arrives: want one of them",
		"compare fcfs --workload chatbt":                `--workload: unknown workload "chatbt", the nearest is "chatbot" (there are: distribution, traces, chatbot, contentgen, summarization, multidoc)`,
		"workload show " + trace + " --workload traces": trace + " and --workload traces are both workloads: want one of them",
	} {
		if s := blis(t, nil, strings.Fields(args)...); s.code != exitInput || s.err != "blis: "+want+"\n" || s.out != "" {
			t.Errorf("%s: exit %d: %q, want %q", args, s.code, s.err, want)
		}
	}
	// A file beats what the environment says.
	if s := blis(t, map[string]string{"BLIS_WORKLOAD": "traces"}, "workload", "show", trace); !strings.Contains(s.out, "4 requests of blis.csv") || s.err != "" {
		t.Errorf("exit %d: %s", s.code, s.err)
	}
}
