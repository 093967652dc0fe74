package actors

import (
	"blis/lookahead"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// The router's part in scaling. The autoscaler tells it how many instances there
// should be; the router knows which instance has which requests.

// ScaleEvent is one change of the wanted number of instances.
type ScaleEvent struct {
	At       vtime.Time
	From, To int32 // instances that are starting, warming or serving
	Reason   policy.Reason
}

// scale starts or removes instances until there are target.
func (r *router) scale(target int32, reason policy.Reason, now vtime.Time, out *lookahead.Outbox) {
	b := r.pool.replicas
	e := ScaleEvent{now, b.count, target, reason}
	b.events = append(b.events, e)
	b.published.scale(e)
	for b.count < target {
		b.start(now)
	}
	for b.count > target {
		i := b.victim()
		if !b.drain(i, now) {
			continue
		}
		switch {
		case b.pool.Scaling.Drain != setup.DrainWait:
			r.stop(i, b.pool.Scaling.Drain == setup.DrainRedirect, now, out)
		case b.pool.Scaling.DrainTimeout > 0:
			b.overdue.push(entry{now.Add(b.pool.Scaling.DrainTimeout), int64(i), int32(i)})
		}
	}
}

// stop takes instance i away at the next tick, after the deliveries that are on
// their way to it. With giveBack its requests are returned, else aborted.
func (r *router) stop(i int, giveBack bool, now vtime.Time, out *lookahead.Outbox) {
	if giveBack {
		r.pool.replicas.handingBack++
	}
	sendStop(out, lookahead.FirstLeaf+lookahead.ProcessID(i), now+1, giveBack)
}

// requestLeft notes that a request is no longer on instance i.
func (r *router) requestLeft(i int, now vtime.Time) {
	if b := r.pool.replicas; b != nil && b.ended(i, now) && b.pool.Scaling.Drain == setup.DrainRedirect {
		b.handingBack-- // it had been told to return its requests
	}
}
