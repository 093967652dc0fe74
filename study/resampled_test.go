package study

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/workload/traces"
	"blis/workload/traffic"
)

// traced is a comparison under a trace of this many requests.
func traced(t *testing.T, requests int) Comparison {
	t.Helper()
	var text bytes.Buffer
	source, err := traffic.NewSynthetic(traffic.SyntheticConfig{Seed: 8, Rate: 55, Requests: int64(requests),
		Input: traffic.Normal{Mean: 200, Stdev: 100, Min: 2, Max: 900}, Output: traffic.Normal{Mean: 40, Stdev: 20, Min: 2, Max: 100}})
	if err != nil {
		t.Fatal(err)
	}
	if err := traces.Write(&text, source); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "trace.csv")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := small()
	cfg.NumRequests, cfg.Trace = 0, path
	return NewComparison(cfg, three(t)...)
}

// Of a trace each bundle runs once, and its windows give intervals, the same
// ones on any number of workers.
func TestTracesAreResampled(t *testing.T) {
	c := traced(t, 900)
	var first *Result
	for _, workers := range []int{1, 2, 3, 8} {
		c.Pool.Workers = workers
		p, err := NewPlan(c)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r
		}
		if d := equal(first, r); d != "" || p.Runs() != 3 {
			t.Errorf("%d workers, %d runs: %s", workers, p.Runs(), d)
		}
	}
	if i := first.Intervals; i.Method != Bootstrap || i.Windows != 45 || i.Block < 1 || i.Series != resamples || len(first.Replicates) != 1 || len(first.Notes) > 0 {
		t.Errorf("%+v, replicates %v, notes %q", i, first.Replicates, first.Notes)
	}
	for _, name := range []string{"round-robin", "least-loaded", "weighted"} {
		e := estimateOf(t, first, name, "mean_ttft")
		if e.HalfWidth == nil || !(*e.HalfWidth > 0 && *e.HalfWidth < *e.Mean) || name != "round-robin" && e.Verdict == Undecided {
			t.Errorf("%s: %+v", name, e)
		}
		if e := estimateOf(t, first, name, "p99_itl"); e.HalfWidth != nil || name != "round-robin" && e.Verdict != Undecided {
			t.Errorf("gaps between tokens are not resampled: %+v", e)
		}
	}
}

// Where seeds decide nothing each bundle runs once, whatever is asked for; where
// they decide ties alone, that is said.
func TestRunsThatSeedsDecide(t *testing.T) {
	drawing := parse(t, "power-of-two", "routing: {type: power-of-two}")
	fixed := []Bundle{parse(t, "round-robin", "routing: {type: round-robin}"), parse(t, "lowest", "routing: {type: least-loaded, params: {tie: lowest}}")}
	for _, c := range []struct {
		name     string
		requests int // of the trace; 0: generated traffic
		bundles  []Bundle
		method   Method
		runs     []int
		want     Method
		note     string
	}{
		{"a trace", 900, append(slices.Clone(fixed), drawing), "", []int{1, 1, 1}, Bootstrap, ""},
		{"a short trace", 90, fixed, "", []int{1, 1}, Exact, "too few requests for intervals by resampling, which take 400"},
		{"a trace without draws and seeds", 90, fixed, FromSeeds, []int{1, 1}, Exact, "seeds change nothing here, neither the trace nor a decision"},
		{"a trace with draws and seeds", 90, append(slices.Clone(fixed), drawing), FromSeeds, []int{1, 1, 4}, FromSeeds, "the trace is the same for every seed: intervals say how much the draws"},
		{"generated", 0, fixed, "", []int{4, 4}, FromSeeds, ""},
		{"generated, resampled", 0, fixed, Bootstrap, []int{1, 1}, Bootstrap, "windows of the run depend on each other"}, // half a second of arrivals
	} {
		t.Run(c.name, func(t *testing.T) {
			base := small()
			base.NumRequests = 500
			if c.requests > 0 {
				base = traced(t, c.requests).Base
			}
			comparison := NewComparison(base, c.bundles...)
			comparison.Replicates, comparison.Intervals = 4, c.method
			r, err := Compare(t.Context(), comparison)
			if err != nil {
				t.Fatal(err)
			}
			var runs []int
			for i := range r.Bundles {
				runs = append(runs, r.Bundles[i].Runs)
			}
			if notes := strings.Join(r.Notes, "; "); !slices.Equal(runs, c.runs) || r.Intervals.Method != c.want || !strings.HasPrefix(notes, c.note) || (notes == "") != (c.note == "") {
				t.Errorf("runs %v, want %v; method %s, want %s; notes %q, want %q", runs, c.runs, r.Intervals.Method, c.want, notes, c.note)
			}
			e := r.Bundles[1].Estimates[r.measureIndex("mean_ttft")]
			if (e.HalfWidth == nil) != (c.want == Exact) || e.Verdict == Undecided || len(e.Values) != len(r.Replicates) {
				t.Errorf("%d values, %+v", len(e.Values), e)
			}
		})
	}
}

// A run whose load rises to its end has no intervals that could be trusted.
func TestRisingLoadIsSaid(t *testing.T) {
	cfg := small()
	cfg.NumRequests, cfg.NumInstances, cfg.Rate, cfg.MaxNumSeqs = 2000, 1, 120, 16
	c := NewComparison(cfg, three(t)[:2]...)
	c.Bundles[1] = parse(t, "sjf", "scheduler: {type: sjf}")
	c.Intervals = Bootstrap
	r, err := Compare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(r.Notes, "; "); !r.Intervals.Trending() || !strings.Contains(notes, "intervals are too narrow") {
		t.Errorf("%+v, notes %q", r.Intervals, notes)
	}
}

// A bundle that cannot run, or breaks in a run, has its error; the others have
// what they would have had, on any number of workers.
func TestBadBundlesAreAlone(t *testing.T) {
	good := NewComparison(small(), three(t)...)
	good.Replicates = 3
	want, err := Compare(t.Context(), good)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 2, 3, 8} {
		c := good
		c.Pool.Workers = workers
		breaks := parse(t, "breaks", "scheduler: {type: sjf}")
		c.Bundles = slices.Concat(good.Bundles[:1], []Bundle{{Name: "unread", Err: errors.New("no such file")}, parse(t, "w.yaml", "routing:\n  type: weighted\n  params: {queue-depth: 0}")}, good.Bundles[1:], []Bundle{breaks})
		p, err := NewPlan(c)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for b, text := range map[int]string{1: "no such file", 2: "bundle w.yaml: w.yaml:3: routing.params: the weight of every scorer is 0"} {
			if one := r.Bundles[b]; one.Err == nil || !strings.HasPrefix(one.Err.Error(), text) || one.Estimates != nil || one.Rank != 0 {
				t.Errorf("%s: %v", one.Name, one.Err)
			}
		}
		for i, b := range []int{0, 3, 4} {
			if d := cmp.Diff(want.Bundles[i].Estimates, r.Bundles[b].Estimates); d != "" {
				t.Errorf("%d workers, %s: %s", workers, r.Bundles[b].Name, d)
			}
		}
		if n := len(r.Ranking); n != 6 || r.Bundles[r.Ranking[n-1]].Err == nil || r.Bundles[r.Ranking[n-2]].Err == nil {
			t.Errorf("ranking %v: bundles with errors are not last", r.Ranking)
		}
	}
}

// Of a bundle whose replicates break the first one's error counts, whichever
// breaks first on the clock.
func TestTheFirstReplicateThatBreaksIsNamed(t *testing.T) {
	p, err := NewPlan(NewComparison(small(), three(t)...))
	if err != nil {
		t.Fatal(err)
	}
	book := p.newTaskResults()
	for _, replicate := range []int{3, 1, 2} {
		book.fail(task{1, replicate}, &RunError{"bundle least-loaded", fmt.Errorf("replicate %d", replicate)})
	}
	if !strings.HasSuffix(book.failures[1].Error(), "replicate 1") || !book.failedBefore(task{1, 2}) || book.failedBefore(task{1, 1}) || book.failedBefore(task{2, 4}) {
		t.Errorf("failed with %v", book.failures[1])
	}
}
