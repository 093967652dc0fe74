package setup

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Target is the instances of a run that a failure happens to.
type Target struct {
	Pools    []int // numbers of the pools of the run whose instances they are; nil: all pools
	Replica  int   // number of the instance within its pool; −1: each
	Instance int   // number in the run, as in results: of an endpoint of the instance; −1: each

	Nodes []Node // with all that has a GPU there, in place of the others; nil: none
}

// everywhere is all instances.
var everywhere = Target{Replica: -1, Instance: -1}

// Has reports whether an instance is among them, which has these numbers: of its pool, its own there, and those of its
// first and last endpoint in the run, by which results call it. Those on nodes are not: they fail with these.
func (t *Target) Has(pool, replica, first, last int) bool {
	return t.Nodes == nil && (t.Pools == nil || slices.Contains(t.Pools, pool)) && (t.Replica < 0 || t.Replica == replica) && (t.Instance < 0 || first <= t.Instance && t.Instance <= last)
}

var (
	instanceName  = regexp.MustCompile(`^instance-(0|[1-9][0-9]{0,6})$`)
	replicaNumber = regexp.MustCompile(`^(0|[1-9][0-9]{0,6})$`)
)

// targetOf returns the instances that a name means: all, instance-3, or a deployment, a pool or an instance of a pool,
// like chat, chat/decode and chat/decode/1. Its error says what would be right.
func targetOf(p *Plan, name string) (Target, error) {
	if name == "all" {
		return everywhere, nil
	}
	if match := instanceName.FindStringSubmatch(name); match != nil {
		n, _ := strconv.Atoi(match[1])
		return Target{Replica: -1, Instance: n}, checkInstance(p, n)
	}
	if node, found := strings.CutPrefix(name, "node/"); found {
		return nodeTarget(p, node)
	}
	if pools := poolsOf(p, name); pools != nil {
		return Target{Pools: pools, Replica: -1, Instance: -1}, nil
	}
	of, last := cutLast(name)
	pools := poolsOf(p, of)
	if len(pools) != 1 || !replicaNumber.MatchString(last) {
		return everywhere, fmt.Errorf("want %s", targetForms(p))
	}
	n, _ := strconv.Atoi(last)
	if pool := p.Pools[pools[0]]; pool.Scaling == nil && n >= pool.Instances {
		return everywhere, fmt.Errorf("there are %s/0 to %s/%d", of, of, pool.Instances-1)
	}
	return Target{Pools: pools, Replica: n, Instance: -1}, nil
}

// hasStorage reports whether instances of a pool have a storage tier of a name, and no pool has that name.
func hasStorage(p *Plan, name string) bool {
	return poolsOf(p, name) == nil && slices.ContainsFunc(p.Pools, func(pool *Pool) bool {
		return slices.ContainsFunc(pool.Storage, func(t StorageTier) bool { return t.Name == name })
	})
}

// pulls reports whether some instance of t pulls KV of others, or has KV that others pull.
func (t *Target) pulls(p *Plan) bool {
	if pool := poolWith(p, t.Instance); pool != nil {
		return slices.ContainsFunc(p.Deployments, func(d Deployment) bool { return d.PD != nil && slices.Contains(d.Pools(), pool) })
	}
	for i := range p.Deployments {
		if d := &p.Deployments[i]; d.PD != nil {
			for _, pool := range d.Pools() {
				if t.Pools == nil || slices.Contains(t.Pools, slices.Index(p.Pools, pool)) {
					return true
				}
			}
		}
	}
	return false
}

// nodeTarget returns all that is on a node, like h100/2, or on all nodes of a pool, like h100.
func nodeTarget(p *Plan, name string) (Target, error) {
	if len(p.NodePools) == 0 {
		return everywhere, fmt.Errorf("there are no nodes without node_pools (--node-pools): want %s", targetForms(p))
	}
	t := Target{Replica: -1, Instance: -1}
	id, last, one := strings.Cut(name, "/")
	k := slices.IndexFunc(p.NodePools, func(n NodePool) bool { return n.ID == id })
	if k < 0 {
		return t, fmt.Errorf("want a node, like node/%s/0, or a pool of nodes, like node/%s", p.NodePools[0].ID, p.NodePools[0].ID)
	}
	nodes := p.NodePools[k].Nodes
	if one {
		n, err := strconv.Atoi(last)
		if err != nil || !replicaNumber.MatchString(last) || n >= nodes {
			return t, fmt.Errorf("there are node/%s/0 to node/%s/%d", id, id, nodes-1)
		}
		t.Nodes = []Node{{int32(k), int32(n)}}
		return t, nil
	}
	for i := range nodes {
		t.Nodes = append(t.Nodes, Node{int32(k), int32(i)})
	}
	return t, nil
}

// checkInstance returns an error if there never is an instance with a number: an endpoint, as in results.
func checkInstance(p *Plan, n int) error {
	total, flag := 0, " (--num-instances)"
	for _, pool := range p.Pools {
		if total += pool.Instances * pool.Endpoints(); pool.Scaling != nil {
			return nil
		}
	}
	if len(p.Pools) > 1 {
		flag = ""
	}
	if n >= total {
		return fmt.Errorf("there are instance-0 to instance-%d%s", total-1, flag)
	}
	return nil
}

// poolWith returns the pool in which a run begins with an instance of a number, an endpoint as in results; nil: none is
// known before the run.
func poolWith(p *Plan, n int) *Pool {
	if n < 0 || len(p.NodePools) > 0 { // instances for which nodes have no room come later
		return nil
	}
	for _, pool := range p.Pools {
		if n -= pool.Instances * pool.Endpoints(); n < 0 {
			return pool
		}
	}
	return nil
}

// poolsOf returns the numbers of the pools that a name means, nil if there are none: a pool, or those of a deployment.
func poolsOf(p *Plan, name string) (list []int) {
	if name == "" {
		return nil
	}
	for i := range p.Deployments {
		d := &p.Deployments[i]
		for _, pool := range d.Pools() {
			if d.ID == name || d.PoolName(pool) == name {
				list = append(list, slices.Index(p.Pools, pool))
			}
		}
	}
	return list
}

// cutLast cuts a name at its last slash; without one it is all last.
func cutLast(name string) (before, last string) {
	i := strings.LastIndexByte(name, '/')
	return name[:max(i, 0)], name[i+1:]
}

// targetForms says how instances of the run are called.
func targetForms(p *Plan) string {
	d := &p.Deployments[0]
	pool := d.PoolName(d.Serving)
	text := "an instance, like instance-3"
	if pool != "" {
		text = fmt.Sprintf("an instance, like %s/0 or instance-3, a pool, like %s", pool, pool)
	}
	if len(p.NodePools) > 0 {
		text += fmt.Sprintf(", a node, like node/%s/0", p.NodePools[0].ID)
	}
	return text + ", or all"
}
