package actors

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"blis/policy"
	"blis/setup"
	"blis/trace"
	"blis/vtime"
	"blis/workload"
)

// onNodes gives a configuration these node pools.
func onNodes(t *testing.T, c Config, pools string) Config {
	t.Helper()
	if err := c.Set("node-pools", pools); err != nil {
		t.Fatal(err)
	}
	return c
}

// Instances go to the first node with enough free GPUs: of nodes of four, two instances of two GPUs
// each are on the first, and the third on the second.
func TestInstancesGoToTheFirstNodeWithRoom(t *testing.T) {
	c := plain()
	c.NumInstances, c.TP = 3, 2
	s := serve(t, onNodes(t, c, "[{id: small, gpu: H100, nodes: 1, gpus_per_node: 1}, {id: h100, gpu: H100, nodes: 3, gpus_per_node: 5, cost_per_gpu_hour: 4}, {id: other, gpu: L40S, nodes: 1, gpus_per_node: 8}]"), request(0, 10, 4))
	if want := []string{"h100/0", "h100/0", "h100/1"}; !slices.Equal(s.InstanceNodes(), want) {
		t.Errorf("instances are on %v, want %v", s.InstanceNodes(), want)
	}
	u := &s.NodePools()[1]
	if u.Peak != 6 || u.TakenMicros != 6*4000 || u.PaidMicros != 6*4000 || s.NodePools()[0].Peak != 0 || s.NodePools()[2].Cost != nil {
		t.Errorf("%+v", s.NodePools())
	}
	is(t, "utilisation", u.Utilisation(), 6.0/15)
	is(t, "cost of the node pool", u.Cost, 6*0.004/3600*4)
	is(t, "cost", s.Cost(), 6*0.004/3600*4)
	if !slices.ContainsFunc(s.Setup.Notes, func(note string) bool { return strings.Contains(note, "node pool other has no effect") }) {
		t.Errorf("notes %q", s.Setup.Notes)
	}
}

// crowded is two pools of one model each, with these numbers of instances, which share nodes. Their
// autoscalers want the given numbers at each check, every 10,000; a machine is there after 3,000, and
// has loaded the model 2,000 later.
func crowded(t *testing.T, nodes string, targets [2][]int32) Config {
	t.Helper()
	file := "node_pools: [" + nodes + "]\ndeployments:\n"
	for i, id := range []string{"a", "b"} {
		file += fmt.Sprintf("- {id: %s, model: %s, replicas: %d}\n", id, apartModels[i], targets[i][0])
	}
	x := &apartTrial{file: file, flags: strings.Fields("--total-kv-blocks 100 --latency-model blackbox --alpha-coeffs 0,0,0 --beta-coeffs 1000,0,0 --async-scheduling false " +
		"--autoscale-interval 10ms --min-replicas 1 --max-replicas 4 --provisioning-delay 3ms --model-load-time 2ms")}
	c := x.config(t)
	made := 0
	c.Custom.Autoscale = func(policy.Env) policy.Autoscale {
		made++
		return &script{slices.Clone(targets[(made-1)%2][1:])}
	}
	return c
}

// serveCrowded runs such pools, with requests for both models.
func serveCrowded(t *testing.T, nodes string, first, second []int32, requests ...workload.Request) *served {
	t.Helper()
	return serveLabelled(t, crowded(t, nodes, [2][]int32{first, second}), modelLabels(), requests)
}

// modelLabels are those of the models of apartModels.
func modelLabels() (labels workload.Labels) {
	for _, name := range apartModels {
		labels.Models.Label(name)
	}
	return labels
}

// asks returns a request at 0 for a model, which takes 1,000 per token.
func asks(model workload.Label, tokens int32) workload.Request {
	r := request(0, 10, tokens)
	r.Model = model
	return r
}

// A node of two GPUs has one instance of each pool. From 10,000 on the first pool wants two; it asks at
// each check, in vain.
func TestNoCapacity(t *testing.T) {
	s := serveCrowded(t, "{id: n, gpu: H100, nodes: 1, gpus_per_node: 2}", []int32{1, 2}, []int32{1, 1}, asks(0, 35), asks(1, 35))
	a := s.PoolScaling[0]
	if a.NoCapacity != 3 || len(a.Replicas) != 1 || len(a.Events) != 1 || a.Events[0] != (ScaleEvent{10_000, 1, 2, policy.ByPolicy}) {
		t.Errorf("%+v", a.Scaling)
	}
	if want := []Shortage{{10_000, 2, 1}}; !slices.Equal(a.Shortages, want) {
		t.Errorf("shortages %v, want %v", a.Shortages, want)
	}
}

// A node of three GPUs has an instance of the first pool and two of the second one. At 10,000 the first
// one wants two, and the second one; its second instance has a request until 25,000. The first pool asks
// again at 20,000 in vain, and gets its GPU at 30,000.
func TestRoomComesWhenADrainEnds(t *testing.T) {
	s := serveCrowded(t, "{id: n, gpu: H100, nodes: 1, gpus_per_node: 3, cost_per_gpu_hour: 36}", []int32{1, 2}, []int32{2, 1},
		asks(0, 45), asks(1, 45), asks(1, 25))
	a, b := s.PoolScaling[0], s.PoolScaling[1]
	if a.NoCapacity != 2 || len(a.Replicas) != 2 || a.Replicas[1].Asked != 30_000 || a.Replicas[1].Billed != 33_000 || a.Replicas[1].Ready != 35_000 {
		t.Errorf("first pool: %d times no capacity, replicas %+v", a.NoCapacity, a.Replicas)
	}
	if b.NoCapacity != 0 || b.Replicas[1].Draining != 10_000 || b.Replicas[1].Gone != 25_000 {
		t.Errorf("second pool: %+v", b.Scaling)
	}
	// 45,000 of a's and b's first ones, 25,000 of b's second one, 15,000 of a's second one, for which 12,000 are paid.
	u := &s.NodePools()[0]
	if u.TakenMicros != 2*45_000+25_000+15_000 || u.PaidMicros != 2*45_000+25_000+12_000 || u.Peak != 3 {
		t.Errorf("node pool: %+v", *u)
	}
	is(t, "cost", s.Cost(), 127_000.0/3.6e9*36)
	is(t, "cost of the first pool", s.Report.PerPool[0].Cost, 57_000.0/3.6e9*36)
	is(t, "cost of the second deployment", s.Report.PerDeployment[1].Cost, 70_000.0/3.6e9*36)
	if want := []string{"n/0", "n/0", "n/0", "n/0"}; !slices.Equal(s.InstanceNodes(), want) {
		t.Errorf("instances are on %v", s.InstanceNodes())
	}
}

// Both pools want one more instance at 10,000, and there is one GPU: the first pool gets it. At 20,000
// it gives its instance back, which is idle: the GPU is free at once, and the second pool, whose check
// comes after that of the first, gets it.
func TestPoolsTakeGPUsInTheirOrder(t *testing.T) {
	c := crowded(t, "{id: n, gpu: H100, nodes: 3, gpus_per_node: 1}", [2][]int32{{1, 2, 1}, {1, 2}})
	requests := []workload.Request{asks(0, 35), asks(1, 35)}
	digest := ""
	for _, x := range Executors(4) {
		s, err := serveOn(t, c, x.Execution, modelLabels(), requests)
		if err != nil {
			t.Fatal(err)
		}
		a, b := s.PoolScaling[0], s.PoolScaling[1]
		if a.NoCapacity != 0 || a.Replicas[1].Asked != 10_000 || b.NoCapacity != 1 || len(b.Replicas) != 2 || b.Replicas[1].Asked != 20_000 {
			t.Errorf("%s: %+v and %+v", x.Name, a.Scaling, b.Scaling)
		}
		if digest == "" {
			digest = s.Digest
		}
		if s.Digest != digest {
			t.Errorf("%s: digest %s, want %s", x.Name, s.Digest, digest)
		}
	}
}

// Instances that are wanted and have no room can be wanted no more: then nothing is removed.
func TestPendingInstancesGoFirst(t *testing.T) {
	s := serveCrowded(t, "{id: n, gpu: H100, nodes: 3, gpus_per_node: 1}", []int32{1, 4, 2}, []int32{1, 1}, asks(0, 35), asks(1, 35))
	a := s.PoolScaling[0]
	if len(a.Replicas) != 2 || a.Replicas[1].Draining != vtime.Never || a.NoCapacity != 1 || len(a.Events) != 2 || a.Events[1].From != 4 || a.Events[1].To != 2 {
		t.Errorf("%+v", a.Scaling)
	}
	if want := []Shortage{{10_000, 4, 2}, {20_000, 2, 2}}; !slices.Equal(a.Shortages, want) || a.Peak != 2 || a.Least != 1 {
		t.Errorf("shortages %v, want %v; from %d to %d instances, want 1 to 2", a.Shortages, want, a.Least, a.Peak)
	}
}

// A shortage that comes again is listed again, and its end once.
func TestShortagesThatComeAgain(t *testing.T) {
	s := serveCrowded(t, "{id: n, gpu: H100, nodes: 2, gpus_per_node: 1}", []int32{1, 2, 2, 1, 1, 2, 1}, []int32{1, 1}, asks(0, 65), asks(1, 65))
	if got, want := s.PoolScaling[0].Shortages, []Shortage{{10_000, 2, 1}, {30_000, 1, 1}, {50_000, 2, 1}, {60_000, 1, 1}}; !slices.Equal(got, want) {
		t.Errorf("shortages %v, want %v", got, want)
	}
}

// A trace has a record of each check at which there was no room.
func TestTraceOfNoCapacity(t *testing.T) {
	var records []trace.Scale
	c := crowded(t, "{id: n, gpu: H100, nodes: 1, gpus_per_node: 3}", [2][]int32{{1, 2}, {2, 1}})
	x := Execution{Workers: 2, Tracing: Tracing{Level: trace.Decisions, Consumer: scaleRecords{&records}}}
	if _, err := serveOn(t, c, x, modelLabels(), []workload.Request{asks(0, 45), asks(1, 45), asks(1, 25)}); err != nil {
		t.Fatal(err)
	}
	if len(records) != 2 {
		t.Fatalf("records %+v", records)
	}
	for i, r := range records {
		if want := (trace.Scale{Type: "scale", At: vtime.Time(10_000 * (i + 1)), Pool: "a", Action: trace.NoCapacity, From: 1, To: 2, Wanted: 2, Ready: 1, Reason: "by policy"}); r != want {
			t.Errorf("record %+v, want %+v", r, want)
		}
	}
}

// scaleRecords keeps the records of scaling without capacity.
type scaleRecords struct{ list *[]trace.Scale }

// Consume implements trace.Consumer.
func (c scaleRecords) Consume(r trace.Record) error {
	if s, ok := r.(*trace.Scale); ok && s.Action == trace.NoCapacity {
		*c.list = append(*c.list, *s)
	}
	return nil
}

// The router finds the instances on a node: all with a GPU there, until they are gone.
func TestInstancesOnANode(t *testing.T) {
	c := crowded(t, "{id: n, gpu: H100, nodes: 2, gpus_per_node: 2}", [2][]int32{{1, 1}, {2, 1}})
	source, err := workload.NewSlice([]workload.Request{asks(0, 35)}, modelLabels())
	if err != nil {
		t.Fatal(err)
	}
	c.Custom.Source = source
	p, err := resolve(c)
	if err != nil {
		t.Fatal(err)
	}
	run, err := newCluster(p, Execution{})
	if err != nil {
		t.Fatal(err)
	}
	f := &run.router.fleet
	on := func(node int32) string { return fmt.Sprint(f.serversOn(setup.Node{Pool: 0, Index: node})) }
	if on(0) != "[0 1]" || on(1) != "[2]" {
		t.Errorf("before the run on %s and %s", on(0), on(1))
	}
	if _, err := run.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if on(0) != "[0 1]" || on(1) != "[]" {
		t.Errorf("after it on %s and %s", on(0), on(1))
	}
	// A node that is down is left out.
	f.nodes.gpus.SetDown(setup.Node{Pool: 0, Index: 1}, true)
	if at := f.add(f.pools[0]); at != nil {
		t.Errorf("an instance on %v, which is down", at.nodes)
	}
	f.nodes.gpus.SetDown(setup.Node{Pool: 0, Index: 1}, false)
	if at := f.add(f.pools[0]); at == nil || at.nodes[0].Index != 1 {
		t.Errorf("no instance on the node that is up again: %+v", at)
	}
}
