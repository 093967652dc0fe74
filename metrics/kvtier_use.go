package metrics

// KVTiers reports the tiers below the GPUs' KV caches.
type KVTiers struct {
	CPU     KVTierReport   `json:"cpu"`
	Storage []KVStorageUse `json:"storage,omitempty"` // in the order in which requests ask them
}

// KVTierReport is how one tier was used: over all instances, and on each.
type KVTierReport struct {
	Overall     KVTierUse         `json:"overall"`
	PerInstance KVTiersByInstance `json:"per_instance"`
}

// KVTierUse is how the tier of some instances was used, over their whole lives. Missing
// values are nil. Tokens are those of requests at their first admission.
type KVTierUse struct {
	Capacity    int64    `json:"capacity_entries"` // of all of them
	EntryBlocks int64    `json:"entry_blocks"`     // GPU blocks in an entry
	UsedMean    *float64 `json:"used_mean"`        // share of the capacity, over time
	UsedPeak    *float64 `json:"used_peak"`        // the highest of any instance

	HitRate   *float64 `json:"hit_rate"`       // of the tokens that the GPU's cache missed
	GPURate   *float64 `json:"gpu_hit_rate"`   // of the known tokens
	TotalRate *float64 `json:"total_hit_rate"` // of the known tokens: GPU and tier
	Known     int64    `json:"known_tokens"`   // of the requests
	GPUTokens int64    `json:"gpu_tokens"`     // found in the GPU's cache
	Tokens    int64    `json:"tier_tokens"`    // read from the tier, without those of storage tiers

	// With storage tiers below.
	StorageRate   *float64 `json:"storage_hit_rate,omitempty"`       // of the tokens that GPU and CPU tier missed
	StorageTokens int64    `json:"storage_tokens,omitempty"`         // read from storage tiers through this one
	Promoted      int64    `json:"promoted_entries,omitempty"`       // read from storage tiers
	StorageNotice *float64 `json:"storage_notice_mean_us,omitempty"` // from the end of a read or write of storage to its notice
	Vanished      int64    `json:"vanished_entries,omitempty"`       // found in a storage tier and evicted there before they were read

	Stored  int64 `json:"stored_entries"`
	Loaded  int64 `json:"loaded_entries"`
	Evicted int64 `json:"evicted_entries"`

	Store KVTransfers `json:"store"` // GPU to tier
	Load  KVTransfers `json:"load"`  // tier to GPU

	HeldMean       *float64 `json:"held_blocks_mean"` // GPU blocks of requests that ended, of an instance
	FlushWaits     int64    `json:"flush_waits"`      // steps that waited for the stores of a victim
	FlushMicros    int64    `json:"flush_wait_us"`
	NoRoom         int64    `json:"no_room"`     // stores put off because nothing could be evicted
	AskedAgain     int64    `json:"asked_again"` // lookups put off because another request loads the same
	DeadlockBreaks int64    `json:"deadlock_breaks"`

	Thrashing KVThrashing `json:"kv_thrashing"`
}

// KVTransfers are the transfers of one direction.
type KVTransfers struct {
	Transfers  int64    `json:"transfers"`
	Blocks     int64    `json:"blocks"` // of the GPU
	Bytes      int64    `json:"bytes"`
	BusyShare  *float64 `json:"busy_share"`     // of the time: a transfer moved
	WaitMean   *float64 `json:"wait_mean_us"`   // from submission to start
	NoticeMean *float64 `json:"notice_mean_us"` // from end to notice, of those noticed
}

// KVThrashing counts entries whose load began less than 1 ms after their store ended.
type KVThrashing struct {
	Count int64    `json:"count"`
	Rate  *float64 `json:"rate"` // per entry stored
}

// KVTiersByInstance is by instance, in the order of their indices.
type KVTiersByInstance struct {
	names []string
	uses  []KVTierUse
}

// MarshalJSON prints an object from instance to use that keeps the order.
func (s KVTiersByInstance) MarshalJSON() ([]byte, error) {
	return Object(s.names, func(i int) any { return &s.uses[i] })
}

// kvTiers reports the CPU tiers of the run; nil if there are none.
func (c *collection) kvTiers() *KVTiers {
	if c.Tiers == nil {
		return nil
	}
	cpu := KVTierReport{Overall: c.tierUse(0, len(c.Tiers)), PerInstance: KVTiersByInstance{}}
	for i := range c.Tiers {
		if c.Tiers[i].Capacity == 0 { // its pool has none
			continue
		}
		cpu.PerInstance.names = append(cpu.PerInstance.names, c.InstanceNames[i])
		cpu.PerInstance.uses = append(cpu.PerInstance.uses, c.tierUse(i, i+1))
	}
	return &KVTiers{CPU: cpu, Storage: c.storageUses()}
}

// tierUse reports the tiers of the instances from one up to another together.
func (c *collection) tierUse(from, to int) KVTierUse {
	var k KVTier
	var capacity sum128 // entries times µs
	var peak *float64
	life, cached, stored, loaded := 0.0, int64(0), int64(0), int64(0)
	for i := from; i < to; i++ {
		t := &c.Tiers[i]
		k.Merge(t)
		life += float64(c.Counters[i].LifeMicros)
		cached += c.Counters[i].CachedTokens
		stored += t.StoredBlocks * c.blockBytesOf(i)
		loaded += t.LoadedBlocks * c.blockBytesOf(i)
		capacity.addProduct(t.Capacity, c.Counters[i].LifeMicros)
		if p := ratio(float64(t.PeakUsed), float64(t.Capacity)); p != nil && (peak == nil || *p > *peak) {
			peak = p
		}
	}
	gpu := cached - k.CachedTokens - k.StorageTokens
	known := gpu + k.MissedTokens
	u := KVTierUse{
		Capacity: k.Capacity, EntryBlocks: k.EntryBlocks, UsedMean: ratio(float64(k.UsedMicros), capacity.float()), UsedPeak: peak,
		HitRate: ratio(float64(k.CachedTokens), float64(k.MissedTokens)), GPURate: ratio(float64(gpu), float64(known)),
		TotalRate: ratio(float64(cached), float64(known)), Known: known, GPUTokens: gpu, Tokens: k.CachedTokens,
		Stored: k.Stored, Loaded: k.Loaded, Evicted: k.Evicted,
		Store:    KVTransfers{Transfers: k.Stores, Blocks: k.StoredBlocks, BusyShare: ratio(float64(k.StoreMicros), life), WaitMean: ratio(float64(k.StoreWait), float64(k.Stores)), NoticeMean: ratio(float64(k.StoreNotice), float64(k.NoticedStores))},
		Load:     KVTransfers{Transfers: k.Loads, Blocks: k.LoadedBlocks, BusyShare: ratio(float64(k.LoadMicros), life), WaitMean: ratio(float64(k.LoadWait), float64(k.Loads)), NoticeMean: ratio(float64(k.LoadNotice), float64(k.NoticedLoads))},
		HeldMean: ratio(float64(k.HeldMicros), life), FlushWaits: k.FlushWaits, FlushMicros: k.FlushMicros,
		NoRoom: k.NoRoom, AskedAgain: k.AskedAgain, DeadlockBreaks: k.DeadlockBreak,
		Thrashing: KVThrashing{k.Thrash, ratio(float64(k.Thrash), float64(k.Stored))},
	}
	if c.Storage != nil {
		u.StorageRate = ratio(float64(k.StorageTokens), float64(k.MissedTokens-k.CachedTokens))
		u.StorageNotice = ratio(float64(k.StorageNotice), float64(k.NoticedStorage))
		u.StorageTokens, u.Promoted, u.Vanished = k.StorageTokens, k.Promoted, k.Vanished
	}
	u.Store.Bytes, u.Load.Bytes = stored, loaded
	return u
}
