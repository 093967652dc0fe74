package cli

import (
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blis/trace"
)

// A stored trace has the summary that its run prints, byte by byte: of random
// runs, at each level, in each form.
func TestTraceSummarizeIsTheSummaryOfTheRun(t *testing.T) {
	const seed = 4
	t.Logf("seed %d", seed)
	g := rand.New(rand.NewPCG(seed, 0))
	pick := func(list ...string) string { return list[g.IntN(len(list))] }
	for n := range 12 {
		level := []string{"decisions", "detailed"}[n%2]
		path := filepath.Join(t.TempDir(), "t"+pick(".jsonl", ".msgpack"))
		strategy, tokens := string(trace.Strategies()[n%4]), fmt.Sprint(100+g.IntN(1500))
		args := []string{
			"run", "--seed", fmt.Sprint(g.IntN(1000)), "--num-requests", fmt.Sprint(1 + g.IntN(300)), "--num-instances", fmt.Sprint(1 + g.IntN(5)),
			"--rate", fmt.Sprint(20 + g.IntN(300)), "--routing-policy", pick("weighted", "round-robin", "least-loaded", "power-of-two"),
			"--admission-policy", pick("always-admit", "reject-all", "always-admit"), "--scheduler", pick("fcfs", "priority"),
			"--counterfactual-k", pick("0", "1", "4"), "--trace-level", level, "--trace-out", path,
			"--summarize-trace", strategy, "--summary-tokens", tokens,
		}
		if g.IntN(2) > 0 {
			args = append(args, "--slo-targets", "standard:ttft=20ms,e2e=3s")
		}
		if g.IntN(3) == 0 {
			args = append(args, "--horizon", "500ms")
		}
		run := done(t, args...)
		text := done(t, "trace", "summarize", path, "--strategy", strategy, "--summary-tokens", tokens)
		if !strings.HasSuffix(run.out, "\n\n"+text.out) {
			t.Fatalf("%v:\n%s\nis not the end of\n%s", args, text.out, run.out)
		}
		json := done(t, append(args, "--format", "json")...).out
		stored := done(t, "trace", "summarize", path, "--strategy", strategy, "--summary-tokens", tokens, "--format", "json").out
		if !strings.Contains(json, `"trace_summary": `+strings.TrimSuffix(stored, "\n")) {
			t.Fatalf("%v: the JSON of the stored trace is not in that of the run:\n%s", args, stored)
		}
	}
}

// Packed traces and standard input are read; a trace without the ends of its
// requests is said to be one.
func TestTraceSummarizeReadsWhatThereIs(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "t.jsonl")
	done(t, "run", "--num-requests", "40", "--trace-out", path)
	want := done(t, "trace", "summarize", path).out
	text := read(t, path)
	f, err := os.Create(filepath.Join(folder, "t.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	zip := gzip.NewWriter(f)
	zip.Write([]byte(text))
	zip.Close()
	f.Close()
	if s := done(t, "trace", "summarize", f.Name()); s.out != want || s.err != "" {
		t.Errorf("packed: %s%s", s.err, s.out)
	}
	if said, code := shell(t, folder, "$BLIS trace summarize - <t.jsonl.gz >a && $BLIS trace summarize t.jsonl >b && cmp a b && cat t.jsonl | $BLIS trace summarize --format json - | head -c 40"); code != 0 || said != `{"schema":"blis.trace-summary/v1","strat` {
		t.Errorf("exit %d: %s", code, said)
	}
	lines := strings.SplitAfter(text, "\n")
	half := file(t, "half.jsonl", strings.Join(lines[:len(lines)/2], ""))
	if s := done(t, "trace", "summarize", half); !strings.Contains(s.err, "no outcome: the run was interrupted, or the file is not whole") || strings.Count(s.err, "\n") != 1 {
		t.Errorf("half a trace: %s", s.err)
	}
}

// Faults are one line with file, line and field, and exit 2.
func TestTraceSummarizeFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	done(t, "run", "--num-requests", "5", "--trace-out", path)
	text := read(t, path)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"no/such.jsonl"}, "no/such.jsonl: no such file or directory"},
		{[]string{path, "--strategy", "patern"}, `--strategy: "patern" is no strategy of a trace summary: want issue-focused, decision-audit, counterfactual, pattern, the nearest is "pattern"`},
		{[]string{path, "--summary-tokens", "7"}, "--summary-tokens is 7: want at least 100"},
		{[]string{path, "--format", "yaml"}, "format"},
		{[]string{}, "file"},
		{[]string{file(t, "cut.jsonl", text[:len(text)-20])}, "cut.jsonl: line 21: "},
		{[]string{file(t, "bad.jsonl", strings.Replace(text, `"admit"`, `"admitt"`, 1))}, `bad.jsonl: line 2: field verdict: "admitt", want admit, reject or delay`},
		{[]string{file(t, "other.csv", "arrival,input\n1,2\n")}, "other.csv: line 1: want a JSON object"},
		{[]string{file(t, "empty.jsonl", "")}, "empty.jsonl: line 1: the file is empty, want a header"},
		{[]string{t.TempDir()}, "is a directory"},
	} {
		s := blis(t, nil, append([]string{"trace", "summarize"}, c.args...)...)
		if s.code != exitInput || s.out != "" || strings.Count(s.err, "\n") != 1 || !strings.Contains(s.err, c.want) {
			t.Errorf("%v: exit %d: %s%s, want %s", c.args, s.code, s.out, s.err, c.want)
		}
	}
}
