package actors

import (
	"blis/metrics"
	"blis/setup"
	"blis/vtime"
)

// What a result says of deployments and their pools.

// describePools tells the report of the pools of a run that has several, and of what their instances handed
// over to each other.
func (c *cluster) describePools(run *metrics.Run, end vtime.Time) {
	if len(c.plan.Pools) == 1 {
		return
	}
	if c.router.coordinator != nil {
		for _, n := range c.instances {
			for _, e := range n.engines.all() {
				run.Disaggregated = append(run.Disaggregated, e.Disaggregated)
			}
		}
	}
	for _, d := range c.router.fleet.deployments {
		run.Deployments = append(run.Deployments, c.describe(d, end, func(i int) int { return i }))
	}
}

// describe is what the report is told of a deployment; number returns the number of an instance in the
// report.
func (c *cluster) describe(d *deployment, end vtime.Time, number func(int) int) metrics.Deployment {
	x := metrics.Deployment{Name: d.plan.ID}
	for _, s := range d.pools() {
		x.Pools = append(x.Pools, c.describePool(s, end, number))
	}
	if d.prefill != nil {
		x.Coordination = &metrics.Coordination{Disaggregated: d.counts.Disaggregated, Direct: d.counts.Direct, Backpressure: d.counts.Backpressure}
	}
	return x
}

// describePool is what the report is told of a pool.
func (c *cluster) describePool(s *pool, end vtime.Time, number func(int) int) metrics.Pool {
	p := metrics.Pool{
		Name: s.name, Role: string(s.role), Model: s.plan.Model.Name, GPU: s.plan.GPU.Name, TP: s.plan.TP, Ranks: s.plan.Ranks.Ranks,
		BlockBytes: s.plan.BlockBytes(),
	}
	p.Price = c.instancePrice(s)
	if u := c.usedBy(s, end); u != nil {
		p.Cost = u.cost(c.plan.NodePools)
	}
	if s.role == setup.Monolithic {
		p.Role = "monolithic"
	}
	for i, at := range c.router.fleet.ranks {
		if at.pool == s {
			p.Instances = append(p.Instances, number(i))
		}
	}
	if s.replicas == nil {
		p.PaidMicros = float64(float64(s.size) * float64(span(c.began, end)))
		return p
	}
	for i := range s.replicas.list {
		p.PaidMicros += float64(s.replicas.list[i].cost(s.replicas.began, end))
	}
	return p
}

// pools returns the pools of the deployment in the order of their instances.
func (d *deployment) pools() []*pool {
	if d.prefill == nil {
		return []*pool{d.serving}
	}
	return []*pool{d.prefill, d.serving}
}

// poolName is the name of a pool and of its deployment.
type poolName struct{ pool, deployment string }

// poolNames are those of the pools of a plan, in their order.
func poolNames(p *setup.Plan) (list []poolName) {
	for i := range p.Deployments {
		d := &p.Deployments[i]
		for _, of := range d.Pools() {
			list = append(list, poolName{d.PoolName(of), d.ID})
		}
	}
	return list
}

// paidInPools is the time, in instance·µs, that the instances of several pools were paid for; false if there
// is one pool.
func (r *Result) paidInPools() (micros float64, several bool) {
	for i := range r.Report.PerPool {
		micros += float64(r.Report.PerPool[i].ReplicaHours * float64(vtime.Hour))
	}
	return micros, len(r.Report.PerPool) > 0
}

// Place is the names of the deployment and the pool of the request's instance; empty when it never reached
// one, and where they have none.
func Place(r *Row) (deployment, pool string) {
	if r.Instance < 0 || int(r.Pool) >= len(r.names.pools) {
		return "", ""
	}
	return r.names.pools[r.Pool].deployment, r.names.pools[r.Pool].pool
}

// PrefillInstance is the name of the instance that computed the prompt of a request and handed it over; empty
// when none did.
func PrefillInstance(r *Row) string {
	if !r.HandOver.Made() {
		return ""
	}
	return r.names.of(r.HandOver.Instance)
}
