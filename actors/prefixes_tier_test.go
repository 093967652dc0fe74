package actors

import (
	"context"
	"errors"
	"slices"
	"testing"

	"blis/bundle"
	"blis/engine"
	"blis/internal/testsize"
	"blis/kv"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// TestRouterKnowsWhatCachesAndTiersHold draws clusters whose router hears at once of what
// instances store and remove. After the run it has, of each that is left, the named
// content that is in the GPU's cache and in the CPU tier, and nothing else.
func TestRouterKnowsWhatCachesAndTiersHold(t *testing.T) {
	cases, seed := budget(t, testsize.Of(30, 60, 120))
	var held [kv.Media]int
	for runs := 0; runs < cases; seed++ {
		x := drawTrial(seed)
		d := newDice(seed, 0x6d65646961)
		for !x.Config.HasCPUTier() {
			d.drawTier(&x.Config)
		}
		d.drawPolicy(&x.Config)
		d.drawTierEvents(&x.Config)
		x.Config.KVEventDelay, x.Config.Horizon, x.SometimesNoInstance = 0, 0, false
		cfg, err := x.config()
		if err != nil {
			t.Fatal(err)
		}
		p, err := resolve(cfg)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		c, err := newCluster(p, Execution{Sequential: true, StepByStep: true})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var livelock *engine.Livelock
		if _, err := c.run(context.Background()); errors.As(err, &livelock) {
			continue
		} else if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		runs++
		for i, n := range c.instances {
			if c.router.fleet.pools[0].endpoints.cluster.view.Gone(i) {
				continue
			}
			cache, tier, storage := engine.Caches(n.engines.engine)
			holds := [][]uint64{kv.GPU: cache.(*kv.NaivePool).Named(), kv.CPU: tier.(*kv.NaiveTier).Named(), kv.Storage: nil}
			if naive, ok := storage.(*kv.NaiveTier); ok {
				holds[kv.Storage] = naive.Named()
			} else if storage != nil {
				continue // too large for the twin
			}
			for m, want := range holds {
				got := c.router.fleet.pools[0].endpoints.prefixes.Held(i, kv.Medium(m))
				if held[m] += len(want); !slices.Equal(got, want) {
					t.Fatalf("seed %d: the router expects %d keys in the %v of instance %d, there are %d", seed, len(got), kv.Medium(m), i, len(want))
				}
			}
		}
	}
	t.Logf("%d keys by medium", held)
	if held[kv.GPU] < 3*cases || held[kv.CPU] < 3*cases || held[kv.Storage] == 0 {
		t.Errorf("the runs test too little: %d keys by medium", held)
	}
}

// holderProbe notes what is expected of instance 0 for short prompts, and rejects them.
type holderProbe struct{ seen *[][kv.Media]int32 }

func (holderProbe) Observes() policy.Signals { return policy.Prefixes }

func (p holderProbe) Decide(r *policy.Request, s *policy.RouterState, _ vtime.Time) policy.AdmissionDecision {
	if r.Input > 64 {
		return policy.AdmissionDecision{Verdict: policy.Admit}
	}
	var in [kv.Media]int32
	if found := s.Prefixes.Holders(); len(found) > 0 {
		in = found[0].In
	}
	*p.seen = append(*p.seen, in)
	return policy.AdmissionDecision{Verdict: policy.Reject}
}

// TestTierEventsAreKnownWhenTheirPassEnds: the GPU has six blocks. A takes five until
// 1,000, four of which can be hit, and is stored until 3,500. B takes five, all but the
// first of A, in the step from 5,000 to 6,000, and is stored until 8,500. A comes again at
// 10,000: the pass that loads it gives it three blocks, two of them hits of B, executes
// nothing and ends at once.
func TestTierEventsAreKnownWhenTheirPassEnds(t *testing.T) {
	const a, b = 1, 2
	ask := func(at vtime.Time, content workload.ContentID, input int32) workload.Request {
		return prompt(request(at, input, 1), workload.Span{Content: content, Length: 64})
	}
	requests := []workload.Request{
		ask(0, a, 80), ask(1000, a, 64), ask(1001, a, 64),
		ask(5000, b, 80), ask(6000, a, 64), ask(6001, a, 64), ask(6001, b, 64),
		ask(10_000, a, 80), ask(10_000, b, 64), ask(10_001, b, 64),
	}
	want := [][kv.Media]int32{{0, 0, 0}, {4, 0, 0}, {4, 0, 0}, {1, 3, 0}, {4, 0, 0}, {4, 0, 0}, {2, 2, 0}}
	for _, delay := range []vtime.Duration{0, 300} {
		var got [][kv.Media]int32
		c := plain()
		c.TotalKVBlocks, c.KVCPUBlocks, c.KVTransferLatency, c.KVTransferBandwidth.Rate, c.KVIdleRelease = 6, 20, 2500, 1<<60, true
		c.RoutingPolicy, c.PrefixIndex, c.KVEventDelay = "prefix-affinity", "events", delay
		c.Custom.Admission = func(policy.Env) policy.Admission { return holderProbe{&got} }
		later := slices.Clone(requests)
		for i := range later {
			if later[i].Input == 64 {
				later[i].Arrival = later[i].Arrival.Add(delay)
			}
		}
		serve(t, c, later...)
		for run := range slices.Chunk(got, len(want)) {
			if !slices.Equal(run, want) {
				t.Errorf("delay %v: blocks by medium\n got %v\nwant %v", delay, run, want)
			}
		}
	}
}

// TestSessionsReturnToTheirCPUTier has 40 sessions come one after the other, twice. When
// one returns its prefix is in no GPU any more, but in the CPU tier of the instance that
// served it. With its weight there the router sends it back, else to any of four.
func TestSessionsReturnToTheirCPUTier(t *testing.T) {
	var requests []workload.Request
	const sessions = 40
	for n := range vtime.Time(2 * sessions) {
		requests = append(requests, prompt(request(n*20_000, 80, 1), workload.Span{Content: workload.ContentID(1 + n%sessions), Length: 64}))
	}
	for _, x := range []struct {
		weight   string
		returned int
	}{{"0.8", 40}, {"0", 8}} {
		c := plain()
		c.NumInstances, c.TotalKVBlocks, c.KVCPUBlocks, c.KVTransferLatency, c.KVTransferBandwidth.Rate, c.KVIdleRelease = 4, 12, 400, 100, 1<<60, true
		c.PrefixIndex, c.RoutingPolicy, c.RoutingScorers = "events", "weighted", "prefix-affinity:2,load-balance:1"
		c.Policies.Routing = bundle.Selection{Type: "weighted", Params: []policy.Setting{{Name: "cpu_weight", Value: x.weight}, {Name: "storage_weight", Value: "0"}}}
		s := serve(t, c, requests...)
		returned, loaded := 0, int32(0)
		for i := range sessions {
			first, second := &s.rows[i], &s.rows[sessions+i]
			if second.State != metrics.Completed || second.Cached != second.CachedCPU {
				t.Fatalf("session %d returns: %v, %d tokens cached, %d of them in the CPU tier", i, second.State, second.Cached, second.CachedCPU)
			}
			if loaded += second.CachedCPU; first.Instance == second.Instance {
				returned++
			}
		}
		if returned != x.returned || int(loaded) != 64*returned || *s.Report.Anomalies.ShadowDivergence != 0 {
			t.Errorf("cpu_weight %s: %d sessions return to their instance and load %d tokens, %d divergences; want %d, %d and 0", x.weight, returned, loaded, *s.Report.Anomalies.ShadowDivergence, x.returned, 64*x.returned)
		}
	}
}
