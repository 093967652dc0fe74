package actors

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"blis/internal/testsize"
	"blis/metrics"
	"blis/setup"
	"blis/vtime"
)

// Two of three instances are on a node that is down from 1,500 to 6,500: their requests are lost at 1,501,
// that of the third goes on. All three serve again from 6,501 on.
func TestNodeTakesItsInstances(t *testing.T) {
	c := plain()
	c.NumInstances = 3
	c = withFailures(onNodes(t, c, "[{id: n, gpu: H100, nodes: 2, gpus_per_node: 2}]"), "failures: [{crash: node/n/0, at: 1500us, for: 5ms}]")
	s := serve(t, c, request(0, 10, 4), request(0, 10, 4), request(0, 10, 4), request(6600, 10, 2), request(6600, 10, 2), request(6600, 10, 2))
	for i, want := range []metrics.State{metrics.Failed, metrics.Failed, metrics.Completed, metrics.Completed, metrics.Completed, metrics.Completed} {
		if s.rows[i].State != want {
			t.Errorf("request %d is %v, want %v", i, s.rows[i].State, want)
		}
	}
	for i, want := range []InstanceFailure{{1, 3600, 5000, 1, 0}, {1, 3600, 5000, 1, 0}, {0, 8600, 0, 0, 0}} {
		if got := s.Failures.Instances[i]; got != want {
			t.Errorf("instance %d: %+v, want %+v", i, got, want)
		}
	}
	var on []int32
	for _, r := range s.rows[3:] {
		on = append(on, r.Instance)
	}
	slices.Sort(on)
	if !slices.Equal(on, []int32{0, 1, 2}) {
		t.Errorf("later requests are on %v", on)
	}
}

// A line that names a pool of nodes is one for each, and two that overlap keep a node down until both are over.
func TestNodePoolCrashes(t *testing.T) {
	c := plain()
	c.NumInstances = 2
	c = withFailures(onNodes(t, c, "[{id: n, gpu: H100, nodes: 2, gpus_per_node: 1}]"), "failures: [{crash: node/n, at: 1500us, for: 2ms}, {crash: node/n/1, at: 2ms, for: 3ms}]")
	s := serve(t, c, request(0, 10, 9), request(0, 10, 9), request(9000, 10, 1))
	for i, want := range []vtime.Duration{2000, 3500} {
		if got := s.Failures.Instances[i]; got.Crashes != 1 || got.Down != want {
			t.Errorf("instance %d: %+v, want down for %v", i, got, want)
		}
	}
}

// At 10,000 there is to be a second instance. The first node is full and the second one down until 25,000, so
// there is no capacity; at 30,000 it is placed there.
func TestNothingIsPlacedOnANodeThatIsDown(t *testing.T) {
	c := withFailures(onNodes(t, scaled(1, 2), "[{id: n, gpu: H100, nodes: 2, gpus_per_node: 1}]"), "failures: [{crash: node/n/1, at: 5ms, for: 20ms}]")
	s := serve(t, c, request(0, 10, 50))
	if sc := s.Scaling; sc.NoCapacity != 2 || len(sc.Replicas) != 2 || sc.Replicas[1].Asked != 30_000 || s.InstanceNodes()[1] != "n/1" {
		t.Errorf("%+v on %v", sc, s.InstanceNodes())
	}
}

// An instance that is asked for at 10,000 is ready at 15,000. Its node crashes at 12,000: it is down from when it is
// ready to the repair of the node at 22,000.
func TestInstanceIsReadyOnANodeThatIsDown(t *testing.T) {
	c := withFailures(onNodes(t, scaled(1, 2), "[{id: n, gpu: H100, nodes: 2, gpus_per_node: 1}]"), "failures: [{crash: node/n/1, at: 12ms, for: 10ms}]")
	s := serve(t, c, request(0, 10, 50), request(16_000, 10, 1), request(16_000, 10, 1), request(23_000, 10, 1), request(23_000, 10, 1))
	if got := s.Failures.Instances[1]; got.Crashes != 1 || got.Down != 7000 {
		t.Errorf("%+v, want down for 7,000", got)
	}
	for i, want := range []int32{0, 0, 0} { // the router does not send to what is down
		if got := s.rows[i].Instance; got != want {
			t.Errorf("request %d is on instance %d", i, got)
		}
	}
	if s.rows[3].Instance+s.rows[4].Instance != 1 || s.count(metrics.Completed) != 5 {
		t.Errorf("%+v", s.fates())
	}
}

// A node that is slow makes all steps of its instances longer, also of one that is placed there meanwhile.
func TestNodeIsSlow(t *testing.T) {
	c := withFailures(onNodes(t, scaled(1, 2), "[{id: n, gpu: H100, nodes: 1, gpus_per_node: 2}]"), "failures: [{slow: node/n/0, at: 5ms, for: 30ms, factor: 2}]")
	s := serve(t, c, request(0, 10, 30), request(16_000, 10, 2), request(16_001, 10, 2))
	for _, r := range s.rows[1:] {
		if r.Instance == 1 && r.FirstToken.Sub(r.Scheduled) != 2000 {
			t.Errorf("the first step of %+v takes %v", r, r.FirstToken.Sub(r.Scheduled))
		}
	}
	if s.rows[1].Instance+s.rows[2].Instance != 1 {
		t.Errorf("instances %d and %d", s.rows[1].Instance, s.rows[2].Instance)
	}
}

// drawFailingNodes is the random trial of a seed on nodes that fail.
func drawFailingNodes(seed uint64) *trial {
	x, d := drawOnNodes(seed), newDice(seed, 0x64656164)
	d.drawFailures(x)
	time := func() vtime.Duration { return pick[vtime.Duration](d, 50, 699, 1000, 5000, 20_000, 100_000) }
	node := func() string { return pick(d, "node/one", "node/one/0", "node/one/0") }
	lines := fmt.Sprintf("  - {crash: %s, at: %dus, for: %dus}\n", node(), time(), time())
	if d.chance(0.4) {
		lines += fmt.Sprintf("  - {slow: %s, at: %dus, for: %dus, factor: 3}\n", node(), time(), time())
	}
	if d.chance(0.4) {
		lines += fmt.Sprintf("  - {crash: %s, mtbf: %dus, mttr: \"%dus,cv=0.5\"}\n", node(), 2000+10*time(), 1+time()/10)
	}
	x.FailureFile = strings.Replace(x.FailureFile, "failures:\n", "failures:\n"+lines, 1)
	x.Config.KVStorage = setup.StorageTiers{}
	x.Config.PDHoldTimeout = min(x.Config.PDHoldTimeout, 500_000)
	return x
}

// TestEqualityOnFailingNodes draws clusters on nodes that fail.
func TestEqualityOnFailingNodes(t *testing.T) {
	c := compareDrawn(t, testsize.Of(30, 60, 120), drawFailingNodes)
	if c.cases >= 60 && (5*c.failed < c.cases || 20*c.short < c.cases) {
		t.Errorf("requests failed in %s of the trials, want a fifth; some instance had no room in %s, want a 20th", c.share(c.failed), c.share(c.short))
	}
}
