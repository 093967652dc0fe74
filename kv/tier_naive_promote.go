package kv

import "slices"

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
		e := t.entries[w.key]
		same := func(x *naiveEntry) bool { return x == e }
		t.recent, t.frequent = slices.DeleteFunc(t.recent, same), slices.DeleteFunc(t.frequent, same)
		delete(t.entries, w.key)
		t.freed = append(t.freed, e.slot)
		return true
	})
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
