package metrics

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The two ways to find ranks must agree on whatever both can do.
func TestFlatSelectionEqualsSelectionByRuns(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	flat := 0
	for range 300 {
		var d Distribution
		spread := int64(1) << r.IntN(50)
		base, most := r.Int64N(1<<40)-1<<39, int64(1)<<r.IntN(20)
		for range 1 + r.IntN(5000) {
			d.AddN(base+r.Int64N(spread), 1+r.Int64N(most))
		}
		d.flush()
		ranks := make([]int64, 8)
		for i := range ranks {
			ranks[i] = r.Int64N(d.samples)
		}
		slices.Sort(ranks)
		a, b := make([]int64, 8), make([]int64, 8)
		if !d.selectFlat(ranks, a) {
			continue
		}
		flat++
		d.selectByRuns(ranks, b)
		if !slices.Equal(a, b) {
			t.Fatalf("seed %d: ranks %v of %d samples: flat %v, by runs %v", seed, ranks, d.samples, a, b)
		}
	}
	if flat < 30 || flat == 300 {
		t.Errorf("seed %d: %d of 300 selections were flat: want some of each kind", seed, flat)
	}
}
