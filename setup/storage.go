package setup

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"blis/engine"
	"blis/kv"
	"blis/latency"
	"blis/vtime"
)

// StorageTiers is the storage tiers below the CPU tier, in the order in which a request asks
// them. As text they stand one after the other with semicolons; a flag that is given again
// adds to them.
type StorageTiers struct{ list []storageSetting }

// storageSetting is one storage tier as it is set. As text it is
// name,size,read,write,base,scope; of a preset the last ones may be left out.
type storageSetting struct {
	name        string
	size        latency.Bytes // of each place that scope says; 0: unlimited
	read, write latency.Rate  // of each place, or with perGPU per GPU there
	base        vtime.Duration
	scope       string
	perGPU      bool
}

// Scopes of storage tiers.
const (
	StorageLocal  = "local"  // each instance has one
	StorageNode   = "node"   // the instances of a node of eight GPUs share one
	StorageShared = "shared" // all instances share one
)

// gpusOfNode is the GPUs of the nodes by which instances share a storage tier.
const gpusOfNode = 8

// storagePresets are storage tiers of known rates: NVMe drives as LMCache measures them, and a
// remote store, whose rates were measured over all GPUs of a node (docs/kv-tiers.md).
var storagePresets = []storageSetting{
	{name: "nvme", read: 3e9, write: 1.3e9, base: 1000, scope: StorageLocal},
	{name: "remote", read: 10e9, write: 5e9, base: 1000, scope: StorageShared, perGPU: true},
}

const storageForm = "name,size,read,write,base,scope, like disk,2TiB,3GB/s,1.3GB/s,1ms,local, or a preset, like nvme,2TiB or remote"

var storageName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// mostStorageTiers is the most storage tiers of a run.
const mostStorageTiers = 8

// UnmarshalText adds tiers.
func (s *StorageTiers) UnmarshalText(text []byte) error {
	for _, part := range strings.Split(string(text), ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		t, err := parseStorageTier(part)
		switch {
		case err != nil:
			return err
		case slices.ContainsFunc(s.list, func(x storageSetting) bool { return x.name == t.name }):
			return fmt.Errorf("storage tier %s is given twice, want it once", t.name)
		case len(s.list) == mostStorageTiers:
			return fmt.Errorf("more than %d storage tiers", mostStorageTiers)
		}
		s.list = append(s.list, t)
	}
	return nil
}

// MarshalText prints the tiers as UnmarshalText reads them.
func (s StorageTiers) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Equal reports whether two lists are the same.
func (s StorageTiers) Equal(o StorageTiers) bool { return slices.Equal(s.list, o.list) }

// String is the text of all tiers.
func (s StorageTiers) String() string {
	var parts []string
	for i := range s.list {
		parts = append(parts, s.list[i].String())
	}
	return strings.Join(parts, ";")
}

// String is the tier with all its fields.
func (t *storageSetting) String() string {
	size := "unlimited"
	if t.size > 0 {
		size = t.size.String()
	}
	if t.perGPU {
		return t.name + "," + size
	}
	return fmt.Sprintf("%s,%s,%v,%v,%v,%s", t.name, size, t.read, t.write, t.base, t.scope)
}

// parseStorageTier reads the text of one tier.
func parseStorageTier(text string) (t storageSetting, err error) {
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	t.name = parts[0]
	preset := slices.IndexFunc(storagePresets, func(p storageSetting) bool { return p.name == t.name })
	switch {
	case !storageName.MatchString(t.name):
		return t, fmt.Errorf("%q is no name of a storage tier: want %s", t.name, storageForm)
	case len(parts) > 6 || preset < 0 && len(parts) < 6:
		return t, fmt.Errorf("%q has %s: want %s", text, plural(len(parts), "field"), storageForm)
	case preset >= 0:
		t = storagePresets[preset]
	}
	for i, read := range []func(string) error{t.readSize, t.readRate(&t.read), t.readRate(&t.write), t.readBase, t.readScope} {
		if i+1 == len(parts) {
			break
		}
		if err := read(parts[i+1]); err != nil {
			return t, fmt.Errorf("storage tier %s: %w", t.name, err)
		}
	}
	return t, nil
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

func (t *storageSetting) readSize(text string) error {
	if text == "unlimited" {
		t.size = 0
		return nil
	}
	if err := t.size.UnmarshalText([]byte(text)); err != nil || t.size <= 0 {
		return fmt.Errorf("size %q: want an amount of memory, like 2TiB, or unlimited", text)
	}
	return nil
}

func (t *storageSetting) readRate(r *latency.Rate) func(string) error {
	return func(text string) error {
		if err := r.UnmarshalText([]byte(text)); err != nil {
			return err
		}
		if *r == 0 {
			return fmt.Errorf("rate 0: want at least 1kB/s")
		}
		t.perGPU = false
		return nil
	}
}

func (t *storageSetting) readBase(text string) error {
	d, err := vtime.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("base latency %q: want a duration, like 1ms", text)
	}
	t.base = d
	return nil
}

func (t *storageSetting) readScope(text string) error {
	if text != StorageLocal && text != StorageNode && text != StorageShared {
		return fmt.Errorf("scope %q: want one of %s, %s, %s", text, StorageLocal, StorageNode, StorageShared)
	}
	t.scope = text
	return nil
}

// resolveStorage derives the rates of storage tiers whose presets have them per GPU.
func resolveStorage(p *resolver) error {
	c := &p.Config
	c.KVStorage.list = slices.Clone(c.KVStorage.list) // of the caller
	for i := range c.KVStorage.list {
		if t := &c.KVStorage.list[i]; t.perGPU {
			gpus := float64(c.TP * t.sharers(c))
			if n := p.sharedGPUs[t.name]; n > 0 && t.scope == StorageShared {
				gpus = float64(n)
			}
			t.read, t.write, t.perGPU = latency.Rate(float64(t.read)*gpus), latency.Rate(float64(t.write)*gpus), false
		}
	}
	return nil
}

// sharers returns the number of instances that share a place of t, each counted by its data-parallel
// ranks, which have TP GPUs each.
func (t *storageSetting) sharers(c *Config) int {
	ranks := c.NumInstances * max(1, c.DataParallelSize)
	switch t.scope {
	case StorageLocal:
		return 1
	case StorageNode:
		return min(ranks, instancesOfNode(c.TP))
	}
	return ranks
}

func instancesOfNode(tp int) int { return max(1, gpusOfNode/tp) }

// StorageTier is a storage tier of a deployment.
type StorageTier struct {
	Name, Scope string
	kv.TierConfig
	EntryTokens, EntryBlocks int32
	Read, Write              engine.Link

	perNode int // instances that share a place of scope node
}

// newStorageTiers returns the storage tiers of a resolved configuration.
func newStorageTiers(c *Config, d *latency.Deployment) (list []StorageTier, err error) {
	if !c.HasCPUTier() {
		return nil, nil
	}
	entry := c.entryTokens(c.BlockSizeInTokens)
	for i := range c.KVStorage.list {
		s := &c.KVStorage.list[i]
		t := StorageTier{
			Name: s.name, Scope: s.scope, TierConfig: kv.TierConfig{Capacity: math.MaxInt32, Eviction: kv.LRU},
			EntryTokens: entry, EntryBlocks: entry / c.BlockSizeInTokens, perNode: instancesOfNode(c.TP),
		}
		if bytes := d.KVBytesPerToken() * int64(entry); s.size > 0 {
			n := int64(s.size) / bytes
			if n < 1 {
				return nil, inputErrorf("--kv-storage: %s has %v: want at least %v, which an entry of %d tokens takes", s.name, s.size, latency.Bytes(bytes), entry)
			}
			t.Capacity = int(min(n, math.MaxInt32))
		}
		block := float64(d.KVBytesPerToken() * int64(c.BlockSizeInTokens))
		t.Read = engine.Link{Base: float64(s.base), PerBlock: block / float64(s.read) * 1e6}
		t.Write = engine.Link{Base: float64(s.base), PerBlock: block / float64(s.write) * 1e6}
		list = append(list, t)
	}
	return list, nil
}

// Places returns the number of places that at most n instances at a time share; 0: each has its
// own.
func (t *StorageTier) Places(n int) int {
	switch t.Scope {
	case StorageLocal:
		return 0
	case StorageNode:
		return (n + t.perNode - 1) / t.perNode
	}
	return 1
}

// Place returns which of the places instance i shares with others. Instances fill nodes in the
// order of their numbers; a number beyond the last node starts at the first one again.
func (t *StorageTier) Place(i, places int) int { return i / t.perNode % places }

// Storage returns the tier for an engine or an actor, with a store of its own.
func (t *StorageTier) Storage(store kv.Tier) engine.StorageConfig {
	return engine.StorageConfig{Tier: store, EntryTokens: t.EntryTokens, EntryBlocks: t.EntryBlocks, Read: t.Read, Write: t.Write}
}

// MinAnswer returns the least time from an operation to its answer.
func (t *StorageTier) MinAnswer() vtime.Duration {
	c := t.Storage(nil)
	return c.MinAnswer()
}
