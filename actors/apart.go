package actors

import (
	"slices"
	"sync"

	"blis/policy"
	"blis/setup"
	"blis/trace"
	"blis/workload"
)

// Deployments that share nothing run apart: each service is a cluster of its own, with its own control
// plane, beside the others. The results are those of one cluster, for nothing that one service does can
// change what another one does.

// separable reports whether the services of a plan share nothing: neither the state of an admission or
// priority policy, nor what the router knows of all requests, nor answers from which requests follow,
// nor what the user wants of the run as a whole.
func separable(p *setup.Plan, x *Execution, q []policies) bool {
	services, models := servicesOf(p)
	custom := &p.Config.Custom
	switch {
	case len(services) < 2 || models == nil || x.Together:
		return false
	case p.Loops() || p.Failures != nil || p.Forced != nil:
		return false
	case x.Tracing.Level != trace.None || x.Record != nil || x.Inspect != nil || x.MaxEvents > 0:
		return false
	case custom.Admission != nil || custom.Priority != nil || custom.Routing != nil || custom.Scheduler != nil || custom.Autoscale != nil:
		return false
	}
	if shareStorage(p, services) {
		return false
	}
	b := &p.Config.Policies
	own := setup.AdmissionApart(p) // then each has admission state of its own
	if t := b.Admission.Type; !own && t != "always-admit" && t != "reject-all" {
		return false
	}
	if t := b.Priority.Type; t != "constant" && t != "slo-based" && t != "tenant-priority" && t != "deadline-aware" {
		return false
	}
	const ofRouter = policy.Active | policy.Rates | policy.ClassLatency
	for i := range q {
		reads := q[i].observes()
		if own {
			reads = q[i].atRouting() | q[i].priority.Observes()
		}
		if p.Pools[i].Scaling != nil || reads&ofRouter != 0 {
			return false
		}
	}
	return true
}

// shareStorage reports whether services share a storage tier.
func shareStorage(p *setup.Plan, services [][]int) bool {
	of := map[string]int{} // the service that has a tier
	for k, service := range services {
		for _, i := range service {
			for _, s := range p.Deployments[i].Pools() {
				for t := range s.Storage {
					tier := &s.Storage[t]
					if tier.Scope != setup.StorageShared {
						continue
					}
					if other, there := of[tier.Name]; there && other != k {
						return true
					}
					of[tier.Name] = k
				}
			}
		}
	}
	return false
}

// part is a service with its own requests.
type part struct {
	plan        *setup.Plan
	deployments []int // by its own number, that in the whole plan
	requests    *partRequests
}

// separate returns the parts of a plan, in the order of its services.
func separate(p *setup.Plan) []*part {
	services, models := servicesOf(p)
	d := &divided{source: p.Source, models: models, queues: make([][]workload.Request, len(services))}
	var list []*part
	for k, service := range services {
		one := *p
		one.Pools, one.Deployments, one.Models = nil, nil, make([][]int, len(p.Models))
		for _, i := range service {
			one.Pools = append(one.Pools, p.Deployments[i].Pools()...)
			one.Deployments = append(one.Deployments, p.Deployments[i])
		}
		for label, m := range p.Models {
			for _, i := range m {
				if at := slices.Index(service, i); at >= 0 {
					one.Models[label] = append(one.Models[label], at)
				}
			}
		}
		s := &part{plan: &one, deployments: service, requests: &partRequests{divided: d, part: k}}
		one.Source = s.requests
		list = append(list, s)
	}
	return list
}

// divided is a source whose requests go to several parts. Requests of models that nobody serves go to
// the first one.
type divided struct {
	mu     sync.Mutex
	source workload.Source
	models []int
	queues [][]workload.Request // pulled, and not taken by their part
	pulled uint64
	ended  bool
	err    error
}

// chunk is the number of requests that a part takes at a time if they are there: parts that asked for
// each by itself would wait for each other.
const chunk = 256

// take returns the next requests of a part, which may use the memory of list: none at the end.
func (d *divided) take(part int, list []workload.Request) ([]workload.Request, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var r workload.Request
	for !d.ended && len(d.queues[part]) < chunk {
		more, err := d.source.Pull(&r)
		if !more || err != nil {
			d.ended, d.err = true, err
			break
		}
		of := 0
		if m := int(r.Model); m < len(d.models) { // else the router says that it cannot be
			of = max(0, d.models[m])
		}
		r.Index = d.pulled
		d.pulled++
		one := r
		one.Spans = slices.Clone(r.Spans)
		d.queues[of] = append(d.queues[of], one)
	}
	taken := d.queues[part]
	d.queues[part] = list[:0]
	if len(taken) == 0 {
		return nil, d.err
	}
	return taken, nil
}

// partRequests is the requests of a part. Their Index is their number among all requests.
type partRequests struct {
	divided *divided
	part    int
	taken   []workload.Request
	next    int // in taken
}

var _ workload.Source = (*partRequests)(nil)

// Pull implements workload.Source.
func (s *partRequests) Pull(r *workload.Request) (more bool, err error) {
	if s.next == len(s.taken) {
		if s.taken, err = s.divided.take(s.part, s.taken); len(s.taken) == 0 {
			return false, err
		}
		s.next = 0
	}
	*r = s.taken[s.next]
	s.next++
	return true, nil
}

// Labels implements workload.Source.
func (s *partRequests) Labels() *workload.Labels { return s.divided.source.Labels() }
