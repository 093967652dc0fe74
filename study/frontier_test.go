package study

import (
	"errors"
	"testing"

	"blis/actors"
)

// TestFrontierOfClusters: more instances serve more and cost more; a cluster that pays more for
// less is not on the front, one that cannot run has an error, and all have one latency model.
func TestFrontierOfClusters(t *testing.T) {
	base := quick()
	base.Arrival, base.PromptTokensStdev, base.OutputTokensStdev = "constant", 0, 0 // exact, so one run of each load
	base.GPUHourPrice = 2
	cluster := func(name string, change func(*actors.Config)) Cluster {
		cfg := base
		change(&cfg)
		return Cluster{name, cfg.Config}
	}
	c := search(t, base, "rate=5..600", "p99_ttft=100ms")
	points, latency, err := Frontier(t.Context(), c, []Cluster{
		cluster("one", func(*actors.Config) {}),
		cluster("two", func(c *actors.Config) { c.NumInstances = 2 }),
		cluster("two in short supply", func(c *actors.Config) { c.NumInstances, c.MaxNumSeqs, c.MaxNumBatchedTokens = 2, 1, 600 }),
		cluster("too small", func(c *actors.Config) { c.Model = "Llama-3.1-70B" }),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(points) != 4 || latency.Model == "" || points[3].Err == nil || points[3].Front {
		t.Fatalf("%+v, %+v", points, latency)
	}
	one, two, poor := points[0], points[1], points[2]
	if !one.Front || !two.Front || poor.Front || !(two.Capacity > one.Capacity) || *two.CostPerHour != 4 || !(poor.Capacity < two.Capacity) {
		t.Errorf("%+v\n%+v\n%+v", one, two, poor)
	}
	c.Over.Name = "num-instances"
	var input *actors.InputError
	if _, _, err := Frontier(t.Context(), c, nil, nil); !errors.As(err, &input) {
		t.Errorf("error %v", err)
	}
}
