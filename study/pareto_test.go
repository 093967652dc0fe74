package study

import (
	"slices"
	"testing"

	"blis/metrics"
	"blis/vtime"
)

// ranked gives bundles with these means over measures with these directions
// their ranks. A negative mean stands for a missing one.
func ranked(better []metrics.Direction, means [][]float64) []int {
	var r Result
	for i, d := range better {
		r.Measures = append(r.Measures, Measure{Name: string(rune('a' + i)), Better: d})
	}
	r.Objectives = r.Measures
	for _, list := range means {
		var b Compared
		for _, x := range list {
			e := Estimate{Mean: &x}
			if x < 0 {
				e.Mean = nil
			}
			b.Estimates = append(b.Estimates, e)
		}
		r.Bundles = append(r.Bundles, b)
	}
	r.rank()
	var ranks []int
	for i := range r.Bundles {
		ranks = append(ranks, r.Bundles[i].Rank)
	}
	return ranks
}

func TestParetoRanks(t *testing.T) {
	up, down := metrics.Higher, metrics.Lower
	for _, c := range []struct {
		name   string
		better []metrics.Direction
		means  [][]float64
		want   []int
	}{
		{"one objective sorts", []metrics.Direction{down}, [][]float64{{3}, {1}, {2}}, []int{3, 1, 2}},
		{"a trade", []metrics.Direction{up, down}, [][]float64{{10, 5}, {20, 9}}, []int{1, 1}},
		{"beaten in both", []metrics.Direction{up, down}, [][]float64{{10, 9}, {20, 5}}, []int{2, 1}},
		{"equal in one", []metrics.Direction{up, down}, [][]float64{{10, 9}, {10, 5}}, []int{2, 1}},
		{"equal in all", []metrics.Direction{up, down}, [][]float64{{10, 5}, {10, 5}}, []int{1, 1}},
		{"fronts", []metrics.Direction{up, up}, [][]float64{{1, 1}, {3, 1}, {2, 2}, {1, 3}, {3, 3}, {0, 0}}, []int{3, 2, 2, 2, 1, 4}},
		{"a missing value is the worst", []metrics.Direction{down}, [][]float64{{-1}, {1000}, {-1}}, []int{2, 1, 2}},
		{"missing everywhere tells nothing", []metrics.Direction{down, down}, [][]float64{{-1, 1}, {-1, 2}}, []int{1, 2}},
		{"no objective", nil, [][]float64{{}, {}}, []int{1, 1}},
	} {
		if got := ranked(c.better, c.means); !slices.Equal(got, c.want) {
			t.Errorf("%s: ranks %v, want %v", c.name, got, c.want)
		}
	}
}

// Another way to say it: the rank is the number of bundles in the longest chain
// of which each dominates the next, up to this one.
func TestRankIsTheLongestChain(t *testing.T) {
	const seed = 11
	t.Logf("seed %d", seed)
	draws := vtime.NewStream(seed, "pareto")
	for range 500 {
		means := make([][]float64, 1+draws.IntN(8))
		for i := range means {
			means[i] = []float64{float64(draws.IntN(5)), float64(draws.IntN(5)), float64(draws.IntN(3))}
		}
		dominates := func(a, b []float64) bool { // higher, lower, higher
			return a[0] >= b[0] && a[1] <= b[1] && a[2] >= b[2] && !slices.Equal(a, b)
		}
		var chain func(b []float64) int
		chain = func(b []float64) int {
			longest := 0
			for _, a := range means {
				if dominates(a, b) {
					longest = max(longest, chain(a))
				}
			}
			return longest + 1
		}
		var want []int
		for _, b := range means {
			want = append(want, chain(b))
		}
		if got := ranked([]metrics.Direction{metrics.Higher, metrics.Lower, metrics.Higher}, means); !slices.Equal(got, want) {
			t.Fatalf("ranks of %v: %v, want %v", means, got, want)
		}
	}
}
