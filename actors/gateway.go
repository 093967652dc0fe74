package actors

import (
	"blis/engine"
	"blis/gateway"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
)

// flowControl is the gateway of a service: the queue in which its requests wait from their admission
// until the instances have room. A cycle of the queue dispatches requests: at each entry, and at ticks,
// the multiples of an interval. A tick is an event after the routing decisions of its instant.
//
// A cycle depends on the queue, on the instances that may be given requests, and on how full they are.
// Only ticks at which one of these may have changed since the last cycle are executed: any other would
// end as that did. next is the first of them that is known; a notice may bring an earlier one.
type flowControl struct {
	plan    *setup.Gateway
	number  int // of the service
	queue   *gateway.Queue
	stages  []stage
	signals policy.Signals // that the detector reads of instances
	band    []int          // by class; nil: all are in one band
	flow    func(*policy.Request) string
	target  func(class, tenant workload.Label) vtime.Duration // nil: there are no targets

	ticks    int64      // number of the last tick that was executed
	next     vtime.Time // the first tick that may do something, as far as is known; vtime.Never: none
	byNotice bool       // notices say that requests are no longer in flight
	reads    bool       // cycles read what instances publish
	tells    bool       // the collector hears of dispatches
	eager    bool       // every tick is executed while something waits: the slow twin
	level    float64    // saturation that the last cycle saw
	patience vtime.Time // until when the level may stay as it is although no request is in flight
	extended int64      // times that it was made longer

	turns     turns
	readers   []*published // who is told how many wait
	evictions *evictions   // nil: nothing in flight is evicted

	unrouted []bool // by slot in heldRequests: dispatched, and not yet routed
	credit   int64  // number of these

	use metrics.GatewayUse
}

// stage is the instances that a request needs at a time: with prefill/decode those of either kind, else
// all.
type stage struct {
	role setup.Role // instances of this role, and monolithic ones
	of   []*endpoints
}

// turns gives the requests that are dispatched at one instant turns, in which they are routed, and queued
// by their instances: in the order of their dispatches, those of entries before those of ticks.
type turns struct {
	at   vtime.Time
	tick bool
	last int64
}

// afterEntries is added to the turn of a request that a tick dispatched.
const afterEntries = 1 << 62

// next is the turn of one more request: that of its number if it comes after the last one, so that a gateway
// at which nobody waits changes nothing.
func (o *turns) next(request int64, now vtime.Time, tick bool) int64 {
	turn := engine.TurnOf(request)
	if o.at == now && o.tick == tick && turn <= o.last {
		turn = o.last + 1
	}
	*o = turns{now, tick, turn}
	if tick {
		return turn | afterEntries
	}
	return turn
}

// stuckPatience is the time after which a run fails whose gateway is closed while no request is in flight, if
// nothing changes that: what autoscalers do because of such a state they do within it. While instances start, or are
// down, it is that many times as long at most: a day. Tests make it shorter.
var (
	stuckPatience        = 10 * vtime.Minute
	mostExtensions int64 = 143
)

// newFlowControl makes the gateway of a service; nil without one.
func newFlowControl(p *setup.Plan, x *Execution, s *service, number int) *flowControl {
	if p.Gateway == nil {
		return nil
	}
	f := &flowControl{plan: p.Gateway, number: number, queue: gateway.New(p.Gateway.Rules), signals: gatewaySignals(p), evictions: newEvictions(p), next: vtime.Never, turns: turns{last: -1}, eager: x.EveryTick, tells: x.Row != nil, target: ttftTarget(p)}
	labels := p.Source.Labels()
	f.flow = func(q *policy.Request) string { return flowName(nameAt(&labels.Tenants, q.Tenant)) }
	if !f.plan.OneBand {
		for i := range labels.Classes.Len() {
			f.band = append(f.band, gateway.BandOf(labels.Classes.Name(workload.Label(i))))
		}
	}
	disaggregated := false
	for _, d := range s.deployments {
		disaggregated = disaggregated || d.prefill != nil
	}
	roles := []setup.Role{setup.Monolithic}
	if disaggregated {
		roles = []setup.Role{setup.PrefillRole, setup.DecodeRole}
	}
	for _, role := range roles {
		t := newStage(s, role)
		for _, e := range t.of {
			f.byNotice = f.byNotice || f.signals&e.cluster.notified&policy.InFlight != 0
			f.reads = f.reads || e.cluster.readsAtGateway
		}
		f.stages = append(f.stages, t)
	}
	if disaggregated && f.signals&policy.InFlight != 0 { // that a hand-over will not be, whatever says that a request has ended
		f.byNotice = true
	}
	f.byNotice = f.byNotice || f.evictions != nil
	return f
}

// newStage returns the instances of a service with a role.
func newStage(s *service, role setup.Role) stage {
	t := stage{role: role}
	seen := map[*endpoints]bool{}
	for _, d := range s.deployments {
		for _, p := range d.pools() {
			if (p.role == role || p.role == setup.Monolithic) && !seen[p.endpoints] {
				seen[p.endpoints] = true
				t.of = append(t.of, p.endpoints)
			}
		}
	}
	return t
}

// flowName is the name of the flow of a tenant.
func flowName(tenant string) string {
	if tenant == "" {
		return "default"
	}
	return tenant
}

// detectorSignals are the signals of instances that a detector reads.
func detectorSignals(d *setup.Detector) policy.Signals {
	switch d.Kind {
	case setup.DetectConcurrency, setup.DetectTotal:
		return policy.InFlight
	case setup.DetectUtilization:
		return policy.QueueDepth | policy.KVUse
	}
	return policy.NoSignals
}

// enter puts request i, which is admitted, into the queue, and has a cycle; or the request ends.
func (f *flowControl) enter(r *router, i int32, now vtime.Time, out *lookahead.Outbox) {
	d, q := &r.held.requests[i], r.requestFor(i)
	x := gateway.Request{Number: d.ID, Flow: f.flow(q), Arrival: d.Arrival, Deadline: d.Deadline, Tokens: d.Input}
	if f.band != nil {
		x.Band = f.band[d.Class]
	}
	if f.target != nil {
		x.Target = f.target(d.Class, d.Tenant)
	}
	e := f.queue.Enter(i, &x, now)
	f.publish()
	of := metrics.GatewayPlace{Band: x.Band, Class: d.Class, Tenant: d.Tenant}
	if e.Full {
		reason := metrics.GatewayFull
		if !f.ready() {
			reason = metrics.NoEndpoint
		}
		f.use.Refuse(of)
		r.end(i, metrics.Rejected, reason, now, out)
		f.changed(key(now, vtime.ClassAdmission)) // a band may be new
		return
	}
	if e.Victim >= 0 {
		f.leave(r, e.Victim, metrics.Shed, metrics.NoReason, now, out)
	}
	f.use.Enter(of, i, now)
	if f.cycle(r, key(now, vtime.ClassAdmission), 0, out); f.queue.Waiting() > 0 {
		r.fleet.noteEvent(now, out) // where all are routed at once their arrivals were events enough
	}
}

// tick is the cycle of a tick. It reports whether the tick did something.
func (f *flowControl) tick(r *router, now vtime.Time, out *lookahead.Outbox) bool {
	if now >= f.patience {
		f.stuck(r, now)
		if f.next == vtime.Never {
			return false
		}
	}
	f.ticks = int64(now) / int64(f.plan.Tick)
	return f.cycle(r, key(now, vtime.ClassRouting), f.ticks, out)
}

// cycle dispatches as many requests as the saturation allows, at most as many as a cycle may. tick is the
// number of the tick, 0 at an entry. It reports whether some request was dispatched.
func (f *flowControl) cycle(r *router, k lookahead.Key, tick int64, out *lookahead.Outbox) (dispatched bool) {
	s, closed := 0.0, false
	for n := int64(0); f.plan.PerCycle == 0 || n < f.plan.PerCycle; n++ {
		if f.queue.Waiting() == 0 {
			break
		}
		s = f.saturation(k.At)
		t := f.queue.Cycle(s, tick)
		f.use.Saturated(s, t.Closed, k.At)
		if closed = t.Closed; t.Slot < 0 {
			break
		}
		dispatched = true
		f.publish()
		f.dispatch(r, t.Slot, k.At, tick > 0, out)
	}
	if dispatched || s != f.level || tick == 0 {
		f.patience, f.extended = k.At.Add(stuckPatience), 0
	}
	f.level = s
	if closed && f.evictions != nil {
		f.reclaim(s, tick, k.At, out)
	}
	f.after(k, dispatched || s < 1 && f.plan.Rules.Ceilings.Counts(), out)
	return dispatched
}

// dispatch plans the routing decision on a request that leaves the queue.
func (f *flowControl) dispatch(r *router, i int32, now vtime.Time, tick bool, out *lookahead.Outbox) {
	d := &r.held.requests[i]
	if f.tells {
		sendDispatched(out, now, d.ID)
	}
	f.evictions.dispatch(d.ID, f.use.Dispatch(i, now), now)
	for int(i) >= len(f.unrouted) {
		f.unrouted = append(f.unrouted, false)
	}
	f.unrouted[i] = true
	f.credit++
	at := now.Add(r.routingLatency)
	if turn := f.turns.next(d.ID, now, tick); turn != engine.TurnOf(d.ID) {
		d.Turn = turn
	}
	r.held.plan(&r.held.route, i, at)
}

// publishTo makes the gateway publish to the autoscalers of a service how many requests wait.
func (f *flowControl) publishTo(s *service) {
	if f != nil {
		s.publish(func(p *published) { f.readers = append(f.readers, p) })
	}
}

// publish publishes how many requests wait now.
func (f *flowControl) publish() {
	for _, p := range f.readers {
		p.waiting = f.queue.Waiting()
	}
}

// settle notes that a request which the queue dispatched is routed, or has ended before that.
func (f *flowControl) settle(i int32) {
	if f != nil && int(i) < len(f.unrouted) && f.unrouted[i] {
		f.unrouted[i] = false
		f.credit--
	}
}
