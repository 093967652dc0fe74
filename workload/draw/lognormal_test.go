package draw

import (
	"math"
	"testing"

	"blis/vtime"
)

// Mean and coefficient of variation over 100,000 draws are those asked for,
// within six standard errors of the mean and a few percent of the variation.
func TestLognormalMoments(t *testing.T) {
	for _, cv := range []float64{0.1, 0.5, 1} {
		s := vtime.NewStream(7, "lognormal")
		const n = 100_000
		sum, squares := 0.0, 0.0
		for range n {
			x := Lognormal(s, 40, cv)
			if !(x > 0) {
				t.Fatalf("cv %g: drew %g", cv, x)
			}
			sum += x
			squares += x * x
		}
		mean := sum / n
		got := math.Sqrt(squares/n-mean*mean) / mean
		if math.Abs(mean-40) > 6*40*cv/math.Sqrt(n) || math.Abs(got-cv) > 0.05*cv {
			t.Errorf("cv %g: mean %g and cv %g, want 40 and %g", cv, mean, got, cv)
		}
	}
}
