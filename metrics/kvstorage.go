package metrics

// KVStorage is what a storage tier counts, over the whole run. All are plain integers;
// integrals over time are in units times µs.
type KVStorage struct {
	Name        string `json:"name"`
	Scope       string `json:"scope"`
	Places      int64  `json:"places"`       // one per instance, per node, or one
	Capacity    int64  `json:"capacity"`     // entries; UnlimitedEntries: no limit
	EntryBlocks int64  `json:"entry_blocks"` // GPU blocks in an entry
	PeakUsed    int64  `json:"peak_used"`    // most entries at once
	LifeMicros  int64  `json:"life_us"`      // that the places were there, summed
	UsedMicros  int64  `json:"used_us"`      // ∫ entries dt

	Asked        int64 `json:"asked"`         // questions
	AskedEntries int64 `json:"asked_entries"` // entries in them
	FoundEntries int64 `json:"found_entries"` // of those, entries that could be read

	ReadEntries    int64 `json:"read_entries"`
	WrittenEntries int64 `json:"written_entries"`
	Evicted        int64 `json:"evicted"` // entries
	NoRoom         int64 `json:"no_room"` // writes of a request that were dropped because nothing could be evicted

	Reads       int64 `json:"reads"`         // transfers
	Writes      int64 `json:"writes"`        // transfers
	ReadMicros  int64 `json:"read_us"`       // reads moved, up to the end of the run
	WriteMicros int64 `json:"write_us"`      // writes moved, up to the end of the run
	ReadWait    int64 `json:"read_wait_us"`  // from submission to start, summed
	WriteWait   int64 `json:"write_wait_us"` // from submission to start, summed
}

// Merge adds the counters of another place of the tier.
func (k *KVStorage) Merge(o *KVStorage) {
	k.Capacity += o.Capacity
	k.EntryBlocks, k.PeakUsed = max(k.EntryBlocks, o.EntryBlocks), max(k.PeakUsed, o.PeakUsed)
	k.Places++
	for _, x := range [...]struct{ to, from *int64 }{
		{&k.LifeMicros, &o.LifeMicros}, {&k.UsedMicros, &o.UsedMicros}, {&k.Asked, &o.Asked}, {&k.AskedEntries, &o.AskedEntries}, {&k.FoundEntries, &o.FoundEntries},
		{&k.ReadEntries, &o.ReadEntries}, {&k.WrittenEntries, &o.WrittenEntries}, {&k.Evicted, &o.Evicted}, {&k.NoRoom, &o.NoRoom},
		{&k.Reads, &o.Reads}, {&k.Writes, &o.Writes}, {&k.ReadMicros, &o.ReadMicros}, {&k.WriteMicros, &o.WriteMicros},
		{&k.ReadWait, &o.ReadWait}, {&k.WriteWait, &o.WriteWait},
	} {
		*x.to += *x.from
	}
}

// Fold is a hash of all counters.
func (k *KVStorage) Fold() uint64 {
	return foldInts(
		uint64(k.Capacity), uint64(k.EntryBlocks), uint64(k.PeakUsed), uint64(k.UsedMicros),
		uint64(k.Asked), uint64(k.AskedEntries), uint64(k.FoundEntries),
		uint64(k.ReadEntries), uint64(k.WrittenEntries), uint64(k.Evicted), uint64(k.NoRoom),
		uint64(k.Reads), uint64(k.Writes), uint64(k.ReadMicros), uint64(k.WriteMicros), uint64(k.ReadWait), uint64(k.WriteWait),
	)
}
