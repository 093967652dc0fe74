package workload

import (
	"math"

	"blis/vtime"
)

// Lognormal draws from the lognormal distribution with a mean and a coefficient
// of variation: mean·exp(σ·z − σ²/2) with σ² = ln(1 + cv²) and z normal. Like
// all draws here it gives the same bits on every machine.
func Lognormal(s *vtime.Stream, mean, cv float64) float64 {
	variance := log(1 + float64(cv*cv))
	z := normals{stream: s}
	return float64(mean * exp(float64(math.Sqrt(variance)*z.normal())-variance/2))
}
