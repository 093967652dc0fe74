package calibrate

import (
	"sort"

	"blis/engine"
	"blis/latency"
	"blis/metrics"
	"blis/vtime"
)

// featureRecorder is a latency model that records the features of every step.
// With them the time of a request is a sum over steps:
//
//	TTFT       = α·y + Σ β·x over the steps from queued to the first token
//	E2E − TTFT = Σ β·x over the steps from the first token to the last
//
// where y are the features of the queue and x those of a step. So, given the
// schedule, measured times are linear in α and β, however many requests shared the
// steps.
type featureRecorder struct {
	model    latency.Model
	features featureSource

	steps  []latency.BetaVector
	starts []vtime.Time
	ends   []vtime.Time
	sums   []latency.BetaVector // sums[k] is the sum of steps[:k]; len(steps)+1 of them after sumSteps

	alphas []latency.AlphaVector // by request, in order of delivery
	spans  []span                // by request
}

// span holds the times of a request in the engine: into the queue, first token,
// last token. vtime.Never: it did not come so far.
type span struct{ queued, first, last vtime.Time }

func newFeatureRecorder(m latency.Model, f featureSource, requests int) *featureRecorder {
	t := &featureRecorder{model: m, features: f, spans: make([]span, requests), alphas: make([]latency.AlphaVector, 0, requests)}
	for i := range t.spans {
		t.spans[i] = span{vtime.Never, vtime.Never, vtime.Never}
	}
	return t
}

// Queueing implements latency.Model. The engine calls it once per delivery.
func (t *featureRecorder) Queueing(in latency.QueueInput) float64 {
	t.alphas = append(t.alphas, t.features.Alpha(in))
	return t.model.Queueing(in)
}

// Step implements latency.Model. The engine calls it once per step, just before
// it calls Formed.
func (t *featureRecorder) Step(b *latency.Batch) float64 {
	t.steps = append(t.steps, t.features.Beta(b))
	return t.model.Step(b)
}

// TokenOverhead implements latency.Model.
func (t *featureRecorder) TokenOverhead() float64 { return t.model.TokenOverhead() }

// RequestOverhead implements latency.Model.
func (t *featureRecorder) RequestOverhead() float64 { return t.model.RequestOverhead() }

// Gamma implements latency.Averager.
func (t *featureRecorder) Gamma() float64 { return latency.Gamma(t.model) }

// Formed implements engine.Observer.
func (t *featureRecorder) Formed(_ vtime.Time, f *engine.Formation) {
	if f.Empty() {
		return
	}
	t.starts = append(t.starts, f.Start)
	t.ends = append(t.ends, f.End)
}

// Preempted implements engine.Observer.
func (*featureRecorder) Preempted(vtime.Time, engine.Preemption) {}

// Transferred implements engine.Observer.
func (*featureRecorder) Transferred(vtime.Time, engine.Transfer) {}

// Expired implements engine.Observer.
func (*featureRecorder) Expired(vtime.Time, int64, int32) {}

// Anomaly implements engine.Observer.
func (*featureRecorder) Anomaly(vtime.Time, engine.Anomaly) {}

// done keeps the times of a request that has ended.
func (t *featureRecorder) done(o *metrics.Outcome) {
	t.spans[o.ID] = span{o.Queued, o.FirstToken, o.LastToken}
}

// sumSteps computes the prefix sums, when all steps are known.
func (t *featureRecorder) sumSteps() {
	t.sums = make([]latency.BetaVector, len(t.steps)+1)
	for k, x := range t.steps {
		t.sums[k+1] = t.sums[k]
		for j, v := range x {
			t.sums[k+1][j] += v
		}
	}
}

// sumUntil returns the sum of the features of all steps before a time. A step
// in progress at that time counts by the share that has passed.
func (t *featureRecorder) sumUntil(at vtime.Time) latency.BetaVector {
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

// sumBetween returns the sum of the features of all steps between two times.
func (t *featureRecorder) sumBetween(from, to vtime.Time) latency.BetaVector {
	sum := t.sumUntil(to)
	for j, v := range t.sumUntil(from) {
		sum[j] -= v
	}
	return sum
}
