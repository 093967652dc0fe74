package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/trace"
	"blis/vtime"
)

// dispatch gives request i its priority and its instance, and delivers it.
func (r *router) dispatch(i int32, now vtime.Time, out *lookahead.Outbox) {
	d := &r.held.requests[i]
	ask := r.requestFor(i)
	front := r.fleet.frontOf(d)
	r.fleet.serviceOf(d.Model).flow.settle(i)
	if front.prefixes != nil {
		front.expect(ask)
	}
	t, migrated := r.held.transfers[i]
	ask.Attempt = d.Retries
	if migrated {
		ask.Attempt += t.Redirects
	}
	var inversion policy.ClassInversion
	inverted, id := false, d.ID
	if ask.Attempt == 0 { // a request keeps its priority
		inversion, inverted = r.prioritise(d, ask, now, out)
	}
	placed := false
	of := r.fleet.serviceOf(d.Model).alone()
	if of != nil && r.coordinator.servesAlone(of, i) {
		placed = r.coordinator.direct(of, i, ask, false, now, out)
	} else if target := r.choose(front, i, ask, now, out); target >= 0 {
		if at := front.places[target]; at.pool.role == setup.Monolithic {
			r.deliver(i, at, now, out)
			placed = true
		} else {
			placed = r.coordinator.route(at, i, ask, now, out)
		}
	} else if of != nil && of.prefill != nil && front == of.prefill.endpoints {
		r.tracing.decideAgain()
		placed = r.coordinator.direct(of, i, ask, true, now, out)
	}
	if inverted && r.tracing != nil && r.tracing.level == trace.Detailed {
		sendTracedInversion(out, now, id, inversion)
	}
	if !placed {
		endUnplaced(r, i, now, out)
	}
}

// endUnplaced ends request i, which found no instance, unless it was lost with one and its client sends it again.
func endUnplaced(r *router, i int32, now vtime.Time, out *lookahead.Outbox) {
	if _, migrated := r.held.transfers[i]; migrated && r.held.requests[i].Retries > 0 {
		r.goOn(i, now, metrics.NoReason, out)
		return
	}
	r.end(i, metrics.Rejected, metrics.NoInstance, now, out)
}

// choose returns the seat among endpoints that their routing policy, or the user, gives to request
// i, which is that of ask; −1 if none takes it. The request is on its way there then. Its prompt has
// been looked up.
func (r *router) choose(at *endpoints, i int32, ask *policy.Request, now vtime.Time, out *lookahead.Outbox) (target int) {
	d := &r.held.requests[i]
	if r.tracing != nil && r.tracing.counterfactual != policy.NoSignals {
		at.cluster.update(now)
	}
	at.prepare(&r.state, at.reads, now)
	ask.Hints = d.Hints
	r.observe(out, key(now, vtime.ClassRouting), seenAtRouting, ask, d.Priority, &r.state, at.reads|r.tracing.counterfactualSignals())
	choice := at.routing.Route(ask, d.Priority, &r.state, &at.cluster.view, now)
	target, forced := choice.Target, false
	if r.forced != nil && ask.Attempt == 0 {
		target, forced = r.force(at, d.ID, target, now)
	}
	if r.tracing != nil {
		r.tracing.routed(at, out, now, d, &choice, question{ask, &r.state}, decided{target, forced, ask.Attempt > 0})
	}
	if target >= 0 {
		at.places[target].send()
		at.expectAt(target, d, r.held.transfers[i])
		if at.observer != nil {
			at.observer.OnRouted(ask, target)
		}
	}
	return target
}

// chooseAmong is choose among endpoints that were not looked up; nil if none takes the request.
func (r *router) chooseAmong(at *endpoints, i int32, ask *policy.Request, now vtime.Time, out *lookahead.Outbox) *place {
	if at.prefixes != nil {
		at.expect(ask)
	}
	target := r.choose(at, i, ask, now, out)
	if target < 0 {
		return nil
	}
	return at.places[target]
}

// prepare makes the view of the endpoints and the state of the router show what a policy that
// observes signals may see at now.
func (s *endpoints) prepare(state *policy.RouterState, signals policy.Signals, now vtime.Time) {
	if ofInstances(signals) {
		s.cluster.update(now)
	}
	state.View, state.Prefixes = &s.cluster.view, s.prefixes
	s.cluster.view.Declared, state.Declared = signals, signals
}

// expectAt notes what of the prompt of d, which was looked up, is expected in the cache at a seat,
// and that it will be there. t is what d, which was returned by an instance, has made of it; or nil.
func (s *endpoints) expectAt(seat int, d *engine.Delivery, t *transfer) {
	if s.prefixes == nil {
		return
	}
	if t == nil || t.Scheduled == vtime.Never { // else it has had its hits
		d.Expected = s.expected(seat, d.Input)
	}
	s.prefixes.Record(seat)
}

// deliver delivers request i to an instance, which has been chosen for it. The instance queues or
// drops it after queueing at the front end, or at its deadline if that comes first. Until then the
// instance shows no change.
func (r *router) deliver(i int32, at *place, now vtime.Time, out *lookahead.Outbox) {
	d := &r.held.requests[i]
	r.fleet.serviceOf(d.Model).flow.delivers(d.ID, at)
	to, effect := r.effect(d, at, now)
	if t, migrated := r.held.transfers[i]; migrated {
		sendResumed(out, to, now, effect, d, &t.Progress)
	} else {
		sendDelivery(out, to, now, effect, d)
	}
	r.held.drop(i)
}

// effect addresses d, which is delivered at now, to an endpoint. It returns the process, and when that
// has an effect.
func (r *router) effect(d *engine.Delivery, at *place, now vtime.Time) (to lookahead.ProcessID, effect vtime.Time) {
	effect = min(now.Add(engine.MinQueueing(at.pool.plan.Latency, d.Input)), max(now, d.Deadline))
	d.Endpoint = uint16(at.index)
	if r.failures.down(at.number) { // it refuses the request
		effect = now
	}
	return at.process(), effect
}
