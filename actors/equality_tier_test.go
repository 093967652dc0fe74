package actors

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"blis/bundle"
	"blis/internal/testsize"
	"blis/latency"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// drawTiers gives a trial tiers, or none, and a router that hears of them, or not.
func drawTiers(seed uint64, c *Config) {
	newDice(seed, 0x74696572).drawTier(c)
	if d := newDice(seed, 0x6d65646961); c.HasCPUTier() && d.chance(0.4) {
		d.drawTierEvents(c)
	}
}

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
	c.KVOffloadPromptOnly, c.KVOffloadPolicy, c.KVStorage = d.chance(0.2), setup.WriteThrough, setup.StorageTiers{}
	if c.EnablePrefixCaching && d.chance(0.25) {
		c.KVOffloadPolicy, c.KVOffloadBlockSize, c.KVStoreThreshold, c.KVOffloadPromptOnly = setup.LazyOffload, 0, 0, false
	}
	c.KVTransferBandwidth.Rate = pick[latency.Rate](d, 1e8, 1e9, 48e9, 1e12)
	c.KVTransferLatency = pick[vtime.Duration](d, 0, 10, 500, 4000)
	c.KVIdleRelease = d.chance(0.2)
	if !*c.AsyncScheduling {
		c.KVIdlePoll = pick[vtime.Duration](d, 0, 0, 0, 137, 1000)
	}
	if d.chance(0.6) && c.KVOffloadPolicy != setup.LazyOffload {
		c.KVStorage = d.storage()
	}
}

// drawSessions gives x an explicit list of requests, unless they follow from answers: many of them
// share prefixes.
func (d dice) drawSessions(x *trial) {
	c := &x.Config
	if x.ClosedLoop == 0 {
		c.NumRequests, c.PrefixTokens, c.Rate, c.Concurrency, c.Timeout = 0, 0, 0, 0, 0
		x.Tenants, x.Classes, x.Requests = []string{"red", "blue"}, []string{"standard", "critical"}, nil
		d.drawRequests(x, d.between(30, 90))
	}
}

// drawSharing is the random trial of a seed in which several instances, whose GPUs and CPU tiers
// are too small for their sessions, share storage tiers.
func drawSharing(seed uint64) *trial {
	x, d := drawTrial(seed), newDice(seed, 0x73686172)
	c := &x.Config
	d.drawSessions(x)
	if c.NumInstances < 2 {
		c.NumInstances = d.between(2, 5)
		c.MaxReplicas = max(c.MaxReplicas, c.NumInstances)
	}
	c.ForceRouting, c.Horizon = "", 0
	c.BlockSizeInTokens = pick[int32](d, 4, 4, 8, 16)
	c.TotalKVBlocks = int64(d.between(150, 400)) / int64(c.BlockSizeInTokens)
	c.EnablePrefixCaching, c.MaxModelLen, c.KVOffloadPolicy = true, 0, setup.WriteThrough
	c.KVOffloadBlockSize, c.KVStoreThreshold, c.KVCPUBlocks = pick(d, 0, 0, 2*c.BlockSizeInTokens), 0, int64(d.between(10, 60))
	c.KVEviction = pick(d, "lru", "lru", "arc", "lfu", "priority")
	c.KVTransferBandwidth.Rate, c.KVTransferLatency = pick[latency.Rate](d, 1e9, 48e9, 1e12), pick[vtime.Duration](d, 0, 10, 500)
	for c.KVStorage = d.storage(); !strings.Contains(c.KVStorage.String(), "shared"); {
		c.KVStorage = d.storage()
	}
	if f := newDice(seed, 0x646f776e); f.chance(0.4) {
		f.drawStorageLinks(x)
	}
	return x
}

// TestEqualityOfSharedStorage draws clusters whose instances share storage tiers.
func TestEqualityOfSharedStorage(t *testing.T) {
	c := compareDrawn(t, testsize.Of(20, 40, 60), drawSharing)
	if 6*c.promoted < c.cases {
		t.Errorf("something was read from storage in %s of the trials, want a sixth", c.share(c.promoted))
	}
}

// storage returns one or two storage tiers.
func (d dice) storage() (s setup.StorageTiers) {
	for k := range d.between(1, 2) {
		text := fmt.Sprintf("s%d,%s,%s,%s,%s,%s", k, pick(d, "unlimited", "16MiB", "64MiB", "1GiB"), pick(d, "100MB/s", "3GB/s", "1TB/s"), pick(d, "50MB/s", "1GB/s", "1TB/s"),
			pick(d, "0", "1us", "40us", "1ms", "20ms"), pick(d, "local", "node", "shared", "shared"))
		if err := s.UnmarshalText([]byte(text)); err != nil {
			panic(err)
		}
	}
	return s
}

// A storage tier that nobody shares gives the same whether it is the instance's own or a process
// of its own.
func TestSharedByOneIsLocal(t *testing.T) {
	read := int64(0)
	first := rand.Uint64N(1 << 40)
	for seed := first; seed < first+400 || read == 0 && seed < first+4000; seed++ { // few read
		d := newDice(seed, 0x6f6e65)
		x := drawTrial(seed)
		d.drawTier(&x.Config)
		if x.Config.KVCPUBlocks == 0 || x.Config.KVStorage.String() == "" || !strings.HasSuffix(x.Config.KVStorage.String(), "shared") {
			continue
		}
		x.Config.AutoscalePolicy, x.Config.NumInstances, x.Config.MinReplicas, x.Config.MaxReplicas = "none", 1, 1, 0
		x.Config.ForceRouting, x.NoisyAutoscaler = "", 0
		x.Config.PrefixIndex, x.Config.KVEventDelay = "routed", 0 // a router hears of what is an instance's own
		shared := mustPlay(t, x)
		text := strings.NewReplacer(",shared", ",local", ",node", ",local").Replace(x.Config.KVStorage.String())
		x.Config.KVStorage = setup.StorageTiers{}
		if err := x.Config.KVStorage.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		local := mustPlay(t, x)
		shared.rest, local.rest = "", "" // the configurations differ
		shared.digest, local.digest = "", ""
		report := strings.NewReplacer(`"scope":"shared"`, `"scope":"local"`, `"scope":"node"`, `"scope":"local"`).Replace(string(shared.report))
		if shared.report = []byte(report); local.difference(shared) != "" {
			t.Fatalf("seed %d: %s", seed, local.difference(shared))
		}
		read += shared.tier.Promoted
	}
	if read == 0 {
		t.Errorf("seed %d: nothing was ever read", first)
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
