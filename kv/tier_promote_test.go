package kv

import (
	"math"
	"slices"
	"testing"

	"blis/vtime"
	"blis/workload"
)

func wantPromote(t *testing.T, tier Tier, s *TierSequence, from, to, want int32) {
	t.Helper()
	if end := tier.Promote(s, from, to); end != want {
		t.Errorf("promotion of entries %d to %d of request %d ends at %d, want %d", from, to, s.content.id, end, want)
	}
}

func wantCheck(t *testing.T, tier Tier, writers []*TierSequence, loads, copies int) {
	t.Helper()
	if err := tier.Check(writers, loads, copies); err != nil {
		t.Error(err)
	}
}

func TestPromoteEndsWhereRoomDoes(t *testing.T) {
	onBothTiers(t, TierConfig{Capacity: 6, Eviction: LRU}, func(t *testing.T, tier Tier) {
		a, b, c := tierOf(1, 1, 3), tierOf(2, 2), tierOf(3, 3)
		write(t, tier, a, 0, 2)
		write(t, tier, b, 0, 1)
		wantStore(t, tier, b, 1, 2, 1, true)
		wantPromote(t, tier, c, 0, 0, 0)
		wantPromote(t, tier, c, 0, 3, 3) // into two new slots and that of a's entry 1
		wantPromote(t, tier, c, 0, 3, 0) // they are there
		wantLookup(t, tier, c, 0, 3, 0)
		wantLookup(t, tier, a, 0, 4, 1)
		wantPromote(t, tier, a, 1, 4, 2) // b's entry 0 goes, a's entry 0 does not
		wantPromote(t, tier, a, 2, 4, 2)
		wantLookup(t, tier, a, 0, 4, 1)
		if tier.Used() != 6 || tier.Evicted() != 2 {
			t.Errorf("%d used, %d evicted, want 6 and 2", tier.Used(), tier.Evicted())
		}
		wantCheck(t, tier, []*TierSequence{a, b, c}, 0, 0)
	})
}

func TestPromoteEndsAtAnEntryThatIsThere(t *testing.T) {
	onBothTiers(t, TierConfig{Capacity: math.MaxInt, Eviction: LRU, Threshold: 2}, func(t *testing.T, tier Tier) {
		a, again := tierOf(1, 2, 4), tierOf(1, 2, 4)
		again.content.id = 2
		wantPromote(t, tier, a, 4, 5, 5)
		wantPromote(t, tier, again, 1, 6, 4)
		for i, want := range []bool{false, true, true, true, true, false} {
			if tier.Promoting(a, int32(i)) != want || tier.Promoting(again, int32(i)) != want {
				t.Errorf("entry %d is being promoted: want %v", i, want)
			}
		}
		if list := tier.Written(again, nil); !slices.Equal(list, []EntryRange{{1, 4}}) || tier.Promoting(a, 1) {
			t.Errorf("written %v", list)
		}
		wantLookup(t, tier, a, 1, 6, 3)
		wantLookup(t, tier, a, 1, 6, 3)
		wantStore(t, tier, a, 0, 6, 1, true) // the last one; nobody looked up the first
		if tier.Promoting(a, 5) {
			t.Error("an entry that is being stored is being promoted")
		}
		tier.Sent(a, 0, 6, 10)
		if list := tier.Written(a, []EntryRange{{3, 4}}); !slices.Equal(list, []EntryRange{{3, 4}, {4, 6}}) {
			t.Errorf("written %v", list)
		}
		if n := tier.BeginLoad(a, 1, 6, 0); n != 1 {
			t.Errorf("%d entries thrash, want only the stored one", n)
		}
		wantCheck(t, tier, []*TierSequence{a, again}, 5, 0)
	})
}

func TestWithdrawnEntriesWereNeverThere(t *testing.T) {
	for _, eviction := range Evictions {
		onBothTiers(t, TierConfig{Capacity: 9, Eviction: eviction}, func(t *testing.T, tier Tier) {
			a, b := tierOf(1, 3, 5), tierOf(2, 1)
			tier.Journal(func(key uint64, stored bool) { t.Errorf("key %x, stored %v", key, stored) })
			tier.Withdraw(a, 0, 8)
			wantStore(t, tier, a, 0, 3, 3, true)
			wantPromote(t, tier, a, 3, 8, 8)
			wantPromote(t, tier, b, 0, 1, 1)
			tier.Withdraw(a, 0, 1)
			tier.Withdraw(a, 2, 5)
			tier.Withdraw(b, 1, 5)
			wantCheck(t, tier, []*TierSequence{a, b}, 0, 0)
			tier.Sent(a, 0, 3, 5)
			tier.Withdraw(a, 0, 8)
			tier.Withdraw(b, 0, 1)
			if tier.Used() != 0 || tier.Evicted() != 0 || tier.Written(a, nil) != nil || tier.Fold() != NewNaiveTier(TierConfig{Capacity: 1}).Fold() {
				t.Errorf("%d used, %d evicted", tier.Used(), tier.Evicted())
			}
			wantCheck(t, tier, nil, 0, 0)
		})
	}
}

func TestTierKeepsEntriesBeingCopied(t *testing.T) {
	for _, eviction := range Evictions {
		onBothTiers(t, TierConfig{Capacity: 4, Eviction: eviction}, func(t *testing.T, tier Tier) {
			a, b := tierOf(1, 4), tierOf(2, 2)
			write(t, tier, a, 0, 4)
			tier.BeginCopy(a, 0, 3)
			if tier.Loading(a, 0, 4) {
				t.Error("a copy is seen as a load")
			}
			wantStore(t, tier, b, 0, 2, 0, false)
			wantPromote(t, tier, b, 0, 2, 1)
			wantLookup(t, tier, a, 0, 4, 3)
			tier.BeginCopy(a, 2, 3)
			tier.EndCopy(a, 0, 3)
			tier.BeginLoad(a, 2, 3, 0)
			wantCheck(t, tier, []*TierSequence{b}, 1, 1)
			tier.EndLoad(a, 2, 3)
			wantStore(t, tier, b, 0, 2, 1, true)
			wantLookup(t, tier, a, 2, 3, 1)
			tier.EndCopy(a, 2, 3)
			defer func() {
				if recover() == nil {
					t.Error("a copy that did not begin ends")
				}
			}()
			tier.EndCopy(a, 2, 3)
		})
	}
}

// The deepest entries are the oldest, become readable first and are stored first.
func TestStoreDeepest(t *testing.T) {
	onBothTiers(t, TierConfig{Capacity: 5, Eviction: LRU, Threshold: 2}, func(t *testing.T, tier Tier) {
		var events []event
		tier.Journal(func(key uint64, stored bool) { events = append(events, event{key, stored}) })
		a, b := tierOf(1, 3, 4), tierOf(2, 2)
		keys := workload.AppendKeys(nil, a.content.spans, entrySize, 7)
		want := func(s *TierSequence, from, to, lo, hi int32) {
			t.Helper()
			if first, end := tier.StoreDeepest(s, from, to); first != lo || end != hi {
				t.Errorf("deepest entries of %d to %d: %d to %d, want %d to %d", from, to, first, end, lo, hi)
			}
		}
		want(a, 4, 5, 4, 5)
		want(a, 0, 7, 5, 7)
		want(a, 0, 5, 2, 4)
		want(a, 0, 2, 2, 2) // there is no room
		want(a, 2, 7, 2, 2) // all are there
		tier.Sent(a, 2, 7, 5)
		if list := tier.Written(a, nil); !slices.Equal(list, []EntryRange{{4, 5}, {5, 7}, {2, 4}}) {
			t.Errorf("written %v", list)
		}
		if !slices.Equal(events, []event{{keys[4], true}, {keys[6], true}, {keys[5], true}, {keys[3], true}, {keys[2], true}}) {
			t.Errorf("events %v of keys %v", events, keys)
		}
		want(b, 0, 2, 0, 2) // for entries 4 and 6
		wantLookup(t, tier, a, 2, 7, 2)
		wantLookup(t, tier, a, 5, 7, 1)
		wantCheck(t, tier, []*TierSequence{b}, 0, 0)
	})
}

func TestOneRequestStoresInOneOrder(t *testing.T) {
	tier, a := NewTier(TierConfig{Capacity: 5, Eviction: LRU}), tierOf(1, 5)
	tier.StoreDeepest(a, 0, 2)
	defer func() {
		if recover() == nil {
			t.Error("entries are stored for one request in both orders")
		}
	}()
	tier.Store(a, 2, 3)
}

// What was copied is one interval with its neighbours again, and waits for nothing.
func TestTierForgetsCopies(t *testing.T) {
	tier, a := NewTier(TierConfig{Capacity: 100, Eviction: LRU}), tierOf(1, 20)
	write(t, tier, a, 0, 20)
	tier.Advance(vtime.Time(0).Add(Thrashing))
	version := tier.tree.version
	tier.BeginCopy(a, 0, 20)
	if tier.tree.version != version {
		t.Error("a copy makes the tier forget what a lookup found")
	}
	tier.BeginCopy(a, 4, 9)
	if n := tier.tree.intervals.inUse(); n != 3 {
		t.Errorf("%d intervals, want 3", n)
	}
	tier.EndCopy(a, 0, 20)
	tier.EndCopy(a, 4, 9)
	if n := tier.tree.intervals.inUse(); n != 1 {
		t.Errorf("%d intervals, want 1", n)
	}
}

// What is copied from one tier to another is used there as a tier uses it whose request is its own.
func TestTierTakesContentOfAnother(t *testing.T) {
	spans := []workload.Span{{Content: 7, Length: 40}, {Content: 8, Length: 24}}
	for _, input := range []int32{64, 100} { // all of it named, so that output is; or not
		for _, spans := range [][]workload.Span{spans, nil} {
			var s Sequence
			s.Open(3, input, spans, 9, entrySize, true)
			upper, lower := NewTier(TierConfig{Capacity: 20, Eviction: ARC}), NewTier(TierConfig{Capacity: 20, Eviction: ARC})
			var a, b TierSequence
			b.OpenContent(1, 1000, []workload.Span{{Content: 5, Length: 1000}}, 6, 1, 0) // another one before
			a.Open(&s, entrySize, 2)
			id, length, named, output := a.Content()
			b.OpenContent(id, length, named, output, entrySize, 2)
			for tier, s := range map[*ExtentTier]*TierSequence{upper: &a, lower: &b} { // any order
				write(t, tier, s, 0, 9)
				tier.Touch(s, 4)
				wantPromote(t, tier, s, 9, 12, 12)
			}
			if upper.Fold() != lower.Fold() {
				t.Errorf("prompt of %d tokens with %d spans: folds %x and %x", input, len(spans), upper.Fold(), lower.Fold())
			}
			id2, length2, named2, output2 := b.Content()
			if id2 != 3 || length2 != input || !slices.Equal(named2, spans) || output2 != output || (output == 9) != (input == 64 && spans != nil) {
				t.Errorf("content of request %d with %d tokens, spans %v, output %d", id2, length2, named2, output2)
			}
		}
	}
}

func TestStorageTierDoesNotAllocate(t *testing.T) {
	for _, eviction := range Evictions {
		tier := NewTier(TierConfig{Capacity: 200, Eviction: eviction})
		var requests []*TierSequence
		for id := range uint64(12) {
			requests = append(requests, tierOf(id+1, 7, 9, 14))
		}
		var list, lists []EntryRange
		var lazy TierSequence
		i := 0
		use := func() {
			s := requests[i%len(requests)]
			tier.Touch(s, 30)
			from := tier.Lookup(s, 0, 30)
			end := tier.Promote(s, from, 30)
			tier.Withdraw(s, end-(end-from)/3, end)
			for _, r := range list {
				tier.EndCopy(requests[(i+7)%len(requests)], r.From, r.To) // the one before
			}
			lazy.OpenContent(uint64(100+i%7), 1000, nil, 0, entrySize, 0)
			if lo, hi := tier.StoreDeepest(&lazy, 0, 4); lo < hi {
				tier.Sent(&lazy, lo, hi, vtime.Time(i))
				tier.Withdraw(&lazy, lo, lo+1)
				lists = tier.Written(&lazy, lists[:0])
			}
			if list = tier.Written(s, list[:0]); tier.Promoting(s, 29) {
				t.Error("entry 29 is not written")
			}
			for _, r := range list {
				tier.BeginCopy(s, r.From, r.To)
			}
			i += 5
		}
		for range 100 {
			use()
		}
		if n := testing.AllocsPerRun(100, use); n > 0 {
			t.Errorf("%s: %v allocations per request", eviction, n)
		}
		if tier.Evicted() == 0 {
			t.Errorf("%s: nothing was evicted", eviction)
		}
	}
}
