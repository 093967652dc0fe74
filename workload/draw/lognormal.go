package draw

import (
	"math"

	"blis/vtime"
)

// Lognormal draws from the lognormal distribution with a mean and a coefficient
// of variation: mean·Exp(σ·z − σ²/2) with σ² = ln(1 + cv²) and z normal. Like
// all draws here it gives the same bits on every machine.
func Lognormal(s *vtime.Stream, mean, cv float64) float64 {
	variance := Log(1 + float64(cv*cv))
	z := NewVariates(s)
	return float64(mean * Exp(float64(math.Sqrt(variance)*z.Normal())-variance/2))
}
