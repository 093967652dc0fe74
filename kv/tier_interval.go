package kv

import "blis/vtime"

// present reports whether v is entries, not ghosts.
func (v *tierInterval) present() bool { return v.queue >= recent }

// free reports whether v is readable and read by nobody.
func (v *tierInterval) free() bool { return v.readers == 0 && v.copies == 0 }

// setReaders sets the readers of interval id.
func (t *tierTree) setReaders(id intervalID, readers int32) {
	v := t.intervals.at(id)
	if t.version++; t.eviction == ARC && v.queue == recent { // the next Touch may move it to frequent
		t.leave(id)
	}
	t.setPins(v, readers, v.copies)
}

// setPins sets what keeps v from being evicted. Copies change nothing that a Touch or a Lookup
// does.
func (t *tierTree) setPins(v *tierInterval, readers, copies int32) {
	q := t.queues.at(v.queue)
	if v.free() {
		q.evictable -= int(v.to - v.from)
	}
	if v.readers, v.copies = readers, copies; v.free() {
		q.evictable += int(v.to - v.from)
		q.start = q.oldest // or a newer one: the next Store looks for it
	}
}

// cut makes the entries from … to−1 of interval id an interval of their own, and returns it.
func (t *tierTree) cut(id intervalID, from, to int32) intervalID {
	v := t.intervals.at(id)
	if v.from < from {
		id = t.split(id, from)
		v = t.intervals.at(id)
	}
	if to < v.to {
		t.split(id, to)
	}
	return id
}

// split cuts interval id before the entry at. The shallow part keeps its number; split
// returns the deep part.
func (t *tierTree) split(id intervalID, at int32) (deep intervalID) {
	v := t.intervals.at(id)
	if v.readers < 0 {
		if w := t.writers.at(v.writer); w.last == id && w.tail != none && w.tail < at {
			panic("kv: a tail is cut")
		}
	}
	deep = t.intervals.add(*v)
	d := t.intervals.at(deep)
	v.to, d.from = at, at
	t.fileBetween(id, deep, d.next)
	if v.rising {
		t.hang(deep, v.newer)
	} else {
		t.hang(deep, id)
	}
	if g := t.groups.at(v.group); v.group != 0 && g.first == id { // members fall
		g.first = deep
	}
	if v.readers < 0 {
		earlier := id
		if t.writers.at(v.writer).falling {
			earlier = v.earlier
		}
		t.writeBehind(earlier, deep)
	}
	return deep
}

// writeBehind puts id behind the interval earlier in the list of its writer; none: at its
// beginning.
func (t *tierTree) writeBehind(earlier, id intervalID) {
	v := t.intervals.at(id)
	w := t.writers.at(v.writer)
	if v.earlier = earlier; earlier == none {
		v.later, w.first = w.first, id
	} else {
		e := t.intervals.at(earlier)
		v.later, e.later = e.later, id
	}
	if v.later == none {
		w.last = id
	} else {
		t.intervals.at(v.later).earlier = id
	}
}

// unwrite takes interval id out of the list of its writer.
func (t *tierTree) unwrite(id intervalID) {
	v := t.intervals.at(id)
	w := t.writers.at(v.writer)
	if v.earlier == none {
		w.first = v.later
	} else {
		t.intervals.at(v.earlier).later = v.later
	}
	if v.later == none {
		w.last = v.earlier
	} else {
		t.intervals.at(v.later).earlier = v.earlier
	}
}

// settle forgets when the store of v ended, if no load from clock on can find it to be thrashing.
func (v *tierInterval) settle(clock vtime.Time) {
	if v.stored != vtime.Never && v.stored.Add(Thrashing) <= clock {
		v.stored = settled
	}
}

// merge makes interval deep a part of interval id, which ends where deep begins in the same
// segment, if both are in the same state and follow each other in their queue. It reports
// whether it did.
func (t *tierTree) merge(id, deep intervalID) bool {
	v, d := t.intervals.at(id), t.intervals.at(deep)
	if v.to != d.from || v.queue != d.queue || v.readers != d.readers || v.copies != d.copies {
		return false
	}
	rising := v.newer == deep
	if !rising && v.older != deep || !v.runs(rising) || !d.runs(rising) {
		return false
	}
	if v.readers < 0 && (v.writer != d.writer || !t.storedInARow(id, deep)) {
		return false
	}
	v.settle(t.clock)
	d.settle(t.clock)
	if v.stored != d.stored {
		return false
	}
	group := d.group
	if group != v.group {
		t.leave(id)
	}
	if t.unhang(deep); group != 0 && group == v.group {
		t.groups.at(group).entries += d.to - d.from
	}
	if v.readers < 0 {
		t.unwrite(deep)
	}
	t.unfile(deep)
	v.to, v.rising = d.to, rising
	t.intervals.drop(deep)
	return true
}

// storedInARow reports whether nothing was stored between intervals id and deep, which follow each
// other in a segment and are being written for the same request.
func (t *tierTree) storedInARow(id, deep intervalID) bool {
	v, d := t.intervals.at(id), t.intervals.at(deep)
	if t.writers.at(v.writer).falling {
		return d.later == id
	}
	return v.later == deep
}

// runs reports whether v is in its queue with the shallowest entry the oldest, or else the
// deepest: one entry is both.
func (v *tierInterval) runs(rising bool) bool { return v.rising == rising || v.to-v.from == 1 }

// joinBefore merges interval id with the one before it in its segment, if it can, and
// returns what id is part of then.
func (t *tierTree) joinBefore(id intervalID) intervalID {
	if prev := t.intervals.at(id).prev; prev != none && t.merge(prev, id) {
		return prev
	}
	return id
}

// joinBehind merges interval id with the one behind it in its segment, if it can.
func (t *tierTree) joinBehind(id intervalID) {
	if next := t.intervals.at(id).next; next != none {
		t.merge(id, next)
	}
}

// oldestOf makes the n oldest entries of interval id an interval of their own, and returns
// it; all of them if there are no more.
func (t *tierTree) oldestOf(id intervalID, n int) intervalID {
	v := t.intervals.at(id)
	switch {
	case int(v.to-v.from) <= n:
		return id
	case v.rising:
		return t.cut(id, v.from, v.from+int32(n))
	}
	return t.cut(id, v.to-int32(n), v.to)
}

// trim forgets the n oldest entries of interval id, which has more and which nobody reads. It
// returns their range.
func trim(t *tierTree, id intervalID, n int32) (from, to int32) {
	v := t.intervals.at(id)
	if from, to = v.from, v.from+n; v.rising {
		v.from = to
	} else {
		from, to = v.to-n, v.to
		v.to = from
	}
	q := t.queues.at(v.queue)
	q.entries -= int(n)
	q.evictable -= int(n)
	if v.group != 0 {
		t.groups.at(v.group).entries -= n
	}
	t.version++
	return from, to
}
