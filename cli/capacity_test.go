package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"blis/internal/testsize"
)

// quickCapacity is a search of a second: one instance with short answers and short windows.
func quickCapacity(more ...string) []string {
	return append([]string{"capacity", "--num-instances", "1", "--output-tokens", "24", "--output-tokens-stdev", "12", "--window", "500", "--max-windows", "1500"}, more...)
}

// TestCapacityExitCodes: each outcome has its own, and prints its answer all the same.
func TestCapacityExitCodes(t *testing.T) {
	for _, c := range []struct {
		name string
		code int
		want []string // on standard output
		note string   // on standard error
		args []string
	}{
		{"found", 0, []string{"\ncapacity   ", "it no longer holds)", "at least 9 of 10 windows of", "fewer than 9 of 10 do", "is at most 5 %", "not in it: expected E2E", "vllm serve meta-llama/Llama-3.1-8B-Instruct --tensor-parallel-size 1 --max-num-seqs 1024", "blis run ", "--check=p99_ttft<=100ms"},
			"", quickCapacity("--slo", "p99_ttft=100ms", "--over", "rate=5..400", "--precision", "20%")},
		{"the range is too low", 6, []string{"more than the range: at 10 req/s it still holds"}, "every load of the range holds", quickCapacity("--slo", "p99_ttft=100ms", "--over", "rate=5..10", "--precision", "0.2")},
		{"the range is too high", 5, []string{"none in the range: not even at 80 req/s"}, "no load of the range holds", quickCapacity("--slo", "p99_ttft=100ms", "--over", "rate=80..100")},
		{"one request is too slow", 5, nil, "no load meets p99_ttft<=5ms: requests that are alone in the cluster have", quickCapacity("--slo", "p99_ttft=5ms", "--over", "rate=5..10")},
		{"few windows", 7, []string{"NOT CERTIFIED: ", "seems"}, "could not be certified", quickCapacity("--slo", "p99_ttft=100ms", "--over", "rate=5..400", "--max-windows", "45")},
		{"does not fit", 3, nil, "does not fit", quickCapacity("--slo", "p99_ttft=100ms", "--over", "rate=5..400", "--model", "Llama-3.1-70B")},
		{"no bound", 2, nil, "--slo: want at least one bound", quickCapacity("--over", "rate=5..10")},
		{"no range", 2, nil, "--over: want a setting", quickCapacity("--slo", "p99_ttft=100ms")},
		{"bad window", 2, nil, `--window: "x"`, quickCapacity("--slo", "p99_ttft=100ms", "--over", "rate=5..10", "--window", "x")},
		{"bad warm-up", 2, nil, "--warmup:", quickCapacity("--slo", "p99_ttft=100ms", "--over", "rate=5..10", "--warmup", "long")},
		{"bad precision", 2, nil, "--precision", quickCapacity("--slo", "p99_ttft=100ms", "--over", "rate=5..10", "--precision", "90%")},
	} {
		s := blis(t, nil, c.args...)
		if s.code != c.code || !strings.Contains(s.err, c.note) {
			t.Errorf("%s: exit code %d, want %d; on standard error\n%s", c.name, s.code, c.code, s.err)
		}
		for _, want := range c.want {
			if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(s.out, "\n  ", " "), "'", ""), strings.ReplaceAll(want, "\n", "\n")) {
				t.Errorf("%s: want %q in\n%s", c.name, want, s.out)
			}
		}
		if c.want == nil && s.out != "" {
			t.Errorf("%s: printed\n%s", c.name, s.out)
		}
	}
}

// TestCapacityJSON: the result has the form of its schema, for every outcome.
func TestCapacityJSON(t *testing.T) {
	for _, args := range [][]string{
		quickCapacity("--slo", "p99_ttft=100ms,completed_share=0.99", "--over", "rate=5..400", "--precision", "20%", "--gpu-hour-price", "2"),
		quickCapacity("--slo", "p99_ttft=100ms", "--over", "rate=80..100"),
		{"capacity", "--slo", "p99_ttft=120ms", "--over", "num-instances=1..16", "--trace", "../examples/replay/requests.csv", "--rate", "40"},
	} {
		s := blis(t, nil, append(args, "--format", "json")...)
		for _, bad := range loadSchemaOf(t, "capacity").check(s.out) {
			t.Errorf("%v: %s", args, bad)
		}
		var result struct{ Outcome string }
		if err := json.Unmarshal([]byte(s.out), &result); err != nil || result.Outcome == "" {
			t.Errorf("%v: %v", args, err)
		}
	}
	s := blis(t, nil, quickCapacity("--slo", "p99_ttft=5ms", "--over", "rate=5..10", "--format", "json")...)
	if bad := loadSchemaOf(t, "error").check(s.out); bad != nil || !strings.Contains(s.out, `"no_load"`) {
		t.Errorf("%v: %s", bad, s.out)
	}
}

// TestInterruptedCapacity: Ctrl-C prints what was known, marked as such.
func TestInterruptedCapacity(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	progress := writerFunc(func(p []byte) {
		if strings.Contains(string(p), "certifying") {
			cancel()
		}
	})
	c := &console{out: &out, err: progress, tempo: tempo{line: time.Millisecond}, lookup: func(string) (string, bool) { return "", false }, environ: func() []string { return nil }}
	code := execute(ctx, quickCapacity("--slo", "p99_ttft=100ms", "--over", "rate=5..400", "--window", "5000"), c)
	s := session{out: out.String(), code: code}
	if s.code != exitInterrupted || !strings.Contains(s.out, "PARTIAL") || !strings.Contains(s.out, "NOT CERTIFIED") {
		t.Errorf("exit code %d, printed\n%s%s", s.code, s.out, s.err)
	}
}

// writerFunc is a writer that calls a function.
type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

// The pages show what the commands print.
func TestPagesShowRealCapacities(t *testing.T) {
	t.Chdir("..")
	page := read(t, "docs/capacity.md")
	commands := 0
	for line := range strings.SplitSeq(page, "\n") {
		command, is := strings.CutPrefix(line, "    blis ")
		if !is || !strings.HasPrefix(command, "capacity") || strings.Contains(command, "requests.csv") && !strings.Contains(command, "examples/") {
			continue
		}
		commands++
		if strings.Contains(command, "rate=20..600") && testsize.Of(true, true, false) {
			continue // takes half a minute
		}
		s := blis(t, nil, strings.Fields(command)...)
		if !strings.Contains(page, "```\n"+s.out+"```\n") {
			t.Errorf("docs/capacity.md shows something else of blis %s than\n%s", command, s.out)
		}
	}
	if commands < 2 {
		t.Errorf("%d commands", commands)
	}
}
