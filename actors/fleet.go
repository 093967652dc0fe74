package actors

import (
	"slices"
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
	services    []*service
	models      []int // service by model; nil: there is one, for all
	servers     []*server
	ranks       []*place // by rank, its endpoint
	endpoints   int      // of all servers
	nodes       *nodes   // nil: GPUs are unlimited
}

// deployment is a model as the router serves it.
type deployment struct {
	plan    *setup.Deployment
	service *service
	serving *pool
	prefill *pool         // nil: serving computes prompts itself
	failing *vtime.Stream // decides which pulls fail
	counts  metrics.Coordination
}

// newFleet makes the pools of a plan, without instances, for a router with these policies and options
// of recorders, by pool. counterfactual are the signals that a counterfactual trace reads.
func newFleet(p *setup.Plan, q []policies, options []metrics.Options, counterfactual policy.Signals) fleet {
	f := fleet{nodes: newNodes(p)}
	led := leaders(p)
	for i := range p.Deployments {
		d := &p.Deployments[i]
		x := &deployment{plan: d, failing: vtime.NewStream(p.Config.Seed, strings.TrimSuffix("pulls/"+d.ID, "/"))}
		f.deployments = append(f.deployments, x)
		for _, of := range d.Pools() {
			k := len(f.pools)
			s := &pool{plan: of, deployment: x, index: k, name: d.PoolName(of), role: d.RoleOf(of), trigger: newTrigger(of.Scaling, q[k].trigger), options: options[k], hints: q[k].hints}
			if of.Scaling != nil {
				s.published = &published{reads: q[k].scaling()}
			}
			if l := led[k]; l < k {
				s.endpoints = f.pools[l].endpoints
			} else {
				s.endpoints = newEndpoints(p, k, led, &q[k], counterfactual)
			}
			f.pools = append(f.pools, s)
			if of == d.Serving {
				x.serving = s
			} else {
				x.prefill = s
			}
		}
	}
	services, models := servicesOf(p)
	f.models = models
	for _, list := range services {
		s := &service{}
		for _, i := range list {
			f.deployments[i].service = s
			s.deployments = append(s.deployments, f.deployments[i])
		}
		s.front = f.pools[slices.Index(p.Pools, front(s.deployments[0].plan))].endpoints
		f.services = append(f.services, s)
	}
	return f
}

// add gives one more instance of a pool its endpoints, and its ranks their numbers; nil if no node has
// room for it.
func (f *fleet) add(s *pool) *server {
	nodes, room := f.nodes.allocate(s)
	if !room {
		return nil
	}
	p := &server{pool: s, slot: s.size, number: len(f.servers), first: len(f.ranks), nodes: nodes}
	s.size++
	f.servers = append(f.servers, p)
	for i := range s.plan.Endpoints() {
		at := &place{server: p, index: i, endpoint: f.endpoints, instance: len(f.ranks)}
		s.endpoints.seat(at)
		p.places = append(p.places, at)
		f.endpoints++
		for range s.plan.Ranks.Local {
			f.ranks = append(f.ranks, at)
		}
	}
	return p
}

// frontOf returns the endpoints that admission and priority policies look at when they decide on d,
// and among which its first routing decision chooses.
func (f *fleet) frontOf(d *engine.Delivery) *endpoints { return f.serviceOf(d.Model).front }

// endsWithLatency reports whether notices of ends carry latencies.
func (f *fleet) endsWithLatency() bool {
	for _, s := range f.pools {
		if s.endpoints.cluster.notified&policy.ClassLatency != 0 || s.published.observed(policy.ClassLatency) {
			return true
		}
	}
	return false
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
