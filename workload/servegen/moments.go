package servegen

import (
	"math"

	"blis/workload/draw"
)

// variation is the coefficient of variation of gaps with a shape: 1/√k of the
// gamma distribution, √(Γ(1+2/k)/Γ(1+1/k)² − 1) of Weibull's. It is NaN where
// it cannot be computed.
func variation(process draw.ProcessKind, shape float64) float64 {
	if process == draw.Gamma {
		return 1 / math.Sqrt(shape)
	}
	second, first := draw.LogGamma(1+2/shape), draw.LogGamma(1+1/shape)
	return math.Sqrt(draw.Exp(second-float64(2*first)) - 1)
}

// mean is the mean gap in s for a shape and a scale: k·θ of the gamma
// distribution, λ·Γ(1+1/k) of Weibull's.
func mean(process draw.ProcessKind, shape, scale float64) float64 {
	if process == draw.Gamma {
		return float64(shape * scale)
	}
	return float64(scale * draw.Exp(draw.LogGamma(1+1/shape)))
}
