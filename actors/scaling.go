package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// How instances come and go, as far as the router has a part in it: the
// autoscaler tells it how many there are to be; it alone knows who has what.

// Drain policies.
const (
	drainWait      = "wait"      // what is there is served
	drainImmediate = "immediate" // what is there ends as aborted
	drainRedirect  = "redirect"  // what is there goes on elsewhere
)

// ScaleEvent is one change of the number of instances that is asked for.
type ScaleEvent struct {
	At       vtime.Time
	From, To int32 // instances that start, warm or serve
	Reason   policy.Reason
}

// scale makes the number of instances what it is to be.
func (r *router) scale(target int32, reason policy.Reason, now vtime.Time, out *lookahead.Outbox) {
	b := r.replicas
	b.events = append(b.events, ScaleEvent{now, b.count, target, reason})
	for b.count < target {
		b.start(now)
	}
	for b.count > target {
		i := b.victim()
		if !b.retire(i, now) {
			continue
		}
		switch {
		case b.actuation.Drain != drainWait:
			r.stop(i, b.actuation.Drain == drainRedirect, now, out)
		case b.actuation.DrainTimeout > 0:
			b.overdue.push(entry{now.Add(b.actuation.DrainTimeout), int64(i), int32(i)})
		}
	}
}

// stop takes instance i away from what it has, a tick later: what is on its
// way to it gets there first.
func (r *router) stop(i int, giveBack bool, now vtime.Time, out *lookahead.Outbox) {
	if giveBack {
		r.replicas.leaving++
	}
	sendStop(out, lookahead.FirstLeaf+lookahead.ProcessID(i), now+1, giveBack)
}

// left notes that a request is no longer on instance i.
func (r *router) left(i int, now vtime.Time) {
	if b := r.replicas; b != nil && b.ended(i, now) && b.actuation.Drain == drainRedirect {
		b.leaving-- // whoever drained had been told to give back
	}
}

// returned takes back a request of an instance that was taken away. It is
// routed again, a tick later at the earliest, with the priority that it has. The
// client's hint, which went into that, is not kept.
func (r *router) returned(m *lookahead.Message) {
	i := r.hold()
	d := &r.requests[i]
	*d = engine.Delivery{Request: workload.Request{Terms: workload.Terms{Spans: d.Spans}}}
	p := new(engine.Progress)
	instance := readReturned(&m.Body, d, p)
	r.moved[i] = movedRequest{p, int32(instance)}
	r.replicas.returned++
	now := m.Stamp.At
	if !r.sight.counted {
		r.sight.ended(instance)
	}
	r.left(instance, now)
	r.plan(&r.route, i, now.Add(1).Add(r.routingLatency))
}

// movedRequest is what the router knows of a request that it routes again.
type movedRequest struct {
	progress *engine.Progress
	from     int32
}

// describeMoved completes the outcome of request i, if it was on an instance
// before.
func (r *router) describeMoved(i int32) {
	if m, ok := r.moved[i]; ok {
		r.describeProgress(m)
	}
}

// describeProgress completes the outcome of a request that was on an instance
// before.
func (r *router) describeProgress(m movedRequest) {
	o := &r.outcome
	o.Instance, o.Progress = m.from, m.progress.Progress
	switch {
	case o.State == metrics.Pending && o.Queued != vtime.Never:
		o.State = metrics.Queued // it has been, elsewhere
	case o.State == metrics.Rejected:
		o.State, o.Reason = metrics.Aborted, metrics.NoReason
	}
}
