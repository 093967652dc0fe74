package kv

import "blis/vtime"

// tierGap is entries of one part of a sequence that Store is to write.
type tierGap struct {
	part     int
	from, to int32
}

// Store implements Tier.
func (t *ExtentTier) Store(s *TierSequence, from, to int32) (entries int32, ok bool) {
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
		t.write(s, gap, beingStored, vtime.Never)
	}
	return missing, true
}

// missing makes gaps of the entries from … to−1 of s that are to be written, and returns
// their number. kept is the number of the others that could be evicted, apart those that are in
// ARC's frequent queue.
func (t *ExtentTier) missing(s *TierSequence, from, to int32) (missing int32, kept, keptFrequent int) {
	t.gaps = t.gaps[:0]
	for w := t.tree.walk(s, from, to); w.piece(); {
		for lo, hi := t.lookups.wanted(s, w.lo, w.hi); lo < hi; lo, hi = t.lookups.wanted(s, hi, w.hi) {
			if w.id == none {
				t.gaps = append(t.gaps, tierGap{w.part, lo, hi})
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

// write begins to write the entries of a gap for s. readers is beingStored or beingPromoted,
// stored the end of the store.
func (t *ExtentTier) write(s *TierSequence, gap tierGap, readers int32, stored vtime.Time) {
	t.size = s.content.block
	if t.tree.eviction == ARC {
		t.forget(s, gap)
	}
	var g segmentID
	if gap.part == ownPart {
		g = t.tree.segmentOfOwn(s.content.id)
	} else {
		g = t.tree.segmentOf(s.content.chain, gap.part)
	}
	if s.writer == 0 {
		s.writer = t.tree.writers.add(tierWriter{first: none, last: none})
	}
	id := t.tree.add(g, tierInterval{from: gap.from, to: gap.to, rising: true, readers: readers, writer: s.writer, stored: stored})
	w := t.tree.writers.at(s.writer)
	t.tree.writeBehind(w.last, id)
	if stored == vtime.Never {
		w.unsent += gap.to - gap.from
	}
	t.used += int(gap.to - gap.from)
	t.tree.link(id, t.fresh(s), none)
	t.tree.joinBefore(id)
}

// fresh returns the queue for what is stored for s.
func (t *ExtentTier) fresh(s *TierSequence) queueID {
	switch t.tree.eviction {
	case LFU:
		return t.tree.queueOf(0)
	case Priority:
		return t.tree.queueOf(s.priority)
	}
	return recent
}

// forget drops the ghosts of the entries of a gap.
func (t *ExtentTier) forget(s *TierSequence, gap tierGap) {
	for id := t.tree.firstOfPart(s, gap.part); id != none; {
		v := t.tree.intervals.at(id)
		if v.from >= gap.to {
			return
		}
		next := v.next
		if v.to > gap.from {
			id = t.tree.cut(id, max(v.from, gap.from), min(v.to, gap.to))
			t.tree.unlink(id)
			t.tree.drop(id)
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
		t.cutGhosts(recentGhosts)
		t.cutGhosts(frequentGhosts)
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
func (t *ExtentTier) cutGhosts(q queueID) {
	for at := t.tree.queues.at(q); at.entries > t.cfg.Capacity; {
		id := t.tree.oldestOf(at.oldest, at.entries-t.cfg.Capacity)
		t.tree.unlink(id)
		t.tree.drop(id)
	}
}
