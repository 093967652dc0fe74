package latency

// Blackbox is the model of two straight lines (microseconds, tokens):
//
//	step     = β₀ + β₁·prefill tokens + β₂·decode tokens
//	queueing = α₀ + α₁·L
//
// and α₂ as the overhead of each token on its way to the client. It knows
// nothing of the model or GPU behind the numbers. A constant step time is the
// Blackbox with β₁ = β₂ = 0.
type Blackbox struct {
	Alpha [3]float64 // µs, µs per prompt token, µs per output token
	Beta  [3]float64 // µs, µs per prefill token, µs per decode token
}

// Validate returns one error that names every coefficient that is NaN,
// infinite or negative.
func (m Blackbox) Validate() error {
	var p problems
	for i, v := range m.Alpha {
		p.notNegative([3]string{"alpha[0]", "alpha[1]", "alpha[2]"}[i], v)
	}
	for i, v := range m.Beta {
		p.notNegative([3]string{"beta[0]", "beta[1]", "beta[2]"}[i], v)
	}
	return p.err("blackbox coefficients")
}

// Queueing is α₀ + α₁·L.
func (m Blackbox) Queueing(in QueueInput) float64 {
	return m.Alpha[0] + float64(m.Alpha[1]*float64(in.Input))
}

// Step is β₀ + β₁·prefill + β₂·decode, summed from left to right: other orders
// give other bits.
func (m Blackbox) Step(b *Batch) float64 {
	return m.Beta[0] + float64(m.Beta[1]*float64(b.PrefillTokens)) + float64(m.Beta[2]*float64(b.DecodeTokens))
}

// TokenOverhead is α₂.
func (m Blackbox) TokenOverhead() float64 { return m.Alpha[2] }

// RequestOverhead is 0.
func (m Blackbox) RequestOverhead() float64 { return 0 }
