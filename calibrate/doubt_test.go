package calibrate

import (
	"math"
	"testing"
)

func TestDoubtNeedsOneSignAndSimilarSize(t *testing.T) {
	many := make([]float64, 23)
	for i := range many {
		many[i] = -0.78 + 0.001*float64(i%3)
	}
	for _, c := range []struct {
		name   string
		errors []float64
		want   string
	}{
		{"23 rows of -78 %", many, "all 23 predictions of prefills are 78 % too low: is M on G at TP 1 the right model?"},
		{"too high", []float64{1.5, 2, 3.9}, "all 3 predictions of prefills are 150 to 390 % too high: is M on G at TP 1 the right model?"},
		{"too low", []float64{-0.5, -0.6, -0.7}, "all 3 predictions of prefills are 50 to 70 % too low: is M on G at TP 1 the right model?"},
		{"too few", []float64{-0.7, -0.7}, ""},
		{"two signs", []float64{-0.7, 0.7, -0.7}, ""},
		{"one is right", []float64{-0.7, -0.1, -0.7}, ""},
		{"small", []float64{-0.2, -0.2, -0.2}, ""},
		{"at the limit", []float64{-0.3, -0.3, -0.3}, "all 3 predictions of prefills are 30 % too low: is M on G at TP 1 the right model?"},
		{"of all sizes", []float64{-0.35, -0.5, -0.9}, ""},
		{"no number", []float64{-0.7, math.NaN(), -0.7}, ""},
		{"infinite", []float64{1, math.Inf(1), 2}, ""},
		{"none", nil, ""},
	} {
		if got := Doubt(c.errors, "prefills", "M on G at TP 1"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
