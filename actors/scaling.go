package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
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
	b := r.replicas
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
		case b.actuation.Drain != setup.DrainWait:
			r.stop(i, b.actuation.Drain == setup.DrainRedirect, now, out)
		case b.actuation.DrainTimeout > 0:
			b.overdue.push(entry{now.Add(b.actuation.DrainTimeout), int64(i), int32(i)})
		}
	}
}

// stop takes instance i away at the next tick, after the deliveries that are on
// their way to it. With giveBack its requests are returned, else aborted.
func (r *router) stop(i int, giveBack bool, now vtime.Time, out *lookahead.Outbox) {
	if giveBack {
		r.replicas.handingBack++
	}
	sendStop(out, lookahead.FirstLeaf+lookahead.ProcessID(i), now+1, giveBack)
}

// requestLeft notes that a request is no longer on instance i.
func (r *router) requestLeft(i int, now vtime.Time) {
	if b := r.replicas; b != nil && b.ended(i, now) && b.actuation.Drain == setup.DrainRedirect {
		b.handingBack-- // it had been told to return its requests
	}
}

// takeBack takes back a request of an instance that was taken away. The request is
// routed again, a tick later at the earliest, with the priority that it has. The
// client's hint, which went into the priority, is not kept.
func (r *router) takeBack(m *lookahead.Message) {
	i := r.held.add()
	d := &r.held.requests[i]
	*d = engine.Delivery{Request: workload.Request{Terms: workload.Terms{Spans: d.Spans}}}
	p := new(engine.Progress)
	instance := readReturned(&m.Body, d, p)
	r.held.migrated[i] = migratedRequest{p, int32(instance)}
	r.replicas.returned++
	now := m.Stamp.At
	r.left(instance)
	r.requestLeft(instance, now)
	r.held.plan(&r.held.route, i, now.Add(1).Add(r.routingLatency))
}

// migratedRequest is what the router knows of a request that it routes again.
type migratedRequest struct {
	progress *engine.Progress
	from     int32
}

// describeMigrated completes r.outcome of request i, if the request was on an
// instance before.
func (r *router) describeMigrated(i int32) {
	if m, ok := r.held.migrated[i]; ok {
		r.describeProgress(m)
	}
}

// describeProgress completes r.outcome of a request that was on an instance before.
func (r *router) describeProgress(m migratedRequest) {
	o := &r.outcome
	o.Instance, o.Progress = m.from, m.progress.Progress
	switch {
	case o.State == metrics.Pending && o.Queued != vtime.Never:
		o.State = metrics.Queued // it was queued on the instance before
	case o.State == metrics.Rejected:
		o.State, o.Reason = metrics.Aborted, metrics.NoReason
	}
}
