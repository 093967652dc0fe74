package kv

import "blis/vtime"

// A request that decodes stores entry after entry of its own content, and touches all before it.
// The interval stored last for it then grows in place: the entries stored last of all are its
// tail, the others are settled.

// StoreTouched implements Tier.
func (t *ExtentTier) StoreTouched(s *TierSequence, from, to int32) (entries int32, ok bool) {
	id := growing(t, s, from)
	if id == none || from == to {
		if entries, ok = t.Store(s, from, to); entries > 0 {
			touch(t, s, to)
		}
		return entries, ok
	}
	if short := int(to-from) - (t.cfg.Capacity - t.used); short > 0 {
		if t.evictable(short, 0, 0) < short {
			return 0, false
		}
		t.stores++ // nothing is kept
		t.evict(short, 0)
	}
	t.used += int(to - from)
	grow(&t.tree, id, to)
	touch(t, s, to)
	return to - from, true
}

// growing returns the interval that grows when the entries from … on are stored for s: the one
// stored last, if they are the next ones of its own content, and its store is settled. Else none.
func growing(t *ExtentTier, s *TierSequence, from int32) intervalID {
	id := lastOwn(&t.tree, s)
	if id == none || t.tree.eviction == ARC || t.tree.eviction == LFU || t.lookups.threshold >= 2 {
		return none
	}
	v, w := t.tree.intervals.at(id), t.tree.writers.at(s.writer)
	if v.to != from || !v.runs(false) || v.readers != beingStored || w.falling || w.unsent > 0 {
		return none
	}
	if v.settle(t.tree.clock); v.stored != settled || w.tail != none && w.tailEnd.Add(Thrashing) > t.tree.clock {
		return none
	}
	return id
}

// grow lets the last interval of a writer end at to. What it gets is its tail, and older than
// the rest.
func grow(t *tierTree, id intervalID, to int32) {
	v := t.intervals.at(id)
	n := to - v.to
	if g := t.groups.at(v.group); v.group != 0 && g.first == id && g.to == v.to {
		g.to = to
		g.entries += n
	} else {
		t.leave(id)
	}
	w := t.writers.at(v.writer)
	w.tail, w.tailEnd, w.unsent = v.to, vtime.Never, n
	t.queues.at(v.queue).entries += int(n)
	v.to, v.rising = to, false
	t.version++
}

// cutTail makes the tail of what is being written for s an interval of its own.
func cutTail(t *tierTree, s *TierSequence) {
	w := t.writers.at(s.writer)
	if s.writer == 0 || w.tail == none {
		return
	}
	at, end := w.tail, w.tailEnd
	w.tail = none
	t.intervals.at(t.split(w.last, at)).stored = end
}
