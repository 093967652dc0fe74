package metrics

import (
	"math/rand/v2"
	"slices"
	"testing"

	"blis/internal/testsize"
)

// A curve has the order statistics of a sorted slice, at most 200 of them, up to the last
// but one and the last.
func TestCurveIsThatOfTheSortedSamples(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range testsize.Cases(t, 20, 60, 600) {
		var d Distribution
		var s twin
		width := int64(1) << r.IntN(40)
		for range 1 + r.IntN(1<<r.IntN(15)) {
			v := r.Int64N(width)
			d.Add(v)
			s.add(v, 1)
		}
		slices.Sort(s)
		c := d.Curve()
		if c.N != int64(len(s)) || len(c.Share) > mostPoints || len(c.Share) != len(c.Micros) {
			t.Fatalf("seed %d: %d of %d samples, %d shares, %d values", seed, c.N, len(s), len(c.Share), len(c.Micros))
		}
		for i, share := range c.Share {
			rank := int(share*float64(len(s))+0.5) - 1
			if c.Micros[i] != s[rank] || i > 0 && share <= c.Share[i-1] {
				t.Fatalf("seed %d: %v of %d samples are at most %d, want %d", seed, share, len(s), c.Micros[i], s[rank])
			}
		}
		last := len(c.Share) - 1
		if c.Share[last] != 1 || len(s) > 1 && c.Share[last-1] != float64(len(s)-1)/float64(len(s)) {
			t.Fatalf("seed %d: of %d samples the last shares are %v", seed, len(s), c.Share[max(0, last-1):])
		}
	}
}

func TestCurveOfNothing(t *testing.T) {
	if c := new(Distribution).Curve(); c != nil {
		t.Errorf("%+v", c)
	}
}

func TestCurvesOfManySamplesAreShort(t *testing.T) {
	for _, n := range []int64{1, 2, 99, 100, 101, 1e6, 1e9, 1e12, 1 << 62} {
		ranks := curveRanks(n)
		if len(ranks) > mostPoints || ranks[len(ranks)-1] != n-1 || n > 1 && ranks[len(ranks)-2] != n-2 || !slices.IsSorted(ranks) {
			t.Errorf("%d samples: %d ranks, the last %v", n, len(ranks), ranks[max(0, len(ranks)-3):])
		}
	}
}
