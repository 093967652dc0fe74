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
	b := &p.Config.Policies
	if t := b.Admission.Type; t != "always-admit" && t != "reject-all" {
		return false
	}
	if t := b.Priority.Type; t != "constant" && t != "slo-based" && t != "tenant-priority" && t != "deadline-aware" {
		return false
	}
	const ofRouter = policy.Active | policy.Rates | policy.ClassLatency
	for i := range q {
		if p.Pools[i].Scaling != nil || q[i].observes()&ofRouter != 0 {
			return false
		}
	}
	return true
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
	d := &divided{source: p.Source, models: models, queues: make([]requestQueue, len(services))}
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
	queues []requestQueue // pulled for other parts
	pulled uint64
	ended  bool
	err    error
}

// requestQueue is requests in their order.
type requestQueue struct {
	list []workload.Request
	head int
}

func (q *requestQueue) push(r *workload.Request) {
	if q.head > 0 && q.head == len(q.list) {
		q.list, q.head = q.list[:0], 0
	}
	one := *r
	one.Spans = slices.Clone(r.Spans)
	q.list = append(q.list, one)
}

// pull fills r with the next request of a part.
func (d *divided) pull(part int, r *workload.Request) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if q := &d.queues[part]; q.head < len(q.list) {
		*r = q.list[q.head]
		q.list[q.head] = workload.Request{}
		q.head++
		return true, nil
	}
	for !d.ended {
		more, err := d.source.Pull(r)
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
		if of == part {
			return true, nil
		}
		d.queues[of].push(r)
	}
	return false, d.err
}

// partRequests is the requests of a part. Their Index is their number among all requests.
type partRequests struct {
	divided *divided
	part    int
}

var _ workload.Source = (*partRequests)(nil)

// Pull implements workload.Source.
func (s *partRequests) Pull(r *workload.Request) (bool, error) { return s.divided.pull(s.part, r) }

// Labels implements workload.Source.
func (s *partRequests) Labels() *workload.Labels { return s.divided.source.Labels() }
