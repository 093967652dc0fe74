package study

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"blis/workload"
	"blis/workload/traces"
	"blis/workload/traffic"
)

// documents is traffic about 40 documents with which prompts begin. An
// instance has room for a few of them beside the requests that it serves, and
// prefill of the others is what it spends its time on.
func documents(t *testing.T) Comparison {
	t.Helper()
	c := NewComparison(small(), three(t)...)
	c.Base.NumInstances, c.Base.TotalKVBlocks = 4, 6000
	c.Source = func(seed uint64) workload.Source {
		return documentsOf(t, seed)
	}
	return c
}

func documentsOf(t *testing.T, seed uint64) workload.Source {
	t.Helper()
	s, err := newGrouped(traffic.SyntheticConfig{Seed: seed, Rate: 40, Requests: 400,
		Input: traffic.Normal{Mean: 128, Stdev: 64, Min: 2, Max: 512}, Output: traffic.Normal{Mean: 128, Stdev: 128, Min: 2, Max: 1024}}, 40, 4096)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var update = flag.Bool("update", false, "write examples/compare/documents.csv anew")

// The trace in examples/ is such traffic of one seed. From it too comes that
// prefixes want prefix routing; a trace is resampled.
func TestExampleTraceIsOfDocuments(t *testing.T) {
	const path = "../examples/compare/documents.csv"
	var want bytes.Buffer
	if err := traces.Write(&want, documentsOf(t, 42)); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Fatalf("%s is not what -update writes (%v)", path, err)
	}
	c := documents(t)
	c.Base.Trace, c.Source, c.Replicates = path, nil, 2
	for i := range c.Bundles { // else seeds decide ties
		if p := &c.Bundles[i].Policies; p.Seeded() {
			if err := p.Set("routing.params.tie", "lowest"); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := Compare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{"mean_ttft", "p99_e2e", "cache_hit_rate"} {
		if e := estimateOf(t, r, "weighted", m); e.Verdict != Better {
			t.Errorf("weighted: %s is %q by %+v", m, e.Verdict, e.Difference)
		}
	}
	if r.Intervals.Method != Bootstrap || len(r.Replicates) != 1 {
		t.Errorf("intervals %+v over %d runs, want one run resampled", r.Intervals, len(r.Replicates))
	}
}

// Routing by prefix is better where prefixes are many and there is contention:
// in every latency, in the hit rate and in throughput.
func TestPrefixesInContentionWantPrefixRouting(t *testing.T) {
	r, err := Compare(t.Context(), documents(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{"throughput", "mean_ttft", "p99_ttft", "mean_tpot", "mean_e2e", "p99_e2e", "cache_hit_rate"} {
		if e := estimateOf(t, r, "weighted", m); e.Verdict != Better {
			t.Errorf("weighted: %s is %q by %+v", m, e.Verdict, e.Difference)
		}
	}
	if d := *estimateOf(t, r, "weighted", "mean_ttft").Difference.Relative; d > -0.5 {
		t.Errorf("mean TTFT %+.0f %%, want it halved at least", 100*d)
	}
	if !r.Decided() {
		t.Error("objectives are not decided")
	}
	if rank := r.Bundles[2].Rank; rank != 1 || r.Bundles[0].Rank == 1 || r.Bundles[1].Rank == 1 {
		t.Errorf("ranks %d, %d, %d: want weighted alone in front", r.Bundles[0].Rank, r.Bundles[1].Rank, rank)
	}
}

// With few seats and lengths that vary much, who knows the load spreads it
// better: what waits the longest waits less. The one prefix is everywhere.
func TestLoadInContentionWantsLoadRouting(t *testing.T) {
	c := NewComparison(small(), three(t)...)
	c.Base.NumInstances, c.Base.NumRequests, c.Base.Rate, c.Base.MaxNumSeqs = 4, 1000, 20, 16
	c.Base.PrefixTokens, c.Base.OutputTokensStdev, c.Base.TotalKVBlocks = 2048, 400, 6000
	r, err := Compare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []string{"least-loaded", "weighted"} {
		for _, m := range []string{"mean_ttft", "p99_ttft", "mean_e2e", "p99_e2e"} {
			if e := estimateOf(t, r, b, m); e.Verdict != Better {
				t.Errorf("%s: %s is %q by %+v", b, m, e.Verdict, e.Difference)
			}
		}
	}
	if e := estimateOf(t, r, "least-loaded", "cache_hit_rate"); e.Verdict != NoDifference {
		t.Errorf("hit rate is %q", e.Verdict)
	}
}

// Where nobody waits, policies do not matter, and nothing may say they do.
func TestIdleClusterShowsNoDifference(t *testing.T) {
	c := NewComparison(small(), three(t)...)
	c.Base.NumInstances, c.Base.NumRequests, c.Base.Rate = 4, 150, 0.2
	r, err := Compare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	measured := 0
	for _, b := range r.Bundles[1:] {
		for m, e := range b.Estimates {
			if e.Missing == len(e.Values) { // no targets, no price
				continue
			}
			if measured++; e.Verdict != NoDifference {
				t.Errorf("%s: %s is %q: %+v", b.Name, r.Measures[m].Name, e.Verdict, e.Difference)
			}
		}
	}
	if r.Decided() {
		t.Error("objectives are decided without a difference")
	}
	if measured < 40 {
		t.Errorf("%d verdicts: too few to mean anything", measured)
	}
}
