package actors

import (
	"slices"

	"blis/policy"
	"blis/setup"
	"blis/workload"
)

// service is the deployments that serve the same requests: those of one model. One policy routes
// among them.
type service struct {
	deployments []*deployment
	front       *endpoints // among which the first routing decision about a request chooses
	gate        gate
	flow        *flowControl // nil: a request is routed when it is admitted
}

// alone returns the only deployment of the service, nil if there are several.
func (s *service) alone() *deployment {
	if len(s.deployments) == 1 {
		return s.deployments[0]
	}
	return nil
}

// front returns the pool among whose instances the first routing decision about a request chooses:
// with a choice at hand-over that of prefill instances, else that of the instances where requests end.
func front(d *setup.Deployment) *setup.Pool {
	if d.PD != nil && d.PD.AtHandOver {
		return d.Prefill
	}
	return d.Serving
}

// servicesOf returns the numbers of the deployments of each service, in the order of their first ones,
// and the service of each model by its label, −1: none; nil: all requests are of the only one.
func servicesOf(p *setup.Plan) (services [][]int, models []int) {
	if p.Models == nil {
		all := make([]int, len(p.Deployments))
		for i := range all {
			all[i] = i
		}
		return [][]int{all}, nil
	}
	of := make([]int, len(p.Deployments))
	for i := range of {
		of[i] = -1
	}
	for i := range p.Deployments {
		if of[i] >= 0 {
			continue
		}
		list := []int{i}
		for _, m := range p.Models {
			if slices.Contains(m, i) {
				list = m
			}
		}
		for _, k := range list {
			of[k] = len(services)
		}
		services = append(services, list)
	}
	for _, m := range p.Models {
		if len(m) == 0 {
			models = append(models, -1)
		} else {
			models = append(models, of[m[0]])
		}
	}
	return services, models
}

// leaders returns for each pool of a plan the pool whose policies route to it: one policy routes to all
// pools at the front of a service, that of the first of them.
func leaders(p *setup.Plan) []int {
	list := make([]int, len(p.Pools))
	for i := range list {
		list[i] = i
	}
	services, _ := servicesOf(p)
	for _, s := range services {
		first := -1
		for _, i := range s {
			k := slices.Index(p.Pools, front(&p.Deployments[i]))
			if first < 0 {
				first = k
			}
			list[k] = first
		}
	}
	return list
}

// checkServices refuses deployments that cannot serve one model together.
func checkServices(p *setup.Plan, q []policies) error {
	for k, l := range leaders(p) {
		one, other := p.Pools[l], p.Pools[k]
		if q[l].prefixes != nil && one.BlockSize != other.BlockSize {
			return inputErrorf("pools %s and %s serve %s together with KV blocks of %d and %d tokens: want one size, for the router expects prefixes in both", nameOf(p, one), nameOf(p, other), one.Model.Name, one.BlockSize, other.BlockSize)
		}
		if q[l].prefixes != nil && one.Observability.IndexEvents && entryTokens(one) != entryTokens(other) {
			return inputErrorf("pools %s and %s serve %s together with entries of %d and %d tokens in their CPU tiers: want one size with prefix-index events", nameOf(p, one), nameOf(p, other), one.Model.Name, entryTokens(one), entryTokens(other))
		}
	}
	return nil
}

// noteLed notes which pools' choice of a routing policy has no effect.
func noteLed(p *setup.Plan) {
	for k, l := range leaders(p) {
		one, other := p.Pools[l], p.Pools[k]
		if one.Routing.Type != other.Routing.Type || !slices.Equal(one.Routing.Params, other.Routing.Params) {
			p.Summary.Note("%s: its routing, %s, has no effect: requests for %s are routed by %s of %s, the first deployment that serves it",
				nameOf(p, other), other.Routing.Type, other.Model.Name, one.Routing.Type, nameOf(p, one))
		}
	}
}

// entryTokens returns the tokens of an entry of the CPU tiers of a pool, 0 without any.
func entryTokens(s *setup.Pool) int32 {
	if s.CPUTier == nil {
		return 0
	}
	return s.CPUTier.EntryTokens
}

// nameOf returns the name of a pool of a plan.
func nameOf(p *setup.Plan, s *setup.Pool) string {
	for i := range p.Deployments {
		if d := &p.Deployments[i]; slices.Contains(d.Pools(), s) {
			return d.PoolName(s)
		}
	}
	return ""
}

// serviceOf returns who serves requests of a model, nil if nobody does.
func (f *fleet) serviceOf(model workload.Label) *service {
	if f.models == nil {
		return f.services[0]
	}
	if i := f.models[model]; i >= 0 {
		return f.services[i]
	}
	return nil
}

// publish tells the autoscalers of the pools that serve a model of a request.
func (f *fleet) publish(model workload.Label, tell func(*published)) {
	if s := f.serviceOf(model); s != nil {
		s.publish(tell)
	}
}

// publish tells the autoscalers of all pools.
func (s *service) publish(tell func(*published)) {
	for _, d := range s.deployments {
		for _, p := range d.pools() {
			if p.published != nil {
				tell(p.published)
			}
		}
	}
}

// readAtAdmission reports whether admission decisions read signals of instances, or what follows in the same event:
// the cycle of a gateway.
func (f *fleet) readAtAdmission() bool {
	return slices.ContainsFunc(f.services, func(s *service) bool { return s.front.cluster.readsAtAdmission }) ||
		slices.ContainsFunc(f.pools, func(s *pool) bool { return s.endpoints.cluster.readsAtGateway })
}

// readAtRouting are the signals that routing policies read.
func (f *fleet) readAtRouting() (s policy.Signals) {
	for _, p := range f.pools {
		s |= p.endpoints.reads
	}
	return s
}
