package actors

import (
	"testing"

	"blis/internal/testsize"
	"blis/setup"
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
	c.DrainPolicy = pick(d, "wait", "immediate")
	c.PDDecider = pick(d, "always", "always", "always", "never", "direct-to-decode", "prefix-threshold")
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
	c.PDPipeline = pick(d, 1, 1, 1, 0.1, 0.5)
	c.PDMaxHeld = pick(d, 0, 0, 1, 2)
	c.PDBackpressureThreshold = d.between(1, 3)
	c.PDHoldTimeout = pick[vtime.Duration](d, 480*vtime.Second, 480*vtime.Second, 20_000, 500, 1)
	if c.AutoscalePolicy != "none" || x.NoisyAutoscaler != 0 { // else there are checks for many minutes
		c.PDHoldTimeout = min(c.PDHoldTimeout, 500_000)
	}
	c.PDFailureRate = pick(d, 0, 0, 0.3, 1)
	c.KVLoadFailurePolicy = pick(d, "fail", "recompute")
	for _, own := range []*setup.Overrides{&c.Prefill, &c.Decode} {
		if !d.chance(0.4) {
			continue
		}
		list := map[string]string{"max-num-seqs": "2", "routing-policy": "least-loaded", "async-scheduling": "false"}
		for _, name := range []string{"max-num-seqs", "routing-policy", "async-scheduling"} {
			if d.chance(0.5) {
				own.Set(name, list[name])
			}
		}
	}
}

// drawDisaggregated is the random trial of a seed in which prefill and decode instances share the work.
func drawDisaggregated(seed uint64) *trial {
	x := drawTrial(seed)
	newDice(seed, 0x70756c6c).drawDisaggregation(x)
	return x
}

// TestEqualityOfDisaggregation draws clusters of prefill and decode instances.
func TestEqualityOfDisaggregation(t *testing.T) {
	compareDrawn(t, testsize.Of(40, 80, 120), drawDisaggregated)
}
