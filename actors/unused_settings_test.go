package actors

import (
	"slices"
	"strings"
	"testing"

	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// idleNotes are the notes of a configuration about settings without effect.
func idleNotes(t *testing.T, c Config) (notes []string, effective Config) {
	t.Helper()
	effective, facts, err := Check(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range facts.Notes {
		if strings.Contains(n, "no effect") {
			notes = append(notes, n)
		}
	}
	return notes, effective
}

// Who sets what others leave without an effect is told so, and why; who does
// not, is not.
func TestSettingsWithoutEffectAreNoted(t *testing.T) {
	trace := file(t, "trace.csv", "arrival_us,input_tokens,output_tokens\n1,2,3\n")
	scaling := func(c *Config) { c.AutoscalePolicy = "threshold" }
	replay := func(c *Config) { c.Trace = trace }
	seed := uint64(3)
	for _, x := range []struct {
		name   string
		change []func(*Config)
		want   []string
	}{
		{"nothing set", nil, nil},
		{"no autoscaler", []func(*Config){func(c *Config) {
			c.DrainTimeout, c.MinReplicas, c.WarmupRoutable, c.AutoscaleTrigger = 5, 2, false, "event"
		}},
			[]string{"autoscale-trigger, min-replicas, warmup-routable, drain-timeout have no effect: autoscale-policy is none"}},
		{"no autoscaler, but bounds", []func(*Config){func(c *Config) { c.MaxReplicas = 7 }}, []string{"max-replicas has no effect: autoscale-policy is none"}},
		{"no autoscaler, but costs, which every run has", []func(*Config){func(c *Config) { c.CostPerReplicaHour = 2 }}, nil},
		{"no autoscaler, but a cadence of it", []func(*Config){func(c *Config) { c.Policies.Autoscale.Refresh = "5s" }},
			[]string{"autoscale.refresh has no effect: autoscale-policy is none"}},
		{"in a bundle", []func(*Config){func(c *Config) { c.Policies.Autoscale.DrainTimeout = "5s" }}, []string{"drain-timeout has no effect: autoscale-policy is none"}},
		{"an autoscaler", []func(*Config){scaling, func(c *Config) { c.DrainTimeout, c.MaxReplicas, c.WarmupDuration, c.WarmupPenalty = 5, 7, 100, 3 }}, nil},
		{"drains at once", []func(*Config){scaling, func(c *Config) { c.DrainPolicy, c.DrainTimeout = setup.DrainImmediate, 5 }},
			[]string{"drain-timeout has no effect: with drain-policy immediate nobody waits"}},
		{"drains elsewhere", []func(*Config){scaling, func(c *Config) { c.DrainPolicy, c.DrainTimeout = setup.DrainRedirect, 5 }},
			[]string{"drain-timeout has no effect: with drain-policy redirect nobody waits"}},
		{"no warm-up", []func(*Config){scaling, func(c *Config) { c.WarmupPenalty, c.WarmupCurve = 3, "step" }},
			[]string{"warmup-curve, warmup-penalty have no effect: warmup-duration is 0"}},
		{"a warm-up that takes no longer", []func(*Config){scaling, func(c *Config) { c.WarmupDuration, c.WarmupPenalty, c.WarmupCurve = 9, 1, "step" }},
			[]string{"warmup-curve has no effect: a warmup-penalty of 1 is none"}},
		{"nothing to choose from", []func(*Config){scaling, func(c *Config) { c.MinReplicas, c.MaxReplicas = 4, 4 }},
			[]string{"autoscale-policy has no effect: min-replicas and max-replicas are the same"}},
		{"blocks are given", []func(*Config){func(c *Config) { c.TotalKVBlocks, c.GPUMemoryUtilization = 5000, 0.5 }},
			[]string{"gpu-memory-utilization has no effect: the number of KV blocks is given"}},
		{"blocks are given as vLLM counts", []func(*Config){func(c *Config) { c.NumGPUBlocksOverride, c.GPUMemoryUtilization = 5000, 0.5 }},
			[]string{"gpu-memory-utilization has no effect: the number of KV blocks is given"}},
		{"a trace", []func(*Config){replay, func(c *Config) {
			c.Rate, c.NumRequests, c.PromptTokens, c.Arrival, c.TraceBlockSize, c.WorkloadSeed = 5, 10, 9, "constant", 16, &seed
		}}, []string{
			"num-requests has no effect: the trace has its own requests; see trace-limit",
			"prompt-tokens has no effect: the trace has its own requests",
			"rate has no effect: the requests of the trace arrive at once",
			"trace-block-size has no effect: the trace is of format blis and has no hash ids",
			"arrival has no effect: the trace has its own arrivals",
			"workload-seed has no effect: nothing of a trace is random",
		}},
		{"a trace, and what it has", []func(*Config){replay, func(c *Config) { c.TraceSpeedup, c.TraceLimit, c.Timeout = 2, 1, vtime.Second }}, nil},
		{"a specification", []func(*Config){func(c *Config) {
			c.WorkloadSpec = file(t, "w.yaml", "version: 2\nnum_requests: 5\nclients:\n  - {id: a, rate: 1, input_distribution: {type: constant, params: {value: 9}}, output_distribution: {type: constant, params: {value: 9}}}\n")
			c.Rate, c.PromptTokens, c.ThinkTime, c.TraceLimit = 5, 9, 3, 2
		}}, []string{
			"think-time, prompt-tokens, trace-limit have no effect: the specification says what arrives",
			"rate has no effect: the clients of the specification do not share a rate",
		}},
		{"a scenario", []func(*Config){func(c *Config) { c.Scenario, c.Rate, c.NumRequests, c.Arrival = "sanity", 5, 10, "constant" }},
			[]string{"arrival has no effect: the specification says what arrives"}},
		{"no trace", []func(*Config){func(c *Config) { c.TraceLimit, c.SpreadTies, c.TraceSpeedup = 4, true, 2 }},
			[]string{"trace-speedup, trace-limit, spread-ties have no effect: there is no trace"}},
		{"blind policies", []func(*Config){func(c *Config) { c.SnapshotRefreshInterval, c.Signals, c.InFlight = 5, "per-step", "periodic" }}, []string{
			"snapshot-refresh-interval has no effect: no policy reads a signal that is refreshed by it",
			"signals has no effect: no policy reads what instances publish",
			"in-flight has no effect: no policy reads the requests in flight"}},
		{"policies that see", []func(*Config){func(c *Config) {
			c.RoutingPolicy, c.SnapshotRefreshInterval, c.Signals, c.InFlight = "least-loaded", 5, "per-step", "periodic"
		}}, nil},
		{"requests in flight alone", []func(*Config){func(c *Config) {
			c.RoutingPolicy, c.RoutingScorers, c.SnapshotRefreshInterval, c.InFlight = "weighted", "active-requests:1", 5, "periodic"
		}}, nil},
		{"an autoscaler that sees", []func(*Config){scaling, func(c *Config) { c.SnapshotRefreshInterval = 5 }}, []string{
			"snapshot-refresh-interval has no effect: only the autoscaler reads signals of instances; see autoscale.refresh"}},
		{"signals that nobody reads", []func(*Config){func(c *Config) {
			c.RoutingPolicy = "least-loaded"
			*c.Policies.Observability.Fresh.Of(policy.KVUse) = "50ms"
		}}, []string{"observability.kv_utilization has no effect: no policy reads it"}},
		{"all that is read is asked for", []func(*Config){func(c *Config) {
			c.RoutingPolicy, c.RoutingScorers, c.Signals, c.SnapshotRefreshInterval = "weighted", "kv-utilization:1", "per-step", 5
			*c.Policies.Observability.Fresh.Of(policy.KVUse) = "on_demand"
		}}, []string{"snapshot-refresh-interval has no effect: no policy reads a signal that is refreshed by it", "signals has no effect: no policy reads what instances publish"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := DefaultConfig()
			for _, change := range x.change {
				change(&c)
			}
			notes, effective := idleNotes(t, c)
			if !slices.Equal(notes, x.want) {
				t.Errorf("notes\n%q, want\n%q", notes, x.want)
			}
			if again, _ := idleNotes(t, effective); len(x.want) == 0 && len(again) > 0 {
				t.Errorf("the effective configuration, read back, is said to have no effect: %q", again)
			}
		})
	}
}

// A target that is meant for shares makes no sense for requests per second, which
// nobody could have meant who did not give it.
func TestDefaultTargetOfARateIsNoted(t *testing.T) {
	for target, noted := range map[string]bool{"": true, "8.16": false} {
		c := DefaultConfig()
		for _, set := range [][2]string{{"autoscale.type", "target-utilization"}, {"autoscale.params.signal", "rate"}, {"autoscale.params.target", target}} {
			if set[1] == "" {
				continue
			}
			if err := c.Policies.Set(set[0], set[1]); err != nil {
				t.Fatal(err)
			}
		}
		_, setup, err := Check(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(setup.Notes, "\n"), "meant for shares"); got != noted {
			t.Errorf("target %q: noted %v, want %v: %q", target, got, noted, setup.Notes)
		}
	}
}

// A parameter of another policy than the one chosen contradicts it.
func TestParametersOfOtherPoliciesAreErrors(t *testing.T) {
	c := DefaultConfig()
	c.TokenBucketCapacity = 5
	refusal(t, c, "--token-bucket-capacity", "always-admit")
	c = DefaultConfig()
	c.TokenBucketRefillRate = 5
	refusal(t, c, "--token-bucket-refill-rate", "always-admit")
	c = DefaultConfig()
	c.RoutingScorers = "queue-depth:1"
	refusal(t, c, "--routing-scorers", "round-robin")
}
