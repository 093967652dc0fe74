package calibrate

import (
	"sort"

	"blis/engine"
	"blis/latency"
	"blis/metrics"
	"blis/vtime"
)

// tap is a latency model that keeps the features of every step it is asked
// for, so that the time of a request can be written as a sum over steps:
//
//	TTFT      = α·y + Σ β·x over the steps from queued to the first token
//	E2E − TTFT = Σ β·x over the steps from the first token to the last
//
// Given the schedule, measured times are therefore linear in α and β, however
// many requests shared the steps.
type tap struct {
	model    latency.Model
	features terms

	steps  []latency.BetaVector
	starts []vtime.Time
	ends   []vtime.Time
	sums   []latency.BetaVector // of the steps before

	alphas []latency.AlphaVector // by request, in order of delivery
	spans  []span                // by request
}

// span is the time of a request in the engine; never for what did not happen.
type span struct{ queued, first, last vtime.Time }

func newTap(m latency.Model, f terms, requests int) *tap {
	t := &tap{model: m, features: f, spans: make([]span, requests), alphas: make([]latency.AlphaVector, 0, requests)}
	for i := range t.spans {
		t.spans[i] = span{vtime.Never, vtime.Never, vtime.Never}
	}
	return t
}

// Queueing implements latency.Model. It is asked once per delivery.
func (t *tap) Queueing(in latency.QueueInput) float64 {
	t.alphas = append(t.alphas, t.features.Alpha(in))
	return t.model.Queueing(in)
}

// Step implements latency.Model. It is asked once per step, just before the
// engine tells its tracer of it.
func (t *tap) Step(b *latency.Batch) float64 {
	t.steps = append(t.steps, t.features.Beta(b))
	return t.model.Step(b)
}

// TokenOverhead implements latency.Model.
func (t *tap) TokenOverhead() float64 { return t.model.TokenOverhead() }

// RequestOverhead implements latency.Model.
func (t *tap) RequestOverhead() float64 { return t.model.RequestOverhead() }

// Gamma implements latency.Averager.
func (t *tap) Gamma() float64 { return latency.Gamma(t.model) }

// Formed implements engine.Observer.
func (t *tap) Formed(_ vtime.Time, s engine.Step) {
	t.starts = append(t.starts, s.Start)
	t.ends = append(t.ends, s.End)
}

// Preempted implements engine.Observer.
func (*tap) Preempted(vtime.Time, engine.Preemption) {}

// Anomaly implements engine.Observer.
func (*tap) Anomaly(vtime.Time, engine.Anomaly) {}

func (t *tap) done(o *metrics.Outcome) {
	t.spans[o.ID] = span{o.Queued, o.FirstToken, o.LastToken}
}

// settle adds the steps up once all are known.
func (t *tap) settle() {
	t.sums = make([]latency.BetaVector, len(t.steps)+1)
	for k, x := range t.steps {
		t.sums[k+1] = t.sums[k]
		for j, v := range x {
			t.sums[k+1][j] += v
		}
	}
}

// until is the sum of the features of all steps before a time; of a step that
// is under way then, its share.
func (t *tap) until(at vtime.Time) latency.BetaVector {
	k := sort.Search(len(t.ends), func(k int) bool { return t.ends[k] >= at })
	sum := t.sums[k]
	if k < len(t.ends) && at > t.starts[k] {
		share := float64(at-t.starts[k]) / float64(t.ends[k]-t.starts[k])
		for j, v := range t.steps[k] {
			sum[j] += float64(share * v)
		}
	}
	return sum
}

// between is the sum of the features over a stretch of time.
func (t *tap) between(from, to vtime.Time) latency.BetaVector {
	sum := t.until(to)
	for j, v := range t.until(from) {
		sum[j] -= v
	}
	return sum
}
