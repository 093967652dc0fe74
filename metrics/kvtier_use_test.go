package metrics

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Two instances that live 100 and 300 µs, with tiers of 10 entries, reckoned by hand.
func TestTierUse(t *testing.T) {
	c := collection{Run: Run{
		BlockBytes: 1000, InstanceNames: []string{"a", "b"},
		Counters: []Counters{{LifeMicros: 100, CachedTokens: 30}, {LifeMicros: 300, CachedTokens: 50}},
		Tiers: []KVTier{
			{Capacity: 10, EntryBlocks: 2, PeakUsed: 4, UsedMicros: 300, Stored: 8, Loaded: 3, Evicted: 1, Thrash: 2, CachedTokens: 20, MissedTokens: 90,
				StoredBlocks: 16, LoadedBlocks: 6, Stores: 4, Loads: 2, StoreMicros: 40, LoadMicros: 20, StoreWait: 8, LoadWait: 5,
				StoreNotice: 6, LoadNotice: 9, NoticedStores: 3, NoticedLoads: 1, HeldMicros: 50, FlushWaits: 1, FlushMicros: 7, AskedAgain: 2, NoRoom: 3, DeadlockBreak: 1},
			{Capacity: 10, EntryBlocks: 2, PeakUsed: 9, UsedMicros: 900, CachedTokens: 40, MissedTokens: 110, HeldMicros: 350},
		},
	}}
	x := func(v float64) *float64 { return &v }
	r := c.kvTiers().CPU
	if d := cmp.Diff(KVTierUse{
		Capacity: 20, EntryBlocks: 2, UsedMean: x(1200.0 / 4000), UsedPeak: x(0.9),
		HitRate: x(0.3), GPURate: x(20.0 / 220), TotalRate: x(80.0 / 220), Known: 220, GPUTokens: 20, Tokens: 60,
		Stored: 8, Loaded: 3, Evicted: 1,
		Store:    KVTransfers{4, 16, 16000, x(0.1), x(2), x(2)},
		Load:     KVTransfers{2, 6, 6000, x(0.05), x(2.5), x(9)},
		HeldMean: x(1), FlushWaits: 1, FlushMicros: 7, NoRoom: 3, AskedAgain: 2, DeadlockBreaks: 1, Thrashing: KVThrashing{2, x(0.25)},
	}, r.Overall); d != "" {
		t.Error(d)
	}
	if b := r.PerInstance.uses[1]; *b.HitRate != 40.0/110 || *b.UsedMean != 0.3 || b.Store.BusyShare == nil || *b.Store.BusyShare != 0 || b.Store.WaitMean != nil || b.Thrashing.Rate != nil {
		t.Errorf("instance b: %+v", b)
	}
	text, err := json.Marshal(r.PerInstance)
	var byName map[string]KVTierUse
	if err != nil || json.Unmarshal(text, &byName) != nil || byName["a"].Stored != 8 || byName["b"].Tokens != 40 {
		t.Errorf("%v: %s", err, text)
	}
	if n := c.thrashing(); n == nil || *n != 2 {
		t.Errorf("thrashing: %v", n)
	}
	c.Tiers = nil
	if c.kvTiers() != nil || c.thrashing() != nil {
		t.Error("tiers where there are none")
	}
}
