package kv

// tierGroup is intervals of one sequence that a Touch left next to each other in their
// queue, the deepest one the oldest, and without a gap between their entries. LFU has no groups:
// a touch moves its entries to other queues.
//
// An interval that is moved by itself, or merged with one of another group, is no member any
// more. A group is whole if its members have all entries from its newest one to where its
// deepest one ended. Then they still stand next to each other in the queue, no entry was stored
// between them, and none is a ghost: a Touch of the sequence moves them in one step.
type tierGroup struct {
	owner       uint64     // number of the request
	first, last intervalID // the oldest and the newest member, as long as the group is whole
	to          int32      // where the deepest one ended when it joined
	entries     int32      // of the members; 0: the group is not in use
	touch       uint64     // number of the Touch that made the group
}

// groupID numbers the groups of one tier; 0 is no group.
type groupID int32

// wholeUnder returns the group of owner of which id is the newest member, if it is whole
// and ends at entry n at the latest; 0 if there is none.
func (t *tierTree) wholeUnder(id intervalID, owner uint64, n int32) groupID {
	v := t.intervals.at(id)
	if v.group == 0 {
		return 0
	}
	if g := t.groups.at(v.group); g.owner != owner || g.last != id || v.from+g.entries != g.to || g.to > n {
		return 0
	}
	return v.group
}

// join makes interval id a member of the group of the interval newer, right before which a
// Touch of owner placed it, or of a new one. touch is the number of the Touch.
func (t *tierTree) join(id, newer intervalID, owner, touch uint64) {
	v := t.intervals.at(id)
	t.leave(id)
	if newer != none {
		v.group = t.intervals.at(newer).group
	}
	g := t.groups.at(v.group)
	if v.group == 0 || g.to != v.from {
		v.group = t.groups.add(tierGroup{owner: owner, last: id, touch: touch})
		g = t.groups.at(v.group)
	}
	g.first, g.to = id, v.to
	g.entries += v.to - v.from
}

// leave takes id out of its group, if it is in one. It stays where it is in its queue.
func (t *tierTree) leave(id intervalID) {
	v := t.intervals.at(id)
	if v.group == 0 {
		return
	}
	g := t.groups.at(v.group)
	if g.first == id {
		g.first = v.newer
	}
	if g.last == id {
		g.last = v.older
	}
	if g.entries -= v.to - v.from; g.entries == 0 {
		t.groups.drop(v.group)
	}
	v.group = 0
}

// splice moves the whole group right before the interval newer of its queue, none: to the
// new end.
func (t *tierTree) splice(group groupID, newer intervalID) {
	g := t.groups.at(group)
	first, last := t.intervals.at(g.first), t.intervals.at(g.last)
	q := t.queues.at(first.queue)
	starts := q.start != none && t.intervals.at(q.start).group == group
	if last.newer == newer {
		if starts {
			q.start = g.first
		}
		return
	}
	t.version++
	next := last.newer
	if starts { // nothing that is older can be evicted
		q.start = next
	}
	if t.intervals.at(next).older = first.older; first.older == none {
		q.oldest = next
	} else {
		t.intervals.at(first.older).newer = next
	}
	if last.newer = newer; newer == none {
		first.older, q.newest = q.newest, g.last
	} else {
		n := t.intervals.at(newer)
		first.older, n.older = n.older, g.last
	}
	t.intervals.at(first.older).newer = g.first
}

// mergeDeepest merges the deepest intervals of a whole group, as far as it can: those stored
// last. Behind one that is settled there is nothing to merge that was not when it was the deepest.
func (t *tierTree) mergeDeepest(group groupID) {
	g := t.groups.at(group)
	for id := g.first; id != g.last; {
		d := t.intervals.at(id)
		d.settle(t.clock)
		newer := d.newer
		if done := d.stored == settled; !(newer == d.prev && t.merge(newer, id)) && done {
			return
		}
		id = newer
	}
}

// absorb makes the members of the group of newer members of a whole group, right before the
// first of which they lie, if the Touch at hand made their group.
func (t *tierTree) absorb(group groupID, newer intervalID, touch uint64) {
	from := t.intervals.at(newer).group
	s, g := t.groups.at(from), t.groups.at(group)
	if from == 0 || s.touch != touch || s.to != t.intervals.at(g.last).from {
		return
	}
	for id, left := s.last, s.entries; left > 0; {
		v := t.intervals.at(id)
		v.group = group
		left -= v.to - v.from
		id = v.older
	}
	g.last = s.last
	g.entries += s.entries
	s.entries = 0
	t.groups.drop(from)
}
