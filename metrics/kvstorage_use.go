package metrics

// KVStorageUse is how a storage tier was used over the whole run, in all its places together.
// Missing values are nil.
type KVStorageUse struct {
	Name        string   `json:"name"`
	Scope       string   `json:"scope"`
	Places      int64    `json:"places"`            // one per instance, per node, or one
	Capacity    *int64   `json:"capacity_entries"`  // of all of them; nil: unlimited
	EntryBlocks int64    `json:"entry_blocks"`      // GPU blocks in an entry
	UsedMean    float64  `json:"used_entries_mean"` // in all of them, over time
	UsedPeak    int64    `json:"used_entries_peak"` // the highest of any place
	Questions   int64    `json:"questions"`         // of requests
	HitRate     *float64 `json:"hit_rate"`          // of the entries that they asked for, those that it had

	ReadEntries    int64 `json:"read_entries"`
	WrittenEntries int64 `json:"written_entries"`
	Evicted        int64 `json:"evicted_entries"`
	NoRoom         int64 `json:"no_room"` // writes dropped because nothing could be evicted

	Read  KVTransfers `json:"read"`  // to CPU tiers
	Write KVTransfers `json:"write"` // from CPU tiers
}

// storageUses reports the storage tiers of the run; nil if there are none.
func (c *collection) storageUses() (list []KVStorageUse) {
	for i := range c.Storage {
		k := &c.Storage[i]
		life := float64(k.LifeMicros)
		u := KVStorageUse{
			Name: k.Name, Scope: k.Scope, Places: k.Places, EntryBlocks: k.EntryBlocks, UsedPeak: k.PeakUsed,
			Questions: k.Asked, HitRate: ratio(float64(k.FoundEntries), float64(k.AskedEntries)),
			ReadEntries: k.ReadEntries, WrittenEntries: k.WrittenEntries, Evicted: k.Evicted, NoRoom: k.NoRoom,
			Read:  KVTransfers{Transfers: k.Reads, Blocks: k.ReadEntries * k.EntryBlocks, BusyShare: ratio(float64(k.ReadMicros), life), WaitMean: ratio(float64(k.ReadWait), float64(k.Reads))},
			Write: KVTransfers{Transfers: k.Writes, Blocks: k.WrittenEntries * k.EntryBlocks, BusyShare: ratio(float64(k.WriteMicros), life), WaitMean: ratio(float64(k.WriteWait), float64(k.Writes))},
		}
		if k.Capacity < UnlimitedEntries {
			u.Capacity = &k.Capacity
		}
		if c.End > 0 {
			u.UsedMean = float64(k.UsedMicros) / float64(c.End)
		}
		u.Read.Bytes, u.Write.Bytes = u.Read.Blocks*c.BlockBytes, u.Write.Blocks*c.BlockBytes
		list = append(list, u)
	}
	return list
}

// UnlimitedEntries is the capacity of a storage tier from which on it has no limit.
const UnlimitedEntries = 1<<31 - 1
