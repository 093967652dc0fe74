package regress

import (
	"math"
	"math/rand/v2"
	"testing"
)

// uneven is a system whose noise grows with a column, which weights do not say,
// and of which few observations tell the third coefficient.
func uneven(r *rand.Rand, truth []float64) (s *System, rows [][]float64, values []float64) {
	s = New(len(truth))
	for i := range 150 {
		x := []float64{1, math.Abs(r.NormFloat64()), 0}
		if i < 8 {
			x[2] = 1
		}
		y := x[1] * x[1] * r.NormFloat64()
		for j, c := range truth {
			y += c * x[j]
		}
		s.Add(x, y, 1)
		rows, values = append(rows, x), append(values, y)
	}
	return s, rows, values
}

func TestRobustErrorsHoldForUnevenNoise(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	truth := []float64{3, 2, 5}
	o := Options{Lower: []float64{-1e9, -1e9, -1e9}, Penalty: []float64{0, 1e-3, 1e-3}}
	var robust, plain [3]float64
	const draws = 600
	for range draws {
		s, rows, values := uneven(r, truth)
		c, err := s.Solve(o)
		if err != nil {
			t.Fatal(err)
		}
		leverage, scatter, sum := s.Leverage(o, c), New(3), 0.0
		for i, x := range rows {
			h := leverage(x, 1)
			sum += h
			e := (values[i] - c[0]*x[0] - c[1]*x[1] - c[2]*x[2]) / (1 - h)
			scatter.Add(x, 0, e*e)
		}
		a, b := s.Robust(o, c, scatter), s.Spread(o, c)
		if math.Abs(sum-a.Freedom) > 1e-9 || a.Freedom != b.Freedom {
			t.Fatalf("leverages add up to %v, freedom is %v", sum, a.Freedom)
		}
		for j := range truth {
			z := (c[j] - truth[j]) / a.Errors[j]
			robust[j] += z * z / draws
			z = (c[j] - truth[j]) / b.Errors[j]
			plain[j] += z * z / draws
		}
	}
	t.Logf("mean squares of distance over error: robust %.2f, plain %.2f", robust, plain)
	if plain[1] < 1.6 {
		t.Errorf("%v without a look at residuals: the noise is not uneven enough to tell", plain)
	}
	for j, v := range robust {
		if v < 0.6 || v > 1.6 {
			t.Errorf("coefficient %d: mean square of distance over error %v, want about 1", j, v)
		}
	}
}

// Shares are the part of a coefficient that comes back when there is no noise.
func TestSharesSayWhoDecides(t *testing.T) {
	s := New(3)
	for i := range 100 {
		x := float64(i%10) - 4.5
		s.Add([]float64{1, x, float64(i%2) - 0.5}, 3+2*x+4*(float64(i%2)-0.5), 1)
	}
	o := Options{Lower: []float64{-9, -9, -9}, Penalty: []float64{0, 0, s.Power(2)}}
	c, err := s.Solve(o)
	if err != nil {
		t.Fatal(err)
	}
	spread := s.Spread(o, c)
	sum := 0.0
	for _, v := range spread.Shares {
		sum += v
	}
	if math.Abs(spread.Shares[0]-1) > 1e-12 || spread.Shares[2] > 0.51 || spread.Shares[2] < 0.49 || math.Abs(sum-spread.Freedom) > 1e-12 {
		t.Errorf("shares %v, freedom %v", spread.Shares, spread.Freedom)
	}
}
