package setup

// Node is a node of a run: that with an index, from 0, in a node pool, by number.
type Node struct{ Pool, Index int32 }

// NodeGPUs says which GPUs of the nodes of a run are taken, and finds room for instances: on the first
// node, in the order of node pools and of nodes in them, that has the right GPUs and enough of them
// free.
type NodeGPUs struct {
	pools []NodePool
	use   []nodeUse // by pool
}

// nodeUse is what is taken of a node pool.
type nodeUse struct {
	free        []int32 // GPUs by node
	down        []int32 // by node: failures that hold; nothing is placed there while there are any
	taken, peak int     // GPUs of all nodes; the most that were taken at a time

	// first has, by the GPUs that are wanted of a node, a node before which none that is up has as many
	// free. A search passes over nodes that are down; SetDown(false) makes searches look at them again.
	first []int32
}

// NewNodeGPUs returns nodes of which nothing is taken.
func NewNodeGPUs(pools []NodePool) *NodeGPUs {
	g := &NodeGPUs{pools: pools}
	for i := range pools {
		p := &pools[i]
		u := nodeUse{free: make([]int32, p.Nodes), down: make([]int32, p.Nodes), first: make([]int32, p.GPUsPerNode+1)}
		for k := range u.free {
			u.free[k] = int32(p.GPUsPerNode)
		}
		g.use = append(g.use, u)
	}
	return g
}

// Allocate takes the GPUs of one more instance of a pool and returns their nodes, one for each rank of
// the instance. It reports whether there was room; else it has taken nothing.
func (g *NodeGPUs) Allocate(s *Pool) (nodes []Node, room bool) {
	for range s.Ranks.Ranks {
		n, room := g.find(s.GPU.Name, s.TP)
		if !room {
			g.Release(s, nodes)
			return nil, false
		}
		g.take(n, s.TP)
		nodes = append(nodes, n)
	}
	g.notePeak(nodes)
	return nodes, true
}

// AllocateOn takes the GPUs of an instance of a pool on given nodes, which must have room.
func (g *NodeGPUs) AllocateOn(s *Pool, nodes []Node) {
	for _, n := range nodes {
		g.take(n, s.TP)
	}
	g.notePeak(nodes)
}

// notePeak notes how many GPUs are taken in the pools of nodes.
func (g *NodeGPUs) notePeak(nodes []Node) {
	for _, n := range nodes {
		u := &g.use[n.Pool]
		u.peak = max(u.peak, u.taken)
	}
}

// find returns the first node with as many free GPUs of a type as are wanted.
func (g *NodeGPUs) find(gpu string, wanted int) (Node, bool) {
	for i := range g.pools {
		if p := &g.pools[i]; p.GPU != gpu || p.GPUsPerNode < wanted {
			continue
		}
		u := &g.use[i]
		k := int(u.first[wanted])
		for k < len(u.free) && (int(u.free[k]) < wanted || u.down[k] > 0) {
			k++
		}
		if u.first[wanted] = int32(k); k < len(u.free) {
			return Node{int32(i), int32(k)}, true
		}
	}
	return Node{}, false
}

func (g *NodeGPUs) take(n Node, gpus int) {
	u := &g.use[n.Pool]
	if u.free[n.Index] -= int32(gpus); u.free[n.Index] < 0 {
		panic("setup: more GPUs of a node are taken than it has")
	}
	u.taken += gpus
}

// Release gives back the GPUs of an instance of a pool.
func (g *NodeGPUs) Release(s *Pool, nodes []Node) {
	for _, n := range nodes {
		u := &g.use[n.Pool]
		if u.free[n.Index] += int32(s.TP); int(u.free[n.Index]) > g.pools[n.Pool].GPUsPerNode {
			panic("setup: more GPUs of a node are given back than it has")
		}
		u.taken -= s.TP
		u.lookFrom(n.Index)
	}
}

// lookFrom makes searches begin at a node or before it.
func (u *nodeUse) lookFrom(node int32) {
	for i := range u.first {
		u.first[i] = min(u.first[i], node)
	}
}

// SetDown says that one more failure of a node holds, or one less: nothing is placed there while any does.
// What is there keeps its GPUs.
func (g *NodeGPUs) SetDown(n Node, down bool) {
	u := &g.use[n.Pool]
	if down {
		u.down[n.Index]++
		return
	}
	if u.down[n.Index]--; u.down[n.Index] == 0 {
		u.lookFrom(n.Index)
	}
}

// Peak returns the most GPUs of a node pool that were taken at a time.
func (g *NodeGPUs) Peak(pool int) int { return g.use[pool].peak }

// free and all return the GPUs of a type on all nodes: that are free, and that there are.
func (g *NodeGPUs) free(gpu string) (n int) {
	for i := range g.pools {
		if g.pools[i].GPU == gpu {
			n += g.pools[i].GPUs() - g.use[i].taken
		}
	}
	return n
}

func (g *NodeGPUs) all(gpu string) (n int) {
	for i := range g.pools {
		if g.pools[i].GPU == gpu {
			n += g.pools[i].GPUs()
		}
	}
	return n
}
