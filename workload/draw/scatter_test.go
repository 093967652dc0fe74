package draw

import (
	"slices"
	"testing"

	"blis/vtime"
	"blis/workload"
)

// Every stage has exactly its arrivals, in order, inside it.
func TestStagesHaveExactlyTheirArrivals(t *testing.T) {
	stages := []Stage{{0, 1_000_000, 1000}, {1_000_000, 1_000_001, 3}, {1_000_005, 2_000_000, 0}, {3_000_000, 3_600_000, 1}, {4_000_000, 4_000_010, 500}}
	for seed := range uint64(50) {
		s := NewScatter(stages, vtime.NewStream(seed, "scatter"))
		for i, g := range stages {
			last := g.Start
			for range g.Count {
				at, more := s.Next()
				if !more || at < last || at >= g.End {
					t.Fatalf("seed %d: stage %d: %v after %v, %v", seed, i, at, last, more)
				}
				last = at
			}
		}
		if at, more := s.Next(); more {
			t.Fatalf("seed %d: one more at %v", seed, at)
		}
	}
}

// The arrivals of a stage are where as many independent uniform ones are, sorted:
// all together, and each by its number.
func TestArrivalsOfAStageAreUniform(t *testing.T) {
	const n, length = 20, 1 << 40
	sets, third, twin := make([][]float64, seeds), make([][]float64, seeds), make([][]float64, seeds)
	for seed := range sets {
		v := NewVariates(vtime.NewStream(uint64(seed), "twin"))
		for k := range 50 {
			s := NewScatter([]Stage{{Start: 100, End: 100 + length, Count: n}}, vtime.NewStream(uint64(seed*50+k), "scatter"))
			sorted := make([]float64, n)
			for i := range n {
				at, _ := s.Next()
				x := float64(at-100) / length
				sets[seed] = append(sets[seed], x)
				if i == 2 {
					third[seed] = append(third[seed], x)
				}
				sorted[i] = v.Uniform()
			}
			slices.Sort(sorted)
			twin[seed] = append(twin[seed], sorted[2])
		}
	}
	checkMoments(t, sets, 1.0/2, 1.0/12, false)
	for name, set := range map[string][][]float64{"scatter": third, "sorted": twin} { // Beta(3, 18)
		t.Run(name, func(t *testing.T) { checkMoments(t, set, 3.0/21, 3.0*18/(21*21*22), false) })
	}
}

func TestBadStagesAreRefused(t *testing.T) {
	for want, list := range map[string][]Stage{
		"stages[1].start: 5µs: want at least 10µs, the end of the stage before": {{0, 10, 1}, {5, 20, 1}},
		"stages[0].end: 3µs: want after its start 3µs, at most 2⁶² µs":          {{3, 3, 1}},
		"stages[0].count: -1: want 0 or more arrivals":                          {{0, 3, -1}},
		"stages[0].end: never: want after its start 0µs, at most 2⁶² µs":        {{0, vtime.Never, 1}},
	} {
		var bad workload.Faults
		if CheckStages(&bad, "", list); bad.Err("") == nil || bad.Err("").Error() != want {
			t.Errorf("%v\nwant %s", bad.Err(""), want)
		}
	}
}
