package study

import (
	"slices"
	"testing"

	"blis/actors"
	"blis/metrics"
)

// TestFitnessIsAMeasure compares by a weighted sum, whose measures are the
// objectives then.
func TestFitnessIsAMeasure(t *testing.T) {
	for _, weights := range []string{"", "p99_ttft@100ms:2,throughput:1"} {
		base := small()
		base.FitnessWeights = weights
		c := NewComparison(base, three(t)...)
		c.Replicates = 2
		r, err := Compare(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range r.Bundles {
			e := estimateOf(t, r, b.Name, "fitness")
			if weights == "" {
				if e.Mean != nil || e.Missing != 2 {
					t.Errorf("without weights the fitness of %s is %v, missing in %d", b.Name, e.Mean, e.Missing)
				}
				continue
			}
			checkFitness(t, r, b.Config, e.Values, weights)
		}
		var names []string
		for _, o := range r.Objectives {
			names = append(names, o.Name)
		}
		if weights != "" && !slices.Equal(names, []string{"p99_ttft", "throughput"}) {
			t.Errorf("objectives %v, want those of the weights", names)
		}
	}
}

// checkFitness runs every replicate alone.
func checkFitness(t *testing.T, r *Result, cfg actors.Config, values Values, weights string) {
	t.Helper()
	spec, err := metrics.ParseFitness(weights)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range values {
		cfg.Seed = r.Replicates[k].Seed
		run, err := actors.Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if want := spec.Of(run.Figures()).Score; v == nil || *v != want {
			t.Errorf("replicate %d: fitness %v, want %v", k, v, want)
		}
	}
}
