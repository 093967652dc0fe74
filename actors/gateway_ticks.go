package actors

import (
	"fmt"
	"slices"

	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
)

// When the gateway acts: which ticks are executed, and what that means for how far instances may run.

// tickAfter is the first tick that sees what happens at k, and that has not been executed. One at the instant of
// a routing decision does, unless it is where that decision comes from.
func (f *flowControl) tickAfter(k lookahead.Key) vtime.Time {
	τ := int64(f.plan.Tick)
	n := (int64(k.At) + τ - 1) / τ
	if n*τ == int64(k.At) && k.Class > vtime.ClassRouting {
		n++
	}
	return vtime.Time(max(n, f.ticks+1) * τ)
}

// changed notes that what a cycle depends on may have changed at k.
func (f *flowControl) changed(k lookahead.Key) {
	if f != nil && f.queue.Waiting() > 0 && !k.IsNever() {
		f.next = min(f.next, f.tickAfter(k))
	}
}

// after plans the next tick after a cycle at k: if the next one may dispatch more that, else the first one after
// something may have changed.
func (f *flowControl) after(k lookahead.Key, again bool, out *lookahead.Outbox) {
	f.next = vtime.Never
	if f.queue.Waiting() == 0 {
		return
	}
	if again || f.eager {
		f.changed(k)
		return
	}
	if at := f.nextDecision(k.At); at != vtime.Never {
		f.changed(key(at, vtime.ClassArrival))
	}
	for _, s := range f.stages {
		if !s.ready() {
			return // signals do not matter
		}
	}
	for _, s := range f.stages {
		for _, e := range s.of {
			f.afterRefresh(&e.cluster, k, out)
		}
	}
}

// afterRefresh plans the tick at which signals of s may be others than at k. Requests in flight that
// notices count need none: these say so.
func (f *flowControl) afterRefresh(s *clusterView, k lookahead.Key, out *lookahead.Outbox) {
	of := func(c cadence) {
		if c == immediate {
			if steady := out.Steady(); k.Less(steady) {
				f.changed(steady)
			} else {
				f.changed(k)
			}
			return
		}
		refresh := c.after(k.At)
		if !k.Less(c.key(refresh)) {
			refresh++
		}
		f.changed(c.key(refresh))
	}
	if s.load != nil && (f.signals&loadSignals&^s.inGroups != 0 || f.signals&policy.InFlight != 0 && s.inFlightFromLoad) {
		of(s.load.cadence)
	}
	for _, g := range s.groups {
		if g.signals&f.signals != 0 {
			of(g.snapshots.cadence)
		}
	}
}

// readsInstances reports whether cycles read what instances of s publish.
func (s *clusterView) readsInstances(signals policy.Signals) bool {
	return signals.Published() != policy.NoSignals || signals&policy.InFlight != 0 && s.inFlightFromLoad
}

// nextTick is the Key of the first tick of a gateway that may do something, as far as is known. While
// something waits that no tick is known to serve, it is where the run fails if nothing happens until then.
func (f *flowControl) nextTick() lookahead.Key {
	switch {
	case f == nil || f.queue.Waiting() == 0:
		return lookahead.NeverKey
	case f.next == vtime.Never:
		return key(f.patience, vtime.ClassRouting)
	}
	return key(f.next, vtime.ClassRouting)
}

// tickOf is the Key of the tick at which a cycle would see what an event of the router at k changes: it may be
// earlier than any that is known.
func (f *flowControl) tickOf(k lookahead.Key) lookahead.Key {
	if f == nil || f.queue.Waiting() == 0 || k.IsNever() {
		return lookahead.NeverKey
	}
	return key(f.tickAfter(k), vtime.ClassRouting)
}

// timeOutOpens reports whether a request that times out at the router may open a gate: it was to be handed over
// to an instance, or it was dispatched, and counts from then on.
func timeOutOpens(r *router) bool {
	return r.coordinator != nil || slices.ContainsFunc(r.fleet.services, func(s *service) bool { return s.flow != nil && s.flow.plan.Detector.Credit })
}

// firstTick is the first tick that the router may execute if it hears nothing.
func (f *flowControl) firstTick(r *router) vtime.Time {
	at := f.nextTick().At
	if f != nil && timeOutOpens(r) && f.queue.Waiting() > 0 && r.held.expire.at() != vtime.Never {
		at = min(at, f.tickAfter(key(r.held.expire.at(), vtime.ClassTimeout)))
	}
	return at
}

// stuck is called where nothing has changed for long while requests wait.
func (f *flowControl) stuck(r *router, now vtime.Time) {
	if f.inFlight() || r.fleet.awaitsInstance() && f.extended < mostExtensions { // something is under way
		f.extended++
		f.patience = now.Add(stuckPatience)
		return
	}
	why := "no instance is ready, and none will be"
	if f.ready() {
		why = fmt.Sprintf("the saturation of the instances stays %.3g, though no request is in flight", f.saturation(now))
	}
	panic(&ClosedGate{now, f.queue.Waiting(), why})
}

// awaitsInstance reports whether an instance starts, or is down and will be repaired.
func (f *fleet) awaitsInstance() bool {
	for _, s := range f.pools {
		if s.replicas != nil && !s.replicas.nextPhase().IsNever() {
			return true
		}
	}
	for _, s := range f.servers {
		if s.pool.endpoints.cluster.view.Phase(s.places[0].seat) == policy.Down {
			return true
		}
	}
	return false
}

// ClosedGate is the error of a run whose gateway stays closed for ever.
type ClosedGate struct {
	At      vtime.Time
	Waiting int64  // requests at the gateway
	Why     string // nothing will open it
}

// Error implements error.
func (e *ClosedGate) Error() string {
	return fmt.Sprintf("%d requests wait at the gateway for ever: %s (looked at %.0f s of virtual time; --request-ttl lets them leave)", e.Waiting, e.Why, e.At.Seconds())
}

// nextLeave is the Key of the next request that leaves without dispatch: it expires, or its deadline
// passes.
func (f *flowControl) nextLeave() lookahead.Key {
	if f == nil || f.queue.NextLeave() == vtime.Never {
		return lookahead.NeverKey
	}
	return key(f.queue.NextLeave(), vtime.ClassTimeout)
}

// leaveNext ends the request of nextLeave.
func (f *flowControl) leaveNext(r *router, now vtime.Time, out *lookahead.Outbox) {
	i, expires := f.queue.PopLeave()
	f.publish()
	state, reason := metrics.TimedOut, metrics.AtGateway
	if expires {
		state, reason = metrics.Expired, metrics.NoReason
	}
	f.leave(r, i, state, reason, now, out)
	if f.queue.Waiting() == 0 {
		f.next = vtime.Never
	}
}

// leave ends a request that has left the queue without dispatch.
func (f *flowControl) leave(r *router, i int32, state metrics.State, reason metrics.Reason, now vtime.Time, out *lookahead.Outbox) {
	f.use.Leave(i, state, now)
	r.end(i, state, reason, now, out)
}

// react is the Key of the first event that a notice at k can cause by opening a gate: the tick, if it reads
// instances, else the routing decision that follows.
func (f *flowControl) react(r *router, k lookahead.Key) lookahead.Key {
	if f == nil || !f.byNotice || f.queue.Waiting() == 0 && nextEntry(r) > k.At {
		return lookahead.NeverKey
	}
	at := f.tickAfter(k)
	if !f.reads && f.evictions == nil {
		at = at.Add(r.routingLatency)
	}
	return key(at, vtime.ClassRouting)
}

// nextEntry is when a request can enter the queue of a gateway next, if no message comes.
func nextEntry(r *router) vtime.Time {
	at := r.held.admit.at()
	if t := r.possibleArrival(); t != vtime.Never {
		at = min(at, t.Add(r.admissionLatency))
	}
	return at
}

// gatewayWith returns the gateway with the earliest Key, nil if all are never.
func (f *fleet) gatewayWith(of func(*flowControl) lookahead.Key) (first *flowControl, at lookahead.Key) {
	at = lookahead.NeverKey
	for _, s := range f.services {
		if k := of(s.flow); k.Less(at) {
			first, at = s.flow, k
		}
	}
	return first, at
}

// reactGates is the Key of the first event that a notice at k can cause by opening a gate.
func reactGates(r *router, k lookahead.Key) lookahead.Key {
	first := lookahead.NeverKey
	for _, s := range r.fleet.services {
		first = lookahead.Earliest(first, s.flow.react(r, k))
	}
	return first
}

// alsoOpenGates adds to what notices of disaggregation can cause that they open a gate.
func (c *cluster) alsoOpenGates(list *[lookahead.NoticeKinds]lookahead.Notice) {
	if c.plan.Gateway == nil {
		return
	}
	for _, kind := range []lookahead.NoticeKind{prefilledNotice, pullingNotice, notPulledNotice} {
		other := list[kind].React
		list[kind].React = func(k lookahead.Key) lookahead.Key {
			return lookahead.Earliest(other(k), reactGates(c.router, k))
		}
	}
}

// noticed notes that a notice at k may have changed the requests in flight. It opens no other gate: those
// of instances' signals follow from Outbox.Steady, and instances may be past the next tick.
func (f *fleet) noticed(k lookahead.Key) {
	for _, s := range f.services {
		if s.flow != nil && s.flow.byNotice {
			s.flow.changed(k)
		}
	}
}

// gatesChanged notes that what the gateways depend on may have changed at k.
func (f *fleet) gatesChanged(k lookahead.Key) {
	for _, s := range f.services {
		s.flow.changed(k)
	}
}
