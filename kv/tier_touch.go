package kv

// Touch implements Tier. It goes from the shallow end on and puts each interval right
// before the one before it, the first one at the new end: what lies there already
// stays, so that to touch again what was just touched moves nothing.
func (t *ExtentTier) Touch(s *TierSequence, n int32) {
	if s.touchedAt == t.tree.version && s.touched == n {
		return
	}
	before := t.tree.version
	t.touches++
	t.returned = t.returned[:0]
	for i := int32(0); i < n; {
		part, end := s.part(i)
		i = end
		for id := t.tree.firstOfPart(s, part); id != none && t.tree.intervals.at(id).from < min(end, n); {
			id = t.touchInterval(id, min(end, n), end >= n)
		}
	}
	if t.aim(); t.tree.version == before {
		s.touchedAt, s.touched = before, n
	}
}

// touchInterval touches interval id as far as entry end, and returns the next one of the
// segment. last says that no deeper entry is touched.
func (t *ExtentTier) touchInterval(id intervalID, end int32, last bool) (next intervalID) {
	v := t.tree.intervals.at(id)
	if !v.present() {
		t.returned = append(t.returned, ghostHit{v.queue, min(v.to, end) - v.from})
	}
	q := t.touched(v)
	newer := intervalID(none)
	if to := t.tree.queues.at(q); to.touch == t.touches {
		newer = to.placed
	}
	stays := q == v.queue && v.newer == newer && v.runs(false)
	// Entries of id from end on are older than the others already.
	if v.to > end && !(stays && last) {
		t.tree.split(id, end)
	}
	next = v.next
	if v.rising = false; q != v.queue {
		t.tree.unlink(id)
		t.tree.link(id, q, newer)
	} else if !stays {
		t.tree.unhang(id)
		t.tree.hang(id, newer)
	}
	to := t.tree.queues.at(q)
	// Placed intervals are the newest of their queue: id is older than all others of this Touch.
	if v.readers == 0 && (to.start == none || t.tree.intervals.at(to.start).touch == t.touches) {
		to.start = id
	}
	v.touch = t.touches
	if newer != none && t.tree.intervals.at(newer).segment == v.segment && t.tree.merge(newer, id) {
		return next
	}
	to.placed, to.touch = id, t.touches
	return next
}

// touched returns the queue in which a touch puts v.
func (t *ExtentTier) touched(v *tierInterval) queueID {
	switch {
	case t.tree.eviction == LFU:
		return t.tree.queueOf(t.tree.queues.at(v.queue).rank + 1)
	case t.tree.eviction == ARC && v.queue == recent && v.readers >= 0:
		return frequent
	}
	return v.queue
}

// aim moves ARC's target for the ghosts that a Touch found, the last one first, entry by
// entry as ARC does: the sums are rounded.
func (t *ExtentTier) aim() {
	if len(t.returned) == 0 {
		return
	}
	t.tree.version++
	once, often := float64(t.tree.queues.at(recentGhosts).entries), float64(t.tree.queues.at(frequentGhosts).entries)
	for i := len(t.returned) - 1; i >= 0; i-- {
		hit := t.returned[i]
		if hit.queue == recentGhosts {
			step, most := max(1, often/once), float64(t.cfg.Capacity)
			for ; hit.n > 0 && t.target < most; hit.n-- {
				t.target = min(t.target+step, most)
			}
			continue
		}
		for step := max(1, once/often); hit.n > 0 && t.target > 0; hit.n-- {
			t.target = max(t.target-step, 0)
		}
	}
}
