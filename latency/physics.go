package latency

import "math"

// Physics is a latency model with fitted coefficients of features of the work in a
// batch and of the state of an instance. One set of coefficients serves many models,
// GPUs, TP degrees and settings of the engine:
//
//	step     = 10⁶ · Σ βᵢ·featureᵢ
//	queueing = 10⁶ · Σ αᵢ·featureᵢ
//
// in µs. Features that are times are in seconds, so their coefficients are
// plain numbers; the other coefficients are seconds.
type Physics struct {
	features *Features
	alpha    AlphaVector
	beta     BetaVector
	gamma    float64
	minStep  float64 // µs
	second   bool    // beta.isSecond()

	// Of steps of engines that share experts and step together. Coefficients that do not know the
	// all-to-all have it as an all-reduce.
	groupBeta    BetaVector
	minGroupStep float64

	// least is the features of the prompt of no tokens that is queued soonest: each at
	// its lower bound, or at its upper bound if its coefficient is negative.
	least     AlphaVector
	congested bool // alpha has a coefficient of a congested instance
}

// maxCoefficient bounds the size of a coefficient so that no sum of products
// with features is infinite. A sensible one is below a thousand.
const maxCoefficient = 1e12

// NewPhysics returns a model with these coefficients, and DefaultGamma for the
// preemption average. One error names every coefficient that is not finite or
// beyond ±10¹².
func NewPhysics(f *Features, alpha AlphaVector, beta BetaVector) (*Physics, error) {
	var p problems
	checkCoefficients(&p, alpha[:], beta[:])
	if err := p.err("physics coefficients"); err != nil {
		return nil, err
	}
	m := &Physics{features: f, alpha: alpha, beta: beta, gamma: DefaultGamma, second: beta.isSecond()}
	m.minStep = f.leastStep(&beta, false)
	if m.groupBeta = beta; beta[betaAllToAll] == 0 {
		m.groupBeta[betaAllToAll] = beta[betaAllReduce]
	}
	m.minGroupStep = f.leastStep(&m.groupBeta, true)
	m.least = f.leastAlpha(&alpha)
	m.congested = alpha.isCongested()
	return m, nil
}

// Model returns the latency model with the coefficients and γ of the set; γ is
// DefaultGamma if the set has none. Errors are those of NewPhysics.
func (s *PhysicsSet) Model(f *Features) (*Physics, error) {
	m, err := NewPhysics(f, s.Alpha, s.Beta)
	if err != nil {
		return nil, err
	}
	if s.TrainedOn.Gamma != 0 {
		m.gamma = s.TrainedOn.Gamma
	}
	return m, nil
}

// Gamma implements Averager.
func (m *Physics) Gamma() float64 { return m.gamma }

func checkCoefficients(p *problems, alpha, beta []float64) {
	for i, v := range alpha {
		p.coefficient("alpha "+AlphaNames[i], v)
	}
	for i, v := range beta {
		p.coefficient("beta "+BetaNames[i], v)
	}
}

func (p *problems) coefficient(field string, v float64) {
	if !(math.Abs(v) <= maxCoefficient) {
		p.add(field, "is %v, want a number from -1e12 to 1e12", v)
	}
}

// Step returns the time of one step over b, µs, at least MinStep. Only a batch beyond
// the engine's limits would have less without this bound.
func (m *Physics) Step(b *Batch) float64 {
	if b.GroupTokens > 0 {
		v := m.features.Beta(b)
		return max(m.minGroupStep, float64(1e6*v.dot(&m.groupBeta)))
	}
	var v BetaVector
	m.features.beta(b, &v)
	if !m.second {
		return max(m.minStep, float64(1e6*v.dotFirst(&m.beta)))
	}
	m.features.second.beta(b, &v)
	return max(m.minStep, float64(1e6*v.dot(&m.beta)))
}

// Queueing is the time between delivery and queued, µs, at least 0.
func (m *Physics) Queueing(in QueueInput) float64 {
	var v AlphaVector
	m.features.frontEnd(&in, &v)
	if !m.congested {
		return microseconds(v.dotFrontEnd(&m.alpha))
	}
	m.features.congestion(&in, &v)
	return microseconds(v.dot(&m.alpha))
}

// TokenOverhead is 0: a fit of α includes the whole front end.
func (m *Physics) TokenOverhead() float64 { return 0 }

// RequestOverhead is 0.
func (m *Physics) RequestOverhead() float64 { return 0 }

// MinStep implements Floor. The features of every batch within the engine's
// limits lie between bounds. Each feature counts at its lower bound, or at its
// upper bound if its coefficient is negative.
func (m *Physics) MinStep() float64 {
	if m.features.expertShare.ranks > 1 {
		return min(m.minStep, m.minGroupStep)
	}
	return m.minStep
}

// MinQueueing implements Floor, in the same way as MinStep.
func (m *Physics) MinQueueing(input int64) float64 {
	v := m.least
	v[alphaPromptCompute] = m.features.promptCompute(input)
	if !m.congested {
		return microseconds(v.dotFrontEnd(&m.alpha))
	}
	if m.alpha[alphaCacheHits] < 0 {
		v[alphaCacheHits] = m.features.mostCacheHits(input)
	}
	return microseconds(v.dot(&m.alpha))
}

// microseconds converts seconds, at least 0: a sum with negative coefficients
// may be negative.
func microseconds(seconds float64) float64 { return max(0, float64(1e6*seconds)) }

// dot is Σ v[i]·c[i], in four independent sums so that the CPU can overlap
// them.
func (v *BetaVector) dot(c *BetaVector) float64 {
	var s0, s1, s2, s3 float64
	for i := 0; i < len(v); i += 4 {
		s0 += float64(v[i] * c[i])
		s1 += float64(v[i+1] * c[i+1])
		s2 += float64(v[i+2] * c[i+2])
		s3 += float64(v[i+3] * c[i+3])
	}
	return (s0 + s1) + (s2 + s3)
}

// isSecond reports whether coefficients need features that version 1 does not have.
func (v *BetaVector) isSecond() bool {
	for _, c := range v[BetasOfVersion1:] {
		if c != 0 {
			return true
		}
	}
	return false
}

// dotFirst is dot where all coefficients of version 2 are 0, with the same bits.
func (v *BetaVector) dotFirst(c *BetaVector) float64 {
	var s0, s1, s2, s3 float64
	for i := 0; i < BetasOfVersion1; i += 4 {
		s0 += float64(v[i] * c[i])
		s1 += float64(v[i+1] * c[i+1])
		s2 += float64(v[i+2] * c[i+2])
		s3 += float64(v[i+3] * c[i+3])
	}
	return (s0 + s1) + (s2 + s3)
}

// dot is Σ v[i]·c[i] from left to right.
func (v *AlphaVector) dot(c *AlphaVector) float64 {
	sum := v.dotFrontEnd(c)
	for i := alphaQueueDrain; i < len(v); i++ {
		sum += float64(v[i] * c[i])
	}
	return sum
}

// dotFrontEnd is dot where the other coefficients are 0, with the same bits.
func (v *AlphaVector) dotFrontEnd(c *AlphaVector) float64 {
	sum := 0.0
	for i := range alphaQueueDrain {
		sum += float64(v[i] * c[i])
	}
	return sum
}

// isCongested reports whether coefficients need the features of a congested instance.
// Those of the shipped sets do not.
func (v *AlphaVector) isCongested() bool {
	for _, c := range v[alphaQueueDrain:] {
		if c != 0 {
			return true
		}
	}
	return false
}

// leastStep returns a lower bound of the time of a step with coefficients c, µs; see betaBounds.
func (f *Features) leastStep(c *BetaVector, group bool) float64 {
	low, high := f.betaBounds(group)
	for i := range c {
		if c[i] < 0 {
			low[i] = high[i]
		}
	}
	return microseconds(low.dot(c))
}

// betaBounds returns bounds of every feature over all non-empty batches within
// the engine's limits; with group over those that say what all engines have. Each operation of beta and
// dot is monotone, also after rounding, so the sum of the bounds bounds the sum, to the last bit.
func (f *Features) betaBounds(group bool) (low, high BetaVector) {
	e := &f.limits
	of := func(b Batch) BetaVector {
		if group { // every engine has at least a token; each may have as many as this one
			engines := int64(f.group.engines)
			b.GroupTokens, b.GroupPrefill = engines*b.Scheduled(), engines*b.PrefillTokens
		}
		return f.Beta(&b)
	}
	low = of(Batch{DecodeTokens: 1})
	full := of(Batch{DecodeTokens: e.MaxBatchedTokens})
	low[betaInverseBatch] = full[betaInverseBatch]

	for i := range high {
		high[i] = maxFeature
	}
	// Requests may share KV blocks, so their contexts are not bounded.
	most := Batch{PrefillTokens: e.MaxBatchedTokens, SampledRows: min(e.MaxBatchedTokens, e.MaxSeqs)}
	high[betaLinearCompute] = of(most)[betaLinearCompute]
	for _, term := range []int{betaWeightStreaming, betaBatchFill, betaExpertShare, betaAllReduce, betaKVHeadRatio} {
		high[term] = full[term]
	}
	high[betaPrefillShare], high[betaInverseBatch], high[betaConstant] = 1, 1, 1
	if e.CPUBlocks == 0 {
		high[betaKVTransfer], high[betaOffloadRead] = 0, 0
	}
	high[betaMixedBatch] = 0
	if e.ChunkedPrefill {
		high[betaMixedBatch] = 1
	}
	f.secondBounds(&low, &high, full)
	return low, high
}

// leastAlpha returns the lower bound of every feature over all states in which a prompt
// of no tokens can be delivered, or its upper bound where its coefficient in c is negative.
func (f *Features) leastAlpha(c *AlphaVector) AlphaVector {
	least := AlphaVector{alphaConstant: 1}
	most := AlphaVector{
		alphaSeatUse: 1, alphaKVUsage: 1, alphaConstant: 1, alphaQueueDrain: maxFeature, alphaKVContention: maxFeature, alphaKVDemand: maxFeature,
		alphaPreemption: maxFeature, alphaOffloadCapacity: clamp(f.offloadRatio), alphaCongestion: 1,
	}
	for i := range c {
		if c[i] < 0 {
			least[i] = most[i]
		}
	}
	return least
}

// mostCacheHits is the upper bound of the feature for a prompt of input tokens.
func (f *Features) mostCacheHits(input int64) float64 {
	return clamp(float64(input) / float64(f.limits.MaxBatchedTokens))
}
