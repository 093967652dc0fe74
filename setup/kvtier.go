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
	KVOffloadPolicy     string         `json:"kv-offload-policy" name:"kv-offload-policy" default:"write-through" enum:"write-through,eager,lazy,threshold" group:"CPU tier" help:"When KV blocks go to the CPU tier: write-through (also: eager) when they are filled, as by vLLM's OffloadingConnector; lazy just before the GPU evicts them, as by its SimpleCPUOffloadConnector with lazy_offload; threshold as in simulators that keep one copy: free blocks move there while the GPU is nearly full, and back at an admission."`
	KVOffloadThreshold  float64        `json:"kv-offload-threshold" name:"kv-offload-threshold" default:"0.9" group:"CPU tier" help:"Share of the KV blocks in use above which kv-offload-policy threshold moves free ones to the CPU tier."`
	KVOffloadBlockSize  int32          `json:"kv-offload-block-size" name:"kv-offload-block-size" group:"CPU tier" help:"Tokens of an entry of the CPU tier, a multiple of block-size-in-tokens; 0: as many as a KV block has."`
	KVEviction          string         `json:"kv-eviction" name:"kv-eviction" default:"lru" enum:"lru,arc,lfu,priority" group:"CPU tier" help:"Which entry the CPU tier gives up: lru and arc as in vLLM, lfu (used least often) or priority (stored by the least urgent request)."`
	KVStoreThreshold    int32          `json:"kv-store-threshold" name:"kv-store-threshold" group:"CPU tier" help:"Lookups of an entry before it is stored, at least 2; 0: all are stored."`
	KVOffloadPromptOnly bool           `json:"kv-offload-prompt-only" name:"kv-offload-prompt-only" negatable:"" group:"CPU tier" help:"Store prompts alone, no generated tokens."`
	KVTransferBandwidth Bandwidth      `json:"kv-transfer-bandwidth" name:"kv-transfer-bandwidth" default:"0" group:"CPU tier" help:"Rate of transfers between a GPU and its host, one way and per GPU: 48GB/s; 0: three quarters of the GPU's PCIe. With kv-offload-policy threshold a bare number is tokens per µs."`
	KVTransferLatency   vtime.Duration `json:"kv-transfer-latency" name:"kv-transfer-latency" default:"500us" group:"CPU tier" help:"What each transfer between GPU and host takes besides."`
	KVStorage           StorageTiers   `json:"kv-storage" name:"kv-storage" placeholder:"TIER" group:"CPU tier" help:"A storage tier below the CPU tier: nvme, remote, or name,size,read,write,base,scope, like disk,2TiB,3GB/s,1.3GB/s,1ms,local; the scope is local, node or shared. Given again it adds one; in a file with a semicolon between."`
	KVIdlePoll          vtime.Duration `json:"kv-idle-poll" name:"kv-idle-poll" default:"0" group:"CPU tier" help:"Time until the scheduler looks again after a pass that executed nothing (vLLM sleeps 1ms); 0: until something can change. Not with async-scheduling."`
	KVIdleRelease       bool           `json:"kv-idle-release" name:"kv-idle-release" negatable:"" group:"CPU tier" help:"An idle instance notices transfers and pulls that end, as vLLM does from mid-2026; before, it does so when the next request comes."`
}

// Offload policies.
const (
	WriteThrough     = "write-through" // blocks are stored when they are filled
	EagerOffload     = "eager"         // the same
	LazyOffload      = "lazy"          // … just before they are evicted
	ThresholdOffload = "threshold"     // free blocks move while the GPU is nearly full
)

// MovesBlocks reports whether blocks move to the CPU tier and back, in place of being copied.
func (t *KVTier) MovesBlocks() bool { return t.KVOffloadPolicy == ThresholdOffload }

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
	check(c.KVOffloadThreshold > 0 && c.KVOffloadThreshold <= 1, "kv-offload-threshold", c.KVOffloadThreshold, "a share of the KV blocks, above 0 and at most 1")
	check(!c.MovesBlocks() || !c.HasCPUTier() || c.EnablePrefixCaching, "kv-offload-policy", c.KVOffloadPolicy, "write-through without prefix caching: blocks without a key do not move")
	check(!c.MovesBlocks() || len(c.KVStorage.list) == 0, "kv-storage", c.KVStorage, "none with --kv-offload-policy threshold, whose blocks are in one place")
	check(c.KVTransferBandwidth.Tokens == 0 || c.MovesBlocks(), "kv-transfer-bandwidth", c.KVTransferBandwidth, "a rate, like 48GB/s, 30GiB/s or 500MB/s; a number without a unit is tokens per µs, which goes with --kv-offload-policy threshold alone")
	check(c.KVTransferLatency >= 0, "kv-transfer-latency", c.KVTransferLatency, "0 or more")
	check(c.KVIdlePoll >= 0, "kv-idle-poll", c.KVIdlePoll, "0 or more")
	check(c.KVIdlePoll == 0 || c.AsyncScheduling == nil || !*c.AsyncScheduling, "kv-idle-poll", c.KVIdlePoll, "0 with --async-scheduling")
}

// entryTokens returns the tokens of an entry of the CPU tier, for KV blocks of block
// tokens.
func (t *KVTier) entryTokens(block int32) int32 {
	if t.KVOffloadBlockSize > 0 && !t.MovesBlocks() {
		return t.KVOffloadBlockSize
	}
	return block
}

// resolveKVTier derives the size of the CPU tier and the rate of the way there.
func resolveKVTier(p *resolver) error {
	c := &p.Config
	if c.KVOffloadPolicy == EagerOffload {
		c.KVOffloadPolicy = WriteThrough
	}
	if !c.HasCPUTier() {
		return nil
	}
	if c.MovesBlocks() {
		p.note("kv-offload-policy threshold takes blocks out of the GPU's cache that servers keep there, so the GPU's hit rate is worse than theirs: it is for comparison with other simulators; write-through is vLLM's")
	}
	d := &p.server.Deployment
	entry := d.KVBytesPerToken() * int64(c.entryTokens(c.BlockSizeInTokens))
	if c.KVCPUSize > 0 {
		n := int64(c.KVCPUSize) / entry
		if n < 1 {
			return inputErrorf("--kv-cpu-size is %v: want at least %v, which an entry of %d tokens takes", c.KVCPUSize, latency.Bytes(entry), c.entryTokens(c.BlockSizeInTokens))
		}
		c.KVCPUBlocks, c.KVCPUSize = min(n, 1<<31-1), 0
	}
	if b := &c.KVTransferBandwidth; *b == (Bandwidth{}) {
		b.Rate = latency.Rate(d.GPU.PCIeRate())
	}
	return resolveStorage(p)
}

// checkIdlePoll refuses to poll with async scheduling, which may have been derived.
func checkIdlePoll(c *Config, role Role) error {
	if hasPasses(c, role) && c.KVIdlePoll > 0 && *c.AsyncScheduling {
		return inputErrorf("--kv-idle-poll is %v: want 0 with async scheduling, or --no-async-scheduling", c.KVIdlePoll)
	}
	return nil
}

// kvTierSettings are the settings that only a CPU tier makes count.
var kvTierSettings = []string{"kv-offload-policy", "kv-offload-threshold", "kv-offload-block-size", "kv-eviction", "kv-store-threshold", "kv-offload-prompt-only", "kv-transfer-bandwidth", "kv-transfer-latency", "kv-storage"}

// connectorSettings are the settings of the CPU tier that count only if blocks are copied.
var connectorSettings = []string{"kv-offload-block-size", "kv-eviction", "kv-store-threshold", "kv-offload-prompt-only"}

// passSettings are the settings of passes, of instances that move KV: with a CPU tier, unless blocks
// move there one by one, or with a role in prefill/decode disaggregation.
var passSettings = []string{"kv-idle-poll", "kv-idle-release"}

// hasPasses reports whether instances that have a role move KV.
func hasPasses(c *Config, role Role) bool {
	return role != Monolithic || c.HasCPUTier() && !c.MovesBlocks()
}

// passes are those of instances that move KV.
func passes(c *Config) engine.Passes {
	return engine.Passes{IdlePoll: c.KVIdlePoll, IdleRelease: c.KVIdleRelease}
}

// CPUTier is the CPU tier of each instance of a deployment.
type CPUTier struct {
	kv.TierConfig
	EntryTokens int32
	Transfer    engine.Link // of either direction
	PromptOnly  bool
	Lazy        bool
	Passes      engine.Passes

	// Share, if above 0, is the share of the GPU's blocks in use above which free ones move to
	// the tier, and Bandwidth is how many tokens move back per µs. Then PromptOnly and what
	// follows it mean nothing.
	Share     float64
	Bandwidth float64
}

// newCPUTier returns the tier of a resolved configuration, nil if there is none.
func newCPUTier(c *Config, d *latency.Deployment) *CPUTier {
	if !c.HasCPUTier() {
		return nil
	}
	token := float64(d.KVBytesPerToken())
	rate := float64(float64(c.KVTransferBandwidth.Rate) * float64(d.TP))
	if c.MovesBlocks() {
		t := &CPUTier{
			TierConfig:  kv.TierConfig{Capacity: int(c.KVCPUBlocks), Eviction: kv.LRU},
			EntryTokens: c.BlockSizeInTokens, Transfer: engine.Link{Base: float64(c.KVTransferLatency)}, Share: c.KVOffloadThreshold, Bandwidth: c.KVTransferBandwidth.Tokens,
		}
		if t.Bandwidth == 0 {
			t.Bandwidth = rate / token / 1e6
		}
		return t
	}
	return &CPUTier{
		TierConfig:  kv.TierConfig{Capacity: int(c.KVCPUBlocks), Eviction: kv.Eviction(c.KVEviction), Threshold: int(c.KVStoreThreshold)},
		EntryTokens: c.entryTokens(c.BlockSizeInTokens),
		Transfer:    engine.Link{Base: float64(c.KVTransferLatency), PerBlock: float64(token*float64(c.BlockSizeInTokens)) / rate * 1e6},
		PromptOnly:  c.KVOffloadPromptOnly, Lazy: c.KVOffloadPolicy == LazyOffload, Passes: passes(c),
	}
}

// AddTo gives an engine the tier, with a store of its own.
func (t *CPUTier) AddTo(c *engine.Config, store kv.Tier) {
	if t.Share > 0 {
		c.Threshold = &engine.Threshold{Tier: store, Share: t.Share, Base: vtime.Duration(t.Transfer.Base), Bandwidth: t.Bandwidth}
	} else {
		c.Offload, c.Passes = t.Offload(store), t.Passes
	}
}

// Offload returns the tier for an engine, with a store of its own.
func (t *CPUTier) Offload(store kv.Tier) *engine.Offload {
	return &engine.Offload{
		Tier: store, EntryTokens: t.EntryTokens, Store: t.Transfer, Load: t.Transfer,
		PromptOnly: t.PromptOnly, Lazy: t.Lazy,
	}
}

// cpuTierBlocks returns the KV blocks that fit into the CPU tier of a resolved
// configuration.
func cpuTierBlocks(c *Config) int64 {
	return c.KVCPUBlocks * int64(c.entryTokens(c.BlockSizeInTokens)/max(1, c.BlockSizeInTokens))
}
