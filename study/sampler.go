package study

import (
	"blis/actors"
	"blis/metrics"
)

// Sampler computes a measure over all requests that it is given, which may be of several
// runs, as an SLO is judged: a request that was rejected, dropped, timed out or aborted, or
// that never ended, is infinitely late and met no target.
type Sampler struct{ sample sloSample }

// NewSampler returns a sampler of a measure; ok is false for one that does not come from
// single requests, like goodput.
func NewSampler(m *metrics.Measure) (s *Sampler, ok bool) {
	of, ok := sampledOf(m)
	return &Sampler{sloSample{slo: &SLO{}, of: of}}, ok
}

// Add accounts for a request.
func (s *Sampler) Add(r *actors.Row) { s.sample.add(r) }

// AddLost accounts for requests that never came because an earlier one of their session was
// not answered.
func (s *Sampler) AddLost(n int64) {
	s.sample.requests += n
	if s.sample.of.share != nil {
		s.sample.all += n
	} else {
		s.sample.lost += n
	}
}

// Join adds the requests of another sampler of the same measure.
func (s *Sampler) Join(other *Sampler) {
	to, from := &s.sample, &other.sample
	to.latencies = append(to.latencies, from.latencies...)
	to.lost, to.good, to.all, to.requests = to.lost+from.lost, to.good+from.good, to.all+from.all, to.requests+from.requests
}

// Value returns the measure: latencies in µs, infinite where too many requests were lost;
// NaN if no request has it.
func (s *Sampler) Value() float64 { return s.sample.value() }
