package certify

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestGeometricLadders: each value is at most the precision above the one before, no more
// than twice as many values are used as are needed, and they have few digits.
func TestGeometricLadders(t *testing.T) {
	const seed = 20
	r := rand.New(rand.NewPCG(seed, seed))
	for i := range 2000 {
		low := math.Pow(10, r.Float64()*8-4)
		high, precision := low*math.Pow(10, r.Float64()*3+0.01), math.Pow(10, -r.Float64()*3)*0.5
		list := Geometric(low, high, precision)
		if list[0] != low || list[len(list)-1] != high {
			t.Fatalf("seed %d, case %d: from %v to %v, want %v to %v", seed, i, list[0], list[len(list)-1], low, high)
		}
		for j := 1; j < len(list); j++ {
			if ratio := list[j] / list[j-1]; !(ratio > 1) || ratio > (1+precision)*(1+1e-9) {
				t.Fatalf("seed %d, case %d: %v after %v with precision %v", seed, i, list[j], list[j-1], precision)
			}
		}
		if needed := math.Log(high/low) / math.Log1p(precision); float64(len(list)) > 2.1*needed+3 {
			t.Fatalf("seed %d, case %d: %d values, %.0f are needed", seed, i, len(list), needed)
		}
	}
	digits := 0
	for _, x := range Geometric(20, 600, 0.03) {
		digits = max(digits, len(strconv.FormatFloat(x, 'g', -1, 64)))
	}
	if digits > 4 {
		t.Errorf("%v: %d digits, want at most 3 and a point", Geometric(20, 600, 0.03), digits)
	}
	if one := Geometric(7, 7, 0.03); len(one) != 1 {
		t.Errorf("from 7 to 7: %v", one)
	}
}
