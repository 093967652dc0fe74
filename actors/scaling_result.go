package actors

import (
	"blis/policy"
	"blis/vtime"
)

// Scaling is how the number of instances changed; nil in runs in which it
// could not.
type Scaling struct {
	Events   []ScaleEvent // changes of the wanted number, in order of time
	Replicas []Replica    // by instance
	Checks   int64        // evaluations of the autoscaler

	// ReplicaMicros is the time that instances were paid for, each from when its
	// machine was there. It is a whole number, exact up to 285 years, and can pass
	// 2⁶³ where many instances wait for a late request.
	ReplicaMicros float64

	// Watch is how near the signal of the autoscaler came to its upper threshold;
	// without a name for policies without a single threshold.
	Watch policy.Watch

	First        int32      // instances at the start
	Peak, Least  int32      // most and fewest wanted instances, without draining ones
	Began        vtime.Time // first arrival: costs count from then on
	Redirected   int64      // times that requests were returned and went on on other instances
	Oscillations int        // changes of direction within OscillationWindow
}

// OscillationWindow is a minute, the usual cooldown: a change within it after one
// in the other direction is an oscillation.
const OscillationWindow = vtime.Minute

// Replica is the life of one instance. Times that did not come are vtime.Never.
type Replica struct {
	Asked, Billed, Ready, Warm, Draining, Gone vtime.Time
}

// Mean is the time-weighted mean number of instances paid for in a run that ended
// at end, with draining ones; 0 for a run that took no time.
func (s *Scaling) Mean(end vtime.Time) float64 {
	if end <= s.Began {
		return 0
	}
	return s.ReplicaMicros / float64(end.Sub(s.Began))
}

// Hours is replica-hours.
func (s *Scaling) Hours() float64 { return s.ReplicaMicros / float64(vtime.Hour) }

// turns reports whether a change after e is an oscillation.
func (e ScaleEvent) turns(next ScaleEvent) bool {
	return (next.To > next.From) != (e.To > e.From) && next.At.Sub(e.At) <= OscillationWindow
}

// scaling closes the book of a run that ended at end.
func (b *replicas) scaling(a *autoscaler, end vtime.Time) *Scaling {
	initial := int32(b.pool.Instances)
	s := &Scaling{Events: b.events, Checks: a.checks, Began: b.began, Redirected: b.returned, First: initial, Peak: initial, Least: initial}
	if w, ok := a.policy.(policy.Watched); ok {
		s.Watch = w.Watched()
	}
	for i, e := range b.events {
		s.Peak, s.Least = max(s.Peak, e.To), min(s.Least, e.To)
		if i > 0 && b.events[i-1].turns(e) {
			s.Oscillations++
		}
	}
	for i := range b.list {
		r := &b.list[i]
		s.ReplicaMicros += float64(r.cost(b.began, end))
		s.Replicas = append(s.Replicas, Replica{r.requested, r.billed, r.ready, r.warm, r.draining, r.gone})
	}
	return s
}
