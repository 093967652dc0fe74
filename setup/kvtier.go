package setup

import (
	"fmt"

	"blis/engine"
	"blis/kv"
	"blis/latency"
	"blis/vtime"
)

// KVTier is what a user sets of the CPU tier. The tags are as those of Config.
type KVTier struct {
	KVCPUBlocks         int64          `json:"kv-cpu-blocks" name:"kv-cpu-blocks" group:"CPU tier" help:"Entries that the CPU tier of each instance keeps: copies of KV blocks in host memory, as of vLLM's OffloadingConnector; 0: no CPU tier."`
	KVCPUSize           latency.Bytes  `json:"kv-cpu-size" name:"kv-cpu-size" default:"0" group:"CPU tier" help:"The same as an amount of host memory per instance: 64GiB."`
	KVOffloadPolicy     string         `json:"kv-offload-policy" name:"kv-offload-policy" default:"write-through" enum:"write-through,lazy" group:"CPU tier" help:"When KV blocks are stored: write-through when they are filled, as by vLLM's OffloadingConnector; lazy just before the GPU evicts them, as by its SimpleCPUOffloadConnector with lazy_offload."`
	KVOffloadBlockSize  int32          `json:"kv-offload-block-size" name:"kv-offload-block-size" group:"CPU tier" help:"Tokens of an entry of the CPU tier, a multiple of block-size-in-tokens; 0: as many as a KV block has."`
	KVEviction          string         `json:"kv-eviction" name:"kv-eviction" default:"lru" enum:"lru,arc,lfu,priority" group:"CPU tier" help:"Which entry the CPU tier gives up: lru and arc as in vLLM, lfu (used least often) or priority (stored by the least urgent request)."`
	KVStoreThreshold    int32          `json:"kv-store-threshold" name:"kv-store-threshold" group:"CPU tier" help:"Lookups of an entry before it is stored, at least 2; 0: all are stored."`
	KVOffloadPromptOnly bool           `json:"kv-offload-prompt-only" name:"kv-offload-prompt-only" negatable:"" group:"CPU tier" help:"Store prompts alone, no generated tokens."`
	KVTransferBandwidth latency.Rate   `json:"kv-transfer-bandwidth" name:"kv-transfer-bandwidth" default:"0" group:"CPU tier" help:"Rate of transfers between a GPU and its host, one way and per GPU: 48GB/s; 0: three quarters of the GPU's PCIe."`
	KVTransferLatency   vtime.Duration `json:"kv-transfer-latency" name:"kv-transfer-latency" default:"500us" group:"CPU tier" help:"What each transfer between GPU and host takes besides."`
	KVStorage           StorageTiers   `json:"kv-storage" name:"kv-storage" placeholder:"TIER" group:"CPU tier" help:"A storage tier below the CPU tier: nvme, remote, or name,size,read,write,base,scope, like disk,2TiB,3GB/s,1.3GB/s,1ms,local; the scope is local, node or shared. Given again it adds one; in a file with a semicolon between."`
	KVIdlePoll          vtime.Duration `json:"kv-idle-poll" name:"kv-idle-poll" default:"0" group:"CPU tier" help:"Time until the scheduler looks again after a pass that executed nothing (vLLM sleeps 1ms); 0: until something can change. Not with async-scheduling."`
	KVIdleRelease       bool           `json:"kv-idle-release" name:"kv-idle-release" negatable:"" group:"CPU tier" help:"An idle instance notices transfers that end, as vLLM does from mid-2026; before, it does so when the next request comes."`
}

// Offload policies: blocks are stored when they are filled, or just before they are evicted.
const (
	WriteThrough = "write-through"
	LazyOffload  = "lazy"
)

// HasCPUTier reports whether instances have a CPU tier.
func (t *KVTier) HasCPUTier() bool { return t.KVCPUBlocks > 0 || t.KVCPUSize > 0 }

// Tiers returns how many kinds of tiers instances have below the GPU: none, a CPU tier, or that and
// storage tiers.
func (t *KVTier) Tiers() int {
	switch {
	case !t.HasCPUTier():
		return 0
	case len(t.KVStorage.list) == 0:
		return 1
	}
	return 2
}

// checkKVTier checks the settings of the CPU tier one by one.
func checkKVTier(c *Config, check func(ok bool, name string, value any, want string)) {
	const most = 1<<31 - 1
	check(c.KVCPUBlocks >= 0 && c.KVCPUBlocks <= most, "kv-cpu-blocks", c.KVCPUBlocks, fmt.Sprintf("0 (no CPU tier) to %d", most))
	check(c.KVCPUBlocks == 0 || c.KVCPUSize == 0, "kv-cpu-size", c.KVCPUSize, "one of it and --kv-cpu-blocks")
	size := c.BlockSizeInTokens
	check(c.KVOffloadBlockSize >= 0 && c.KVOffloadBlockSize <= 1<<20 && (size < 1 || c.KVOffloadBlockSize%size == 0), "kv-offload-block-size", c.KVOffloadBlockSize, fmt.Sprintf("a multiple of --block-size-in-tokens %d, at most 1048576, or 0", size))
	check(c.KVStoreThreshold >= 0 && c.KVStoreThreshold != 1, "kv-store-threshold", c.KVStoreThreshold, "at least 2, or 0 to store all")
	lazy := c.KVOffloadPolicy == LazyOffload
	check(!lazy || c.KVOffloadBlockSize == 0 || c.KVOffloadBlockSize == size, "kv-offload-block-size", c.KVOffloadBlockSize, "that of a KV block with --kv-offload-policy lazy")
	check(!lazy || c.KVStoreThreshold == 0, "kv-store-threshold", c.KVStoreThreshold, "0 with --kv-offload-policy lazy")
	check(!lazy || !c.KVOffloadPromptOnly, "kv-offload-prompt-only", c.KVOffloadPromptOnly, "false with --kv-offload-policy lazy")
	check(!lazy || len(c.KVStorage.list) == 0, "kv-storage", c.KVStorage.String(), "none with --kv-offload-policy lazy")
	check(!lazy || !c.HasCPUTier() || c.EnablePrefixCaching, "kv-offload-policy", c.KVOffloadPolicy, "write-through without prefix caching: blocks without a key are not stored")
	check(c.KVTransferLatency >= 0, "kv-transfer-latency", c.KVTransferLatency, "0 or more")
	check(c.KVIdlePoll >= 0, "kv-idle-poll", c.KVIdlePoll, "0 or more")
	check(c.KVIdlePoll == 0 || c.AsyncScheduling == nil || !*c.AsyncScheduling, "kv-idle-poll", c.KVIdlePoll, "0 with --async-scheduling")
}

// entryTokens returns the tokens of an entry of the CPU tier, for KV blocks of block
// tokens.
func (t *KVTier) entryTokens(block int32) int32 {
	if t.KVOffloadBlockSize > 0 {
		return t.KVOffloadBlockSize
	}
	return block
}

// resolveKVTier derives the size of the CPU tier and the rate of the way there.
func resolveKVTier(p *resolver) error {
	c := &p.Config
	if !c.HasCPUTier() {
		return nil
	}
	d := &p.deployment.Deployment
	entry := d.KVBytesPerToken() * int64(c.entryTokens(c.BlockSizeInTokens))
	if c.KVCPUSize > 0 {
		n := int64(c.KVCPUSize) / entry
		if n < 1 {
			return inputErrorf("--kv-cpu-size is %v: want at least %v, which an entry of %d tokens takes", c.KVCPUSize, latency.Bytes(entry), c.entryTokens(c.BlockSizeInTokens))
		}
		c.KVCPUBlocks, c.KVCPUSize = min(n, 1<<31-1), 0
	}
	if c.KVTransferBandwidth == 0 {
		c.KVTransferBandwidth = latency.Rate(d.GPU.PCIeRate())
	}
	return resolveStorage(p)
}

// checkIdlePoll refuses to poll with async scheduling, which may have been derived.
func checkIdlePoll(c *Config) error {
	if c.HasCPUTier() && c.KVIdlePoll > 0 && *c.AsyncScheduling {
		return inputErrorf("--kv-idle-poll is %v: want 0 with async scheduling, or --no-async-scheduling", c.KVIdlePoll)
	}
	return nil
}

// kvTierSettings are the settings that only a CPU tier makes count.
var kvTierSettings = []string{"kv-offload-policy", "kv-offload-block-size", "kv-eviction", "kv-store-threshold", "kv-offload-prompt-only", "kv-transfer-bandwidth", "kv-transfer-latency", "kv-storage", "kv-idle-poll", "kv-idle-release"}

// CPUTier is the CPU tier of each instance of a deployment.
type CPUTier struct {
	kv.TierConfig
	EntryTokens int32
	Transfer    engine.Link // of either direction
	PromptOnly  bool
	Lazy        bool
	IdlePoll    vtime.Duration
	IdleRelease bool
}

// newCPUTier returns the tier of a resolved configuration, nil if there is none.
func newCPUTier(c *Config, d *latency.Deployment) *CPUTier {
	if !c.HasCPUTier() {
		return nil
	}
	block := float64(d.KVBytesPerToken() * int64(c.BlockSizeInTokens))
	return &CPUTier{
		TierConfig:  kv.TierConfig{Capacity: int(c.KVCPUBlocks), Eviction: kv.Eviction(c.KVEviction), Threshold: int(c.KVStoreThreshold)},
		EntryTokens: c.entryTokens(c.BlockSizeInTokens),
		Transfer:    engine.Link{Base: float64(c.KVTransferLatency), PerBlock: block / float64(float64(c.KVTransferBandwidth)*float64(d.TP)) * 1e6},
		PromptOnly:  c.KVOffloadPromptOnly, Lazy: c.KVOffloadPolicy == LazyOffload, IdlePoll: c.KVIdlePoll, IdleRelease: c.KVIdleRelease,
	}
}

// Offload returns the tier for an engine, with a store of its own.
func (t *CPUTier) Offload(store kv.Tier) *engine.Offload {
	return &engine.Offload{
		Tier: store, EntryTokens: t.EntryTokens, Store: t.Transfer, Load: t.Transfer,
		PromptOnly: t.PromptOnly, Lazy: t.Lazy, IdlePoll: t.IdlePoll, IdleRelease: t.IdleRelease,
	}
}

// cpuTierBlocks returns the KV blocks that fit into the CPU tier of a resolved
// configuration.
func cpuTierBlocks(c *Config) int64 {
	return c.KVCPUBlocks * int64(c.entryTokens(c.BlockSizeInTokens)/max(1, c.BlockSizeInTokens))
}
