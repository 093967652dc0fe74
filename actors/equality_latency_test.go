package actors

// drawLatency chooses how long steps take.
func (d dice) drawLatency(x *trial) {
	c := &x.Config
	blackbox := func(alpha, beta []float64) { c.AlphaCoeffs, c.BetaCoeffs = alpha, beta }
	switch d.IntN(7) {
	case 0:
		c.Quantization, c.KVCacheDtype = pick(d, "", "", "fp8", "awq"), pick(d, "auto", "auto", "fp8")
		if c.LatencyModel = "roofline"; d.chance(0.5) {
			c.LatencyModel, c.Coefficients = "physics", pick(d, "h100", "h100-llama-2-70b", "rtx4090-llama-3.1-8b")
		}
	case 1:
		blackbox([]float64{1601.35, 3.51, 1805.54}, []float64{6910.42, 17.67, 2.84})
	case 2:
		blackbox([]float64{0, 0, 0}, []float64{0, 0, 0})
	case 3:
		blackbox([]float64{0, 0, 0}, []float64{100, 10, 10})
	case 4:
		blackbox([]float64{50, 0.5, 20}, []float64{300.3, 1.37, 7.11})
	default:
		x.AllFields, c.PreemptionGamma = true, pick(d, 0, 0, 0.1, 0.9, 1)
	}
}
