package actors

import (
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
func newCoordinator(r *router) *coordinator {
	for _, d := range r.fleet.deployments {
		if d.prefill != nil {
			return &coordinator{router: r, slots: map[int64]int32{}}
		}
	}
	return nil
}

// state returns what is known of request i.
func (c *coordinator) state(i int32) *handOver {
	for int(i) >= len(c.states) {
		c.states = append(c.states, handOver{})
	}
	return &c.states[i]
}

// route decides whether request i, which is that of ask, is disaggregated, chooses its instances and
// delivers it to the first of them. It reports false if no instance takes the request.
func (c *coordinator) route(of *deployment, i int32, ask *policy.Request, now vtime.Time, out *lookahead.Outbox) bool {
	r := c.router
	d, how := &r.held.requests[i], of.plan.PD
	_, resumed := r.held.transfers[i]
	*c.state(i) = handOver{of: of}
	if how.AtHandOver {
		if !resumed && of.disaggregates(d) && c.prefill(i, ask, now, out) {
			return true
		}
		return c.direct(i, ask, now, out)
	}
	target := r.choose(of.serving.endpoints, i, ask, now, out)
	if target < 0 {
		return false
	}
	s := c.state(i)
	s.decode, s.expected = of.serving.endpoints.places[target], d.Expected
	if !resumed && of.disaggregates(d) && c.prefill(i, ask, now, out) {
		return true
	}
	d.Expected = s.expected
	of.counts.Direct++
	r.deliver(i, s.decode, now, out)
	s.decode = nil
	return true
}

// disaggregates reports whether d is disaggregated. Its Expected is what its decode instance is
// expected to have, if that is chosen.
func (x *deployment) disaggregates(d *engine.Delivery) bool {
	how := x.plan.PD
	if d.Output < 1 {
		return false
	}
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

// prefill chooses the instance that computes the prompt of request i, and delivers it there. It
// reports false if there is none.
func (c *coordinator) prefill(i int32, ask *policy.Request, now vtime.Time, out *lookahead.Outbox) bool {
	r, s := c.router, c.state(i)
	e := s.of.prefill.endpoints
	if e.prefixes != nil && !s.of.plan.PD.AtHandOver { // else it was looked up
		e.expect(ask)
	}
	target := r.choose(e, i, ask, now, out)
	if target < 0 {
		return false
	}
	d := &r.held.requests[i]
	s.prefill = e.places[target]
	c.slots[d.ID] = i
	s.of.counts.Disaggregated++
	to, effect := r.effect(d, s.prefill, now)
	sendPrefill(out, to, now, effect, d)
	return true
}

// direct has an instance of the pool that decodes serve request i alone. It reports false if there is
// none.
func (c *coordinator) direct(i int32, ask *policy.Request, now vtime.Time, out *lookahead.Outbox) bool {
	r := c.router
	at := c.chooseDecode(i, ask, now, out)
	if at == nil {
		return false
	}
	c.state(i).of.counts.Direct++
	r.deliver(i, at, now, out)
	return true
}

// chooseDecode chooses an instance of the pool that decodes, nil if none takes the request.
func (c *coordinator) chooseDecode(i int32, ask *policy.Request, now vtime.Time, out *lookahead.Outbox) *place {
	e := c.state(i).of.serving.endpoints
	if e.prefixes != nil {
		e.expect(ask)
	}
	target := c.router.choose(e, i, ask, now, out)
	if target < 0 {
		return nil
	}
	return e.places[target]
}

// receive receives what an instance tells the other side.
func (c *coordinator) receive(m *lookahead.Message, out *lookahead.Outbox) {
	r, now := c.router, m.Stamp.At
	switch m.Kind {
	case kindPrefilled:
		var p prefilled
		readPrefilled(&m.Body, &p)
		c.prefilled(&p, now)
	case kindPulling:
		var p engine.Pull
		if readPulling(&m.Body, now, &p); !p.Fails {
			at := c.sourceOf(&p.Source)
			sendSource(out, at.process(), p.End.Add(at.pool.deployment.plan.PD.NotifyLatency), kindPulled, &p.Source)
		}
	case kindReleased:
		instance, n := readReleased(&m.Body)
		for at := r.fleet.places[instance]; n > 0; n-- {
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

// sourceOf returns the instance that has s.
func (c *coordinator) sourceOf(s *engine.KVSource) *place {
	return c.router.fleet.places[readIncarnation(s.From).instance]
}

// prefilled takes in that the prefill of a request has ended at now.
func (c *coordinator) prefilled(p *prefilled, now vtime.Time) {
	r := c.router
	r.last = now
	i := c.slots[p.source.Request]
	delete(c.slots, p.source.Request)
	s, d := c.state(i), &r.held.requests[i]
	d.HandOver, s.source = p.handOver, p.source
	s.prefill.left()
	if p.source.Blocks == 0 { // else its KV is there until it is pulled
		s.prefill.requestLeft(now)
	}
	how := s.of.plan.PD
	if p.source.Blocks > 0 && p.awaiting >= how.Backpressure {
		s.of.counts.Backpressure++
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
		c.forget(i)
		if at = nil; r.routingLatency > 0 {
			r.held.plan(&r.held.handOver, i, now.Add(r.routingLatency))
			return
		}
	}
	d := &r.held.requests[i]
	if at == nil {
		if at = c.chooseDecode(i, r.requestFor(i), now, out); at == nil {
			r.end(i, metrics.Rejected, metrics.NoInstance, now, out)
			return
		}
		s.expected = d.Expected
	}
	d.Expected = s.expected
	fails := how.FailureRate > 0 && s.of.failing.Float64() < how.FailureRate
	to, effect := r.effect(d, at, now)
	sendPull(out, to, now, effect, d, &s.source, fails && s.source.Blocks > 0)
	s.decode = nil
	r.held.drop(i)
}

// ended takes in that a request has ended on an instance at now: maybe on the one that was to
// compute its prompt.
func (c *coordinator) ended(request int64) {
	if c == nil {
		return
	}
	if i, prefills := c.slots[request]; prefills {
		delete(c.slots, request)
		c.forget(i)
		c.router.held.drop(i)
	}
}

// delivery returns a request whose prompt an instance computes.
func (c *coordinator) delivery(request int64) *engine.Delivery {
	return &c.router.held.requests[c.slots[request]]
}

// forget counts request i no longer on the instance where it was to go on.
func (c *coordinator) forget(i int32) {
	if c == nil || int(i) >= len(c.states) {
		return
	}
	if s := c.state(i); s.decode != nil {
		s.decode.takeBack()
		s.decode = nil
	}
}
