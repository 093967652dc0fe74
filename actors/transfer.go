package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// transfer is the progress of a request that an instance returned to the router, until
// another instance resumes it. No KV cache is transferred: the other instance computes
// the tokens again.
type transfer struct {
	engine.Progress
	from int32 // the rank that returned it
}

// receiveReturned receives a request of an instance that was taken away. The request
// is routed again, at least 1 µs later, and keeps its priority. The client's hint is
// lost: the priority has it.
func (r *router) receiveReturned(m *lookahead.Message) {
	i := r.held.add()
	d := &r.held.requests[i]
	*d = engine.Delivery{Request: workload.Request{Terms: workload.Terms{Spans: d.Spans}}, Hints: d.Hints}
	t := new(transfer)
	readReturned(&m.Body, d, t)
	d.Turn = 0
	r.held.transfers[i] = t
	now, at := m.Stamp.At, r.fleet.ranks[t.from]
	at.pool.replicas.returned++
	at.left()
	at.requestLeft(now)
	at.pool.deployment.service.flow.returned(d.ID, now)
	r.coordinator.ended(d.ID, now)
	decideAnew(r, i)
	r.held.plan(&r.held.route, i, now.Add(1).Add(r.routingLatency))
}

// describeTransfer adds the progress of t to r.outcome. A nil t is of a request that
// was on no instance.
func (r *router) describeTransfer(t *transfer) {
	if t == nil {
		return
	}
	o := &r.outcome
	o.Pool, o.Instance, o.Progress = int16(r.fleet.ranks[t.from].pool.index), t.from, t.Progress.Progress
	switch {
	case o.State == metrics.Pending && o.Queued != vtime.Never:
		o.State = metrics.Queued // it was queued on the instance before
	case o.State == metrics.Rejected:
		o.State, o.Reason = metrics.Aborted, metrics.NoReason
	}
}
