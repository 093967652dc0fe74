package actors

import (
	"strings"

	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// fleet is all pools of the router, and which of them serve a request.
type fleet struct {
	pools       []*pool
	deployments []*deployment
	places      []*place // by instance
	front       int      // pool that is looked at when no request is
}

// deployment is a model as the router serves it.
type deployment struct {
	plan    *setup.Deployment
	serving *pool
	prefill *pool         // nil: serving computes prompts itself
	failing *vtime.Stream // decides which pulls fail
	counts  metrics.Coordination
}

// newFleet makes the pools of a plan, without instances, for a router with these policies, by pool.
// counterfactual are the signals that a counterfactual trace reads.
func newFleet(p *setup.Plan, q []policies, counterfactual policy.Signals) fleet {
	var f fleet
	for i := range p.Deployments {
		d := &p.Deployments[i]
		x := &deployment{plan: d, failing: vtime.NewStream(p.Config.Seed, strings.TrimSuffix("pulls/"+d.ID, "/"))}
		f.deployments = append(f.deployments, x)
		for _, of := range d.Pools() {
			k := len(f.pools)
			s := &pool{plan: of, deployment: x, index: k, name: d.PoolName(of), role: d.RoleOf(of), trigger: newTrigger(of.Scaling, q[k].trigger)}
			if of.Scaling != nil {
				s.published = &published{reads: q[k].scaling()}
			}
			s.endpoints = newEndpoints(p, of, &q[k], counterfactual)
			f.pools = append(f.pools, s)
			if of == d.Serving {
				x.serving = s
			} else {
				x.prefill = s
			}
		}
	}
	for f.front = 0; q[f.front].aside; f.front++ {
	}
	return f
}

// add gives one more instance of a pool its place.
func (f *fleet) add(s *pool) *place {
	at := &place{pool: s, slot: s.size, instance: len(f.places)}
	s.size++
	s.endpoints.seat(at)
	f.places = append(f.places, at)
	return at
}

// deploymentOf returns the deployment that serves d.
func (f *fleet) deploymentOf(*engine.Delivery) *deployment { return f.deployments[0] }

// frontOf returns the endpoints that admission and priority policies look at when they decide on d,
// and among which its first routing decision chooses.
func (f *fleet) frontOf(*engine.Delivery) *endpoints { return f.pools[f.front].endpoints }

// publish tells the autoscalers of all pools of a request.
func (f *fleet) publish(tell func(*published)) {
	for _, s := range f.pools {
		if s.published != nil {
			tell(s.published)
		}
	}
}

// endsWithLatency reports whether notices of ends carry latencies.
func (f *fleet) endsWithLatency() bool {
	for _, s := range f.pools {
		if s.endpoints.cluster.notified&policy.ClassLatency != 0 || s.published.observed(policy.ClassLatency) {
			return true
		}
	}
	return false
}

// readAtRouting are the signals that routing policies read.
func (f *fleet) readAtRouting() (s policy.Signals) {
	for _, p := range f.pools {
		s |= p.endpoints.reads
	}
	return s
}

// scaledBy returns the pool whose size an autoscaler decides.
func (f *fleet) scaledBy(autoscaler lookahead.ProcessID) *pool {
	for _, s := range f.pools {
		if s.autoscaler == autoscaler {
			return s
		}
	}
	panic("actors: a message about the number of instances that is not an autoscaler's")
}

// first returns the pool with the earliest Key, nil if all are never.
func (f *fleet) first(key func(*pool) lookahead.Key) (earliest *pool, at lookahead.Key) {
	at = lookahead.NeverKey
	for _, s := range f.pools {
		if k := key(s); k.Less(at) {
			earliest, at = s, k
		}
	}
	return earliest, at
}

// nextOverdue is the end of the next drain timeout of a pool.
func nextOverdue(s *pool) lookahead.Key {
	if s.replicas == nil {
		return lookahead.NeverKey
	}
	return s.replicas.nextOverdue()
}

// nextPhase is the next change of phase of a pool.
func nextPhase(s *pool) lookahead.Key {
	if s.replicas == nil {
		return lookahead.NeverKey
	}
	return s.replicas.nextPhase()
}

// called is the first evaluation that an event at t or later can call for.
func (f *fleet) called(t vtime.Time) lookahead.Key {
	_, k := f.first(func(s *pool) lookahead.Key { return s.trigger.reaction(t) })
	return k
}

// refreshTwin reads the engines for the refreshes at now.
func (f *fleet) refreshTwin(now vtime.Time) {
	for _, s := range f.pools {
		s.endpoints.cluster.refreshTwin(now)
	}
}
