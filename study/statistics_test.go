package study

import (
	"math"
	"testing"

	"blis/vtime"
)

// Values of the tables in textbooks.
func TestQuantilesOfStudent(t *testing.T) {
	for _, c := range []struct {
		freedom    int
		confidence float64
		want       float64
	}{
		{1, 0.95, 12.706}, {2, 0.95, 4.303}, {4, 0.95, 2.776}, {9, 0.95, 2.262}, {29, 0.95, 2.045}, {1000, 0.95, 1.962},
		{1, 0.99, 63.657}, {9, 0.99, 3.250}, {9, 0.90, 1.833}, {1, 0.5, 1.000}, {1, 0.9999, 6366.198}, {1 << 20, 0.5, 0.674},
	} {
		if got := quantileT(c.freedom, c.confidence); math.Abs(got-c.want) > 0.0005*math.Max(1, c.want/1000) {
			t.Errorf("t of %d at %v is %v, want %v", c.freedom, c.confidence, got, c.want)
		}
	}
}

// 1, 2, 3, 4, 5: mean 3, s = √2.5, half-width 2.776·√2.5/√5.
func TestIntervalOfAnExample(t *testing.T) {
	i := estimate([]float64{5, 1, 3, 2, 4}, 0.95)
	if want := 2.7764451052 * math.Sqrt(0.5); i.mean != 3 || math.Abs(*i.half-want) > 1e-9 {
		t.Errorf("%v ± %v, want 3 ± %v", i.mean, *i.half, want)
	}
	if i := estimate([]float64{7}, 0.95); i.mean != 7 || i.half != nil {
		t.Errorf("a single sample gives %+v", i)
	}
}

// The sum of ten times 0.1 is not 1: nothing of that may show.
func TestEqualSamplesHaveNoSpread(t *testing.T) {
	samples := make([]float64, 10)
	for _, x := range []float64{0.1, 0, -1.0 / 3, 1e300} {
		for i := range samples {
			samples[i] = x
		}
		if i := estimate(samples, 0.95); i.mean != x || *i.half != 0 {
			t.Errorf("ten times %v gives %v ± %v", x, i.mean, *i.half)
		}
	}
}

// A 90 % interval holds the true mean in 90 % of all cases: of 4,000 within
// four standard deviations of that.
func TestIntervalsCoverTheMean(t *testing.T) {
	const seed, trials, n = 7, 4000, 5
	stream := vtime.NewStream(seed, "coverage")
	t.Logf("seed %d", seed)
	covered := 0
	for range trials {
		samples := make([]float64, n)
		for i := range samples {
			samples[i] = 100 + 15*stream.NormFloat64()
		}
		if i := estimate(samples, 0.9); math.Abs(i.mean-100) <= *i.half {
			covered++
		}
	}
	if off := math.Abs(float64(covered) - 0.9*trials); off > 4*math.Sqrt(trials*0.9*0.1) {
		t.Errorf("%d of %d intervals cover the mean, want about %v", covered, trials, 0.9*trials)
	}
}
