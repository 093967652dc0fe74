package actors

import (
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/prefixindex"
	"blis/setup"
	"blis/vtime"
)

// pool is a pool of instances as the router keeps it: its number changes by itself.
type pool struct {
	plan       *setup.Pool
	deployment *deployment
	index      int    // among the pools of the run
	name       string // empty: it has all instances of the run
	role       setup.Role
	size       int // instances so far
	endpoints  *endpoints
	autoscaler lookahead.ProcessID // who asks how many instances there should be

	replicas  *replicas  // nil: the number of instances is fixed
	published *published // nil: the number of instances is fixed
	trigger   trigger    // of evaluations that events call for

	options metrics.Options // of the recorders of its instances
	hints   []string        // that the priority policy gives its schedulers
}

// endpoints are those among which one policy routes, as it sees them, and what the router alone knows
// of them. Views and prefix indices number them by seat.
type endpoints struct {
	plan     *setup.Pool // of the first of them
	routing  policy.Routing
	reads    policy.Signals       // of routing
	observer policy.RouteObserver // routing, if it is one; else nil
	stream   *vtime.Stream        // that it draws from
	places   []*place             // by seat

	cluster  clusterView
	prefixes *prefixindex.Index // nil: no policy observes expected hits
	holdings *prefixindex.Index // for traces alone, see holdingsOf; nil: prefixes will do, or nobody asks
}

// newEndpoints makes the endpoints of pool k of a plan, and of those that it leads, for a router with
// these policies. counterfactual are the signals that a counterfactual trace reads.
func newEndpoints(p *setup.Plan, k int, led []int, q *policies, counterfactual policy.Signals) *endpoints {
	of, seats := p.Pools[k], 0
	for i, l := range led {
		if l == k {
			seats += p.Pools[i].Instances * p.Pools[i].Endpoints()
		}
	}
	s := &endpoints{
		plan: of, routing: q.routing, reads: q.routing.Observes(), prefixes: q.prefixes, stream: q.stream,
		cluster: clusterView{
			signals: q.routed() | counterfactual, signalPlan: planSignals(of, seats, q.routed(), counterfactual, q.gateway), refresh: -1, foreseen: foreseen(p),
			readsAtAdmission: !q.aside && ofInstances(q.admission.Observes()),
			readsAtRouting:   ofInstances(q.atRouting() | counterfactual),
		},
	}
	s.cluster.readsAtGateway = s.cluster.readsInstances(q.gateway)
	s.observer, _ = q.routing.(policy.RouteObserver)
	s.cluster.sizeOf(of, of.Ranks.Local)
	return s
}

// foreseen reports whether the router knows before each refresh whether a decision will read it:
// decisions follow from arrivals alone.
func foreseen(p *setup.Plan) bool {
	for _, s := range p.Pools {
		if s.Scaling != nil {
			return false
		}
	}
	return p.Failures == nil && p.Gateway == nil && !p.Loops() && len(p.Pools) == 1
}

// seat adds one more endpoint.
func (s *endpoints) seat(at *place) {
	at.seat = len(s.places)
	s.places = append(s.places, at)
	s.cluster.sent = append(s.cluster.sent, 0)
}

// instance returns the number of the instance at a seat; −1 for −1.
func (s *endpoints) instance(seat int) int {
	if seat < 0 {
		return -1
	}
	return s.places[seat].instance
}
