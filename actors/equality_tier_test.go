package actors

import (
	"blis/latency"
	"blis/vtime"
)

// drawTier gives a third of the trials a CPU tier: mostly too small, with transfers that
// take from less than a step to many.
func (d dice) drawTier(c *Config) {
	if !d.chance(0.35) {
		return
	}
	factor := pick[int32](d, 1, 1, 1, 2, 3)
	if factor > 1 {
		c.KVOffloadBlockSize = factor * c.BlockSizeInTokens
	}
	c.KVCPUBlocks = int64(pick(d, 1, 3, 12, 40, 300, 3000))
	c.KVEviction = pick(d, "lru", "lru", "arc", "lfu", "priority")
	c.KVStoreThreshold = pick[int32](d, 0, 0, 0, 2, 3)
	c.KVOffloadPromptOnly = d.chance(0.2)
	c.KVTransferBandwidth = pick[latency.Rate](d, 1e8, 1e9, 48e9, 1e12)
	c.KVTransferLatency = pick[vtime.Duration](d, 0, 10, 500, 4000)
	c.KVIdleRelease = d.chance(0.2)
	if !*c.AsyncScheduling {
		c.KVIdlePoll = pick[vtime.Duration](d, 0, 0, 0, 137, 1000)
	}
}
