package metrics

import (
	"fmt"
	"slices"
)

// Deployment is a part of a run: the instances that serve one model together.
type Deployment struct {
	Name   string    // empty in a run without a file of deployments
	Router *Recorder // its requests that no instance recorded; nil: none, or they are in Run.Routers
	Pools  []Pool    // at least one

	Coordination *Coordination // nil: no pool hands requests over
}

// Pool is instances of one kind.
type Pool struct {
	Name       string // unique in the run
	Role       string // "monolithic", PrefillRole or "decode"
	Model, GPU string
	TP         int
	Ranks      int     // data-parallel ranks of an instance, each of which Instances has; 0 is 1
	Instances  []int   // indices in Run.Instances, ascending; each instance is in one pool
	BlockBytes int64   // of a KV block, on all GPUs of an instance
	PaidMicros float64 // Σ time for which its instances are paid, from when their machines were there
	Price      float64 // of an instance for an hour; 0: no price is known

	// Cost, if not nil, is what PaidMicros cost by the prices of the nodes, in place of Price.
	Cost *float64
}

// PrefillRole is the role of pools whose instances compute prompts and hand the KV over.
const PrefillRole = "prefill"

// Coordination is what is counted between the instances that hand requests over to each other.
type Coordination struct {
	Disaggregated int64 // decisions that the prompt of a request is computed on another instance than the one that decodes
	Direct        int64 // decisions against that
	Backpressure  int64 // hand-overs when so many prefills of that instance awaited their pull that it counts as an anomaly
}

// pools lists the pools of the run; a run without any has none.
func (c *collection) pools() (list []*Pool) {
	for i := range c.Deployments {
		for k := range c.Deployments[i].Pools {
			list = append(list, &c.Deployments[i].Pools[k])
		}
	}
	return list
}

// PaidUse is the machines of some instances.
type PaidUse struct {
	Instances    int      `json:"instances"` // all that there were
	ReplicaHours float64  `json:"replica_hours"`
	GPUHours     float64  `json:"gpu_hours"`
	Cost         *float64 `json:"cost"` // of ReplicaHours; null: no price is known
}

// add adds a pool.
func (u *PaidUse) add(p *Pool) {
	hours := p.PaidMicros / 3.6e9
	ranks := max(1, p.Ranks)
	gpuHours := float64(hours * float64(p.TP*ranks))
	if p.Price > 0 || p.Cost != nil {
		cost := float64(hours * p.Price)
		if p.Cost != nil {
			cost = *p.Cost
		}
		if u.Cost != nil {
			cost += *u.Cost
		}
		u.Cost = &cost
	}
	u.Instances += len(p.Instances) / ranks
	u.ReplicaHours += hours
	u.GPUHours += gpuHours
}

// DeploymentReport is the numbers of a deployment.
type DeploymentReport struct {
	Name string `json:"-"`
	PaidUse
	Pools []string `json:"pools"`
	Scope
	PD *PDUse `json:"pd,omitempty"` // where a pool hands requests over
}

// PoolReport is the numbers of a pool. Requests are those that ended on its instances.
type PoolReport struct {
	Name       string `json:"-"`
	Deployment string `json:"deployment"`
	Role       string `json:"role"`
	Model      string `json:"model"`
	GPU        string `json:"gpu"`
	TP         int    `json:"tp"`
	Ranks      int    `json:"data_parallel_size,omitempty"` // data-parallel ranks of an instance, where there are several
	PaidUse

	States            StateCounts `json:"states"`
	RequestsPerSecond *float64    `json:"requests_per_second"` // completed
	TokensPerSecond   *float64    `json:"tokens_per_second"`   // output tokens of completed requests

	// Of a prefill pool; null of others.
	Prefills          *int64   `json:"prefills"`            // that ended
	PrefillsPerSecond *float64 `json:"prefills_per_second"` // of them
	Prefill           *Summary `json:"prefill_us"`          // of completed requests: from scheduled to the end of the prefill

	// Of a prefill pool, the wait of completed requests in its queue; of others from queued to the first step there,
	// with the pull.
	QueueWait *Summary `json:"queue_wait_us"`

	Resources *Resources `json:"resources"`
	PD        *PDUse     `json:"pd,omitempty"` // where a pool of the deployment hands requests over
}

// RanksEach returns the data-parallel ranks of an instance of the pool.
func (p *PoolReport) RanksEach() int { return max(1, p.Ranks) }

// severalOf returns n, 0 for 1.
func severalOf(n int) int {
	if n == 1 {
		return 0
	}
	return n
}

// DeploymentReports are in the order of the deployments; names are distinct.
type DeploymentReports []DeploymentReport

// MarshalJSON prints an object from name to deployment that keeps the order.
func (s DeploymentReports) MarshalJSON() ([]byte, error) {
	names := make([]string, len(s))
	for i := range s {
		names[i] = s[i].Name
	}
	return Object(names, func(i int) any { return &s[i] })
}

// PoolReports are in the order of the pools; names are distinct.
type PoolReports []PoolReport

// MarshalJSON prints an object from name to pool that keeps the order.
func (s PoolReports) MarshalJSON() ([]byte, error) {
	names := make([]string, len(s))
	for i := range s {
		names[i] = s[i].Name
	}
	return Object(names, func(i int) any { return &s[i] })
}

// part is some recorders of the run, merged.
type part struct {
	cell      *cell
	itl       *Distribution
	instances []int
}

// partOf merges the recorders of instances, and another one, which may be nil.
func (c *collection) partOf(instances []int, other *Recorder) part {
	var cells []*cell
	var itl []*Distribution
	add := func(r *Recorder) { cells, itl = append(cells, r.cells...), append(itl, r.groups...) }
	for _, i := range instances {
		add(c.Instances[i])
	}
	if other != nil {
		add(other)
	}
	return part{mergeCells(cells), mergeDistributions(itl), instances}
}

// countersOf returns those of all counters that are of instances.
func countersOf(all []Counters, instances []int) (list []Counters) {
	for _, i := range instances {
		list = append(list, all[i])
	}
	return list
}

// checkPools verifies that each instance is in one pool, where there are pools, and that pools have names.
func (c *collection) checkPools() error {
	if n := len(c.Instances); c.Disaggregated != nil && len(c.Disaggregated) != n {
		return fmt.Errorf("%d instances, of which %d count hand-overs", n, len(c.Disaggregated))
	}
	if len(c.Deployments) == 0 {
		return nil
	}
	of := make([]string, len(c.Instances))
	names := map[string]bool{}
	for _, p := range c.pools() {
		if names[p.Name] || p.Name == "" {
			return fmt.Errorf("pool %q: want a name of its own", p.Name)
		}
		names[p.Name] = true
		for _, i := range p.Instances {
			if i < 0 || i >= len(of) || of[i] != "" {
				return fmt.Errorf("pool %s has instance %d, of %d, which is in no other pool", p.Name, i, len(of))
			}
			of[i] = p.Name
		}
	}
	if i := slices.Index(of, ""); i >= 0 {
		return fmt.Errorf("instance %d is in no pool", i)
	}
	return nil
}

// reportPools adds the scopes per deployment, if there are several, and per pool, if there are.
func (c *collection) reportPools(r *Report) {
	if len(c.pools()) < 2 {
		return
	}
	for i := range c.Deployments {
		d := &c.Deployments[i]
		x := DeploymentReport{Name: d.Name}
		var instances []int
		for k := range d.Pools {
			p := &d.Pools[k]
			x.add(p)
			x.Pools, instances = append(x.Pools, p.Name), append(instances, p.Instances...)
		}
		all := c.partOf(instances, d.Router)
		for k := range d.Pools {
			r.PerPool = append(r.PerPool, c.poolReport(d, &d.Pools[k], all.cell))
		}
		if len(c.Deployments) > 1 {
			x.Scope = c.scope(all.cell, all.itl)
			x.Resources = newResources(countersOf(c.Counters, instances))
			x.PD = c.pdUse(d.Coordination, instances)
			r.PerDeployment = append(r.PerDeployment, x)
		}
	}
}

// poolReport reports a pool of d, of whose requests all knows.
func (c *collection) poolReport(d *Deployment, p *Pool, all *cell) PoolReport {
	own := c.partOf(p.Instances, nil).cell
	x := PoolReport{Name: p.Name, Deployment: d.Name, Role: p.Role, Model: p.Model, GPU: p.GPU, TP: p.TP, Ranks: severalOf(p.Ranks),
		States: own.states, RequestsPerSecond: ratio(float64(own.states[Completed]), c.window.seconds()), TokensPerSecond: ratio(float64(own.output), c.window.seconds()),
		Resources: newResources(countersOf(c.Counters, p.Instances))}
	x.add(p)
	if d.Coordination != nil {
		x.PD = c.pdUse(nil, p.Instances)
	}
	if p.Role != PrefillRole {
		x.QueueWait = c.summaries.add(&own.queueWait)
		return x
	}
	n := x.PD.HandOvers + x.PD.WithoutKV
	x.Prefills, x.PrefillsPerSecond = &n, ratio(float64(n), c.window.seconds())
	if h := all.handedOver; h != nil {
		x.QueueWait, x.Prefill = c.summaries.add(&h.phases[prefillQueuePhase]), c.summaries.add(&h.phases[prefillPhase])
	}
	return x
}
