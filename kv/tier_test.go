package kv

import (
	"slices"
	"testing"

	"blis/vtime"
	"blis/workload"
)

const entrySize = 16

// tierOf makes the request id, of content of whole entries each.
func tierOf(id uint64, entries ...int32) *TierSequence {
	var spans []workload.Span
	input := int32(0)
	for i, n := range entries {
		spans = append(spans, workload.Span{Content: workload.ContentID(10*id + uint64(i)), Length: n * entrySize})
		input += n * entrySize
	}
	return tierSequence(id, input, spans, 0)
}

func tierSequence(id uint64, input int32, spans []workload.Span, priority float64) *TierSequence {
	var s Sequence
	s.Open(id, int32(input), spans, 0, entrySize, true)
	t := &TierSequence{}
	t.Open(&s, entrySize, priority)
	return t
}

// onBothTiers runs a test on both tiers.
func onBothTiers(t *testing.T, c TierConfig, test func(t *testing.T, tier Tier)) {
	t.Run("extents", func(t *testing.T) { test(t, NewTier(c)) })
	t.Run("naive", func(t *testing.T) { test(t, NewNaiveTier(c)) })
}

// write stores, touches and writes entries from … to−1 of s.
func write(t *testing.T, tier Tier, s *TierSequence, from, to int32) {
	t.Helper()
	wantStore(t, tier, s, from, to, to-from, true)
	tier.Touch(s, to)
	tier.Sent(s, from, to, 0)
	tier.Written(s, nil)
}

func wantStore(t *testing.T, tier Tier, s *TierSequence, from, to, entries int32, ok bool) {
	t.Helper()
	if n, fits := tier.Store(s, from, to); n != entries || fits != ok {
		t.Errorf("store of entries %d to %d: %d, %v, want %d, %v", from, to, n, fits, entries, ok)
	}
}

func wantLookup(t *testing.T, tier Tier, s *TierSequence, from, to, want int32) {
	t.Helper()
	if n := tier.Lookup(s, from, to); n != want {
		t.Errorf("lookup of entries %d to %d of request %d: %d, want %d", from, to, s.content.id, n, want)
	}
}

func TestTierEvictsTheDeepestEntriesFirst(t *testing.T) {
	onBothTiers(t, TierConfig{Capacity: 5, Eviction: LRU}, func(t *testing.T, tier Tier) {
		a, b, c := tierOf(1, 2, 1), tierOf(2, 2), tierOf(3, 2)
		write(t, tier, a, 0, 3)
		write(t, tier, b, 0, 2)
		write(t, tier, c, 0, 2)
		wantLookup(t, tier, a, 0, 3, 1)
		tier.Touch(a, 3)
		write(t, tier, tierOf(4, 2), 0, 2)
		wantLookup(t, tier, a, 0, 3, 1)
		wantLookup(t, tier, b, 0, 2, 0)
		if tier.Used() != 5 || tier.Evicted() != 4 {
			t.Errorf("%d used, %d evicted, want 5 and 4", tier.Used(), tier.Evicted())
		}
	})
}

func TestTierKeepsEntriesBeingWrittenOrRead(t *testing.T) {
	onBothTiers(t, TierConfig{Capacity: 4, Eviction: LRU}, func(t *testing.T, tier Tier) {
		a, b := tierOf(1, 4), tierOf(2, 2)
		wantStore(t, tier, a, 0, 4, 4, true)
		wantLookup(t, tier, a, 0, 4, 0)
		wantStore(t, tier, b, 0, 1, 0, false)
		tier.Written(a, nil)
		tier.BeginLoad(a, 0, 3, 0)
		wantStore(t, tier, b, 0, 2, 0, false)
		wantStore(t, tier, b, 0, 1, 1, true)
		if wantLookup(t, tier, a, 0, 4, 3); !tier.Loading(a, 2, 3) {
			t.Error("entry 2 is not being read")
		}
		tier.EndLoad(a, 0, 3)
		wantStore(t, tier, b, 0, 2, 1, true)
		wantLookup(t, tier, a, 1, 3, 2)
		wantLookup(t, tier, a, 0, 3, 0) // never touched: entry 0 was the oldest
	})
}

func TestStoreDoesNotEvictWhatItAsksFor(t *testing.T) {
	onBothTiers(t, TierConfig{Capacity: 4, Eviction: LRU}, func(t *testing.T, tier Tier) {
		a, b := tierOf(1, 5), tierOf(2, 1)
		write(t, tier, a, 0, 2)
		write(t, tier, b, 0, 1)
		wantStore(t, tier, a, 0, 5, 0, false)
		wantStore(t, tier, a, 0, 4, 2, true)
		wantLookup(t, tier, b, 0, 1, 0)
	})
}

func TestTierOfARCKeepsWhatIsUsedTwice(t *testing.T) {
	onBothTiers(t, TierConfig{Capacity: 3, Eviction: ARC}, func(t *testing.T, tier Tier) {
		a, b, c := tierOf(1, 1), tierOf(2, 2), tierOf(3, 1)
		write(t, tier, a, 0, 1)
		tier.Touch(a, 1) // used twice
		write(t, tier, b, 0, 2)
		write(t, tier, c, 0, 1)
		wantLookup(t, tier, a, 0, 1, 1)
		wantLookup(t, tier, b, 0, 2, 1)
		tier.Touch(b, 2) // a ghost is asked for: the target rises to 1
		if x, ok := tier.(*ExtentTier); ok && x.target != 1 {
			t.Errorf("target %v, want 1", x.target)
		}
	})
}

func TestTierOfPriorityEvictsTheLeastUrgent(t *testing.T) {
	onBothTiers(t, TierConfig{Capacity: 2, Eviction: Priority}, func(t *testing.T, tier Tier) {
		span := func(id uint64) []workload.Span {
			return []workload.Span{{Content: workload.ContentID(id), Length: entrySize}}
		}
		a, b := tierSequence(1, entrySize, span(1), 5), tierSequence(2, entrySize, span(2), -1)
		write(t, tier, a, 0, 1)
		write(t, tier, b, 0, 1)
		write(t, tier, tierOf(3, 1), 0, 1)
		wantLookup(t, tier, a, 0, 1, 1)
		wantLookup(t, tier, b, 0, 1, 0)
	})
}

func TestTierStoresWhatWasLookedUpOftenEnough(t *testing.T) {
	onBothTiers(t, TierConfig{Capacity: 9, Eviction: LRU, Threshold: 2, Tracked: 3}, func(t *testing.T, tier Tier) {
		a := tierOf(1, 5)
		tier.Lookup(a, 0, 3)
		wantStore(t, tier, a, 0, 5, 0, true)
		tier.Lookup(a, 1, 3)
		wantStore(t, tier, a, 0, 5, 2, true)
		tier.Lookup(a, 3, 5) // more than three keys: those of entries 0 and 1 are forgotten
		tier.Lookup(a, 0, 1)
		tier.Lookup(a, 3, 5)
		wantStore(t, tier, a, 0, 5, 2, true)
	})
}

func TestTierCountsThrashing(t *testing.T) {
	onBothTiers(t, TierConfig{Capacity: 9, Eviction: LRU}, func(t *testing.T, tier Tier) {
		a := tierOf(1, 6)
		for i := range int32(3) {
			tier.Store(a, 2*i, 2*i+2)
		}
		tier.Sent(a, 0, 2, 1000)
		tier.Sent(a, 0, 4, 1500) // entries 2 and 3: the others have an end
		tier.Written(a, nil)
		for _, load := range []struct {
			now  vtime.Time
			want int32
		}{{1999, 4}, {2000, 2}, {2499, 2}, {2500, 0}} {
			if n := tier.BeginLoad(a, 0, 6, load.now); n != load.want {
				t.Errorf("at %d: %d entries thrash, want %d", load.now, n, load.want)
			}
			tier.EndLoad(a, 0, 6)
		}
	})
}

func TestTierTellsWhenEntriesCanBeRead(t *testing.T) {
	onBothTiers(t, TierConfig{Capacity: 3, Eviction: LRU}, func(t *testing.T, tier Tier) {
		var events []event
		tier.Journal(func(key uint64, stored bool) { events = append(events, event{key, stored}) })
		a, own := tierOf(1, 1, 2), tierSequence(2, 3*entrySize, nil, 0)
		keys := workload.AppendKeys(nil, a.content.spans, entrySize, 3)
		tier.Store(a, 0, 3)
		tier.Touch(a, 3)
		if len(events) > 0 {
			t.Errorf("events before entries can be read: %v", events)
		}
		tier.Written(a, nil)
		write(t, tier, own, 0, 3)
		want := []event{{keys[0], true}, {keys[1], true}, {keys[2], true}, {keys[2], false}, {keys[1], false}, {keys[0], false}}
		if !slices.Equal(events, want) {
			t.Errorf("events %v, want %v", events, want)
		}
	})
}

func TestTierCheckSeesWhatIsWrong(t *testing.T) {
	// A chain of two spans, the last entry of which is being written, two of which are being
	// read and one is being copied, and ghosts of another one.
	build := func() (*ExtentTier, []*TierSequence) {
		tier, a := NewTier(TierConfig{Capacity: 9, Eviction: ARC}), tierOf(1, 3, 5)
		write(t, tier, tierOf(2, 4), 0, 4)
		write(t, tier, a, 0, 7)
		tier.Touch(a, 7)
		tier.BeginLoad(a, 2, 4, 0)
		tier.BeginCopy(a, 5, 6)
		tier.Store(a, 7, 8)
		return tier, []*TierSequence{a}
	}
	tier, writers := build()
	if err := tier.Check(writers, 2, 1); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(t *ExtentTier, at *tierInterval, q *tierQueue){
		"count of entries":       func(t *ExtentTier, at *tierInterval, q *tierQueue) { t.used++ },
		"readers":                func(t *ExtentTier, at *tierInterval, q *tierQueue) { at.readers++ },
		"copies":                 func(t *ExtentTier, at *tierInterval, q *tierQueue) { at.copies++ },
		"entries of a queue":     func(t *ExtentTier, at *tierInterval, q *tierQueue) { q.entries++ },
		"entries to evict":       func(t *ExtentTier, at *tierInterval, q *tierQueue) { q.evictable++ },
		"newest of a queue":      func(t *ExtentTier, at *tierInterval, q *tierQueue) { q.newest = q.oldest },
		"link of a queue":        func(t *ExtentTier, at *tierInterval, q *tierQueue) { at.older = at.newer },
		"start of a queue":       func(t *ExtentTier, at *tierInterval, q *tierQueue) { q.start = none },
		"queue of an interval":   func(t *ExtentTier, at *tierInterval, q *tierQueue) { at.queue = recentGhosts },
		"end of an interval":     func(t *ExtentTier, at *tierInterval, q *tierQueue) { at.to++ },
		"empty interval":         func(t *ExtentTier, at *tierInterval, q *tierQueue) { at.to = at.from },
		"link of a segment":      func(t *ExtentTier, at *tierInterval, q *tierQueue) { at.prev = at.next },
		"interval of no segment": func(t *ExtentTier, at *tierInterval, q *tierQueue) { t.tree.intervals.add(*at) },
		"interval in no queue": func(t *ExtentTier, at *tierInterval, q *tierQueue) {
			q.oldest, q.newest, q.entries, q.evictable = none, none, 0, 0
		},
		"children of a segment": func(t *ExtentTier, at *tierInterval, q *tierQueue) { t.tree.segments.at(at.segment).children++ },
		"segment without a key": func(t *ExtentTier, at *tierInterval, q *tierQueue) {
			g := t.tree.segments.at(at.segment)
			for g.parent != none {
				g = t.tree.segments.at(g.parent)
			}
			t.tree.named.remove(g.key)
		},
		"child without a way to it": func(t *ExtentTier, at *tierInterval, q *tierQueue) {
			t.tree.segments.at(t.tree.segments.at(at.segment).parent).child = none
		},
		"group of another size":    func(t *ExtentTier, at *tierInterval, q *tierQueue) { t.tree.groups.at(at.group).entries++ },
		"group without its oldest": func(t *ExtentTier, at *tierInterval, q *tierQueue) { t.tree.groups.at(at.group).first = at.newer },
		"last of a writer":         func(t *ExtentTier, at *tierInterval, q *tierQueue) { t.tree.writers.at(writers[0].writer).last = none },
		"unsent entries":           func(t *ExtentTier, at *tierInterval, q *tierQueue) { t.tree.writers.at(writers[0].writer).unsent++ },
		"writer without intervals": func(t *ExtentTier, at *tierInterval, q *tierQueue) { t.tree.writers.at(writers[0].writer).first = none },
	} {
		tier, w := build()
		writers = w
		q := tier.tree.queues.at(frequent)
		spoil(tier, tier.tree.intervals.at(q.oldest), q)
		if err := tier.Check(w, 2, 1); err == nil {
			t.Errorf("%s: Check sees nothing", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
	tier, writers = build()
	if tier.Check(nil, 2, 1) == nil || tier.Check(writers, 1, 1) == nil || tier.Check(writers, 2, 0) == nil {
		t.Error("Check does not count what is being written, read and copied")
	}
}

// What is stored entry by entry, as a request decodes, is as few intervals as the content has spans,
// and one or two that are not settled.
func TestTierKeepsIntervalsPerSpan(t *testing.T) {
	tier := NewTier(TierConfig{Capacity: 1000, Eviction: LRU})
	a, now := tierOf(1, 20, 30, 40), vtime.Time(0)
	for i := range int32(90) {
		tier.Store(a, i, i+1)
		tier.Touch(a, i+1)
		tier.Sent(a, i, i+1, now.Add(200))
		now = now.Add(400)
		tier.Advance(now)
		if n := tier.tree.intervals.inUse(); n > 3+5 {
			t.Fatalf("%d entries are %d intervals", i+1, n)
		}
	}
	tier.Written(a, nil)
	tier.Advance(now.Add(Thrashing))
	if tier.Touch(a, 90); tier.tree.intervals.inUse() != 3 {
		t.Errorf("%d intervals, want 3", tier.tree.intervals.inUse())
	}
}

// An eviction that passed by pinned entries leaves them out of the next one.
func TestEvictionStartsBehindPinnedEntries(t *testing.T) {
	tier := NewTier(TierConfig{Capacity: 70, Eviction: LRU})
	for id := range uint64(50) {
		tier.Store(tierOf(id+1, 1), 0, 1)
	}
	write(t, tier, tierOf(51, 20), 0, 20)
	q := tier.tree.queues.at(recent)
	for i := range int32(10) {
		wantStore(t, tier, tierOf(uint64(60+i), 1), 0, 1, 1, true)
		if v := tier.tree.intervals.at(q.start); v.readers != 0 || v.to != 19-i {
			t.Fatalf("the next eviction starts with entries %d to %d with %d readers", v.from, v.to, v.readers)
		}
	}
}

func TestTierDoesNotAllocate(t *testing.T) {
	for _, eviction := range Evictions {
		tier := NewTier(TierConfig{Capacity: 200, Eviction: eviction})
		var requests []*TierSequence
		for id := range uint64(12) {
			requests = append(requests, tierOf(id+1, 7, 9, 14))
		}
		var list []EntryRange
		i := 0
		use := func() {
			s := requests[i%len(requests)]
			for n := range int32(10) {
				tier.Touch(s, 3*n)
				tier.Store(s, 3*n, 3*n+3)
				tier.Touch(s, 3*n+3)
				tier.Sent(s, 3*n, 3*n+3, vtime.Time(i))
			}
			list = tier.Written(s, list[:0])
			if n := tier.Lookup(s, 0, 30); n > 0 {
				tier.BeginLoad(s, 0, n, vtime.Time(i))
				tier.EndLoad(s, 0, n)
			}
			i += 5
		}
		for range 100 {
			use()
		}
		if n := testing.AllocsPerRun(100, use); n > 0 {
			t.Errorf("%s: %v allocations per request", eviction, n)
		}
	}
}
