package actors

import (
	"slices"
	"strconv"

	"blis/setup"
	"blis/vtime"
)

// nodes is the router's book of the GPUs of nodes. They are taken from the request for an instance to
// its end: while it is provisioned, loads, serves, is down, and drains. Several pools may want GPUs at
// one instant: their autoscalers tell the router in the order of the pools, so that is the order in
// which it looks for room. The nil book is of a run whose GPUs are unlimited.
type nodes struct {
	pools  []setup.NodePool
	placed map[*setup.Pool][][]setup.Node // of the instances with which the run begins
	gpus   *setup.NodeGPUs
	names  *nodeNames
}

// nodeNames returns the names of the nodes of ranks; nil: GPUs are unlimited.
func (b *nodes) nodeNames() *nodeNames {
	if b == nil {
		return nil
	}
	return b.names
}

func newNodes(p *setup.Plan) *nodes {
	if len(p.NodePools) == 0 {
		return nil
	}
	return &nodes{pools: p.NodePools, placed: p.Placed, gpus: setup.NewNodeGPUs(p.NodePools), names: &nodeNames{pools: p.NodePools}}
}

// allocate takes the GPUs of the next instance of a pool and returns their nodes. It reports whether
// there was room. The plan has the nodes of the instances with which a run begins.
func (b *nodes) allocate(s *pool) (list []setup.Node, room bool) {
	if b == nil {
		return nil, true
	}
	if first := b.placed[s.plan]; s.size < len(first) {
		list = first[s.size]
		b.gpus.AllocateOn(s.plan, list)
	} else if list, room = b.gpus.Allocate(s.plan); !room {
		return nil, false
	}
	b.names.add(list)
	return list, true
}

// release gives back the GPUs of an instance that is gone.
func (b *nodes) release(at *server) {
	if b != nil {
		b.gpus.Release(at.pool.plan, at.nodes)
		at.released = true
	}
}

// serversOn returns the servers, by their numbers, that have a GPU on a node at the present time of the
// router: also those that are still provisioned, are down, or drain. A node that goes down takes these
// with it; NodeGPUs.SetDown then keeps new ones away from it.
func (f *fleet) serversOn(n setup.Node) (list []int) {
	for i, p := range f.servers {
		if !p.released && slices.Contains(p.nodes, n) {
			list = append(list, i)
		}
	}
	return list
}

// nodeNames has the names of the nodes of ranks. Sinks have no turn while an instance is added, so they
// may read them.
type nodeNames struct {
	pools []setup.NodePool
	list  []string // by rank
}

// add enters the ranks of one more instance.
func (s *nodeNames) add(nodes []setup.Node) {
	for _, n := range nodes {
		s.list = append(s.list, s.pools[n.Pool].ID+"/"+strconv.Itoa(int(n.Index)))
	}
}

// NodeName is the name of the node of the request's instance; empty when the request never reached one,
// and where GPUs are unlimited.
func NodeName(r *Row) string {
	if r.Instance < 0 || r.names.nodes == nil {
		return ""
	}
	return r.names.nodes.list[r.Instance]
}

// NodePoolUse is what was used of a node pool from the first arrival to the end of a run.
type NodePoolUse struct {
	setup.NodePool
	TakenMicros float64        // Σ GPU·µs from the request for an instance to its end
	PaidMicros  float64        // Σ GPU·µs from when the machine of an instance was there
	Peak        int            // the most GPUs that were taken at a time
	Cost        *float64       // of PaidMicros; nil: no price is known
	Length      vtime.Duration // of the run, from the first arrival on
}

// Utilisation is the share of the GPUs that were taken; nil when the run took no time.
func (u *NodePoolUse) Utilisation() *float64 {
	if u.Length == 0 {
		return nil
	}
	share := u.TakenMicros / float64(float64(u.GPUs())*float64(u.Length))
	return &share
}

// usedNodes is what a pool used of the node pools.
type usedNodes struct {
	plan        *setup.Pool
	gpuPrice    float64   // per hour, where the node pool has no price; 0: none
	taken, paid []float64 // GPU·µs, by node pool
}

// usedBy returns what a pool used of the node pools in a run that ended at end; nil if GPUs are unlimited.
func (c *cluster) usedBy(s *pool, end vtime.Time) *usedNodes {
	n := len(c.plan.NodePools)
	if n == 0 {
		return nil
	}
	u := &usedNodes{s.plan, c.instancePrice(s) / float64(s.plan.TP*s.plan.Ranks.Ranks), make([]float64, n), make([]float64, n)}
	for _, at := range c.router.fleet.servers {
		if at.pool != s {
			continue
		}
		taken, paid := span(c.began, end), span(c.began, end)
		if b := s.replicas; b != nil {
			r := &b.list[at.slot]
			taken, paid = span(max(r.requested, b.began), min(r.gone, end)), r.cost(b.began, end)
		}
		for _, n := range at.nodes {
			u.taken[n.Pool] += float64(float64(taken) * float64(s.plan.TP))
			u.paid[n.Pool] += float64(float64(paid) * float64(s.plan.TP))
		}
	}
	return u
}

// addCost adds what the pool costs on node pool k: by the price of the node pool, else by that of the
// pool. Without a price the sum stays as it is.
func (u *usedNodes) addCost(sum *float64, n *setup.NodePool, k int) *float64 {
	price := n.PriceOr(u.gpuPrice)
	if price == 0 || n.GPU != u.plan.GPU.Name {
		return sum
	}
	cost := float64(u.paid[k] / float64(vtime.Hour) * price)
	return plus(sum, &cost)
}

// cost is what the pool costs on all nodes; nil: no price is known.
func (u *usedNodes) cost(pools []setup.NodePool) (sum *float64) {
	for k := range pools {
		sum = u.addCost(sum, &pools[k], k)
	}
	return sum
}

// nodePoolUses adds up what pools used, in their order.
func nodePoolUses(pools []setup.NodePool, used []*usedNodes, length vtime.Duration, peak func(pool int) int) (list []NodePoolUse) {
	for k := range pools {
		n := &pools[k]
		x := NodePoolUse{NodePool: *n, Length: length, Peak: peak(k)}
		if n.CostPerGPUHour > 0 {
			x.Cost = new(float64)
		}
		for _, u := range used {
			x.TakenMicros += u.taken[k]
			x.PaidMicros += u.paid[k]
			x.Cost = u.addCost(x.Cost, n, k)
		}
		list = append(list, x)
	}
	return list
}

// describeNodes adds to a result what was used of the node pools.
func (c *cluster) describeNodes(r *Result) {
	b := c.router.fleet.nodes
	if b == nil {
		return
	}
	var used []*usedNodes
	for _, s := range c.router.fleet.pools {
		used = append(used, c.usedBy(s, r.End))
	}
	r.rest.nodes, r.rest.nodePools = b.names.list, nodePoolUses(b.pools, used, span(r.Began, r.End), b.gpus.Peak)
}

// describeNodes adds to a result what the parts used of the node pools. The number of instances is fixed
// in parts: each has its GPUs all the time.
func (a *apart) describeNodes(r *Result) {
	if len(a.plan.NodePools) == 0 {
		return
	}
	var used []*usedNodes
	for i := range a.plan.Deployments {
		k, own := a.deployment(i)
		c := a.clusters[k]
		for _, s := range c.router.fleet.deployments[own].pools() {
			used = append(used, c.usedBy(s, r.End))
		}
	}
	r.rest.nodePools = nodePoolUses(a.plan.NodePools, used, span(r.Began, r.End), func(pool int) (n int) {
		for _, c := range a.clusters {
			n += c.router.fleet.nodes.gpus.Peak(pool)
		}
		return n
	})
	r.rest.nodes = a.nodeNames().list
}

// NodePools returns what was used of each node pool; none: GPUs are unlimited.
func (r *Result) NodePools() []NodePoolUse { return r.rest.nodePools }

// InstanceNodes returns the names of the nodes of instances, of ranks, by number; none: GPUs are unlimited.
func (r *Result) InstanceNodes() []string { return r.rest.nodes }

// nodeNames has the nodes of the ranks of all parts.
func (a *apart) nodeNames() *nodeNames {
	names := &nodeNames{pools: a.plan.NodePools}
	for i := range a.plan.Deployments {
		k, own := a.deployment(i)
		f := &a.clusters[k].router.fleet
		for _, s := range f.deployments[own].pools() {
			for _, p := range f.servers {
				if p.pool == s {
					names.add(p.nodes)
				}
			}
		}
	}
	return names
}
