package engine

import (
	"testing"

	"blis/vtime"
)

func TestWarmupFades(t *testing.T) {
	for _, c := range []struct {
		curve Curve
		want  []float64 // at From and each eighth of the time from there, then one past the end
	}{
		{Linear, []float64{3, 2.75, 2.5, 2.25, 2, 1.75, 1.5, 1.25, 1, 1}},
		{Exponential, []float64{3, 2, 1.5, 1.25, 1.125, 1.0625, 1.03125, 1.015625, 1, 1}},
		{StepDown, []float64{3, 3, 3, 3, 3, 3, 3, 3, 1, 1}},
	} {
		w := Warmup{From: 1000, Duration: 800, Penalty: 3, Curve: c.curve}
		for i, want := range c.want {
			if got := w.factor(vtime.Time(1000 + 100*i)); got != want {
				t.Errorf("%s: %g after %d eighths, want %g", c.curve, got, i, want)
			}
		}
		if w.factor(0) != 3 {
			t.Errorf("%s: not the whole penalty before it starts", c.curve)
		}
	}
	if w := (Warmup{From: 0, Duration: 80, Penalty: 3, Curve: Exponential}); w.factor(5) != 2.5 {
		t.Errorf("%g halfway to the first halving, want 2.5", w.factor(5))
	}
	if w := (Warmup{}); w.factor(0) != 1 {
		t.Error("no warm-up is a factor of 1")
	}
}
