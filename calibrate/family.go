package calibrate

import "blis/latency"

// Family is a kind of latency model that is linear in its coefficients, so that it
// can be fitted to measured times (see featureRecorder).
type Family struct {
	Name     string
	bounds   [columns]bound
	features func(*Server) (featureSource, error)
	model    func(featureSource, *Coefficients) (latency.Model, error)
}

// featureSource computes the features of a latency model, which coefficients weigh.
type featureSource interface {
	Alpha(latency.QueueInput) latency.AlphaVector
	Beta(*latency.Batch) latency.BetaVector
}

// Physics is the latency model with features of the work in a step.
var Physics = &Family{
	Name:     "physics",
	bounds:   physicsBounds,
	features: func(s *Server) (featureSource, error) { return latency.NewFeatures(s.Deployment, s.Limits) },
	model: func(t featureSource, c *Coefficients) (latency.Model, error) {
		return latency.NewPhysics(t.(*latency.Features), c.Alpha, c.Beta)
	},
}

// Indices of the coefficients of Blackbox among the coefficients of physics, whose
// places they use: β₁ and β₂ per prefill and decode token, β₀ of every step; α₁ per
// prompt token, α₀ of every request. In seconds.
const (
	perPrefillToken, perDecodeToken, perStep = 0, 1, 15
	perPromptToken, perRequest               = 2, 3
)

// Blackbox is the latency model of two straight lines. It is fitted in the same way
// as Physics, so that only the models differ in a comparison.
var Blackbox = &Family{
	Name: "blackbox",
	bounds: [columns]bound{
		perPrefillToken: {0, 3e-5, 0.01, 0}, perDecodeToken: {0, 1e-5, 0.01, 0}, perStep: {0, 0.01, 1, 0},
		betas + perPromptToken: {0, 0, 1e-4, 0}, betas + perRequest: {0, 0.004, 0.1, 0},
	},
	features: func(*Server) (featureSource, error) { return tokenCounts{}, nil },
	model: func(_ featureSource, c *Coefficients) (latency.Model, error) {
		m := BlackboxOf(c)
		return m, m.Validate()
	},
}

// BlackboxOf returns the latency model with the coefficients of a fit of Blackbox.
func BlackboxOf(c *Coefficients) latency.Blackbox {
	return latency.Blackbox{
		Alpha: [3]float64{1e6 * c.Alpha[perRequest], 1e6 * c.Alpha[perPromptToken], 0},
		Beta:  [3]float64{1e6 * c.Beta[perStep], 1e6 * c.Beta[perPrefillToken], 1e6 * c.Beta[perDecodeToken]},
	}
}

// tokenCounts computes the features of Blackbox: numbers of tokens.
type tokenCounts struct{}

// Alpha implements featureSource.
func (tokenCounts) Alpha(in latency.QueueInput) (v latency.AlphaVector) {
	v[perPromptToken], v[perRequest] = float64(in.Input), 1
	return v
}

// Beta implements featureSource.
func (tokenCounts) Beta(b *latency.Batch) (v latency.BetaVector) {
	v[perPrefillToken], v[perDecodeToken], v[perStep] = float64(b.PrefillTokens), float64(b.DecodeTokens), 1
	return v
}
