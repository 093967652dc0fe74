package setup

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"blis/yamldoc"
)

// NodePool is nodes of one kind: machines with GPUs of one type.
type NodePool struct {
	ID             string  `json:"id"`                // small letters, digits and dashes
	GPU            string  `json:"gpu"`               // as --hardware
	Nodes          int     `json:"nodes"`             // at least 1
	GPUsPerNode    int     `json:"gpus_per_node"`     // at least 1
	CostPerGPUHour float64 `json:"cost_per_gpu_hour"` // in any currency; 0: GPUs there cost what --gpu-hour-price or --cost-per-replica-hour says
}

// GPUs returns the number of GPUs of all nodes.
func (p *NodePool) GPUs() int { return p.Nodes * p.GPUsPerNode }

// PriceOr returns the price of a GPU for an hour: that of the node pool, or price if it has none.
func (p *NodePool) PriceOr(price float64) float64 {
	if p.CostPerGPUHour > 0 {
		return p.CostPerGPUHour
	}
	return price
}

// NodePoolList is the node pools of a run as they are set. None: GPUs are unlimited. Its text is a list
// in YAML.
type NodePoolList struct{ list []NodePool }

// Empty reports whether GPUs are unlimited.
func (l NodePoolList) Empty() bool { return len(l.list) == 0 }

// Prices reports whether a node pool has a price.
func (l NodePoolList) Prices() bool {
	return slices.ContainsFunc(l.list, func(p NodePool) bool { return p.CostPerGPUHour > 0 })
}

// Equal reports whether two lists are set alike.
func (l NodePoolList) Equal(o NodePoolList) bool { return slices.Equal(l.list, o.list) }

// String is the list as UnmarshalText reads it.
func (l NodePoolList) String() string {
	if len(l.list) == 0 {
		return ""
	}
	text, err := json.Marshal(l.list)
	if err != nil {
		panic(err) // names and finite numbers
	}
	return string(text)
}

// MarshalJSON writes a list of objects as they stand in a file; no pools are an empty text.
func (l NodePoolList) MarshalJSON() ([]byte, error) {
	if len(l.list) == 0 {
		return []byte(`""`), nil
	}
	return json.Marshal(l.list)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *NodePoolList) UnmarshalJSON(text []byte) error {
	var empty string
	if json.Unmarshal(text, &empty) == nil {
		text = []byte(empty)
	}
	return l.UnmarshalText(text)
}

// UnmarshalText reads a list; an empty text is none.
func (l *NodePoolList) UnmarshalText(text []byte) error {
	if *l = (NodePoolList{}); strings.TrimSpace(string(text)) == "" {
		return nil
	}
	root, err := yamldoc.Read("node-pools", text, deploymentLimits)
	if err != nil {
		return err
	}
	return l.Read("node-pools", root)
}

const (
	mostNodePools   = 100
	mostNodes       = 100_000 // of a pool
	mostGPUsPerNode = 1024
)

const nodePoolForm = "{id: h100, gpu: H100, nodes: 4, gpus_per_node: 8}"

// Read reads the list of a file. Its errors are a *yamldoc.Error with their place.
func (l *NodePoolList) Read(file string, n *yamldoc.Node) error {
	at := yamldoc.Place{}.Within("node_pools", n.Line)
	switch {
	case n.Kind != yamldoc.List || len(n.Items) == 0:
		return at.Fault(file, "%s is not allowed, want a list like [%s]; without node_pools GPUs are unlimited", n.Describe(), nodePoolForm)
	case len(n.Items) > mostNodePools:
		return at.Fault(file, "%d node pools: want at most %d", len(n.Items), mostNodePools)
	}
	*l = NodePoolList{}
	for i, item := range n.Items {
		r := nodePoolReader{file: file, at: at.Item(i, item.Line)}
		p, err := r.read(item)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(l.list, func(other NodePool) bool { return other.ID == p.ID }) {
			return r.at.Fault(file, "node pool %s is given twice, want another id", p.ID)
		}
		l.list = append(l.list, p)
	}
	return nil
}

// nodePoolReader reads a node pool of a file. It keeps the first fault.
type nodePoolReader struct {
	file  string
	at    yamldoc.Place // of the node pool
	fault error
}

func (r *nodePoolReader) read(n *yamldoc.Node) (p NodePool, err error) {
	if n.Kind != yamldoc.Mapping {
		return p, r.at.Fault(r.file, "%s is not allowed, want a node pool like %s", n.Describe(), nodePoolForm)
	}
	var v struct {
		ID          *yamldoc.Node `yaml:"id"`
		GPU         *yamldoc.Node `yaml:"gpu"`
		Nodes       *yamldoc.Node `yaml:"nodes"`
		GPUsPerNode *yamldoc.Node `yaml:"gpus_per_node"`
		Cost        *yamldoc.Node `yaml:"cost_per_gpu_hour"`
		Placement   *yamldoc.Node `yaml:"placement"`
	}
	if err := yamldoc.Decode(r.file, r.at, n, &v); err != nil {
		return p, err
	}
	p.ID = r.word("id", v.ID, "small letters, digits and dashes, at most 63, like h100")
	if r.fault == nil && !deploymentID.MatchString(p.ID) {
		r.fail("id", v.ID, "small letters, digits and dashes, at most 63, like h100")
	}
	p.GPU = r.word("gpu", v.GPU, "the type of its GPUs, like H100")
	p.Nodes = r.count("nodes", v.Nodes, "number of nodes", mostNodes)
	p.GPUsPerNode = r.count("gpus_per_node", v.GPUsPerNode, "number of GPUs of a node", mostGPUsPerNode)
	if v.Cost != nil && v.Cost.Kind != yamldoc.Null {
		x, ok := v.Cost.Float()
		if p.CostPerGPUHour = x; !ok || !(x >= 0 && x <= mostCost) {
			r.fail("cost_per_gpu_hour", v.Cost, fmt.Sprintf("a price per GPU and hour, 0 (not given) to %v", float64(mostCost)))
		}
	}
	if v.Placement != nil && v.Placement.Kind != yamldoc.Null && v.Placement.Text != "first-fit" {
		r.fail("placement", v.Placement, "first-fit: an instance goes to the first node with room")
	}
	return p, r.fault
}

// fail notes that a field is not what it should be; a field that is missing has no node.
func (r *nodePoolReader) fail(name string, n *yamldoc.Node, want string) {
	switch {
	case r.fault != nil:
	case n == nil:
		r.fault = r.at.Fault(r.file, "want %s, %s", name, want)
	default:
		r.fault = r.at.Within(name, n.Line).Fault(r.file, "%s is not allowed, want %s", n.Describe(), want)
	}
}

// word reads a name.
func (r *nodePoolReader) word(name string, n *yamldoc.Node, want string) string {
	if n == nil || n.Kind != yamldoc.String && n.Kind != yamldoc.Number || n.Text == "" {
		r.fail(name, n, want)
		return ""
	}
	return n.Text
}

// count reads a number from 1 to most.
func (r *nodePoolReader) count(name string, n *yamldoc.Node, what string, most int64) int {
	if n == nil {
		r.fail(name, n, "the "+what)
		return 0
	}
	x, ok := n.Whole()
	if !ok || x < 1 || x > most {
		r.fail(name, n, fmt.Sprintf("a %s, 1 to %d", what, most))
	}
	return int(x)
}

// resolveNodePools gives each pool of instances the nodes of its first instances.
func resolveNodePools(p *resolver) error {
	c := &p.Config
	if c.NodePools.Empty() {
		return nil
	}
	list := slices.Clone(c.NodePools.list) // of the caller
	for i := range list {
		name, err := nodeGPU(p, &list[i])
		if err != nil {
			return err
		}
		list[i].GPU = name
	}
	c.NodePools, p.NodePools, p.Placed = NodePoolList{list}, list, map[*Pool][][]Node{}
	gpus := NewNodeGPUs(list)
	for i := range p.Deployments {
		d := &p.Deployments[i]
		for _, of := range d.Pools() {
			placed, err := placeFirst(gpus, of, d.PoolName(of))
			if err != nil {
				return err
			}
			p.Placed[of] = placed
		}
	}
	for i := range list {
		if !slices.ContainsFunc(p.Pools, func(s *Pool) bool { return s.GPU.Name == list[i].GPU }) && !p.brief {
			p.note("node pool %s has no effect: no instance has its GPU, %s", list[i].ID, list[i].GPU)
		}
	}
	noteOwnPrices(p)
	return nil
}

// noteOwnPrices notes prices of pools that do not count because all nodes with their GPUs have prices of
// their own.
func noteOwnPrices(p *resolver) {
	if p.brief {
		return
	}
	for _, of := range []struct {
		name  string
		price func(*Config) float64
	}{
		{"gpu-hour-price", func(c *Config) float64 { return c.GPUHourPrice }},
		{"cost-per-replica-hour", func(c *Config) float64 { return c.CostPerReplicaHour }},
	} {
		var without []string // names of the pools whose price does not count
		counts := false
		for k, s := range p.Pools {
			one, label := &p.Config, ""
			if len(p.parts) > 0 {
				one, label = &p.parts[k].Config, p.parts[k].label+": "
			}
			switch {
			case of.price(one) == 0:
			case slices.ContainsFunc(p.NodePools, func(n NodePool) bool { return n.GPU == s.GPU.Name && n.CostPerGPUHour == 0 }):
				counts = true
			default:
				without = append(without, label)
			}
		}
		if !counts && len(without) > 0 {
			without = []string{""}
		}
		for _, label := range without {
			p.note("%s%s has no effect: each node pool with these GPUs has its own price", label, of.name)
		}
	}
}

// nodeGPU returns the name that instances have for the GPUs of a node pool.
func nodeGPU(p *resolver, n *NodePool) (string, error) {
	for _, s := range p.Pools { // which may have GPUs of their own hardware files
		if strings.EqualFold(s.GPU.Name, n.GPU) {
			return s.GPU.Name, nil
		}
	}
	c := &p.Config
	gpu, err := openHardware(n.GPU, c.HardwareConfig, func(path string, limit int64) ([]byte, error) { return readFile(c, path, limit) })
	if err != nil {
		return "", inputErrorf("node pool %s: %v", n.ID, err)
	}
	return gpu.Name, nil
}

// placeFirst takes the GPUs of the instances that a pool begins with, and returns their nodes.
func placeFirst(gpus *NodeGPUs, of *Pool, name string) (placed [][]Node, err error) {
	if name != "" {
		name += ": "
	}
	var ids []string
	most := 0
	for i := range gpus.pools {
		if n := &gpus.pools[i]; n.GPU == of.GPU.Name {
			ids, most = append(ids, n.ID), max(most, n.GPUsPerNode)
		}
	}
	in := strings.Join(ids, " and ")
	part, parts := "an instance", fmt.Sprintf("%d %s each on one node", of.TP, of.GPU.Name)
	if n := of.Ranks.Ranks; n > 1 {
		part, parts = "a rank of an instance", fmt.Sprintf("%d ranks of %d %s, each rank on one node", n, of.TP, of.GPU.Name)
	}
	switch {
	case len(ids) == 0:
		return nil, inputErrorf("%snode_pools have no %s: want a node pool with this GPU for its %s", name, of.GPU.Name, plural(of.Instances, "instance"))
	case most < of.TP:
		return nil, inputErrorf("%s%s needs %d %s on one node, and a node of %s has at most %d: want a smaller --tp, or larger nodes", name, part, of.TP, of.GPU.Name, in, most)
	}
	for i := range of.Instances {
		nodes, room := gpus.Allocate(of)
		if !room {
			return nil, inputErrorf("%swants %s with %s, and node pool %s has room for %d of them: %d of %d GPUs are free beside the pools before it",
				name, plural(of.Instances, "instance"), parts, in, i, gpus.free(of.GPU.Name)+i*of.TP*of.Ranks.Ranks, gpus.all(of.GPU.Name))
		}
		placed = append(placed, nodes)
	}
	return placed, nil
}
