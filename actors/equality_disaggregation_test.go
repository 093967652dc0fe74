package actors

import (
	"maps"
	"slices"
	"testing"

	"blis/internal/testsize"
	"blis/metrics"
	"blis/setup"
	"blis/trace"
	"blis/vtime"
)

// drawDisaggregation gives a trial prefill and decode instances, with pulls that take longer or
// shorter than steps, fail, and are given up.
func (d dice) drawDisaggregation(x *trial) {
	c := &x.Config
	c.ForceRouting, c.KVStorage = "", setup.StorageTiers{}
	if c.MovesBlocks() {
		c.KVOffloadPolicy = "write-through"
	}
	c.Architecture = setup.PD
	c.PrefillReplicas, c.DecodeReplicas, c.NumInstances = d.between(1, 3), d.between(1, 3), DefaultConfig().NumInstances
	if c.AutoscalePolicy != "none" || x.NoisyAutoscaler != 0 {
		c.MinReplicas, c.MaxReplicas = 1, 3+d.IntN(3)
	}
	c.DrainPolicy = pick(d, "wait", "wait", "immediate", "redirect")
	c.KVIdleRelease = d.chance(0.3)
	if !*c.AsyncScheduling {
		c.KVIdlePoll = pick[vtime.Duration](d, 0, 0, 0, 137, 1000)
	}
	c.PDDecider = pick(d, "always", "always", "always", "always", "never", "direct-to-decode", "prefix-threshold")
	c.PDDecodeChoice = pick(d, "arrival", "handoff")
	if c.PDDecider == "prefix-threshold" {
		c.PDDecodeChoice = "arrival"
	}
	c.PDPrefixThreshold, c.PDDirectDecodeThreshold = int32(d.IntN(60)), int32(d.IntN(60))
	c.PDTransferLatency = pick[vtime.Duration](d, 0, 1, 50, 450, 5000, 100_000)
	if err := c.Set("pd-transfer-bandwidth", pick(d, "35GB/s", "1GB/s", "0.05GB/s")); err != nil {
		panic(err)
	}
	c.PDHandoffLatency = pick[vtime.Duration](d, 1, 1, 100, 1000, 30_000)
	c.PDNotifyLatency = pick[vtime.Duration](d, 0, 0, 1, 700)
	if c.PDPipeline = pick(d, 1, 1, 1, 0.1, 0.5); c.PDPipeline == 1 && d.chance(0.4) {
		c.PDLink = "fifo"
	}
	c.PDMaxHeld = pick(d, 0, 0, 1, 2)
	c.PDBackpressureThreshold = d.between(1, 3)
	c.PDHoldTimeout = pick[vtime.Duration](d, 480*vtime.Second, 480*vtime.Second, 20_000, 500, 1)
	switch { // there are refreshes, checks, or passes for all that time
	case x.refreshes():
		c.PDHoldTimeout = min(c.PDHoldTimeout, 20_000)
	case c.AutoscalePolicy != "none" || x.NoisyAutoscaler != 0 || c.KVIdlePoll > 0:
		c.PDHoldTimeout = min(c.PDHoldTimeout, 500_000)
	}
	c.PDFailureRate = pick(d, 0, 0, 0, 0.3, 0.3, 1)
	if d.chance(0.7) { // else few requests get as far as their first token
		c.Horizon, c.Timeout, c.MaxModelLen = 0, pick[vtime.Duration](d, 0, 0, 300_000), 0
		c.TotalKVBlocks = max(c.TotalKVBlocks, int64(800/c.BlockSizeInTokens))
	}
	c.KVLoadFailurePolicy = pick(d, "fail", "recompute")
	for _, own := range []*setup.Overrides{&c.Prefill, &c.Decode} {
		if !d.chance(0.4) {
			continue
		}
		list := map[string]string{"max-num-seqs": "2", "routing-policy": "least-loaded", "async-scheduling": "false"}
		for _, name := range []string{"max-num-seqs", "routing-policy", "async-scheduling"} {
			if d.chance(0.5) && (name != "max-num-seqs" || c.MaxNumBatchedTokens >= 2) {
				own.Set(name, list[name])
			}
		}
	}
}

// refreshes reports whether signals are refreshed at intervals.
func (x *trial) refreshes() bool {
	return x.Config.SnapshotRefreshInterval > 0 || slices.Max(append(slices.Collect(maps.Values(x.Fresh)), onDemand)) > 0
}

// drawDisaggregated is the random trial of a seed in which prefill and decode instances share the work.
func drawDisaggregated(seed uint64) *trial {
	x := drawTrial(seed)
	newDice(seed, 0x70756c6c).drawDisaggregation(x)
	return x
}

// pdCoverage counts trials in which prefill and decode instances shared the work, by what happened in
// them to some request.
type pdCoverage struct {
	completed, direct, failed, expired, left, withoutKV, lost, stale, waited, redirected int
}

func (c *pdCoverage) count(y *yield) {
	var completed, redirected bool
	for i := range y.rows {
		o := &y.rows[i]
		completed = completed || o.HandOver.RemoteTokens > 0 && o.State == metrics.Completed
		redirected = redirected || o.Redirects > 0
	}
	u := &y.pd
	for _, f := range []struct {
		n    *int
		seen bool
	}{{&c.completed, completed}, {&c.direct, u.Direct != nil && *u.Direct > 0}, {&c.failed, u.FailedPulls > 0}, {&c.expired, u.Expired > 0}, {&c.left, u.ToldLeft > 0},
		{&c.withoutKV, u.WithoutKV > 0}, {&c.lost, u.Lost > 0}, {&c.stale, u.StalePulls > 0}, {&c.waited, u.PeakAwaiting > 2}, {&c.redirected, redirected}} {
		if f.seen {
			*f.n++
		}
	}
}

// TestEqualityOfDisaggregation draws clusters of prefill and decode instances.
func TestEqualityOfDisaggregation(t *testing.T) {
	c := compareDrawn(t, testsize.Of(40, 80, 120), drawDisaggregated)
	t.Logf("trials with some request of a kind: %+v", c.pd)
	if c.cases < 80 { // few say nothing about shares
		return
	}
	if x := &c.pd; 2*x.completed < c.cases || 3*x.direct < c.cases || 8*x.failed < c.cases || 6*x.expired < c.cases || 20*x.withoutKV < c.cases ||
		40*x.lost < c.cases || 40*x.stale < c.cases || 3*x.waited < c.cases || 100*x.redirected < c.cases {
		t.Errorf("of %d trials these have some request of a kind: %+v; want half with one that was handed over and completed, a third with a direct one, an eighth with a failed pull, "+
			"a sixth with a time-out of KV, a 20th with one without KV, a 40th with lost KV and a stale pull, a 100th with redirection, a third with three that await their pull at once", c.cases, *x)
	}
}

// TestTracesOfDisaggregation: a trace of prefill and decode instances changes nothing, and is the same
// on every executor.
func TestTracesOfDisaggregation(t *testing.T) {
	cases, first := budget(t, testsize.Of(15, 30, 60))
	met := map[string]int64{}
	for seed := first; seed < first+uint64(cases); seed++ {
		x := drawDisaggregated(seed)
		tracing := Tracing{Level: trace.Level(1 + seed%2), Counterfactual: int(seed/2) % 3}
		if err := x.compareTraces(seed, tracing, met); err != nil {
			t.Fatalf("seed %d, level %v, k %d: %v\n%s", seed, tracing.Level, tracing.Counterfactual, err, x.describe())
		}
	}
	const checksAfterTheEnd = 1139 // autoscalers check until KV is given up that nobody pulls
	if err := drawDisaggregated(checksAfterTheEnd).compareTraces(checksAfterTheEnd, Tracing{Level: trace.Detailed, Counterfactual: 2}, met); err != nil {
		t.Errorf("seed %d: %v", checksAfterTheEnd, err)
	}
	t.Logf("seeds %d to %d: records and anomalies %v", first, first+uint64(cases)-1, met)
	for _, what := range []string{"kv_transfer", "pd_backpressure", "pd prefill", "pd alone", "pd hand_over", "pd expired"} {
		if cases >= 30 && met[what] == 0 {
			t.Errorf("no %s in any trace: %v", what, met)
		}
	}
}
