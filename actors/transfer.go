package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// transfer is a request on its way from one instance by the router to another: what it
// got so far, and where. No KV goes with it, so the next instance computes its tokens
// again. It is returned by the one, held here and resumed by the other.
type transfer struct {
	engine.Progress
	from int32 // instance
}

// takeBack takes back a request of an instance that was taken away. The request is
// routed again, a tick later at the earliest, with the priority that it has. The
// client's hint, which went into the priority, is not kept.
func (r *router) takeBack(m *lookahead.Message) {
	i := r.held.add()
	d := &r.held.requests[i]
	*d = engine.Delivery{Request: workload.Request{Terms: workload.Terms{Spans: d.Spans}}}
	t := new(transfer)
	readReturned(&m.Body, d, t)
	r.held.transfers[i] = t
	r.pool.replicas.returned++
	now := m.Stamp.At
	r.left(int(t.from))
	r.requestLeft(int(t.from), now)
	r.held.plan(&r.held.route, i, now.Add(1).Add(r.routingLatency))
}

// describeTransfer completes r.outcome of a request that was on an instance before;
// nil: it was not.
func (r *router) describeTransfer(t *transfer) {
	if t == nil {
		return
	}
	o := &r.outcome
	o.Instance, o.Progress = t.from, t.Progress.Progress
	switch {
	case o.State == metrics.Pending && o.Queued != vtime.Never:
		o.State = metrics.Queued // it was queued on the instance before
	case o.State == metrics.Rejected:
		o.State, o.Reason = metrics.Aborted, metrics.NoReason
	}
}
