package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
)

// Requests that end at the router: rejected, timed out, without an instance, or
// undecided when the run ends.

// end ends request i, which no instance gets.
func (r *router) end(i int32, state metrics.State, reason metrics.Reason, now vtime.Time, out *lookahead.Outbox) {
	d := &r.held.requests[i]
	if d.Admitted != vtime.Never {
		f := r.fleet.serviceOf(d.Model).flow
		f.settle(i)
		f.forget(d.ID)
		r.tell(d.Model, func(s *policy.RouterState) { s.End(d.Tenant, false, now) })
		r.fleet.publish(d.Model, func(p *published) { p.end(d.Tenant, false, now) })
	}
	r.describe(d, state, reason, now)
	r.describeTransfer(r.held.transfers[i])
	r.recorder.Record(&r.outcome)
	sendOutcome(out, now, &r.outcome)
	if r.loop != nil {
		r.loop.ended(d.ID, now, false, 0, nil)
	}
	r.coordinator.forget(i, now)
	r.held.drop(i)
}

// describe fills r.outcome for a request that no instance has.
func (r *router) describe(d *engine.Delivery, state metrics.State, reason metrics.Reason, finished vtime.Time) {
	r.outcome = metrics.Outcome{
		Identity: d.Identity, Progress: metrics.NoProgress(), State: state, Reason: reason, Instance: -1,
		Expected: d.Expected, Retries: d.Retries, HandOver: d.HandOver, Admitted: d.Admitted, Finished: finished,
	}
}

// unfinished calls f for every request that waits for a decision when the run
// ends.
func (r *router) unfinished(f func(*metrics.Outcome)) {
	for _, s := range []*schedule{&r.held.admit, &r.held.route, &r.held.handOver, &r.held.retry, &r.held.expire} {
		for s.len() > 0 {
			i := s.pop()
			r.describe(&r.held.requests[i], metrics.Pending, metrics.NoReason, vtime.Never)
			r.describeTransfer(r.held.transfers[i])
			f(&r.outcome)
		}
	}
	for _, s := range r.fleet.services {
		if s.flow == nil {
			continue
		}
		s.flow.queue.All(func(i int32) {
			r.describe(&r.held.requests[i], metrics.Waiting, metrics.NoReason, vtime.Never)
			f(&r.outcome)
		})
	}
}

// rejection is the reason in metrics for the reason that an admission policy
// gives: ByPolicy for any that is no reason to reject.
func rejection(r policy.Reason) metrics.Reason {
	switch r {
	case policy.InsufficientTokens:
		return metrics.InsufficientTokens
	case policy.RejectAll:
		return metrics.RejectAll
	case policy.RateLimited:
		return metrics.RateLimited
	case policy.OverQuota:
		return metrics.OverQuota
	case policy.Saturated:
		return metrics.Saturated
	}
	return metrics.ByPolicy
}
