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
	d.drawSessions(x)
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
	if c := compareDrawn(t, testsize.Of(20, 40, 60), drawMoving); 5*c.loaded < c.cases {
		t.Errorf("blocks moved back in %s of the trials, want a fifth", c.share(c.loaded))
	}
}
