package actors

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"blis/setup"
	"blis/vtime"
	"blis/workload"
)

// sample is a request of an example.
type sample struct {
	at     vtime.Time
	output int32
	tenant string
	class  string
}

// gatewayExample runs requests on one instance whose steps take 1,000 µs, behind a gateway with ticks each 1,000 µs
// that counts requests in flight. It returns for each request "state waited end", its end being that of its last
// step, or when it left.
func gatewayExample(t *testing.T, limit int64, change func(*Config), list ...sample) []string {
	t.Helper()
	var all []string
	for _, x := range Executors(2) {
		for _, everyTick := range []bool{false, true} {
			cfg := DefaultConfig()
			cfg.LatencyModel, cfg.AlphaCoeffs, cfg.BetaCoeffs = "blackbox", []float64{0, 0, 0}, []float64{1000, 0, 0}
			cfg.NumInstances, cfg.TotalKVBlocks, cfg.AsyncScheduling = 1, 4000, new(false)
			cfg.FlowControl, cfg.SaturationDetector, cfg.MaxConcurrency = true, setup.DetectConcurrency, limit
			if change != nil {
				change(&cfg)
			}
			var labels workload.Labels
			var requests []workload.Request
			for _, a := range list {
				class := a.class
				if class == "" {
					class = "standard"
				}
				requests = append(requests, workload.Request{
					Identity: workload.Identity{Arrival: a.at, Input: 10, Tags: workload.Tags{Tenant: labels.Tenants.Label(a.tenant), Class: labels.Classes.Label(class)}},
					Output:   a.output, Terms: workload.Terms{MaxOutput: -1, Deadline: vtime.Never},
				})
			}
			source, err := workload.NewSlice(requests, labels)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Custom.Source = source
			cfg.Execution = x.Execution
			cfg.EveryTick = everyTick
			var got []string
			cfg.Row = func(r *Row) {
				g, _ := AtGateway(r)
				got = append(got, fmt.Sprintf("%s %d %d", r.State, g.Wait, r.Finished))
			}
			if _, err := Run(context.Background(), cfg); err != nil {
				t.Fatal(err)
			}
			if all == nil {
				all = got
			} else if !slices.Equal(all, got) {
				t.Fatalf("%s, every tick %v: %q, want %q", x.Name, everyTick, got, all)
			}
		}
	}
	return all
}

// The worked examples of docs/gateway.md.
func TestGatewayExamples(t *testing.T) {
	usual := func(*Config) {}
	for _, c := range []struct {
		name   string
		limit  int64
		change func(*Config)
		list   []sample
		want   string
	}{
		{"a tick sees an end one tick later", 1, usual, []sample{{at: 0, output: 3}, {at: 500, output: 2}},
			"completed 0 3000, completed 3500 6000"},
		{"ticks each µs", 1, func(c *Config) { c.DispatchTickInterval = 1 }, []sample{{at: 0, output: 3}, {at: 500, output: 2}},
			"completed 0 3000, completed 2501 5001"},
		{"ceilings hold batch back", 2, func(c *Config) { c.UsageLimitThreshold = 0.5 },
			[]sample{{at: 0, output: 5, class: "critical"}, {at: 100, output: 1, class: "batch"}, {at: 200, output: 3}, {at: 300, output: 2}},
			"completed 0 5000, completed 7900 9000, completed 0 4000, completed 4700 7000"},
		{"a routing latency overshoots", 1, func(c *Config) { c.RoutingLatency = 2500 }, []sample{{at: 0, output: 3}, {at: 400, output: 3}, {at: 800, output: 3}},
			"completed 0 5500, completed 0 6500, completed 0 6500"},
		{"credit does not", 1, func(c *Config) { c.RoutingLatency, c.DispatchCredit = 2500, true }, []sample{{at: 0, output: 3}, {at: 400, output: 3}, {at: 800, output: 3}},
			"completed 0 5500, completed 5600 11500, completed 11200 17500"},
		{"round-robin", 1, func(c *Config) { c.FairnessPolicy = "round-robin" },
			[]sample{{0, 2, "b", ""}, {100, 1, "a", ""}, {200, 1, "a", ""}, {300, 1, "b", ""}, {400, 1, "c", ""}, {500, 1, "a", ""}},
			"completed 0 2000, completed 4900 6000, completed 8800 10000, completed 6700 8000, completed 2600 4000, completed 10500 12000"},
		{"shedding", 1, func(c *Config) { c.MaxGatewayQueueDepth, c.QueueShedding, c.RequestTTL = 2, true, 3500 },
			[]sample{{0, 9, "", ""}, {100, 1, "", "background"}, {200, 1, "", "batch"}, {300, 1, "", "critical"}, {400, 1, "", "critical"}, {500, 1, "", "critical"}},
			"completed 0 9000, shed 200 300, shed 200 400, expired 3500 3800, expired 3500 3900, rejected -1 500"},
		{"eviction", 2, func(c *Config) { c.InFlightEviction = true },
			[]sample{{0, 30, "", "batch"}, {100, 30, "", "batch"}, {1200, 2, "", "critical"}, {3500, 2, "", "critical"}, {3600, 1, "", "critical"}},
			"completed 0 30000, evicted 0 2000, completed 1800 5000, completed 2500 8000, completed 5400 10000"},
	} {
		if got := strings.Join(gatewayExample(t, c.limit, c.change, c.list...), ", "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
