package actors

import (
	"blis/policy"
	"blis/prefixindex"
	"blis/setup"
)

// pool is what the router keeps of a pool of instances: the policy that routes among
// them, how it sees them, and what it alone knows of them.
type pool struct {
	plan     *setup.Pool
	routing  policy.Routing
	reads    policy.Signals       // of routing
	observer policy.RouteObserver // routing, if it is one; else nil

	cluster  clusterView
	prefixes *prefixindex.Index // nil: no policy observes expected hits

	replicas  *replicas  // nil: the number of instances is fixed
	published *published // nil: the number of instances is fixed
	trigger   trigger    // of evaluations that events call for
}

// newPool makes the pool of a plan for a router with these policies. counterfactual are
// the signals that a counterfactual trace reads.
func newPool(p *setup.Plan, q *policies, planned signalPlan, counterfactual policy.Signals) pool {
	s := &pool{
		plan: p.Pools[0], routing: q.routing, reads: q.routing.Observes(), prefixes: q.prefixes, trigger: newTrigger(p.Pools[0].Scaling, q.trigger),
		cluster: clusterView{
			signals: q.routed() | counterfactual, signalPlan: planned, refresh: -1, foreseen: p.Pools[0].Scaling == nil && p.Failures == nil && !p.Loops(), sent: make([]int32, p.Pools[0].Instances),
			readsAtAdmission: ofInstances(q.admission.Observes()),
			readsAtRouting:   ofInstances(q.priority.Observes() | q.routing.Observes() | counterfactual),
		},
	}
	s.observer, _ = q.routing.(policy.RouteObserver)
	if p.Pools[0].Scaling != nil {
		s.published = &published{reads: q.scaling()}
	}
	s.cluster.view.MaxNumSeqs, s.cluster.view.BlockSize, s.cluster.view.CPUEntries = p.Pools[0].MaxNumSeqs, p.Pools[0].BlockSize, p.Pools[0].CPUEntries()
	return *s
}
