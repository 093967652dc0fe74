package actors

import (
	"fmt"
	"math"

	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// Process ids of the control processes, which come first.
const (
	routerID     lookahead.ProcessID = 0
	autoscalerID lookahead.ProcessID = 1
)

// router is the actor of the control plane: it pulls arrivals, decides on
// admission and priority, and routes. A request passes three times here:
// arrival, admission decision and routing decision, which is the delivery.
type router struct {
	arrivals incoming
	loop     *loop     // nil: no request of the workload follows from an answer
	failures *failures // nil: nothing fails

	coordinator *coordinator // nil: no deployment is disaggregated

	held     heldRequests
	policies deciders
	state    policy.RouterState
	last     vtime.Time // time of its last event

	admissionLatency, routingLatency vtime.Duration

	fleet  fleet         // to which it routes
	forced map[int64]int // instances of requests that the user routes; see force-routing

	ahead    int // streamAhead
	recorder *metrics.Recorder
	seen     *observations // nil: the run is not recorded
	tracing  *tracing      // nil: the run is not traced
	outcome  metrics.Outcome
	ask      policy.Request
}

// deciders are the policies of the router about requests of all pools.
type deciders struct {
	priority policy.Priority
	reads    policy.Signals // what the priority policy observes
	hinter   policy.Hinter  // the priority policy, if it gives hints; else nil
	hints    []string       // their names

	inversions *policy.ClassInversions // in the priorities given
}

var (
	_ lookahead.Process  = (*router)(nil)
	_ lookahead.Observer = (*router)(nil)
	_ lookahead.Folder   = (*router)(nil)
	_ lookahead.Preparer = (*router)(nil)
	_ lookahead.Periodic = (*router)(nil)
)

// pull fetches the next arrival.
func (r *router) pull() {
	before := r.arrivals.next.Arrival
	more, err := r.arrivals.intake.pull(&r.arrivals.next)
	if err != nil {
		panic(&sourceError{err})
	}
	r.arrivals.more = more
	if !more {
		return
	}
	if err := r.arrivals.intake.check(&r.arrivals.next); err != nil {
		panic(&sourceError{fmt.Errorf("the workload yields a request %d that cannot be: %w", r.arrivals.number(&r.arrivals.next), err)})
	}
	if r.arrivals.arrived > 0 && r.arrivals.next.Arrival < before {
		panic(&sourceError{fmt.Errorf("the workload yields an arrival at %v after one at %v: want order of arrival", r.arrivals.next.Arrival, before)})
	}
}

// newRouter makes the router of a run. counterfactual are the signals that a
// counterfactual trace reads.
func newRouter(p *setup.Plan, x *Execution, q []policies, options []metrics.Options, counterfactual policy.Signals) (*router, error) {
	cfg := &p.Config
	first := &q[0]
	r := &router{
		arrivals: newIncoming(p.Source),
		policies: newDeciders(p, first),
		fleet:    newFleet(p, q, options, counterfactual),
		seen:     newObservations(routerID, p.Source.Labels(), x.Record != nil),
		ahead:    streamAhead(x, p), forced: p.Forced,
		admissionLatency: cfg.AdmissionLatency, routingLatency: cfg.RoutingLatency,
		recorder: metrics.NewRecorder(options[0]),
	}
	r.loop = newLoop(p, r)
	r.coordinator = newCoordinator(p, r)
	if r.failures = newFailures(p, r); r.failures != nil {
		r.held.transfers = map[int32]*transfer{}
	}
	r.openGates(q, setup.AdmissionApart(p))
	for i, s := range r.fleet.services {
		s.flow = newFlowControl(p, x, s, i)
		s.flow.publishTo(s)
	}
	r.tracing = newTracing(&x.Tracing, &r.fleet, counterfactual, (r.policies.reads|r.fleet.readAtRouting()|counterfactual)&shownSignals)
	tracked := policy.NoSignals
	for i := range q {
		tracked |= q[i].routed()
	}
	r.fleet.services[0].front.prepare(&r.state, policy.NoSignals, 0)
	r.state.Track(tracked)
	return r, nil
}

// Fold implements lookahead.Folder: the streams of its policies. The digest has the
// requests from the messages.
func (r *router) Fold() uint64 {
	h := r.fleet.pools[0].endpoints.stream.Fold()
	for _, p := range r.fleet.pools[1:] {
		h = h*31 + p.endpoints.stream.Fold()
	}
	for _, s := range r.fleet.services {
		if s.gate.stream != nil {
			h = h*31 + s.gate.stream.Fold()
		}
	}
	return h
}

// Prepare implements lookahead.Preparer.
func (r *router) Prepare() { r.arrivals.intake.prepare() }

// Receive implements lookahead.Process: a request is no longer in flight, a prefix
// cache has changed, or the number of instances should.
func (r *router) Receive(m *lookahead.Message, out *lookahead.Outbox) {
	switch m.Kind {
	case kindEnded:
		r.receiveEnded(m, out)
		r.fleet.noticed(m.Stamp.Key())
	case kindReturned:
		r.receiveReturned(m)
		r.fleet.noticed(m.Stamp.Key())
	case kindPrefilled, kindPulling, kindNotPulled, kindReleased:
		r.coordinator.receive(m, out)
		r.fleet.noticed(m.Stamp.Key())
	case kindCutOff:
		receiveCutOff(r, m, out)
		r.fleet.noticed(m.Stamp.Key())
	case kindBlocks, kindTierBlocks:
		r.blocks(m)
	case kindScale:
		target, reason := readScale(&m.Body)
		r.fleet.scaledBy(lookahead.ProcessID(m.Stamp.Source)).scale(target, reason, m.Stamp.At, out, r.tracing)
		r.fleet.gatesChanged(m.Stamp.Key())
	}
}

// Advance implements lookahead.Process.
func (r *router) Advance(_ lookahead.Key, out *lookahead.Outbox) {
	for {
		k := lookahead.Earliest(r.Next(), r.NextPeriodic())
		if !out.Execute(k) {
			return
		}
		if r.failures != nil && k == r.failures.next() {
			r.failures.act(k, out, r.tracing)
			r.fleet.gatesChanged(k)
			continue
		}
		if k.Class != vtime.ClassReady && k.Class != vtime.ClassRouting { // a change of phase is no work, nor is a tick that does nothing
			r.last = k.At
		}
		switch k.Class {
		case vtime.ClassArrival:
			r.arrive(k.At, out)
		case vtime.ClassAdmission:
			r.decide(r.held.admit.pop(), k.At, out)
		case vtime.ClassRouting:
			executeRouting(r, k, out)
		case vtime.ClassTimeout:
			timeOut(r, k.At, out)
		case vtime.ClassRefresh:
			r.fleet.refreshTwin(k.At)
		case vtime.ClassScaleAction:
			s, _ := r.fleet.first(nextOverdue)
			s.stop(int(s.replicas.overdue.pop()), false, k.At, out)
		case vtime.ClassReady:
			s, _ := r.fleet.first(nextPhase)
			s.replicas.changePhase(k.At)
		}
		if k.Class > vtime.ClassTimeout || k.Class == vtime.ClassTimeout && timeOutOpens(r) {
			r.fleet.gatesChanged(k)
		}
	}
}

// executeRouting executes the next event of its class at k: a routing decision, or if none is due a tick of
// a gateway.
func executeRouting(r *router, k lookahead.Key, out *lookahead.Outbox) {
	switch {
	case r.held.handOver.at() <= k.At && r.held.handsOver():
		r.coordinator.handOver(r.held.handOver.pop(), k.At, out)
	case r.held.route.at() <= k.At:
		r.dispatch(r.held.route.pop(), k.At, out)
	default:
		f, _ := r.fleet.gatewayWith((*flowControl).nextTick)
		if f.tick(r, k.At, out) {
			r.last = k.At
		}
		return
	}
	r.last = k.At
	r.fleet.gatesChanged(k)
	out.Stream(r.ahead)
}

// timeOut ends the request whose deadline passes at now, or which has waited too long at a gateway.
func timeOut(r *router, now vtime.Time, out *lookahead.Outbox) {
	if r.held.expire.at() > now {
		f, _ := r.fleet.gatewayWith((*flowControl).nextLeave)
		f.leaveNext(r, now, out)
		return
	}
	r.end(r.held.expire.pop(), metrics.TimedOut, metrics.NoReason, now, out)
}

// arrive gives the next request its number: the one that was pulled, and then pulls
// another, or one that follows from an answer.
func (r *router) arrive(now vtime.Time, out *lookahead.Outbox) {
	if r.held.retry.at() == now { // its number is lower
		r.arriveAgain(now, out)
		return
	}
	i := r.held.add()
	d := &r.held.requests[i]
	next, pulled := &r.arrivals.next, true
	if r.loop != nil && r.loop.comesNext(r) {
		next, pulled = r.loop.pop(r, now), false
	}
	spans := append(d.Spans[:0], next.Spans...)
	*d = engine.Delivery{Request: *next, Admitted: vtime.Never, HandOver: metrics.NoHandOver(), Hints: d.Hints}
	d.ID, d.Spans = r.arrivals.number(next), spans
	if d.Awaited {
		r.loop.await(d)
	}
	r.arrivals.arrived++
	r.arrivals.numbers += uint64(d.ID)
	r.arrivals.ties.count(now)
	if r.fleet.serviceOf(d.Model) == nil {
		r.end(i, metrics.Dropped, metrics.NoDeployment, now, out)
	} else {
		r.enter(i, now, out)
	}
	if pulled {
		r.pull()
	}
}

// enter plans the admission decision on request i, which arrives at now.
func (r *router) enter(i int32, now vtime.Time, out *lookahead.Outbox) {
	d := &r.held.requests[i]
	r.tell(d.Model, func(s *policy.RouterState) { s.Arrive(d.Tenant, d.Class, now) })
	r.fleet.publish(d.Model, func(p *published) { p.arrive(d.Tenant, d.Class, now) })
	r.held.delays[i] = 0
	r.held.plan(&r.held.admit, i, now.Add(r.admissionLatency))
	r.fleet.noteEvent(now, out)
}

// receiveEnded receives that a request has ended on an instance.
func (r *router) receiveEnded(m *lookahead.Message, out *lookahead.Outbox) {
	latency := r.fleet.endsWithLatency()
	e := readEnded(&m.Body, latency)
	at := r.fleet.ranks[e.instance]
	served := at.pool.deployment.service
	r.tellOf(served, func(s *policy.RouterState) { s.End(e.tenant, e.completed(), m.Stamp.At) })
	served.publish(func(p *published) { p.end(e.tenant, e.completed(), m.Stamp.At) })
	if latency {
		r.tellOf(served, func(s *policy.RouterState) { s.EndOf(e.class, e.latency) })
		served.publish(func(p *published) { p.endOf(e.class, e.latency) })
	}
	at.left()
	served.flow.ended(&e, m.Stamp.At)
	r.coordinator.ended(e.request, m.Stamp.At)
	if r.loop != nil {
		r.loop.ended(e.request, m.Stamp.At, e.completed(), e.generated, &at.pool.options)
	}
	at.requestLeft(m.Stamp.At)
	r.fleet.noteEvent(m.Stamp.At, out)
}

// requestFor fills r.ask with what a policy may know of request i.
func (r *router) requestFor(i int32) *policy.Request {
	d := &r.held.requests[i]
	r.ask = policy.Request{Identity: d.Identity, Terms: d.Terms, Delays: r.held.delays[i]}
	return &r.ask
}

// decide makes the admission decision on request i.
func (r *router) decide(i int32, now vtime.Time, out *lookahead.Outbox) {
	d := &r.held.requests[i]
	ask := r.requestFor(i)
	front, g := r.fleet.frontOf(d), &r.fleet.serviceOf(d.Model).gate
	front.prepare(g.state, g.reads, now)
	if g.reads&policy.Prefixes != 0 {
		front.expect(ask)
	}
	r.observe(out, key(now, vtime.ClassAdmission), seenAtAdmission, ask, 0, g.state, g.reads)
	a := g.policy.Decide(ask, g.state, now)
	if r.tracing != nil {
		sendTracedAdmission(out, now, &d.Identity, &a)
	}
	switch a.Verdict {
	case policy.Admit:
		d.Admitted = now
		r.tell(d.Model, func(s *policy.RouterState) { s.Admit(d.Tenant) })
		r.fleet.publish(d.Model, func(p *published) { p.admit(d.Tenant) })
		if f := r.fleet.serviceOf(d.Model).flow; f != nil {
			f.enter(r, i, now, out)
			return
		}
		r.held.plan(&r.held.route, i, now.Add(r.routingLatency))
	case policy.Delay:
		if a.Wait < 1 {
			panic(fmt.Sprintf("actors: admission delays request %d by %d µs: want at least 1", d.ID, a.Wait))
		}
		r.held.delays[i]++
		r.held.plan(&r.held.admit, i, now.Add(a.Wait))
	default:
		r.tell(d.Model, func(s *policy.RouterState) { s.Rejected++ })
		r.fleet.publish(d.Model, (*published).reject)
		r.end(i, metrics.Rejected, rejection(a.Reason), now, out)
	}
}

// prioritise gives d, the request of ask, its priority. It returns the inversion
// and true if that is higher than the last one given in a more urgent class, and
// d is measured.
func (r *router) prioritise(d *engine.Delivery, ask *policy.Request, now vtime.Time, out *lookahead.Outbox) (policy.ClassInversion, bool) {
	r.fleet.frontOf(d).prepare(&r.state, r.policies.reads, now)
	r.observe(out, key(now, vtime.ClassRouting), seenAtPriority, ask, 0, &r.state, r.policies.reads)
	d.Priority = r.policies.priority.Score(ask, &r.state, now)
	if math.IsNaN(d.Priority) || math.IsInf(d.Priority, 0) {
		panic(fmt.Sprintf("actors: the priority of request %d is %v: want a finite number", d.ID, d.Priority))
	}
	if r.policies.hinter != nil {
		r.policies.hint(d, ask, &r.state, now)
	}
	inversion, found := r.policies.inversions.Give(ask, d.Priority)
	return inversion, found && r.recorder.ClassInversion(d.Arrival)
}
