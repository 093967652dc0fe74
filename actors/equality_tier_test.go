package actors

import (
	"strings"

	"blis/bundle"
	"blis/latency"
	"blis/policy"
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

// drawTierEvents lets a router hear of the GPU's cache and of the tier, and look at them.
func (d dice) drawTierEvents(c *Config) {
	c.EnablePrefixCaching, c.PrefixIndex, c.PrefixIndexBlocks = true, "events", "auto"
	c.KVEventDelay = pick[vtime.Duration](d, 0, 0, 1, 100, 3000)
	c.RoutingPolicy = pick(d, "weighted", "weighted", "prefix-affinity")
	if c.RoutingPolicy == "weighted" {
		c.RoutingScorers = pick(d, "prefix-affinity:1", "prefix-affinity:3,load-balance:1", "kv-utilization:2,prefix-affinity:1,prefix-match:0.5")
		c.Policies.Routing = bundle.Selection{Type: "weighted", Params: []policy.Setting{{Name: "cpu_weight", Value: pick(d, "1", "0.8", "0.5")}}}
	} else {
		c.RoutingScorers = ""
	}
}

// hearsOfTiers reports whether the router looks at what it hears of tiers.
func (x *trial) hearsOfTiers() bool {
	c := &x.Config
	reads := c.RoutingPolicy == "prefix-affinity" || strings.Contains(c.RoutingScorers, "prefix-") || c.RoutingPolicy == "weighted" && c.RoutingScorers == ""
	return c.HasCPUTier() && c.EnablePrefixCaching && c.PrefixIndex == "events" && reads && !x.SometimesNoInstance
}
