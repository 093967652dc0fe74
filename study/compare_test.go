package study

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"blis/actors"
	"blis/bundle"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
	"blis/workload/traffic"
)

// equal compares results bit by bit: functions in measures are left out.
func equal(a, b *Result) string {
	return cmp.Diff(a, b, cmpopts.IgnoreUnexported(Result{}, Measure{}, metrics.Measure{}, bundle.Bundle{}), cmpopts.EquateErrors())
}

func TestResultsDoNotDependOnWorkers(t *testing.T) {
	var first *Result
	for _, workers := range []int{1, 2, 3, 8} {
		c := NewComparison(small(), three(t)...)
		c.Replicates, c.Pool.Workers = 4, workers
		r, err := Compare(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r
		}
		if d := equal(first, r); d != "" {
			t.Errorf("%d workers: %s", workers, d)
		}
	}
	differ := false
	for _, e := range first.Bundles[1].Estimates {
		differ = differ || e.Difference != nil && e.Difference.Mean != 0
	}
	if !differ {
		t.Error("bundles do not differ: the test shows nothing")
	}
}

// Every value is that of the run with these policies and seeds.
func TestReplicatesAreRuns(t *testing.T) {
	cfg := small()
	workloadSeed := uint64(100)
	cfg.Seed, cfg.WorkloadSeed = 7, &workloadSeed
	c := NewComparison(cfg, three(t)...)
	c.Replicates = 3
	r, err := Compare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Seeds{{7, 100}, {8, 101}, {9, 102}}, r.Replicates); d != "" {
		t.Fatal(d)
	}
	for b := range c.Bundles {
		for i, s := range r.Replicates {
			run := cfg
			run.Policies, run.Seed, run.WorkloadSeed = c.Bundles[b].Policies, s.Seed, &s.Workload
			result, err := actors.Run(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			for m, measure := range r.Measures {
				want := measure.of(result.Figures(), result.Fitness)
				if d := cmp.Diff(want, r.Bundles[b].Estimates[m].Values[i]); d != "" {
					t.Errorf("%s of %s, replicate %d: %s", measure.Name, c.Bundles[b].Name, i, d)
				}
			}
		}
	}
}

// request is one as the workload made it.
type request struct {
	At            vtime.Time
	Input, Output int32
}

func TestTrafficIsThatOfTheReplicate(t *testing.T) {
	cfg := small()
	cfg.Rate, cfg.PrefixTokens = 0, 64 // a rate that is derived
	p, err := NewPlan(NewComparison(cfg, append(three(t), parse(t, "scaling", "autoscale: {type: threshold, interval: 100ms}"))...))
	if err != nil {
		t.Fatal(err)
	}
	var byReplicate [][]request
	for r := range 3 {
		for b := range p.Bundles() {
			var arrived []request
			c := p.config(b, r)
			c.Row = func(row *actors.Row) { arrived = append(arrived, request{row.Arrival, row.Input, row.Generated}) }
			if _, err := actors.Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if b == 0 {
				byReplicate = append(byReplicate, arrived)
			}
			if d := cmp.Diff(byReplicate[r], arrived); d != "" || len(arrived) != 60 {
				t.Errorf("replicate %d: %d requests arrive for %s, others for the baseline: %s", r, len(arrived), p.Bundles()[b].Name, d)
			}
		}
	}
	if cmp.Equal(byReplicate[0], byReplicate[1]) || cmp.Equal(byReplicate[1], byReplicate[2]) {
		t.Error("replicates with the same traffic")
	}
}

func TestBadComparisons(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Comparison)
		want   string
	}{
		{"one bundle", func(c *Comparison) { c.Bundles = c.Bundles[:1] }, "1 bundles to compare: want at least 2"},
		{"one seed", func(c *Comparison) { c.Replicates = 1 }, "--seeds is 1: want 2 to 1048576"},
		{"confidence", func(c *Comparison) { c.Confidence = math.NaN() }, "confidence is NaN: want from 0.5 to 0.9999"},
		{"certainty", func(c *Comparison) { c.Confidence = 1 }, "confidence is 1"},
		{"margin", func(c *Comparison) { c.Margin = math.NaN() }, "--margin is NaN: want a share"},
		{"negative margin", func(c *Comparison) { c.Margin = -0.1 }, "--margin is -0.1"},
		{"workers", func(c *Comparison) { c.Pool.Workers = -1 }, "--workers is -1: want 1 to 4096"},
		{"same name", func(c *Comparison) { c.Bundles[2].Name = "round-robin" }, "two bundles are called round-robin"},
		{"no name", func(c *Comparison) { c.Bundles[1].Name = "" }, "bundle 2 has no name"},
		{"source", func(c *Comparison) { c.Base.Custom.Source = &workload.Slice{} }, "a custom source cannot be run more than once"},
		{"objective", func(c *Comparison) { c.Objectives = []string{"p99_tft"} }, `--objectives: unknown measure "p99_tft", the nearest is "p99_ttft" (there are: throughput, `},
		{"objective twice", func(c *Comparison) { c.Objectives = []string{"p99_ttft", "p99_ttft"} }, "--objectives: p99_ttft is given twice"},
		{"cluster", func(c *Comparison) { c.Base.NumInstances = 0 }, "--num-instances is 0: want 1 to 1048576"},
		{"a bundle", func(c *Comparison) { c.Bundles[1].Policies.Autoscale.Min = "9" }, ""},
		{"a bundle's replicas", func(c *Comparison) {
			c.Bundles = c.Bundles[:2]
			c.Bundles[1] = parse(t, "scaled", "autoscale: {type: threshold, min: 5, max: 4}")
		}, "bundle scaled: scaled:1: autoscale.min: 5 is not allowed, want from 1 to --max-replicas 4"},
		{"a bundle's line", func(c *Comparison) {
			c.Bundles = c.Bundles[:2]
			c.Bundles[1] = parse(t, "w.yaml", "routing:\n  type: weighted\n  params: {queue-depth: 0}")
		}, "bundle w.yaml: w.yaml:3: routing.params: the weight of every scorer is 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := NewComparison(small(), three(t)...)
			c.change(&spec)
			_, err := NewPlan(spec)
			var input *actors.InputError
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%v: without an autoscaler its bounds mean nothing", err)
			case c.want != "" && (!errors.As(err, &input) || !strings.HasPrefix(input.Text, c.want)):
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

// failing is a source that breaks in the middle of some runs.
type failing struct {
	workload.Source
	after int
}

// Pull implements workload.Source.
func (f *failing) Pull(r *workload.Request) (bool, error) {
	if f.after--; f.after < 0 {
		return false, errors.New("the source broke")
	}
	return f.Source.Pull(r)
}

func arrivals(t *testing.T, seed uint64) workload.Source {
	t.Helper()
	s, err := traffic.NewSynthetic(traffic.SyntheticConfig{Seed: seed, Rate: 50, Requests: 40,
		Input: traffic.Normal{Mean: 100, Min: 100, Max: 100}, Output: traffic.Normal{Mean: 20, Min: 20, Max: 20}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Two replicates break, the later one sooner: the earlier one is named, with
// the bundle that comes first, on any number of workers.
func TestAnErrorNamesItsRun(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		c := NewComparison(small(), three(t)...)
		c.Replicates, c.Pool.Workers = 6, workers
		c.Source = func(seed uint64) workload.Source {
			switch seed {
			case 44:
				return &failing{arrivals(t, seed), 30}
			case 45:
				return &failing{arrivals(t, seed), 1}
			}
			return arrivals(t, seed)
		}
		r, err := Compare(t.Context(), c)
		var run *RunError
		if !errors.As(err, &run) || run.Name != "bundle round-robin, seed 44" || !strings.Contains(err.Error(), "the source broke") || r != nil {
			t.Errorf("%d workers: error %v, result %v", workers, err, r)
		}
	}
}

// A comparison that is interrupted has the replicates that ended for all, and
// these are what they would have been.
func TestInterruptedComparison(t *testing.T) {
	spec := func() Comparison {
		c := NewComparison(small(), three(t)...)
		c.Replicates, c.Pool.Workers = 5, 1
		return c
	}
	for _, ended := range []int{0, 2, 3, 5, 7, 14} {
		ctx, cancel := context.WithCancel(t.Context())
		c := spec()
		if ended == 0 {
			cancel()
		}
		c.Pool.Progress = func(done, _ int) {
			if done == ended {
				cancel()
			}
		}
		r, err := Compare(ctx, c)
		if !errors.Is(err, context.Canceled) || r == nil || !r.Partial || len(r.Replicates) != ended/3 || r.Planned != 5 {
			t.Fatalf("after %d runs: error %v, result %+v", ended, err, r)
		}
		e := estimateOf(t, r, "weighted", "p99_ttft")
		if (e.Mean != nil) != (ended >= 3) || (e.HalfWidth != nil) != (ended >= 6) || (e.Verdict == Undecided) != (ended < 6) || (r.Bundles[2].Rank > 0) != (ended >= 3) {
			t.Errorf("after %d runs: %+v", ended, e)
		}
		if len(r.Replicates) < 2 {
			continue
		}
		short := spec()
		short.Replicates = ended / 3
		whole, err := Compare(t.Context(), short)
		if err != nil {
			t.Fatal(err)
		}
		whole.Partial, whole.Planned, whole.Notes = r.Partial, r.Planned, r.Notes
		for b := range whole.Bundles {
			whole.Bundles[b].Runs = r.Bundles[b].Runs
		}
		if d := equal(whole, r); d != "" {
			t.Errorf("after %d runs: %s", ended, d)
		}
	}
}

// A plan is not used up by its runs, and each run has a source of its own.
func TestPlanRunsTwice(t *testing.T) {
	c := NewComparison(small(), three(t)...)
	c.Replicates = 2
	var sources atomic.Int32
	c.Source = func(seed uint64) workload.Source { sources.Add(1); return arrivals(t, seed) }
	p, err := NewPlan(c)
	if err != nil {
		t.Fatal(err)
	}
	first, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := equal(first, second); d != "" {
		t.Error(d)
	}
	if n := sources.Load(); n != 3+2*6 {
		t.Errorf("%d sources for 3 checks and 12 runs", n)
	}
}

func TestUsualObjectives(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Comparison)
		want   string
	}{
		{"plain", func(*Comparison) {}, "throughput p99_ttft mean_tpot"},
		{"targets", func(c *Comparison) { c.Base.SLOTargets = "standard:ttft=1s" }, "goodput p99_ttft mean_tpot"},
		{"a price", func(c *Comparison) { c.Base.CostPerReplicaHour = 2 }, "throughput p99_ttft mean_tpot cost"},
		{"scaling", func(c *Comparison) { c.Bundles[1] = parse(t, "s", "autoscale: {type: threshold}") }, "throughput p99_ttft mean_tpot replica_hours"},
		{"both", func(c *Comparison) {
			c.Base.CostPerReplicaHour = 2
			c.Bundles[1] = parse(t, "s", "autoscale: {type: threshold}")
		}, "throughput p99_ttft mean_tpot cost"},
		{"chosen", func(c *Comparison) { c.Objectives = []string{"p50_itl", "jain"} }, "p50_itl jain"},
	} {
		spec := NewComparison(small(), three(t)...)
		c.change(&spec)
		p, err := NewPlan(spec)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var names []string
		for _, o := range p.result.Objectives {
			names = append(names, o.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestBundlesThatAreAlikeAreSaid(t *testing.T) {
	c := NewComparison(small(), append(three(t), parse(t, "again", "routing: {type: least-loaded, params: {tie: random}}\nmetadata: {why: this}"))...)
	p, err := NewPlan(c)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"least-loaded and again are the same policies in effect: they are run once"}, p.result.Notes); d != "" {
		t.Error(d)
	}
}

// Replicates under a specification that names a seed have traffic of their own,
// from that seed on.
func TestReplicatesVaryTheTrafficOfASpecification(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.yaml")
	text := "seed: 7\nnum_requests: 20\nclients:\n- {id: a, rate: 5, input_distribution: {type: exponential, params: {mean: 90}}, output_distribution: {type: constant, params: {value: 9}}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	base := actors.DefaultConfig()
	base.WorkloadSpec = path
	p, err := NewPlan(Comparison{Base: base, Bundles: []Bundle{{Name: "a"}, {Name: "b"}}, Replicates: 3, Confidence: 0.95})
	if err != nil {
		t.Fatal(err)
	}
	for replicate := range 3 {
		for bundle := range 2 {
			c := p.config(bundle, replicate)
			if c.WorkloadSeed == nil || *c.WorkloadSeed != 7+uint64(replicate) || c.Seed != base.Seed+uint64(replicate) {
				t.Errorf("bundle %d, replicate %d: seeds %d and %v", bundle, replicate, c.Seed, c.WorkloadSeed)
			}
		}
	}
}
