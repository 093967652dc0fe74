package actors

import (
	"blis/lookahead"
	"blis/setup"
	"blis/vtime"
)

// What the router will do next and what it promises: both follow from the requests
// that it holds and from the next arrival that it knows.

// Next implements lookahead.Process.
func (r *router) Next() lookahead.Key {
	k := r.arrivalKey()
	k = lookahead.Earliest(k, r.held.admit.key(vtime.ClassAdmission))
	k = lookahead.Earliest(k, r.held.route.key(vtime.ClassRouting))
	k = lookahead.Earliest(k, r.held.handOver.key(vtime.ClassRouting))
	k = lookahead.Earliest(k, r.held.expire.key(vtime.ClassTimeout))
	for _, s := range r.fleet.pools {
		k = lookahead.Earliest(k, nextOverdue(s))
		k = lookahead.Earliest(k, s.endpoints.cluster.twinRefresh(r))
	}
	for _, s := range r.fleet.services {
		k = lookahead.Earliest(k, lookahead.Earliest(s.flow.nextTick(), s.flow.nextLeave()))
	}
	return k
}

func (r *router) arrivalKey() lookahead.Key {
	at := r.nextArrival()
	if at == vtime.Never {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: at, Class: vtime.ClassArrival}
}

// nextArrival is the earliest arrival that the router knows, vtime.Never if none.
func (r *router) nextArrival() vtime.Time {
	at := vtime.Never
	if r.arrivals.more {
		at = r.arrivals.next.Arrival
	}
	if r.loop != nil {
		at = min(at, r.loop.source.Peek().Arrival)
	}
	if r.failures != nil {
		at = min(at, r.held.retry.at())
	}
	return at
}

// possibleArrival is the earliest arrival that can come without a message to the
// router: one that it knows, or one that follows when a request that it holds
// times out, is rejected, or finds no instance.
func (r *router) possibleArrival() vtime.Time {
	at := r.nextArrival()
	if r.loop != nil {
		end := min(r.held.expire.at(), r.held.admit.at(), r.held.route.at(), r.held.handOver.at())
		for _, s := range r.fleet.services {
			end = min(end, s.flow.nextLeave().At, s.flow.nextTick().At)
		}
		at = min(at, end.Add(r.loop.refusal))
	}
	return at
}

// Observation implements lookahead.Observer: what the next decisions read.
func (r *router) Observation() lookahead.Observation {
	o := lookahead.Observation{At: lookahead.NeverKey, Until: lookahead.NeverKey, LeafLimit: lookahead.NeverKey}
	for _, s := range r.fleet.pools {
		if c := &s.endpoints.cluster; c.load != nil || c.groups != nil {
			o.At = lookahead.Earliest(o.At, r.nextReading(c))
		}
	}
	if o.At.IsNever() {
		return lookahead.Observation{At: lookahead.NeverKey}
	}
	for _, s := range r.fleet.pools {
		s.endpoints.cluster.bound(&o)
	}
	return o
}

// nextReading is the Key of the earliest possible decision that reads signals of
// instances that s shows.
func (r *router) nextReading(s *clusterView) lookahead.Key {
	k := lookahead.NeverKey
	if s.readsAtRouting {
		k = r.nextRouting()
	}
	if s.readsAtAdmission || s.readsAtGateway {
		if at := nextEntry(r); at != vtime.Never {
			k = lookahead.Earliest(k, lookahead.Key{At: at, Class: vtime.ClassAdmission})
		}
	}
	if s.readsAtGateway {
		own := lookahead.Earliest(r.Next(), r.NextPeriodic())
		_, tick := r.fleet.gatewayWith(func(f *flowControl) lookahead.Key { return lookahead.Earliest(f.nextTick(), f.tickOf(own)) })
		k = lookahead.Earliest(k, tick)
	}
	return k
}

// nextRouting is the Key of the earliest possible routing decision.
func (r *router) nextRouting() lookahead.Key {
	at := min(r.held.route.at(), r.held.handOver.at())
	if t := r.held.admit.at(); t != vtime.Never {
		at = min(at, t.Add(r.routingLatency))
	}
	if t := r.possibleArrival(); t != vtime.Never {
		at = min(at, t.Add(r.admissionLatency).Add(r.routingLatency))
	}
	for _, s := range r.fleet.services {
		if tick := s.flow.firstTick(r); tick != vtime.Never {
			at = min(at, tick.Add(r.routingLatency))
		}
	}
	if at == vtime.Never {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: at, Class: vtime.ClassRouting}
}

// NextPeriodic implements lookahead.Periodic: the run may end although an instance
// will become ready, or fail.
func (r *router) NextPeriodic() lookahead.Key {
	k := r.failures.next()
	for _, s := range r.fleet.pools {
		k = lookahead.Earliest(k, nextPhase(s))
	}
	return k
}

// Promise implements lookahead.Process: a delivery follows its routing decision in
// the same microsecond, the message that stops an instance follows the drain
// timeout, and the message to the autoscaler follows the arrival that calls for
// an evaluation.
func (r *router) Promise() lookahead.Key {
	k := r.nextRouting()
	if k.At != vtime.Never {
		k.Class = vtime.ClassDelivery
	}
	for _, s := range r.fleet.services {
		k = lookahead.Earliest(k, s.flow.firstEviction(r))
	}
	for _, s := range r.fleet.pools {
		if s.replicas != nil {
			k = lookahead.Earliest(k, nextOverdue(s).Next())
			event := r.possibleArrival()
			if s.deployment.service.flow != nil { // a request may call for an evaluation once more when it enters the queue
				event = min(event, r.held.admit.at())
			}
			k = lookahead.Earliest(k, s.trigger.reaction(event))
		}
	}
	return k
}

// streamAhead is how many deliveries a router that waits for no instance may be
// ahead of the instances: perInstance for each, at least least and at most most.
// It is enough to keep many cores busy and little enough to stay in their caches.
func streamAhead(x *Execution, p *setup.Plan) int {
	const perInstance, least, most = 1 << 10, 8 << 10, 64 << 10
	if x.Ahead > 0 {
		return x.Ahead
	}
	instances := 0
	for _, s := range p.Pools {
		instances += s.Instances
	}
	return min(max(perInstance*instances, least), most)
}
