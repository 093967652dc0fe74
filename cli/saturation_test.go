package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// saturationOf runs a small cluster and returns what is said of its stability; the result keeps to its schema.
func saturationOf(t *testing.T, args ...string) (verdict string, events map[string]int64, input string) {
	t.Helper()
	s := done(t, append([]string{"run", "--format", "json", "--detectors", "all"}, args...)...)
	if bad := loadSchema(t).check(s.out); len(bad) > 0 {
		t.Errorf("%v: %s", args, bad[0])
	}
	var x struct {
		Saturation struct {
			Verdict   struct{ Verdict string }
			Input     string
			Detectors map[string]struct{ Events int64 }
		}
	}
	if err := json.Unmarshal([]byte(s.out), &x); err != nil {
		t.Fatal(err)
	}
	events = map[string]int64{}
	for name, r := range x.Saturation.Detectors { // any order
		events[name] = r.Events
	}
	return x.Saturation.Verdict.Verdict, events, x.Saturation.Input
}

// Twice what a cluster can serve is overloaded, half of it is not, and a gateway that refuses the rest neither makes it
// stable nor hides it from the detectors.
func TestSaturation(t *testing.T) {
	load := []string{"--num-instances", "1", "--max-num-seqs", "16", "--num-requests", "600", "--prompt-tokens", "100", "--output-tokens", "100"}
	for _, c := range []struct{ args, want, input string }{
		{"--rate 5", "STABLE", "completed"}, {"--rate 60", "OVERLOADED", "completed"},
		{"--rate 60 --flow-control --saturation-detector concurrency --max-concurrency 16 --max-gateway-queue-depth 4", "OVERLOADED", "all"},
	} {
		verdict, events, input := saturationOf(t, append(load[:len(load):len(load)], strings.Fields(c.args)...)...)
		if verdict != c.want || input != c.input || len(events) != 3 {
			t.Errorf("%s: %s, input %s, %v; want %s, %s", c.args, verdict, input, events, c.want, c.input)
		}
	}
}

// Who asks for the verdict gets the result that he gets without, and the rows that he asks for.
func TestSaturationChangesNothing(t *testing.T) {
	dir := t.TempDir()
	plain := done(t, small("--format", "json", "--requests-out", filepath.Join(dir, "a.csv"))...)
	asked := done(t, small("--format", "json", "--requests-out", filepath.Join(dir, "b.csv"), "--detectors", "composite", "--saturation-threshold", "1s", "--saturation-window", "1s", "--saturation-final-window", "1s", "--detectors-input", "all")...)
	if read(t, filepath.Join(dir, "a.csv")) != read(t, filepath.Join(dir, "b.csv")) {
		t.Error("other rows")
	}
	digest := func(text string) string {
		var x struct{ Digest string }
		if err := json.Unmarshal([]byte(text), &x); err != nil || x.Digest == "" {
			t.Fatalf("%v: %s", err, text)
		}
		return x.Digest
	}
	if digest(plain.out) != digest(asked.out) || strings.Contains(plain.out, `"saturation":`) {
		t.Error("another result")
	}
}

// What is wrong with the flags is one line.
func TestSaturationFlags(t *testing.T) {
	for _, x := range []struct{ args, want string }{
		{"--detectors compost", `--detectors: there is no detector "compost", the nearest is "composite": want composite, threshold, backlog-drift`},
		{"--detectors all,all", `--detectors: there is no detector "all"`},
		{"--detectors-input all", "--detectors-input has no effect without --detectors"},
		{"--saturation-window 1s", "--saturation-window has no effect without --detectors"},
		{"--saturation-threshold 1s", "--saturation-threshold has no effect without --detectors"},
		{"--saturation-final-window 1s", "--saturation-final-window has no effect without --detectors"},
		{"--detectors all --detectors-input none", `--detectors-input is "none": want completed or all`},
		{"--detectors all --saturation-window 0", "--saturation-window is 0µs: want at least 1ms"},
		{"--detectors all --saturation-threshold -5s", "--saturation-threshold is -5"},
	} {
		s := blis(t, nil, append([]string{"run"}, strings.Fields(x.args)...)...)
		if s.code != 2 || !strings.Contains(s.err, x.want) || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s: exit %d: %s", x.args, s.code, s.err)
		}
	}
}
