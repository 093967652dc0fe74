package actors

import (
	"testing"

	"blis/internal/testsize"
	"blis/setup"
	"blis/vtime"
)

// drawPolicy gives a quarter of the trials with a CPU tier another offload policy.
func (d dice) drawPolicy(c *Config) {
	if c.HasCPUTier() && c.EnablePrefixCaching && d.chance(0.25) {
		d.drawMoves(c)
	}
}

// drawMoves sets how blocks move to a CPU tier while the GPU is nearly full.
func (d dice) drawMoves(c *Config) {
	c.KVStorage = setup.StorageTiers{}
	c.KVOffloadPolicy, c.KVOffloadThreshold = setup.ThresholdOffload, pick(d, 0.01, 0.3, 0.6, 0.9, 1)
	if d.chance(0.5) {
		c.KVTransferBandwidth = setup.Bandwidth{Tokens: pick(d, 0.01, 1, 100)}
	}
}

// drawMoving is the random trial of a seed in which blocks move to CPU tiers: GPUs are too small
// for their sessions.
func drawMoving(seed uint64) *trial {
	x, d := drawTrial(seed), newDice(seed, 0x6d6f7665)
	c := &x.Config
	if x.ClosedLoop == 0 {
		c.NumRequests, c.PrefixTokens, c.Rate, c.Concurrency, c.Timeout = 0, 0, 0, 0, 0
		x.Tenants, x.Classes, x.Requests = []string{"red", "blue"}, []string{"standard", "critical"}, nil
		d.drawRequests(x, d.between(30, 90))
	}
	c.ForceRouting, c.Horizon = "", 0
	c.BlockSizeInTokens = pick[int32](d, 4, 4, 8, 16)
	c.TotalKVBlocks = int64(d.between(150, 400)) / int64(c.BlockSizeInTokens)
	c.EnablePrefixCaching, c.MaxModelLen = true, 0
	c.KVOffloadBlockSize, c.KVStoreThreshold, c.KVOffloadPromptOnly, c.KVEviction = 0, 0, false, "lru"
	c.KVCPUBlocks, c.KVTransferLatency = int64(pick(d, 5, 40, 300, 3000)), pick[vtime.Duration](d, 0, 10, 500)
	d.drawMoves(c)
	if c.KVOffloadThreshold = min(c.KVOffloadThreshold, 0.9); d.chance(0.3) {
		d.drawTierEvents(c)
	}
	return x
}

// TestEqualityOfMovingBlocks draws clusters whose blocks move to CPU tiers and back.
func TestEqualityOfMovingBlocks(t *testing.T) {
	cases, first := budget(t, testsize.Of(20, 40, 60))
	var c coverage
	moved := 0
	for seed := first; c.cases < cases; seed++ {
		x := drawMoving(seed)
		y, m := x.compare(everyExecutor(seed))
		if m != nil {
			t.Errorf("seed %d: %s: %s", seed, m.other.Name, m.what)
			small, m := x.reduce(m, reduction(t))
			t.Fatalf("reduced: %s: %s\n%s\nfirst difference: %s", m.other.Name, m.what, small.describe(), small.where(m))
		}
		if c.count(x, y); y.tier.Loaded > 0 {
			moved++
		}
	}
	t.Logf("seeds %d to %d: %s", first, first+uint64(c.cases)-1, &c)
	if 5*moved < c.cases {
		t.Errorf("blocks moved back in %s of the trials, want a fifth", c.share(moved))
	}
}
