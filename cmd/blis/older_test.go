package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Command lines of older scripts for the public simulator run as they are.
func TestOlderWorkloadFlag(t *testing.T) {
	trace := "../../testdata/traces/blis.csv"
	for older, newer := range map[string]string{
		"--workload distribution --rate 100 --max-prompts 50":      "--rate 100 --num-requests 50",
		"--workload traces --workload-traces-filepath " + trace:    "--trace " + trace,
		"--workload=traces --workload-spec= --trace=" + trace + "": "--trace " + trace,
	} {
		a, b := blis(t, nil, strings.Fields("run "+older)...), blis(t, nil, strings.Fields("run "+newer)...)
		if a.code != 0 || a.out != b.out {
			t.Errorf("%s: exit %d %s\n%s\nwant\n%s", older, a.code, a.err, a.out, b.out)
		}
	}
}

// What says where requests come from in two ways, or in the wrong form, is one
// line with the flag that would be right.
func TestMisplacedWorkloads(t *testing.T) {
	dir := t.TempDir()
	specification := filepath.Join(dir, "w.yaml")
	text, err := os.ReadFile("../../examples/workloads/rag.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(specification, text, 0o600); err != nil {
		t.Fatal(err)
	}
	window := file(t, "chunk-0-trace.csv", "0,1,1,Gamma,1,1\n600,2,1,Gamma,1,0.5\n")
	dataset := `{"0": {"input_tokens": "{9: 1.0}", "output_tokens": "{3: 1.0}"}}`
	if err := os.WriteFile(filepath.Join(filepath.Dir(window), "chunk-0-dataset.json"), []byte(dataset), 0o600); err != nil {
		t.Fatal(err)
	}
	trace := "../../testdata/traces/blis.csv"
	for _, c := range []struct{ args, want string }{
		{"run --workload traces", "--workload traces: no trace is given, want --trace FILE too"},
		{"run --workload distribution --scenario sanity", "--workload distribution: given beside --scenario sanity, want one of them"},
		{"run --workload distribution --trace " + trace, "--workload distribution: given beside --trace " + trace + ", want one of them"},
		{"run --workload trace", `--workload: unknown workload "trace", the nearest is "traces" (there are: distribution, traces); lengths are given with --prompt-tokens and --output-tokens, see also --scenario`},
		{"run --trace " + specification, specification + ": YAML that is no header of a trace: want a trace, or --workload-spec for a specification"},
		{"run --workload-spec " + trace, "--workload-spec: " + trace + ": no specification in YAML; a trace is given with --trace"},
		{"run --workload-spec absent.csv", "--workload-spec: absent.csv: no such file or directory"},
		{"run --trace absent.yaml", "--trace: absent.yaml: no such file or directory"},
		{"run --trace " + window, window + ": ServeGen's data say how often clients send over days: want --trace-limit (requests) or --horizon (virtual time)"},
	} {
		s := blis(t, nil, strings.Fields(c.args)...)
		if s.code != exitInput || s.err != "blis: "+c.want+"\n" || s.out != "" {
			t.Errorf("%s: exit %d: %q, want %q", c.args, s.code, s.err, c.want)
		}
	}
	if s := blis(t, nil, "run", "--trace", window, "--trace-limit", "20"); s.code != 0 || !strings.Contains(s.out, "20 injected") {
		t.Errorf("exit %d: %s%s", s.code, s.err, s.out)
	}
}

// The warning of little load names what would raise it in this run.
func TestLowLoadSaysWhatToRaise(t *testing.T) {
	slow := file(t, "w.yaml", "num_requests: 40\nclients: [{rate: 1, input_distribution: {type: constant, params: {value: 90}}, output_distribution: {type: constant, params: {value: 9}}}]\n")
	for args, want := range map[string]string{
		"--rate 1 --num-requests 40":                                        "raise --rate",
		"--concurrency 2 --num-requests 40":                                 "raise --concurrency",
		"--workload-spec " + slow:                                           "raise the rates of the specification",
		"--scenario sanity --rate 0.1 --num-requests 40":                    "raise --rate",
		"--trace ../../examples/compare/documents.csv --trace-speedup 0.01": "raise --trace-speedup",
	} {
		if s := blis(t, nil, strings.Fields("run "+args)...); !strings.Contains(strings.Join(strings.Fields(s.out), " "), "requests hardly wait; "+want+" digest") {
			t.Errorf("%s: exit %d, want %q in\n%s%s", args, s.code, want, s.out, s.err)
		}
	}
}

func TestPercentStaysWithItsNumber(t *testing.T) {
	var b strings.Builder
	text := strings.Repeat("x", textWidth-labelWidth-len(" 21.9")) + " 21.9 % of it"
	(&textWriter{w: &b}).line("tenants", text)
	if !strings.Contains(b.String(), "\n"+strings.Repeat(" ", labelWidth)+"21.9 % of it\n") {
		t.Errorf("%q", b.String())
	}
}
