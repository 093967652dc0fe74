package kv

import "blis/vtime"

// Promote implements Tier.
func (t *ExtentTier) Promote(s *TierSequence, from, to int32) (end int32) {
	cutTail(&t.tree, s)
	t.gaps, end = t.gaps[:0], from
	for w := t.tree.walk(s, from, to); w.piece() && w.id == none; end = w.hi {
		t.gaps = append(t.gaps, tierGap{w.part, w.lo, w.hi, none})
	}
	if short := int(end-from) - (t.cfg.Capacity - t.used); short > 0 {
		kept, keptFrequent := t.keepAll(s, to)
		n := t.evictable(short, kept, keptFrequent)
		t.evict(n, kept)
		end -= int32(short - n)
	}
	for _, gap := range t.gaps {
		if gap.to = min(gap.to, end); gap.from < gap.to {
			t.write(s, gap, tierInterval{readers: beingPromoted, stored: settled, rising: true})
		}
	}
	return end
}

// keepAll keeps the entries 0 … to−1 of s from being evicted by the Promote at hand, and
// returns how many of them could be, apart those that are in ARC's frequent queue.
func (t *ExtentTier) keepAll(s *TierSequence, to int32) (kept, keptFrequent int) {
	t.stores++
	for w := t.tree.walk(s, 0, to); w.piece(); {
		if w.id == none || !t.tree.intervals.at(w.id).free() {
			continue
		}
		v := t.tree.intervals.at(t.tree.cut(w.id, w.lo, w.hi))
		if v.kept = t.stores; v.queue == frequent {
			keptFrequent += int(v.to - v.from)
		} else {
			kept += int(v.to - v.from)
		}
	}
	return kept, keptFrequent
}

// Promoting implements Tier.
func (t *ExtentTier) Promoting(s *TierSequence, i int32) bool {
	w := t.tree.walk(s, i, i+1)
	return w.piece() && w.id != none && t.tree.intervals.at(w.id).readers == beingPromoted
}

// Withdraw implements Tier.
func (t *ExtentTier) Withdraw(s *TierSequence, from, to int32) {
	if s.writer == 0 {
		return
	}
	cutTail(&t.tree, s)
	w := t.tree.writers.at(s.writer)
	for id := w.first; id != none; {
		v := t.tree.intervals.at(id)
		later := v.later
		if lo, hi := max(v.from, from), min(v.to, to); lo < hi {
			t.withdraw(t.tree.cut(id, lo, hi))
		}
		id = later
	}
	if w.first == none {
		t.tree.writers.drop(s.writer)
		s.writer = 0
	}
}

// Remove implements Tier.
func (t *ExtentTier) Remove(s *TierSequence, from, to int32) {
	for w := t.tree.walk(s, from, to); w.piece(); {
		id := t.tree.cut(w.id, w.lo, w.hi)
		v := t.tree.intervals.at(id)
		if !v.free() {
			panic("kv: an entry is removed that is in use")
		}
		t.tell(v.segment, v.from, v.to, false, true)
		t.used -= int(v.to - v.from)
		t.tree.unlink(id)
		t.tree.drop(id)
	}
}

// withdraw forgets interval id, which is being written.
func (t *ExtentTier) withdraw(id intervalID) {
	v := t.tree.intervals.at(id)
	n := v.to - v.from
	if v.stored == vtime.Never {
		t.tree.writers.at(v.writer).unsent -= n
	}
	t.used -= int(n)
	t.tree.unwrite(id)
	t.tree.unlink(id)
	t.tree.drop(id)
}
