package kv

import (
	"slices"

	"blis/vtime"
)

// Promote implements Tier.
func (t *NaiveTier) Promote(s *TierSequence, from, to int32) (end int32) {
	var keys []uint64
	for i := range to {
		keys = append(keys, t.key(s, i))
	}
	for end = from; end < to && t.entries[keys[end]] == nil; end++ {
	}
	for ; end > from; end-- {
		if short := int(end-from) - t.vacant(); short <= 0 || t.evict(short, keys) {
			break
		}
	}
	for i := from; i < end; i++ {
		t.add(s, i, &naiveEntry{readers: beingPromoted, stored: settled})
	}
	return end
}

// StoreDeepest implements Tier.
func (t *NaiveTier) StoreDeepest(s *TierSequence, from, to int32) (lo, hi int32) {
	for hi = to; hi > from && t.entry(s, hi-1) != nil; hi-- {
	}
	row := hi // where the entries begin that are not there
	for row > from && t.entry(s, row-1) == nil {
		row--
	}
	for lo = hi; lo > row; lo-- {
		if t.vacant() == 0 && !t.evict(1, nil) {
			break
		}
		t.add(s, lo-1, &naiveEntry{readers: beingStored, stored: vtime.Never})
		naiveTier(s).falling = true
	}
	return lo, hi
}

// Promoting implements Tier.
func (t *NaiveTier) Promoting(s *TierSequence, i int32) bool {
	e := t.entry(s, i)
	return e != nil && e.readers == beingPromoted
}

// Withdraw implements Tier.
func (t *NaiveTier) Withdraw(s *TierSequence, from, to int32) {
	n := naiveTier(s)
	n.writing = slices.DeleteFunc(n.writing, func(w naiveWriting) bool {
		if w.entry < from || w.entry >= to {
			return false
		}
		t.remove(t.entries[w.key])
		return true
	})
}

// remove forgets e.
func (t *NaiveTier) remove(e *naiveEntry) {
	same := func(x *naiveEntry) bool { return x == e }
	t.recent, t.frequent = slices.DeleteFunc(t.recent, same), slices.DeleteFunc(t.frequent, same)
	delete(t.entries, e.key)
	t.freed = append(t.freed, e.slot)
}

// Remove implements Tier.
func (t *NaiveTier) Remove(s *TierSequence, from, to int32) {
	for i := from; i < to; i++ {
		e := t.entry(s, i)
		if e.readers != 0 || e.copies != 0 {
			panic("kv: an entry is removed that is in use")
		}
		t.remove(e)
		if e.named && t.journal != nil {
			t.journal(e.key, false)
		}
	}
}

// BeginCopy implements Tier.
func (t *NaiveTier) BeginCopy(s *TierSequence, from, to int32) {
	for i := from; i < to; i++ {
		t.entry(s, i).copies++
	}
}

// EndCopy implements Tier.
func (t *NaiveTier) EndCopy(s *TierSequence, from, to int32) {
	for i := from; i < to; i++ {
		if e := t.entry(s, i); e.copies > 0 {
			e.copies--
		} else {
			panic("kv: an entry is copied by nobody")
		}
	}
}
