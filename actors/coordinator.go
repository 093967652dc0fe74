package actors

import (
	"slices"

	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// coordinator is the router's part in prefill/decode disaggregation: which requests are
// disaggregated, where their prompts are computed and where they go on, and what the two instances
// tell each other, which do not talk to each other.
type coordinator struct {
	router *router
	slots  map[int64]int32 // in held requests, of those whose prompt an instance computes, by number
	states []handOver      // by slot in held requests

	links     links          // of deployments whose pulls go one at a time
	announced []announcement // nil, unless instances may go; some are over
}

// announcement is the end of a pull of which the instance was told that has the KV.
type announcement struct {
	source engine.KVSource
	by     *server
	end    vtime.Time
}

// handOver is a request that is disaggregated, until it is delivered to the instance where it goes on.
type handOver struct {
	of       *deployment
	prefill  *place
	decode   *place // chosen at arrival; nil: not chosen
	expected int32  // prompt tokens expected in its cache
	source   engine.KVSource
}

// newCoordinator returns nil if no deployment has two pools.
func newCoordinator(p *setup.Plan, r *router) *coordinator {
	if !slices.ContainsFunc(r.fleet.deployments, func(d *deployment) bool { return d.prefill != nil }) {
		return nil
	}
	c := &coordinator{router: r, slots: map[int64]int32{}}
	if p.Failures != nil || slices.ContainsFunc(p.Pools, func(s *setup.Pool) bool { return s.Scaling != nil }) {
		c.announced = []announcement{}
	}
	return c
}

// state returns what is known of request i.
func (c *coordinator) state(i int32) *handOver {
	for int(i) >= len(c.states) {
		c.states = append(c.states, handOver{})
	}
	return &c.states[i]
}

// servesAlone reports whether request i, for which no instance is chosen, is one for an instance of the
// pool that decodes alone, where prefill instances would be chosen first.
func (c *coordinator) servesAlone(of *deployment, i int32) bool {
	return of.plan.PD != nil && of.plan.PD.AtHandOver && !c.disaggregates(of, i)
}

// route decides whether request i, which is that of ask, is disaggregated, after an instance was chosen
// for it; chooses the other one, and delivers it to the first of them. It reports false if no instance
// takes the request.
func (c *coordinator) route(at *place, i int32, ask *policy.Request, now vtime.Time, out *lookahead.Outbox) bool {
	r, of := c.router, at.pool.deployment
	apart := c.disaggregates(of, i)
	*c.state(i) = handOver{of: of}
	if at.pool == of.prefill {
		if apart {
			c.prefill(at, i, now, out)
			return true
		}
		at.takeBack(now)
		r.tracing.decideAgain()
		return c.direct(of, i, ask, false, now, out)
	}
	d, s := &r.held.requests[i], c.state(i)
	s.decode, s.expected = at, d.Expected
	if apart {
		if other := c.choose(of.prefill.endpoints, i, ask, now, out); other != nil {
			c.prefill(other, i, now, out)
			return true
		}
	}
	d.Expected, s.decode = s.expected, nil
	of.counts.Direct++
	c.decided(traceAlone, i, at, apart, out)
	r.deliver(i, at, now, out)
	return true
}

// disaggregates reports whether request i is disaggregated. Its Expected is what its decode instance is
// expected to have, if that is chosen. A request is not that has tokens: it was returned or lost.
func (c *coordinator) disaggregates(of *deployment, i int32) bool {
	if c.exemption(i) != noDisaggregationReason {
		return false
	}
	d, how := &c.router.held.requests[i], of.plan.PD
	switch how.Decider {
	case setup.DecideNever:
		return false
	case setup.DecidePrefixThreshold:
		return d.Input-d.Expected > how.PrefixThreshold
	case setup.DecideDirect:
		return d.Input >= how.DirectThreshold
	}
	return true
}

// exemption returns why request i is not disaggregated whatever the decider says; noDisaggregationReason: that decides.
func (c *coordinator) exemption(i int32) disaggregationReason {
	if t := c.router.held.transfers[i]; t != nil && t.FirstToken != vtime.Never {
		return aloneResumed
	}
	if c.router.held.requests[i].Output < 1 {
		return aloneNoOutput
	}
	return noDisaggregationReason
}

// prefill delivers request i to the instance that computes its prompt.
func (c *coordinator) prefill(at *place, i int32, now vtime.Time, out *lookahead.Outbox) {
	s, d := c.state(i), &c.router.held.requests[i]
	s.prefill = at
	c.decided(tracePrefill, i, at, false, out)
	c.slots[d.ID] = i
	s.of.counts.Disaggregated++
	to, effect := c.router.effect(d, at, now)
	if t := c.router.held.transfers[i]; t != nil {
		t.beginAnew(d)
		sendPrefillAgain(out, to, now, effect, d, &t.Progress)
		return
	}
	sendPrefill(out, to, now, effect, d)
}

// choose is chooseAmong for a request that has had a routing decision.
func (c *coordinator) choose(at *endpoints, i int32, ask *policy.Request, now vtime.Time, out *lookahead.Outbox) *place {
	c.router.tracing.decideAgain()
	return c.router.chooseAmong(at, i, ask, now, out)
}

// direct has an instance of the pool that decodes serve request i alone; refused: since no prefill instance takes
// it. It reports false if there is none.
func (c *coordinator) direct(of *deployment, i int32, ask *policy.Request, refused bool, now vtime.Time, out *lookahead.Outbox) bool {
	at := c.router.chooseAmong(of.serving.endpoints, i, ask, now, out)
	if at == nil {
		return false
	}
	of.counts.Direct++
	c.decided(traceAlone, i, at, refused, out)
	c.router.deliver(i, at, now, out)
	return true
}

// receive receives what an instance tells the other side.
func (c *coordinator) receive(m *lookahead.Message, out *lookahead.Outbox) {
	r, now := c.router, m.Stamp.At
	switch m.Kind {
	case kindPrefilled:
		var p prefilled
		readPrefilled(&m.Body, &p)
		c.prefilled(&p, now, out)
	case kindPulling:
		var p engine.Pull
		by := readPulling(&m.Body, now, &p)
		c.pulls(&p, r.fleet.ranks[by], by, now, out)
	case kindReleased:
		instance, n := readReleased(&m.Body)
		for at := r.fleet.ranks[instance]; n > 0; n-- {
			at.requestLeft(now)
		}
	case kindNotPulled:
		var s engine.KVSource
		readSource(&m.Body, &s)
		mustDecode(&m.Body)
		at := c.sourceOf(&s)
		sendSource(out, at.process(), now.Add(1).Add(at.pool.deployment.plan.PD.NotifyLatency), kindGivenUp, &s)
	}
}

// pulls takes in that rank number by, of the instance to, begins a pull at now.
func (c *coordinator) pulls(p *engine.Pull, to *place, by int, now vtime.Time, out *lookahead.Outbox) {
	at := c.sourceOf(&p.Source)
	how := at.pool.deployment.plan.PD
	if p.End == vtime.Never {
		p.End = c.links.take(int(readIncarnation(p.Source.From).instance), now, p.Lasts)
		sendPullEnded(out, to.process(), p.End, by-to.first, p.Number, p.Lasts)
	}
	if !p.Fails {
		sendSource(out, at.process(), p.End.Add(how.NotifyLatency), kindPulled, &p.Source)
		c.announce(announcement{p.Source, to.server, p.End}, now)
	}
}

// links are when the pulls from ranks end that go one at a time (--pd-link fifo), by number of the rank. One goes on
// also when the request left, or its instance.
type links []vtime.Time

// take gives a pull from a rank that begins at now its turn, for a time, and returns when it ends.
func (l *links) take(rank int, now vtime.Time, lasts vtime.Duration) vtime.Time {
	for len(*l) <= rank {
		*l = append(*l, 0)
	}
	end := &(*l)[rank]
	*end = max(*end, now).Add(lasts)
	return *end
}

// clear forgets the pulls from n ranks on from first: they fail.
func (l links) clear(first, n int) {
	if first < len(l) {
		clear(l[first:min(len(l), first+n)])
	}
}

// sourceOf returns the instance that has s.
func (c *coordinator) sourceOf(s *engine.KVSource) *place {
	return c.router.fleet.ranks[readIncarnation(s.From).instance]
}

// prefilled takes in that the prefill of a request has ended at now.
func (c *coordinator) prefilled(p *prefilled, now vtime.Time, out *lookahead.Outbox) {
	r := c.router
	r.last = now
	i := c.slots[p.source.Request]
	delete(c.slots, p.source.Request)
	s, d := c.state(i), &r.held.requests[i]
	d.HandOver, s.source, d.Turn = p.handOver, p.source, 0
	r.tracing.handed(out, s, d)
	s.prefill.left()
	if p.source.Blocks == 0 { // else its KV is there until it is pulled
		s.prefill.requestLeft(now)
	}
	how := s.of.plan.PD
	if p.source.Blocks > 0 && p.awaiting >= how.Backpressure {
		s.of.counts.Backpressure++
		r.tracing.backpressure(out, tracedBackpressure{readIncarnation(p.source.From).instance, d.ID, int64(p.awaiting)})
	}
	if d.Deadline <= now { // the prefill ended just at it
		r.end(i, metrics.TimedOut, metrics.NoReason, now, out)
		return
	}
	at := now.Add(how.HandOffLatency)
	if how.AtHandOver {
		at = at.Add(r.routingLatency)
	}
	r.held.plan(&r.held.handOver, i, at)
}

// handOver delivers request i, whose prompt is computed, to the instance where it goes on.
func (c *coordinator) handOver(i int32, now vtime.Time, out *lookahead.Outbox) {
	r, s := c.router, c.state(i)
	at, how := s.decode, s.of.plan.PD
	if at != nil && !at.shown().Routable { // gone, or known to be down
		c.forget(i, now)
		if at = nil; r.routingLatency > 0 {
			r.held.plan(&r.held.handOver, i, now.Add(r.routingLatency))
			return
		}
	}
	d := &r.held.requests[i]
	if at == nil {
		d.Expected = 0 // it was what the prefill instance should have
		if at = c.choose(s.of.serving.endpoints, i, r.requestFor(i), now, out); at == nil {
			endUnplaced(r, i, now, out)
			return
		}
		s.expected = d.Expected
	}
	d.Expected = s.expected
	fails := how.FailureRate > 0 && s.of.failing.Float64() < how.FailureRate && s.source.Blocks > 0
	to, effect := r.effect(d, at, now)
	s.source.Gone = s.source.Blocks > 0 && c.isLost(&s.source)
	if t := r.held.transfers[i]; t != nil {
		sendPullAgain(out, to, now, effect, d, &t.Progress, &s.source, fails)
	} else {
		sendPull(out, to, now, effect, d, &s.source, fails)
	}
	s.decode = nil
	r.held.drop(i)
}

// ended takes in at now that a request is no longer on an instance: maybe on the one that was to
// compute its prompt.
func (c *coordinator) ended(request int64, now vtime.Time) {
	if c == nil {
		return
	}
	if i, prefills := c.slots[request]; prefills {
		delete(c.slots, request)
		c.forget(i, now)
		c.router.held.drop(i)
	}
}

// delivery returns a request whose prompt an instance computes.
func (c *coordinator) delivery(request int64) *engine.Delivery {
	return &c.router.held.requests[c.slots[request]]
}

// progress returns how far a request got elsewhere whose prompt an instance computes; nil: it was on no other.
func (c *coordinator) progress(request int64) *transfer {
	return c.router.held.transfers[c.slots[request]]
}

// forget counts request i from now on no longer on the instance where it was to go on.
func (c *coordinator) forget(i int32, now vtime.Time) {
	if c == nil || int(i) >= len(c.states) {
		return
	}
	if s := c.state(i); s.decode != nil {
		s.decode.takeBack(now)
		s.decode = nil
	}
}
