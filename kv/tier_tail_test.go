package kv

import (
	"testing"

	"blis/vtime"
)

// decode stores the next entries of a request that decodes, one after the other, mostly long
// after the end of the store before.
func (w *tierWorld) decode(r *tierRequest) {
	if r.falling {
		return
	}
	for range 2 + w.pick(8) {
		if w.pass(); w.pick(3) > 0 {
			w.now = w.now.Add(2 * Thrashing)
			w.fast.Advance(w.now)
			w.slow.Advance(w.now)
		}
		r.filled = max(r.filled, r.next) + int32(1+w.pick(9)/4)
		if w.storeRange(r, r.next, r.filled, w.pick(5) > 0); w.pick(8) > 0 {
			w.sent(r)
		}
		w.compare()
	}
	if w.pick(3) == 0 {
		w.written(r)
		w.lookup(r)
	}
}

// coverGrowth looks at what StoreTouched is going to do.
func (w *tierWorld) coverGrowth(r *tierRequest, from, to int32) {
	t := w.fast
	id := growing(t, &r.fast, from)
	if id == none || from == to {
		return
	}
	v, short := t.tree.intervals.at(id), int(to-from)-(w.cfg.Capacity-t.used)
	w.seen.count("interval that grows", true)
	w.seen.count("interval with a tail that grows", t.tree.writers.at(r.fast.writer).tail != none)
	w.seen.count("interval that grows and evicts", short > 0 && t.evictable(short, 0, 0) >= short)
	w.seen.count("growth without room", short > 0 && t.evictable(short, 0, 0) < short)
	w.seen.count("interval without a group that grows", v.group == 0 || t.tree.groups.at(v.group).first != id)
}

// coverTail counts what is done to the tail of r, if it has one.
func (w *tierWorld) coverTail(r *tierRequest, kind string, when func(v *tierInterval, writer *tierWriter) bool) {
	if writer := w.fast.tree.writers.at(r.fast.writer); r.fast.writer != 0 && writer.tail != none {
		w.seen.count(kind, when(w.fast.tree.intervals.at(writer.last), writer))
	}
}

// Entries stored one after the other count as thrashing one by one, whether their interval grew
// or not.
func TestEntriesOfAGrowingIntervalThrashOneByOne(t *testing.T) {
	onBothTiers(t, TierConfig{Capacity: 9, Eviction: LRU}, func(t *testing.T, tier Tier) {
		s := tierSequence(1, 8*entrySize, nil, 0)
		for i, at := range []vtime.Time{0, 2000, 2100} {
			tier.Advance(at)
			from := int32(i)
			if n, ok := tier.StoreTouched(s, from, from+1); n != 1 || !ok {
				t.Fatalf("store %d: %d, %v", i, n, ok)
			}
			tier.Sent(s, from, from+1, at.Add(10))
		}
		tier.Advance(2150)
		tier.Written(s, nil)
		wantLookup(t, tier, s, 0, 3, 3)
		if n := tier.BeginLoad(s, 0, 3, 2150); n != 2 { // stored until 10, 2010 and 2110
			t.Errorf("%d entries thrash, want 2", n)
		}
	})
}

// A touch that ends within the entries stored last leaves the deeper ones where they are.
func TestTouchWithinWhatWasStoredLast(t *testing.T) {
	onBothTiers(t, TierConfig{Capacity: 5, Eviction: LRU}, func(t *testing.T, tier Tier) {
		s, other := tierSequence(1, 8*entrySize, nil, 0), tierOf(2, 6)
		for i, at := range []vtime.Time{0, 2000} {
			tier.Advance(at)
			from := int32(2 * i)
			tier.StoreTouched(s, from, from+2)
			tier.Sent(s, from, from+2, at.Add(10))
		}
		write(t, tier, other, 0, 1)
		tier.Touch(s, 3)
		tier.Written(s, nil)
		wantStore(t, tier, other, 1, 2, 1, true)
		wantLookup(t, tier, s, 0, 4, 3)
		wantStore(t, tier, other, 2, 3, 1, true)
		wantLookup(t, tier, other, 0, 1, 0)
	})
}
