package kv

import (
	"blis/vtime"
)

// ExtentTier is the tier that keeps intervals of entries; the package comment has a
// picture. NaiveTier is its twin.
type ExtentTier struct {
	cfg  TierConfig
	tree tierTree

	used    int // entries
	evicted int64
	target  float64 // entries in recent that ARC aims at

	lookups  lookupCounter // with a threshold
	touches  uint64        // number of the last Touch
	gaps     []tierGap     // of the Store that is under way
	stores   uint64        // number of it
	returned []ghostHit    // ghosts found by the Touch that is under way

	journal func(key uint64, stored bool)
	keys    blockKeys // with a journal
	size    int32     // tokens per entry, once there was one
}

// ghostHit is n ghosts that a Touch found.
type ghostHit struct {
	queue queueID
	n     int32
}

// settled is the end of a store which no load can find to be less than Thrashing ago.
const settled vtime.Time = -1 << 62

// NewTier returns an empty tier.
func NewTier(c TierConfig) *ExtentTier {
	c = checkTierConfig(c)
	return &ExtentTier{cfg: c, tree: newTierTree(c.Eviction), lookups: newLookupCounter(c)}
}

// Used implements Tier.
func (t *ExtentTier) Used() int { return t.used }

// Capacity implements Tier.
func (t *ExtentTier) Capacity() int { return t.cfg.Capacity }

// Evicted implements Tier.
func (t *ExtentTier) Evicted() int64 { return t.evicted }

// Advance implements Tier.
func (t *ExtentTier) Advance(now vtime.Time) { t.tree.clock = max(t.tree.clock, now) }

// Lookup implements Tier.
func (t *ExtentTier) Lookup(s *TierSequence, from, to int32) (n int32) {
	t.lookups.countAll(s, from, to)
	if s.foundAt == t.tree.version && s.lookup == [2]int32{from, to} {
		return s.found
	}
	for w := t.tree.walk(s, from, to); w.piece(); n = w.hi - from {
		if w.id == none || t.tree.intervals.at(w.id).readers < 0 {
			break
		}
	}
	s.foundAt, s.lookup, s.found = t.tree.version, [2]int32{from, to}, n
	return n
}

// Loading implements Tier.
func (t *ExtentTier) Loading(s *TierSequence, from, to int32) bool {
	for w := t.tree.walk(s, from, to); w.piece(); {
		if w.id != none && t.tree.intervals.at(w.id).readers > 0 {
			return true
		}
	}
	return false
}

// BeginLoad implements Tier.
func (t *ExtentTier) BeginLoad(s *TierSequence, from, to int32, now vtime.Time) (thrashing int32) {
	t.Advance(now)
	for w := t.tree.walk(s, from, to); w.piece(); {
		id := t.tree.cut(w.id, w.lo, w.hi)
		v := t.tree.intervals.at(id)
		if v.stored != vtime.Never && now < v.stored.Add(Thrashing) {
			thrashing += w.hi - w.lo
		}
		t.tree.setReaders(id, v.readers+1)
	}
	return thrashing
}

// EndLoad implements Tier.
func (t *ExtentTier) EndLoad(s *TierSequence, from, to int32) {
	last := intervalID(none)
	for w := t.tree.walk(s, from, to); w.piece(); {
		id := t.tree.cut(w.id, w.lo, w.hi)
		v := t.tree.intervals.at(id)
		if v.readers <= 0 {
			panic("kv: an entry is read by nobody")
		}
		t.tree.setReaders(id, v.readers-1)
		last = t.tree.joinBefore(id)
	}
	if last != none {
		t.tree.joinBehind(last)
	}
}

// BeginCopy implements Tier.
func (t *ExtentTier) BeginCopy(s *TierSequence, from, to int32) {
	for w := t.tree.walk(s, from, to); w.piece(); {
		v := t.tree.intervals.at(t.tree.cut(w.id, w.lo, w.hi))
		t.tree.setPins(v, v.readers, v.copies+1)
	}
}

// EndCopy implements Tier.
func (t *ExtentTier) EndCopy(s *TierSequence, from, to int32) {
	last := intervalID(none)
	for w := t.tree.walk(s, from, to); w.piece(); {
		id := t.tree.cut(w.id, w.lo, w.hi)
		v := t.tree.intervals.at(id)
		if v.copies == 0 {
			panic("kv: an entry is copied by nobody")
		}
		t.tree.setPins(v, v.readers, v.copies-1)
		last = t.tree.joinBefore(id)
	}
	if last != none {
		t.tree.joinBehind(last)
	}
}

// Sent implements Tier. The entries without an end are the last ones stored, as a rule.
func (t *ExtentTier) Sent(s *TierSequence, from, to int32, end vtime.Time) {
	w := t.tree.writers.at(s.writer)
	if w.tail != none && w.unsent > 0 {
		if from <= w.tail && to >= t.tree.intervals.at(w.last).to {
			w.tailEnd, w.unsent = end, 0
			return
		}
		cutTail(&t.tree, s)
	}
	for id, left := w.last, w.unsent; left > 0; {
		v := t.tree.intervals.at(id)
		earlier := v.earlier
		if v.stored == vtime.Never {
			left -= v.to - v.from
			if lo, hi := max(v.from, from), min(v.to, to); lo < hi {
				t.tree.intervals.at(t.tree.cut(id, lo, hi)).stored = end
				w.unsent -= hi - lo
			}
		}
		id = earlier
	}
}

// Written implements Tier.
func (t *ExtentTier) Written(s *TierSequence, list []EntryRange) []EntryRange {
	if s.writer == 0 {
		return list
	}
	if w := t.tree.writers.at(s.writer); w.tailEnd == vtime.Never || w.tailEnd.Add(Thrashing) <= t.tree.clock {
		w.tail = none // settled
	}
	cutTail(&t.tree, s)
	before, falling := len(list), t.tree.writers.at(s.writer).falling
	for id := t.tree.writers.at(s.writer).first; id != none; {
		v := t.tree.intervals.at(id)
		next := v.later
		if t.tree.setReaders(id, 0); v.stored == vtime.Never {
			v.stored = settled
		}
		list = entered(list, before, v.from, v.to, falling)
		t.tell(v.segment, v.from, v.to, true, !falling)
		t.tree.joinBehind(t.tree.joinBefore(id))
		id = next
	}
	t.tree.writers.drop(s.writer)
	s.writer = 0
	return list
}
