package kv

import (
	"slices"

	"blis/vtime"
)

// tierGap is entries of one part of a sequence that Store is to write.
type tierGap struct {
	part     int
	from, to int32
	behind   intervalID // the last one of the segment, which ends at from; none: not known
}

// Store implements Tier.
func (t *ExtentTier) Store(s *TierSequence, from, to int32) (entries int32, ok bool) {
	cutTail(&t.tree, s)
	missing, kept, keptFrequent := t.missing(s, from, to)
	if missing == 0 {
		return 0, true
	}
	if short := int(missing) - (t.cfg.Capacity - t.used); short > 0 {
		if t.evictable(short, kept, keptFrequent) < short {
			return 0, false
		}
		if t.stores++; kept+keptFrequent > 0 {
			t.keep(s, from, to)
		}
		t.evict(short, kept)
	}
	for _, gap := range t.gaps {
		t.write(s, gap, tierInterval{readers: beingStored, stored: vtime.Never, rising: true})
	}
	return missing, true
}

// missing makes gaps of the entries from … to−1 of s that are to be written, and returns
// their number. kept is the number of the others that could be evicted, apart those that are in
// ARC's frequent queue.
func (t *ExtentTier) missing(s *TierSequence, from, to int32) (missing int32, kept, keptFrequent int) {
	t.gaps = t.gaps[:0]
	if last := lastOwn(&t.tree, s); last != none && t.tree.intervals.at(last).to == from && t.lookups.threshold < 2 {
		t.gaps = append(t.gaps, tierGap{ownPart, from, to, last})
		return to - from, 0, 0
	}
	for w := t.tree.walk(s, from, to); w.piece(); {
		for lo, hi := t.lookups.wanted(s, w.lo, w.hi); lo < hi; lo, hi = t.lookups.wanted(s, hi, w.hi) {
			if w.id == none {
				t.gaps = append(t.gaps, tierGap{w.part, lo, hi, none})
				missing += hi - lo
			} else if v := t.tree.intervals.at(w.id); !v.free() {
				continue
			} else if v.queue == frequent {
				keptFrequent += int(hi - lo)
			} else {
				kept += int(hi - lo)
			}
		}
	}
	return missing, kept, keptFrequent
}

// lastOwn returns the interval stored last for s if it is the last one of its own content: most
// stores of a request that decodes are right behind it. Else none.
func lastOwn(t *tierTree, s *TierSequence) intervalID {
	if s.writer == 0 {
		return none
	}
	id := t.writers.at(s.writer).last
	if v := t.intervals.at(id); v.next != none || !t.segments.at(v.segment).own {
		return none
	}
	return id
}

// keep marks the entries from … to−1 of s that this Store must not evict.
func (t *ExtentTier) keep(s *TierSequence, from, to int32) {
	for w := t.tree.walk(s, from, to); w.piece(); {
		for lo, hi := t.lookups.wanted(s, w.lo, w.hi); w.id != none && lo < hi; lo, hi = t.lookups.wanted(s, hi, w.hi) {
			id := t.tree.cut(w.id, lo, hi)
			t.tree.intervals.at(id).kept = t.stores
			if w.id = id; hi < w.hi {
				w.id = t.tree.intervals.at(id).next
			}
		}
	}
}

// write begins to write the entries of a gap for s, as v, of which readers, stored and rising are
// set.
func (t *ExtentTier) write(s *TierSequence, gap tierGap, v tierInterval) {
	t.size = s.content.block
	if s.writer == 0 {
		s.writer = t.tree.writers.add(tierWriter{first: none, last: none, falling: !v.rising, tail: none})
	}
	v.from, v.to, v.writer = gap.from, gap.to, s.writer
	id := addGap(&t.tree, s, gap, v)
	w := t.tree.writers.at(s.writer)
	if w.falling == v.rising {
		panic("kv: a request stores entries in both orders")
	}
	t.tree.writeBehind(w.last, id)
	if v.stored == vtime.Never {
		w.unsent += gap.to - gap.from
	}
	t.used += int(gap.to - gap.from)
	if t.tree.link(id, t.tree.fresh(s), none); v.rising {
		t.tree.joinBefore(id)
	} else {
		t.tree.joinBehind(id)
	}
}

// addGap puts v, the entries of a gap of s, into its segment.
func addGap(t *tierTree, s *TierSequence, gap tierGap, v tierInterval) intervalID {
	if gap.behind != none {
		return addBehind(t, gap.behind, v)
	}
	if t.eviction == ARC {
		forgetGhosts(t, s, gap)
	}
	if gap.part == ownPart {
		return t.add(t.segmentOfOwn(s.content.id), v)
	}
	return t.add(t.segmentOf(s.content.chain, gap.part), v)
}

// StoreDeepest implements Tier.
func (t *ExtentTier) StoreDeepest(s *TierSequence, from, to int32) (lo, hi int32) {
	cutTail(&t.tree, s)
	t.gaps, lo, hi = t.gaps[:0], from, from
	for w := t.tree.walk(s, from, to); w.piece(); {
		if w.id != none {
			continue
		}
		if w.lo > hi {
			t.gaps, lo = t.gaps[:0], w.lo
		}
		t.gaps = append(t.gaps, tierGap{w.part, w.lo, w.hi, none})
		hi = w.hi
	}
	for _, gap := range slices.Backward(t.gaps) {
		if end := t.writeDeepest(s, gap); end > gap.from {
			return end, hi
		}
	}
	return lo, hi
}

// writeDeepest begins to write the entries of a gap for s, the deepest first, as far as there is
// room, and returns the last one; the end of the gap if there is none.
func (t *ExtentTier) writeDeepest(s *TierSequence, gap tierGap) (from int32) {
	for to := gap.to; to > gap.from; to = from {
		from = gap.from
		room := int32(min(t.cfg.Capacity-t.used, int(to-from)))
		if t.tree.eviction == ARC && room < to-from {
			from = to - max(1, room) // what is written counts when the next victim is chosen
		}
		if short := int(to - from - room); short > 0 {
			t.stores++ // nothing is kept
			n := t.evictable(short, 0, 0)
			t.evict(n, 0)
			if from += int32(short - n); from == to {
				return to
			}
		}
		t.write(s, tierGap{gap.part, from, to, none}, tierInterval{readers: beingStored, stored: vtime.Never})
	}
	return gap.from
}

// fresh returns the queue for what is stored for s.
func (t *tierTree) fresh(s *TierSequence) queueID {
	switch t.eviction {
	case LFU:
		return t.queueOf(0)
	case Priority:
		return t.queueOf(s.priority)
	}
	return recent
}

// forgetGhosts drops the ghosts of the entries of a gap.
func forgetGhosts(t *tierTree, s *TierSequence, gap tierGap) {
	for id := firstOfPart(t, s, gap.part); id != none; {
		v := t.intervals.at(id)
		if v.from >= gap.to {
			return
		}
		next := v.next
		if v.to > gap.from {
			id = t.cut(id, max(v.from, gap.from), min(v.to, gap.to))
			t.unlink(id)
			t.drop(id)
		}
		id = next
	}
}

// evictable returns how many entries can be evicted without the kept ones, n at most.
func (t *ExtentTier) evictable(n, kept, keptFrequent int) int {
	if t.tree.eviction == ARC {
		once := t.fromRecent(n, kept)
		return once + min(n-once, t.tree.queues.at(frequent).evictable-keptFrequent)
	}
	most := -kept
	for _, q := range t.tree.order {
		if most += t.tree.queues.at(q).evictable; most >= n {
			return n
		}
	}
	return most
}

// fromRecent returns how many of n victims ARC takes from recent: until fewer are left there
// than its target, or none that can be evicted.
func (t *ExtentTier) fromRecent(n, kept int) int {
	q := t.tree.queues.at(recent)
	return min(n, q.evictable-kept, max(0, q.entries-int(t.target)+1))
}

// evict evicts n entries, which there are. kept is the number of those in the recent queue that it
// must not evict.
func (t *ExtentTier) evict(n, kept int) {
	if t.tree.eviction == ARC {
		once := t.fromRecent(n, kept)
		t.evictFrom(recent, once, recentGhosts)
		t.evictFrom(frequent, n-once, frequentGhosts)
		cutGhosts(t, recentGhosts)
		cutGhosts(t, frequentGhosts)
		return
	}
	for i := 0; n > 0; {
		q := t.tree.order[i]
		n -= t.evictFrom(q, n, none)
		if i < len(t.tree.order) && t.tree.order[i] == q {
			i++
		}
	}
}

// evictFrom evicts the n oldest entries of queue q that can be, fewer if there are fewer, and
// returns their number. They become ghosts; ghosts is none if there are none.
func (t *ExtentTier) evictFrom(q queueID, n int, ghosts queueID) (evicted int) {
	at := t.tree.queues.at(q)
	for id := at.start; id != none && evicted < n; {
		v := t.tree.intervals.at(id)
		if !v.free() || v.kept == t.stores {
			if at.start == id && !v.free() {
				at.start = v.newer
			}
			id = v.newer
			continue
		}
		if left := n - evicted; ghosts == none && left < int(v.to-v.from) {
			from, to := trim(&t.tree, id, int32(left))
			t.tell(v.segment, from, to, false, v.rising)
			evicted = n
			break
		}
		id = t.tree.oldestOf(id, n-evicted)
		v = t.tree.intervals.at(id)
		evicted += int(v.to - v.from)
		t.tell(v.segment, v.from, v.to, false, v.rising)
		next := v.newer
		if t.tree.unlink(id); ghosts == none {
			t.tree.drop(id)
		} else {
			v.stored = settled
			t.tree.link(id, ghosts, none)
			t.tree.joinBehind(t.tree.joinBefore(id))
		}
		id = next
	}
	t.used -= evicted
	t.evicted += int64(evicted)
	return evicted
}

// cutGhosts forgets the oldest of the ghosts in q that are more than the capacity.
func cutGhosts(t *ExtentTier, q queueID) {
	for at := t.tree.queues.at(q); at.entries > t.cfg.Capacity; {
		id := t.tree.oldestOf(at.oldest, at.entries-t.cfg.Capacity)
		t.tree.unlink(id)
		t.tree.drop(id)
	}
}
