package setup

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"blis/latency"
)

// Node pools stand in the file of deployments, or among the settings; what a run prints has them, and
// repeats the plan.
func TestNodePools(t *testing.T) {
	const pools = "[{id: small, gpu: L40S, nodes: 2, gpus_per_node: 4, placement: first-fit}, {id: h100, gpu: h100, nodes: 2, gpus_per_node: 8, cost_per_gpu_hour: 2.5}, {id: h200, gpu: H200, nodes: 3, gpus_per_node: 3}]"
	c := withDeployments(t, "node_pools: "+pools+"\nadmission: {scope: deployment}\n"+exampleDeployments, twoModels)
	p, err := Resolve(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.NodePools) != 3 || p.NodePools[1] != (NodePool{"h100", "H100", 2, 8, 2.5}) || p.Config.AdmissionScope != AdmissionDeployment {
		t.Errorf("%+v, admission scope %s", p.NodePools, p.Config.AdmissionScope)
	}
	// Prefill has twice 4 H100, decode three times 2 H200 on nodes of three, small four times an L40S on
	// one node, small-2 an H100.
	want := [][]Node{{{1, 0}, {1, 0}}, {{2, 0}, {2, 1}, {2, 2}}, {{0, 0}, {0, 0}, {0, 0}, {0, 0}}, {{1, 1}}}
	for i, s := range p.Pools {
		if got := slices.Concat(p.Placed[s]...); !slices.Equal(got, want[i]) {
			t.Errorf("pool %d is on %v, want %v", i, got, want[i])
		}
	}
	text, err := json.Marshal(p.Config)
	if err != nil {
		t.Fatal(err)
	}
	again := DefaultConfig()
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	again.Open = c.Open
	second, err := Resolve(again)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(second.NodePools, p.NodePools) || !second.Config.NodePools.Equal(p.Config.NodePools) {
		t.Errorf("%+v, were %+v", second.NodePools, p.NodePools)
	}
	one := DefaultConfig()
	if err := one.Set("node-pools", p.Config.NodePools.String()); err != nil || !one.NodePools.Equal(p.Config.NodePools) {
		t.Errorf("%v, %v", one.NodePools, err)
	}
}

func TestBadNodePools(t *testing.T) {
	const good = "{id: h100, gpu: H100, nodes: 1, gpus_per_node: 8}"
	for _, c := range []struct{ pools, settings, want string }{
		{"{}", "", "--node-pools: node-pools:1: node_pools: a mapping is not allowed, want a list like"},
		{"[4]", "", "node_pools[0]: 4 is not allowed, want a node pool like {id: h100, gpu: H100"},
		{"[{gpu: H100, nodes: 1, gpus_per_node: 8}]", "", "node_pools[0]: want id, small letters, digits and dashes"},
		{"[{id: H, gpu: H100, nodes: 1, gpus_per_node: 8}]", "", `node_pools[0].id: "H" is not allowed, want small letters`},
		{"[{id: h, nodes: 1, gpus_per_node: 8}]", "", "node_pools[0]: want gpu, the type of its GPUs, like H100"},
		{"[{id: h, gpu: H100, gpus_per_node: 8}]", "", "node_pools[0]: want nodes, the number of nodes"},
		{"[{id: h, gpu: H100, nodes: 0, gpus_per_node: 8}]", "", "node_pools[0].nodes: 0 is not allowed, want a number of nodes, 1 to 100000"},
		{"[{id: h, gpu: H100, nodes: 1, gpus_per_node: many}]", "", `node_pools[0].gpus_per_node: "many" is not allowed, want a number of GPUs of a node, 1 to 1024`},
		{"[{id: h, gpu: H100, nodes: 1, gpus_per_node: 8, cost_per_gpu_hour: -1}]", "", "node_pools[0].cost_per_gpu_hour: -1 is not allowed, want a price per GPU and hour"},
		{"[{id: h, gpu: H100, nodes: 1, gpus_per_node: 8, placement: spread}]", "", `node_pools[0].placement: "spread" is not allowed, want first-fit`},
		{"[{id: h, gpu: H100, nodes: 1, gpus_per_node: 8, price: 2}]", "", `node_pools[0].price: unknown field "price"`},
		{"[" + good + ", " + good + "]", "", "node_pools[1]: node pool h100 is given twice, want another id"},
		{"[{id: h, gpu: B1000, nodes: 1, gpus_per_node: 8}]", "", `node pool h: unknown GPU "B1000"`},
		{"[" + good + "]", "hardware=L40S", "node_pools have no L40S: want a node pool with this GPU for its 4 instances"},
		{"[{id: h, gpu: H100, nodes: 9, gpus_per_node: 2}]", "tp=4", "an instance needs 4 H100 on one node, and a node of h has at most 2"},
		{"[{id: h, gpu: H100, nodes: 3, gpus_per_node: 3}]", "tp=2", "wants 4 instances with 2 H100 each on one node, and node pool h has room for 3 of them: 9 of 9 GPUs are free beside the pools before it"},
		{"[" + good + "]", "architecture=pd prefill-tp=4 prefill-replicas=2", "decode: wants 2 instances with 1 H100 each on one node, and node pool h100 has room for 0 of them: 0 of 8 GPUs are free beside the pools before it"},
		{"[" + good + "]", "kv-cpu-blocks=4 kv-storage=disk,1TiB,3GB/s,1GB/s,1ms,node", "--kv-storage: disk has scope node: want local or shared with node_pools"},
	} {
		cfg := configOf(t, c.settings)
		err := cfg.Set("node-pools", c.pools)
		if err == nil {
			_, err = Resolve(cfg)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %s:\n%v\nwant %s", c.pools, c.settings, err, c.want)
		}
	}
	cfg := DefaultConfig()
	if err := cfg.Set("node-pools", "["+good+"]"); err != nil {
		t.Fatal(err)
	}
	path := deploymentsFile(t, "node_pools: ["+good+"]\ndeployments: [{id: a, model: Llama-3.1-8B-Instruct, replicas: 1}]")
	if err := cfg.Set("deployments", path); err != nil {
		t.Fatal(err)
	}
	if _, err := Resolve(cfg); err == nil || !strings.Contains(err.Error(), path+":1: node_pools: there are node pools among the settings too") {
		t.Errorf("%v", err)
	}
}

// Failures name a node, or all nodes of a pool.
func TestNodesThatFail(t *testing.T) {
	for target, want := range map[string]string{
		"node/h100/2":  "[{0 2}]",
		"node/l40s":    "[{1 0} {1 1}]",
		"node/h100/4":  `is "node/h100/4": there are node/h100/0 to node/h100/3`,
		"node/h100/02": `is "node/h100/02": there are node/h100/0 to node/h100/3`,
		"node/h200/0":  `is "node/h200/0": want a node, like node/h100/0, or a pool of nodes, like node/h100`,
	} {
		c := configOf(t, "failures=f.yaml")
		if err := c.Set("node-pools", "[{id: h100, gpu: H100, nodes: 4, gpus_per_node: 8}, {id: l40s, gpu: L40S, nodes: 2, gpus_per_node: 4}]"); err != nil {
			t.Fatal(err)
		}
		c.Open = func(string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("failures: [{crash: " + target + ", at: 1s}]")), nil
		}
		p, err := Resolve(c)
		switch {
		case err == nil && fmt.Sprint(p.Failures.List[0].Of.Nodes) == want && !p.Failures.List[0].Of.Has(0, 0, 0, 0):
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v, want %s", target, err, want)
		}
	}
}

// searched is a search for room node by node, with nothing remembered.
type searched struct {
	pools []NodePool
	free  [][]int
	down  map[Node]int
	peak  []int
}

// allocate finds a node for each rank; nil: one has none.
func (s *searched) allocate(p *Pool) (nodes []Node) {
	for range p.Ranks.Ranks {
		n, found := s.first(p)
		if !found {
			s.release(p, nodes)
			return nil
		}
		s.free[n.Pool][n.Index] -= p.TP
		nodes = append(nodes, n)
	}
	for i := range s.pools {
		taken := s.pools[i].GPUs()
		for _, free := range s.free[i] {
			taken -= free
		}
		s.peak[i] = max(s.peak[i], taken)
	}
	return nodes
}

func (s *searched) first(p *Pool) (Node, bool) {
	for i := range s.pools {
		for k := range s.free[i] {
			if n := (Node{int32(i), int32(k)}); s.pools[i].GPU == p.GPU.Name && s.free[i][k] >= p.TP && s.down[n] == 0 {
				return n, true
			}
		}
	}
	return Node{}, false
}

func (s *searched) release(p *Pool, nodes []Node) {
	for _, n := range nodes {
		s.free[n.Pool][n.Index] += p.TP
	}
}

// Instances of several pools come and go, and nodes go down by one failure or several: each rank is placed
// where a search from the first node on finds room.
func TestFirstFit(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	d := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		gpus := []*latency.Hardware{{Name: "H100"}, {Name: "L40S"}}
		twin := searched{down: map[Node]int{}}
		for i := range 1 + d.IntN(3) {
			n := NodePool{GPU: gpus[d.IntN(2)].Name, Nodes: 1 + d.IntN(4), GPUsPerNode: 1 + d.IntN(8)}
			twin.pools, twin.free, twin.peak = append(twin.pools, n), append(twin.free, make([]int, n.Nodes)), append(twin.peak, 0)
			for k := range twin.free[i] {
				twin.free[i][k] = n.GPUsPerNode
			}
		}
		book := NewNodeGPUs(twin.pools)
		type held struct {
			of *Pool
			on []Node
		}
		var there []held
		for range 200 {
			switch i := d.IntN(len(there) + 1); {
			case d.IntN(20) == 0:
				pool := d.IntN(len(twin.pools))
				n := Node{int32(pool), int32(d.IntN(twin.pools[pool].Nodes))}
				down := twin.down[n] == 0 || d.IntN(3) == 0
				if book.SetDown(n, down); down {
					twin.down[n]++
				} else {
					twin.down[n]--
				}
			case i < len(there) && d.IntN(2) == 0:
				x := there[i]
				book.Release(x.of, x.on)
				twin.release(x.of, x.on)
				there = slices.Delete(there, i, i+1)
			default:
				p := &Pool{Server: Server{Deployment: latency.Deployment{GPU: gpus[d.IntN(2)], TP: 1 + d.IntN(4)}}}
				p.Ranks.Ranks = 1 + d.IntN(3)
				got, room := book.Allocate(p)
				if want := twin.allocate(p); room != (want != nil) || !slices.Equal(got, want) {
					t.Fatalf("%d times %d %s are on %v, want %v", p.Ranks.Ranks, p.TP, p.GPU.Name, got, want)
				}
				if room {
					there = append(there, held{p, got})
				}
			}
		}
		for i, want := range twin.peak {
			if got := book.Peak(i); got != want {
				t.Fatalf("at most %d GPUs of pool %d were taken, want %d", got, i, want)
			}
		}
	}
}

// The price of what a run begins with follows from where it is placed: nodes without a price cost what
// the GPUs of the instances do.
func TestPriceOnNodes(t *testing.T) {
	for _, c := range []struct {
		pools string
		want  float64
	}{
		{"", 4 * 2 * 3},
		{"[{id: a, gpu: H100, nodes: 1, gpus_per_node: 8, cost_per_gpu_hour: 5}]", 4 * 2 * 5},
		{"[{id: a, gpu: H100, nodes: 2, gpus_per_node: 3, cost_per_gpu_hour: 5}, {id: b, gpu: H100, nodes: 1, gpus_per_node: 8}]", 2*2*5 + 2*2*3},
		{"[{id: a, gpu: H100, nodes: 1, gpus_per_node: 7, cost_per_gpu_hour: 5}]", 0}, // there is no such run
	} {
		cfg := configOf(t, "tp=2 gpu-hour-price=3")
		if err := cfg.Set("node-pools", c.pools); err != nil {
			t.Fatal(err)
		}
		if got := HourlyPrice(&cfg); got != c.want {
			t.Errorf("%s: %v per hour, want %v", c.pools, got, c.want)
		}
	}
}

// What an instance needs of nodes is said by rank.
func TestRoomForRanks(t *testing.T) {
	for nodes, want := range map[string]string{
		"{id: h100, gpu: H100, nodes: 3, gpus_per_node: 4}": "wants 2 instances with 2 ranks of 4 H100, each rank on one node, and node pool h100 has room for 1 of them: 12 of 12 GPUs are free",
		"{id: h100, gpu: H100, nodes: 9, gpus_per_node: 2}": "a rank of an instance needs 4 H100 on one node",
	} {
		c := configOf(t, "num-instances=2 tp=4 data-parallel-size=2")
		if err := c.Set("node-pools", "["+nodes+"]"); err != nil {
			t.Fatal(err)
		}
		if _, err := Resolve(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", nodes, err, want)
		}
	}
}

// A price that no node asks for, and a scope of admission without a difference, are noted.
func TestNotesOfTheCluster(t *testing.T) {
	const priced, plain = "{id: a, gpu: H100, nodes: 9, gpus_per_node: 8, cost_per_gpu_hour: 5}", "{id: b, gpu: H100, nodes: 1, gpus_per_node: 8}"
	const both, alone = "{id: one, model: meta-llama/Llama-3.1-8B-Instruct, replicas: 1}, {id: two, model: meta-llama/Llama-3.1-8B-Instruct, replicas: 1}", "{id: one, model: meta-llama/Llama-3.1-8B-Instruct, replicas: 1}"
	for _, x := range []struct{ flags, nodes, deployments, want string }{
		{"gpu-hour-price=3", priced, "", "gpu-hour-price has no effect: each node pool with these GPUs has its own price"},
		{"cost-per-replica-hour=3", priced, "", "cost-per-replica-hour has no effect: each node pool with these GPUs has its own price"},
		{"gpu-hour-price=3", priced + "," + plain, "", ""},
		{"gpu-hour-price=3", priced, both, "gpu-hour-price has no effect: each node pool with these GPUs has its own price"},
		{"admission-scope=deployment admission-policy=token-bucket", "", both, "admission-scope has no effect: all deployments have one model, and share its admission policy"},
		{"admission-scope=deployment", "", both, "admission-scope has no effect: admission-policy always-admit decides alike on all requests"},
		{"admission-scope=deployment admission-policy=token-bucket", "", alone, "admission-scope has no effect: there is one deployment"},
	} {
		c := configOf(t, x.flags)
		if x.nodes != "" {
			if err := c.Set("node-pools", "["+x.nodes+"]"); err != nil {
				t.Fatal(err)
			}
		}
		if x.deployments != "" {
			if err := c.Set("deployments", deploymentsFile(t, "deployments: ["+x.deployments+"]")); err != nil {
				t.Fatal(err)
			}
		}
		p, err := Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, note := range p.Summary.Notes {
			if strings.Contains(note, "no effect") {
				got += note
			}
		}
		if got != x.want {
			t.Errorf("%s, nodes %s, deployments %s: %q, want %q", x.flags, x.nodes, x.deployments, got, x.want)
		}
	}
}
