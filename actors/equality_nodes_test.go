package actors

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"blis/internal/testsize"
	"blis/policy"
	"blis/setup"
)

// drawNodes places the instances of a trial on nodes, on which there is room for those at the start and
// for few more.
func (d dice) drawNodes(x *trial) {
	c := &x.Config
	if strings.Contains(c.KVStorage.String(), ",node") {
		c.KVStorage = setup.StorageTiers{}
	}
	instances := c.NumInstances
	if c.Disaggregates() {
		instances = c.PrefillReplicas + c.DecodeReplicas
	}
	perNode := d.between(1, 3) // instances
	free := d.IntN(3)          // GPUs of a node on which no instance fits
	if free >= c.TP {
		free = 0
	}
	nodes := (instances+perNode-1)/perNode + d.IntN(2)
	list := fmt.Sprintf("{id: one, gpu: %s, nodes: %d, gpus_per_node: %d, cost_per_gpu_hour: %d}", c.Hardware, nodes, perNode*c.TP+free, d.IntN(3))
	if d.chance(0.3) {
		list += fmt.Sprintf(", {id: two, gpu: %s, nodes: 1, gpus_per_node: %d}", c.Hardware, d.between(1, 2*c.TP))
	}
	if err := c.Set("node-pools", "["+list+"]"); err != nil {
		panic(err)
	}
}

// drawOnNodes is the random trial of a seed whose instances are on nodes, and in most of which their
// number changes.
func drawOnNodes(seed uint64) *trial {
	x := drawTrial(seed)
	d := newDice(seed, 0x6e6f646573)
	if x.Config.AutoscalePolicy == "none" && x.NoisyAutoscaler == 0 && d.chance(0.7) {
		x.NoisyAutoscaler = policy.QueueDepth
		x.Config.AutoscaleInterval = pick(d, x.Config.AutoscaleInterval/100, x.Config.AutoscaleInterval/1000)
		x.Config.MinReplicas, x.Config.MaxReplicas = 1, x.Config.NumInstances+3
		x.Config.ForceRouting = ""
	}
	if d.chance(0.6) {
		d.drawDisaggregation(x)
	}
	d.drawNodes(x)
	return x
}

// nodesText is what a result says of nodes, and of instances for which there was no room.
func nodesText(r *Result) string {
	var list []any
	for _, s := range r.PoolScaling {
		list = append(list, s.Scaling.NoCapacity, s.Shortages, s.Replicas)
	}
	text, err := json.Marshal(append(list, r.NodePools(), r.InstanceNodes()))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestEqualityOnNodes draws clusters whose instances need room on nodes.
func TestEqualityOnNodes(t *testing.T) {
	c := compareDrawn(t, testsize.Of(30, 60, 120), drawOnNodes)
	t.Logf("trials in which some instance had no room: %d of %d", c.short, c.cases)
	if c.cases >= 60 && 10*c.short < c.cases {
		t.Errorf("in %d of %d trials some instance had no room, want a tenth", c.short, c.cases)
	}
}

// Ample nodes change nothing: a run with them is the run without any, but for what is said of nodes.
func TestAmpleNodesChangeNothing(t *testing.T) {
	cases, first := budget(t, testsize.Of(15, 30, 60))
	for seed := first; seed < first+uint64(cases); seed++ {
		x := drawOnNodes(seed)
		c := &x.Config
		with, err := setup.DefaultConfig(), error(nil)
		if err = with.Set("node-pools", fmt.Sprintf("[{id: many, gpu: %s, nodes: 1000, gpus_per_node: 1000}]", c.Hardware)); err != nil {
			t.Fatal(err)
		}
		var yields [2]*yield
		for i, pools := range []setup.NodePoolList{{}, with.NodePools} {
			c.NodePools = pools
			if yields[i], err = x.play(everyExecutor(seed)[i]); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, x.describe())
			}
			yields[i].rest = "" // which has the settings
		}
		if where := yields[1].difference(yields[0]); where != "" {
			t.Fatalf("seed %d: %s\n%s", seed, where, x.describe())
		}
	}
}
