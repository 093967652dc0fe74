package kv

// Touch implements Tier. It goes from the shallow end on and puts each interval, or whole
// group, right before the one before it, the first one at the new end: what lies there
// already stays, so that to touch again what was just touched moves nothing.
func (t *ExtentTier) Touch(s *TierSequence, n int32) {
	cutTail(&t.tree, s)
	touch(t, s, n)
}

// touch is Touch, where entry n is not within the tail of a writer.
func touch(t *ExtentTier, s *TierSequence, n int32) {
	if s.touchedAt == t.tree.version && s.touched == n {
		return
	}
	before := t.tree.version
	t.touches++
	t.returned = t.returned[:0]
	i, id := int32(0), t.shallowest(s)
	top := id
	for i < n {
		part, end := s.part(i)
		if id == none {
			if g := t.tree.segmentOfPart(s, part); g != none {
				id = t.tree.segments.at(g).first
			} else if part != ownPart { // so there is none of the named parts behind it
				end = s.content.nameable()
			}
		}
		if i == 0 {
			top = id
		}
		group := groupID(0)
		for i = end; id != none && group == 0 && t.tree.intervals.at(id).from < min(end, n); {
			if group = t.tree.wholeUnder(id, s.content.id, n); group == 0 {
				id = t.touchInterval(s, id, min(end, n), end >= n)
			}
		}
		if id = none; group != 0 {
			i, id = t.touchGroup(s, group)
		}
	}
	if s.group = 0; top != none {
		s.group = t.tree.intervals.at(top).group
	}
	if t.aim(); t.tree.version == before {
		s.touchedAt, s.touched = before, n
	}
}

// shallowest returns the interval with entry 0 of s if the last Touch of s left it in a
// group, and it still is; none otherwise.
func (t *ExtentTier) shallowest(s *TierSequence) intervalID {
	if g := t.tree.groups.at(s.group); g.entries > 0 && g.owner == s.content.id {
		if v := t.tree.intervals.at(g.last); v.group == s.group && v.from == 0 {
			return g.last
		}
	}
	return none
}

// touchGroup touches a whole group of s. It returns the entry from which on Touch goes on,
// and the first interval there, if it is known; none otherwise.
func (t *ExtentTier) touchGroup(s *TierSequence, group groupID) (i int32, next intervalID) {
	g := t.tree.groups.at(group)
	q := t.tree.queues.at(t.tree.intervals.at(g.first).queue)
	newer := intervalID(none)
	if q.touch == t.touches {
		newer = q.placed
	}
	if t.tree.splice(group, newer); newer != none {
		t.tree.absorb(group, newer, t.touches)
	}
	t.tree.mergeDeepest(group)
	first := t.tree.intervals.at(g.first)
	first.touch, q.placed, q.touch = t.touches, g.first, t.touches
	part, end := s.part(g.to)
	switch segment := t.tree.segments.at(first.segment); {
	case segment.own != (part == ownPart), !segment.own && segment.key != s.content.extents[part].Key:
		return g.to, none
	case first.next == none:
		return end, none
	}
	return g.to, first.next
}

// touchInterval touches interval id as far as entry end, and returns the next one of the
// segment. last says that no deeper entry is touched.
func (t *ExtentTier) touchInterval(s *TierSequence, id intervalID, end int32, last bool) (next intervalID) {
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
	if v.free() && (to.start == none || t.tree.intervals.at(to.start).touch == t.touches) {
		to.start = id
	}
	v.touch = t.touches
	if t.tree.eviction != LFU && v.present() && v.to <= end {
		t.tree.join(id, newer, s.content.id, t.touches)
	}
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
