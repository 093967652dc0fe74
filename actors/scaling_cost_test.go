package actors

import (
	"context"
	"testing"

	"blis/lookahead"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// churn is a run in which instances come and go all the time, at most three at
// once, as often as there are requests.
func churn(t *testing.T, requests int64) (*cluster, lookahead.Stats) {
	t.Helper()
	c := DefaultConfig()
	c.NumRequests, c.Rate, c.NumInstances, c.MinReplicas, c.MaxReplicas = requests, 10, 1, 1, 3
	c.AutoscaleInterval, c.ProvisioningDelay, c.ModelLoadTime = 50*vtime.Millisecond, setup.RandomDuration{Mean: 10 * vtime.Millisecond}, setup.RandomDuration{Mean: 10 * vtime.Millisecond}
	c.LatencyModel, c.AutoscalePolicy, c.RoutingPolicy = "blackbox", "oscillator", "least-loaded"
	p, err := resolve(c)
	if err != nil {
		t.Fatal(err)
	}
	k, err := newCluster(p, Execution{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := k.run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return k, r.Stats
}

// Twice as much coming and going takes twice as many visits, not four times.
func TestThoseThatAreGoneAreNotVisited(t *testing.T) {
	short, few := churn(t, 300)
	long, many := churn(t, 600)
	gone := 0
	for i := range long.instances {
		if long.router.fleet.pools[0].endpoints.cluster.view.Phase(i) == policy.Gone {
			gone++
		}
	}
	if gone < 200 || len(long.instances) < 3*len(short.instances)/2 {
		t.Fatalf("%d and %d instances, %d of them gone: too few to tell", len(short.instances), len(long.instances), gone)
	}
	growth := float64(len(long.instances)) / float64(len(short.instances))
	if limit := uint64(1.3 * growth * float64(few.Asked)); few.Asked == 0 || many.Asked > limit {
		t.Errorf("%d visits for %d instances, %d for %d: want at most %d", few.Asked, len(short.instances), many.Asked, len(long.instances), limit)
	}
	if n := len(long.router.fleet.pools[0].endpoints.cluster.view.Present()); n > 8 {
		t.Errorf("%d instances are present", n)
	}
	if n := len(long.router.fleet.pools[0].replicas.departed); n > 8 {
		t.Errorf("%d of %d instances that are gone hold memory", n, gone)
	}
}
