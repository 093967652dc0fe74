package report

import (
	"testing"

	"blis/actors"
)

func TestPolicyKeyFollowsPoliciesAlone(t *testing.T) {
	key := func(change func(*actors.Config)) string {
		cfg := actors.DefaultConfig()
		change(&cfg)
		effective, _, err := actors.Check(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return policiesKey(&effective)
	}
	same := key(func(*actors.Config) {})
	for name, change := range map[string]func(*actors.Config){
		"rate": func(c *actors.Config) { c.Rate = 7 }, "seed": func(c *actors.Config) { c.Seed = 7 }, "instances": func(c *actors.Config) { c.NumInstances = 7 },
	} {
		if key(change) != same {
			t.Errorf("%s changes the hash of the policies", name)
		}
	}
	for name, change := range map[string]func(*actors.Config){
		"routing": func(c *actors.Config) { c.RoutingPolicy = "weighted" }, "scheduler": func(c *actors.Config) { c.Scheduler = "sjf" },
		"bucket": func(c *actors.Config) { c.AdmissionPolicy, c.TokenBucketCapacity = "token-bucket", 7 }, "preemption": func(c *actors.Config) { c.PreemptionPolicy = "fcfs" },
		"staleness": func(c *actors.Config) { c.SnapshotRefreshInterval = 7 },
	} {
		if key(change) == same {
			t.Errorf("%s does not change the hash of the policies", name)
		}
	}
}
