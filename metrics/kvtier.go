package metrics

// KVTier is what an instance counts of its CPU tier, over its whole life. All are
// plain integers; integrals over time are in units times µs.
type KVTier struct {
	Capacity    int64 `json:"capacity"`     // entries
	EntryBlocks int64 `json:"entry_blocks"` // GPU blocks in an entry
	PeakUsed    int64 `json:"peak_used"`    // most entries at once
	UsedMicros  int64 `json:"used_us"`      // ∫ entries dt

	Stored  int64 `json:"stored"`  // entries written
	Evicted int64 `json:"evicted"` // entries
	Loaded  int64 `json:"loaded"`  // entries read
	NoRoom  int64 `json:"no_room"` // stores that were put off because nothing could be evicted
	Thrash  int64 `json:"thrash"`  // entries whose load began less than 1 ms after their store ended

	CachedTokens int64 `json:"cached_tokens"` // read for requests at their first admission
	MissedTokens int64 `json:"missed_tokens"` // known tokens that were not in the GPU's cache then

	StoredBlocks  int64 `json:"stored_blocks"`   // GPU blocks moved down
	LoadedBlocks  int64 `json:"loaded_blocks"`   // and up
	Stores        int64 `json:"stores"`          // transfers
	Loads         int64 `json:"loads"`           // transfers
	StoreMicros   int64 `json:"store_us"`        // transfers moved, up to the end of the run
	LoadMicros    int64 `json:"load_us"`         // transfers moved, up to the end of the run
	StoreWait     int64 `json:"store_wait_us"`   // from submission to start, summed
	LoadWait      int64 `json:"load_wait_us"`    // from submission to start, summed
	StoreNotice   int64 `json:"store_notice_us"` // from end to notice, summed
	LoadNotice    int64 `json:"load_notice_us"`  // from end to notice, summed
	NoticedStores int64 `json:"noticed_stores"`  // transfers
	NoticedLoads  int64 `json:"noticed_loads"`   // transfers
	HeldMicros    int64 `json:"held_us"`         // ∫ GPU blocks of requests that ended dt
	FlushWaits    int64 `json:"flush_waits"`     // steps that waited for the stores of a victim
	FlushMicros   int64 `json:"flush_us"`        // they waited
	AskedAgain    int64 `json:"asked_again"`     // lookups put off because another request loads the same
	DeadlockBreak int64 `json:"deadlock_breaks"`

	// With storage tiers below.
	Found          int64 `json:"found"`             // questions of requests that were answered by more than 0 entries
	Promoted       int64 `json:"promoted"`          // entries read from storage tiers
	Vanished       int64 `json:"vanished"`          // entries found in a storage tier that were evicted there before they were read
	NoticedStorage int64 `json:"noticed_storage"`   // reads and writes of storage tiers that were noticed
	StorageNotice  int64 `json:"storage_notice_us"` // from end to notice of those, summed
	StorageTokens  int64 `json:"storage_tokens"`    // read from storage tiers for requests at their first admission
}

// Merge adds the counters of another instance.
func (k *KVTier) Merge(o *KVTier) {
	peak, blocks := max(k.PeakUsed, o.PeakUsed), max(k.EntryBlocks, o.EntryBlocks)
	mine, other := k.fields(), o.fields()
	for i := range mine {
		*mine[i] += *other[i]
	}
	k.PeakUsed, k.EntryBlocks = peak, blocks
}

// Fold is a hash of all counters, of those of storage tiers only where there are any.
func (k *KVTier) Fold() uint64 {
	var values []uint64
	for _, p := range k.fields() {
		values = append(values, uint64(*p))
	}
	if k.Found|k.Promoted|k.Vanished|k.StorageTokens|k.NoticedStorage == 0 {
		values = values[:len(values)-6]
	}
	return foldInts(values...)
}

func (k *KVTier) fields() [34]*int64 {
	return [...]*int64{
		&k.Capacity, &k.EntryBlocks, &k.PeakUsed, &k.UsedMicros,
		&k.Stored, &k.Evicted, &k.Loaded, &k.NoRoom, &k.Thrash, &k.CachedTokens, &k.MissedTokens,
		&k.StoredBlocks, &k.LoadedBlocks, &k.Stores, &k.Loads, &k.StoreMicros, &k.LoadMicros,
		&k.StoreWait, &k.LoadWait, &k.StoreNotice, &k.LoadNotice, &k.NoticedStores, &k.NoticedLoads, &k.HeldMicros, &k.FlushWaits, &k.FlushMicros,
		&k.AskedAgain, &k.DeadlockBreak,
		&k.Found, &k.Promoted, &k.Vanished, &k.NoticedStorage, &k.StorageNotice, &k.StorageTokens,
	}
}
