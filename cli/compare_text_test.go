package cli

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"blis/report/plaintext"
)

func TestComparisonsAreColouredOnTerminalsOnly(t *testing.T) {
	if out := done(t, quick()...).out; strings.Contains(out, "\x1b") {
		t.Error("colour where nobody sees it")
	}
}

func TestComparisonNotes(t *testing.T) {
	flat := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	trace := flat(done(t, "compare", "round-robin", "least-loaded", "--trace", "../testdata/traces/blis.csv").out)
	for _, want := range []string{"seeds 42: one run of each bundle", "intervals none: differences are those of this one traffic", "note too few requests for intervals by resampling"} {
		if !strings.Contains(trace, want) {
			t.Errorf("no %q that a trace is always the same:\n%s", want, trace)
		}
	}
	same := flat(done(t, quick("--routing-policy", "least-loaded")...).out)
	for _, want := range []string{"round-robin and least-loaded are the same policies in effect: they are run once", "no significant difference in all 11 measures", "None of them differs significantly from round-robin: ranks are chance"} {
		if !strings.Contains(same, want) {
			t.Errorf("no %q in\n%s", want, same)
		}
	}
}

// A trace that is long enough has intervals of its windows.
func TestTracesHaveIntervals(t *testing.T) {
	args := []string{"compare", "round-robin", "weighted", "--trace", "../examples/compare/documents.csv", "--total-kv-blocks", "6000"}
	out := strings.Join(strings.Fields(done(t, args...).out), " ")
	for _, want := range []string{"intervals moving-block bootstrap: 20 windows of", "window by window, at 95 % confidence", "? not resampled, no interval"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	r := resultOf(t, done(t, append(args, "--format", "json")...).out)
	if e := measureOf(t, r, 1, "mean_ttft"); e["verdict"] != "better" || e["half_width"].(float64) <= 0 || len(e["values"].([]any)) != 1 {
		t.Errorf("mean_ttft of weighted: %v", e)
	}
}

// search writes candidates as a search program would, the last of them broken.
func search(t *testing.T, n int) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i := range n {
		text := fmt.Sprintf("routing: {type: weighted, params: {queue-depth: %d, kv-utilization: %d}}\n", 1+i%7, 1+i/7)
		if i == n-1 {
			text = "routing: {type: weigted}\n"
		}
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("candidate-%03d.yaml", i)))
		if err := os.WriteFile(paths[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// Of sixty bundles the text has one ranking by fitness and the best few in full;
// the broken one is a line of it, and the exit code says so.
func TestManyBundlesAreRanked(t *testing.T) {
	const n = 60
	args := append([]string{"compare", "--num-requests", "150", "--num-instances", "3", "--total-kv-blocks", "400", "--max-num-seqs", "8", "--rate", "40", "--seeds", "2", "--fitness-weights", "throughput:1,p99_ttft@50ms:2"}, search(t, n)...)
	s := blis(t, nil, args...)
	if s.code != exitCheck || s.err != "blis: 1 of 60 bundles have no result: candidate-059\n" {
		t.Errorf("exit %d: %s", s.code, s.err)
	}
	lines := strings.Split(s.out, "\n")
	if len(lines) > n+100 {
		t.Errorf("%d lines for %d bundles", len(lines), n)
	}
	var order []string
	for _, line := range lines {
		if utf8.RuneCountInString(line) > plaintext.Narrowest {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
		if words := strings.Fields(line); len(words) > 2 && strings.HasPrefix(words[1], "candidate-") && !strings.HasSuffix(words[1], ":") && len(order) < n {
			order = append(order, words[1])
		}
	}
	r := resultOf(t, blis(t, nil, append(args, "--format", "json")...).out)
	var want []string
	last, ranked := math.Inf(1), r["ranking"].([]any)
	for _, name := range ranked {
		want = append(want, name.(string))
		var i int
		fmt.Sscanf(name.(string), "candidate-%d", &i)
		if i == n-1 {
			continue
		}
		fitness := measureOf(t, r, i, "fitness")["mean"].(float64)
		if fitness > last {
			t.Errorf("%s with %v stands below %v", name, fitness, last)
		}
		last = fitness
	}
	if d := cmp.Diff(want, order); d != "" || len(want) != n || want[n-1] != "candidate-059" {
		t.Errorf("the text ranks otherwise: %s", d)
	}
	if !strings.Contains(s.out, "error      candidate-059:") || strings.Count(s.out, " against candidate-000: ") != 3 {
		t.Errorf("no error, or other details:\n%s", s.out)
	}
	for _, bad := range loadSchemaOf(t, "compare").check(blis(t, nil, append(args, "--format", "json")...).out) {
		t.Error(bad)
	}
}

// Every format has every bundle, an error included, and the same numbers.
func TestFormatsOfComparisons(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a_1.yaml": "routing: {type: least-loaded}\n", "b|&2.yaml": "scheduler: {type: sjf}\n", "bad.yaml": "routing: {type: none}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	print := func(format string) string {
		s := blis(t, nil, "compare", "round-robin", "a_1.yaml", "b|&2.yaml", "bad.yaml", "--num-requests", "60", "--num-instances", "2", "--seeds", "3", "--format", format)
		if s.code != exitCheck || s.err != "blis: 1 of 4 bundles have no result: bad\n" {
			t.Fatalf("%s: exit %d: %s", format, s.code, s.err)
		}
		return s.out
	}
	r := resultOf(t, print("json"))
	want := measureOf(t, r, 1, "mean_ttft")
	rows, err := csv.NewReader(strings.NewReader(print("csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, row := range rows {
		if row[1] == "a_1" && row[3] == "mean_ttft" {
			found++
			if mean, err := strconv.ParseFloat(row[6], 64); err != nil || mean != want["mean"] || row[11] != want["verdict"] || row[4] != "ms" {
				t.Errorf("CSV has %q, JSON %v", row, want)
			}
		}
		if row[1] == "bad" {
			found++
			if !strings.Contains(row[13], "unknown routing policy") {
				t.Errorf("the error of bad is %q", row)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d rows found", found)
	}
	text := map[string]string{"markdown": print("markdown"), "latex": print("latex")}
	for format, parts := range map[string][]string{
		"markdown": {"| measure | ", " a_1 |", ` b\|&2 |`, "|---|---:|---:|---:|\n", "| mean_ttft, ms | ", "\nbad: "},
		"latex":    {"\\begin{tabular}{lrrr}\n\\toprule\nmeasure & ", ` a\_1`, `b|\&2`, "mean\\_ttft, ms & ", `$\pm$`, `\%`, "\\bottomrule\n\\end{tabular}\n", "% bad: "},
	} {
		for _, part := range parts {
			if !strings.Contains(text[format], part) {
				t.Errorf("%s has no %q:\n%s", format, part, text[format])
			}
		}
	}
	table, _, _ := strings.Cut(text["latex"], "\\end{tabular}")
	_, table, _ = strings.Cut(table, "\\begin")
	for _, r := range table {
		if r > 127 && r != '⟨' {
			t.Errorf("LaTeX with %q: its fonts lack it", r)
		}
	}
	for line := range strings.SplitSeq(text["markdown"], "\n") {
		if strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 5 {
			t.Errorf("a line of other columns: %s", line)
		}
	}
}
