package actors

import (
	"blis/lookahead"
	"blis/vtime"
)

// What the router will do next and what it promises: both follow from the requests
// that it holds and from the next arrival that it knows.

// Next implements lookahead.Process.
func (r *router) Next() lookahead.Key {
	k := r.arrivalKey()
	k = lookahead.Earliest(k, r.held.admit.key(vtime.ClassAdmission))
	k = lookahead.Earliest(k, r.held.route.key(vtime.ClassRouting))
	k = lookahead.Earliest(k, r.held.expire.key(vtime.ClassTimeout))
	if r.pool.replicas != nil {
		k = lookahead.Earliest(k, r.pool.replicas.nextOverdue())
	}
	return lookahead.Earliest(k, r.pool.cluster.twinRefresh(r))
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
		end := min(r.held.expire.at(), r.held.admit.at(), r.held.route.at())
		at = min(at, end.Add(r.loop.refusal))
	}
	return at
}

// nextReading is the Key of the earliest possible decision that reads signals of
// instances.
func (r *router) nextReading() lookahead.Key {
	k := lookahead.NeverKey
	if r.pool.cluster.readsAtRouting {
		k = r.nextRouting()
	}
	if r.pool.cluster.readsAtAdmission {
		at := r.held.admit.at()
		if t := r.possibleArrival(); t != vtime.Never {
			at = min(at, t.Add(r.admissionLatency))
		}
		if at != vtime.Never {
			k = lookahead.Earliest(k, lookahead.Key{At: at, Class: vtime.ClassAdmission})
		}
	}
	return k
}

// nextRouting is the Key of the earliest possible routing decision.
func (r *router) nextRouting() lookahead.Key {
	at := r.held.route.at()
	if t := r.held.admit.at(); t != vtime.Never {
		at = min(at, t.Add(r.routingLatency))
	}
	if t := r.possibleArrival(); t != vtime.Never {
		at = min(at, t.Add(r.admissionLatency).Add(r.routingLatency))
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
	if r.pool.replicas == nil {
		return k
	}
	return lookahead.Earliest(k, r.pool.replicas.nextPhase())
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
	if r.pool.replicas != nil {
		k = lookahead.Earliest(k, r.pool.replicas.nextOverdue().Next())
		k = lookahead.Earliest(k, r.pool.trigger.reaction(r.possibleArrival()))
	}
	return k
}

// streamAhead is how many deliveries a router that waits for no instance may be
// ahead of the instances: perInstance for each, at least least and at most most.
// It is enough to keep many cores busy and little enough to stay in their caches.
func streamAhead(x *Execution, instances int) int {
	const perInstance, least, most = 1 << 10, 8 << 10, 64 << 10
	if x.Ahead > 0 {
		return x.Ahead
	}
	return min(max(perInstance*instances, least), most)
}
