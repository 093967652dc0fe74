package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blis/trace"
)

// records reads a trace file.
func records(t *testing.T, path string) (lines []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	form, err := trace.FormOf(path)
	if err != nil {
		t.Fatal(err)
	}
	r := trace.NewReader(f, form, path)
	for {
		record, err := r.Next()
		if err == io.EOF {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(trace.AppendJSON(nil, record)))
	}
}

// A trace changes nothing of the result, and both forms of files hold the same.
func TestTraceOut(t *testing.T) {
	dir := t.TempDir()
	args := []string{"run", "--num-requests", "300", "--rate", "200", "--routing-policy", "weighted", "--format", "json"}
	plain := done(t, args...)
	var first []string
	for _, name := range []string{"a.jsonl", "b.msgpack"} {
		path := filepath.Join(dir, name)
		s := done(t, append(args, "--trace-out", path, "--trace-level", "detailed", "--counterfactual-k", "2")...)
		if s.out != plain.out {
			t.Errorf("%s: another result than without a trace", name)
		}
		got := records(t, path)
		if len(got) < 1200 || !strings.Contains(got[0], `"level":"detailed"`) {
			t.Errorf("%s: %d records, the first %s", name, len(got), got[0])
		}
		if first == nil {
			first = got
			if text := read(t, path); text != strings.Join(got, "\n")+"\n" {
				t.Errorf("%s is not its records, one per line", name)
			}
		} else if strings.Join(got, "\n") != strings.Join(first, "\n") {
			t.Errorf("%s holds other records than a.jsonl", name)
		}
	}
	path := filepath.Join(dir, "c.jsonl")
	done(t, append(args, "--trace-out", path)...)
	if got := records(t, path)[0]; !strings.Contains(got, `"level":"decisions"`) {
		t.Errorf("without --trace-level: %s", got)
	}
}

// The summary comes with the result: below the text, or under a key that the
// schema knows.
func TestSummarizeTrace(t *testing.T) {
	args := []string{"run", "--num-requests", "300", "--rate", "200", "--slo-targets", "standard:ttft=20ms"}
	plain := done(t, args...)
	s := done(t, append(args, "--summarize-trace", "decision-audit", "--summary-tokens", "300")...)
	text, found := strings.CutPrefix(s.out, plain.out)
	if !found || len(text) < 400 || len([]rune(text)) > 4*300+2 || !strings.HasSuffix(text, "\n") {
		t.Errorf("below the result, %v: %q", found, text)
	}
	j := done(t, append(args, "--format", "json", "--summarize-trace", "pattern")...).out
	if bad := loadSchema(t).check(j); len(bad) > 0 {
		t.Error(bad)
	}
	r := resultOf(t, j)["trace_summary"].(map[string]any)
	if r["strategy"] != "pattern" || r["token_limit"].(float64) != 1000 || r["outcomes"].(map[string]any)["requests"].(float64) != 300 {
		t.Errorf("%.300v", r)
	}
	if _, there := resultOf(t, done(t, append(args, "--format", "json")...).out)["trace_summary"]; there {
		t.Error("a summary that nobody asked for")
	}
}

// A level that goes to no file is summed up in the result, and writes nothing; a
// summary without a strategy begins with issues.
func TestTraceLevelAloneIsSummedUp(t *testing.T) {
	args := []string{"run", "--num-requests", "300", "--rate", "200"}
	audit := done(t, append(args, "--summarize-trace", "decision-audit")...).out
	if got := done(t, append(args, "--trace-level", "decisions")...).out; got != audit {
		t.Error("--trace-level decisions is another result than a decision-audit")
	}
	issues := done(t, append(args, "--summarize-trace", "issue-focused")...).out
	for _, more := range [][]string{{"--summarize-trace"}, {"--summarize-trace", "--seed", "42"}, {"--counterfactual-k", "3", "--summarize-trace"}} {
		if got := done(t, append(args, more...)...).out; got != issues {
			t.Errorf("%v is another result than with issue-focused", more)
		}
	}
	r := resultOf(t, done(t, append(args, "--format", "json", "--trace-level", "detailed")...).out)
	if got := r["trace_summary"].(map[string]any)["strategy"]; got != "decision-audit" {
		t.Errorf("%v", got)
	}
}

// A trace lists the three best instances of each routing decision, or as many as
// it is told to.
func TestCounterfactualsOfATrace(t *testing.T) {
	for k, more := range map[int][]string{3: nil, 2: {"--counterfactual-k", "2"}, 0: {"--counterfactual-k", "0"}} {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		done(t, append([]string{"run", "--num-requests", "50", "--trace-out", path}, more...)...)
		routings := 0
		for _, line := range records(t, path) {
			if !strings.Contains(line, `"type":"routing"`) {
				continue
			}
			routings++
			if got := strings.Count(line, `{"instance":`); k > 0 && got != k || k == 0 && !strings.Contains(line, `"candidates":null`) {
				t.Fatalf("k %d: %d candidates in %s", k, got, line)
			}
		}
		if routings != 50 {
			t.Errorf("k %d: %d routings", k, routings)
		}
	}
}

func TestTraceFlagsAreChecked(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a.jsonl")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--trace-level", "detaild"}, `--trace-level: "detaild" is no trace level, the nearest is "detailed": want none, decisions or detailed`},
		{[]string{"--trace-level", "none", "--trace-out", out}, "--trace-level is none: want decisions or detailed with --trace-out, --summarize-trace, --replay-regret or --details"},
		{[]string{"--counterfactual-k", "3"}, "--counterfactual-k is 3 without a trace: want --trace-level decisions, --trace-out FILE, --summarize-trace or --replay-regret N with it"},
		{[]string{"--counterfactual-k=-1", "--trace-out", out}, "--counterfactual-k is -1: want 0 (off) or more"},
		{[]string{"--trace-out", "a.txt"}, "--trace-out: a.txt: want a name that ends in .jsonl or .msgpack"},
		{[]string{"--trace-out", filepath.Join(out, "b.jsonl")}, "no such file or directory"},
		{[]string{"--summarize-trace", "patern"}, `the nearest is "pattern"`},
		{[]string{"--summarize-trace", "pattern", "--summary-tokens", "7"}, "--summary-tokens is 7: want at least 100"},
		{[]string{"--summary-tokens", "300"}, "--summary-tokens is 300 without a summary: want --summarize-trace STRATEGY with it"},
	} {
		s := blis(t, nil, append([]string{"run"}, c.args...)...)
		if s.code != exitInput || !strings.Contains(s.err, c.want) || s.out != "" || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%v: exit %d: %s", c.args, s.code, s.err)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file of a run that was refused")
	}
}

// A full disk is told at the end, after the result.
func TestTraceOnAFullDisk(t *testing.T) {
	path := fullDisk(t, "full.jsonl")
	for _, n := range []string{"10", "2000"} {
		s := blis(t, nil, "run", "--num-requests", n, "--trace-out", path)
		if s.code != exitCheck || !strings.Contains(s.err, "--trace-out: write "+path+": no space left on device") || !strings.Contains(s.out, "digest") {
			t.Errorf("%s requests: exit %d, %q", n, s.code, s.err)
		}
	}
}

// An interrupted run leaves whole records.
func TestInterruptedTrace(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if s := blisUntil(t, ctx, nil, "run", "--trace-out", path); s.code != exitInterrupted {
		t.Fatalf("exit %d: %s", s.code, s.err)
	}
	if err := os.Rename(path+".partial", path); err != nil {
		t.Fatal(err)
	}
	if got := records(t, path); len(got) != 1 {
		t.Errorf("%d records of a run that did not begin, want a header", len(got))
	}
}
