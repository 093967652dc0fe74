package actors

import (
	"blis/lookahead"
	"blis/vtime"
)

// What the router will do next, and what it promises not to do before: from
// what it holds and from the next arrival that it knows of.

// Next implements lookahead.Process.
func (r *router) Next() lookahead.Key {
	k := r.arrivalKey()
	k = earlier(k, r.admit.key(vtime.ClassAdmission))
	k = earlier(k, r.route.key(vtime.ClassRouting))
	k = earlier(k, r.expire.key(vtime.ClassTimeout))
	if r.replicas != nil {
		k = earlier(k, r.replicas.nextOverdue())
	}
	return earlier(k, r.sight.twinRefresh(r))
}

func (r *router) arrivalKey() lookahead.Key {
	at := r.nextArrival()
	if at == vtime.Never {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: at, Class: vtime.ClassArrival}
}

// nextArrival is the earliest arrival that is known of, vtime.Never if there is
// none.
func (r *router) nextArrival() vtime.Time {
	at := vtime.Never
	if r.more {
		at = r.next.Arrival
	}
	if r.loop != nil {
		at = min(at, r.loop.source.Peek().Arrival)
	}
	return at
}

// possibleArrival is the earliest arrival that can come if the router is told
// nothing: one that it knows of, or what follows when a request that it holds
// ends with it: gives up, is rejected, or finds no instance.
func (r *router) possibleArrival() vtime.Time {
	at := r.nextArrival()
	if r.loop != nil {
		end := min(r.expire.at(), r.admit.at(), r.route.at())
		at = min(at, end.Add(r.loop.refusal))
	}
	return at
}

// nextReading is the Key of the earliest decision that can come and that reads
// the instances.
func (r *router) nextReading() lookahead.Key {
	k := lookahead.NeverKey
	if r.sight.atRouting {
		k = r.nextRouting()
	}
	if r.sight.atAdmission {
		at := r.admit.at()
		if t := r.possibleArrival(); t != vtime.Never {
			at = min(at, t.Add(r.admissionLatency))
		}
		if at != vtime.Never {
			k = earlier(k, lookahead.Key{At: at, Class: vtime.ClassAdmission})
		}
	}
	return k
}

// nextRouting is the Key of the earliest routing decision that can come.
func (r *router) nextRouting() lookahead.Key {
	at := r.route.at()
	if t := r.admit.at(); t != vtime.Never {
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

// NextPeriodic implements lookahead.Periodic: an instance that becomes ready
// keeps no run alive.
func (r *router) NextPeriodic() lookahead.Key {
	if r.replicas == nil {
		return lookahead.NeverKey
	}
	return r.replicas.nextPhase()
}

// Promise implements lookahead.Process: a delivery follows its routing
// decision in the same instant, the end of an instance the end of patience, and
// what an evaluation does the arrival that calls for it.
func (r *router) Promise() lookahead.Key {
	k := r.nextRouting()
	if k.At != vtime.Never {
		k.Class = vtime.ClassDelivery
	}
	if r.replicas != nil {
		k = earlier(k, r.replicas.nextOverdue().Next())
		k = earlier(k, r.trigger.reaction(r.possibleArrival()))
	}
	return k
}
