package prefixindex

import "blis/internal/keytable"

// segments says which places hold how many blocks of each extent of content
// (workload.Extent), for the index that follows routing. A place holds the first
// blocks of an extent, without a gap: so the places that hold a block are among
// those that hold the block before it. A segment is a list of intervals of blocks
// with fewer and fewer holders:
//
//	blocks     40      48           60   64
//	           |-------|------------|----|
//	interval   {0,1,3}  {0,3}        {3}      place 1 holds 40–47, place 3 all
//
// The cost is by intervals, not by blocks. Neighbours with equal holders are
// joined, so each end of an interval is where a place ends: a segment has no more
// intervals than places hold different numbers of its blocks.
type segments struct {
	byKey         keytable.Table // extent key → segment, for extents of which a place holds a block
	list          []segment
	spareSegments int32 // first of the unused segments, chained by intervals; −1: none

	intervals      []interval // intervals[0] is none
	holders        bitsets    // by interval; the set of interval 0 is empty
	spareIntervals int32      // first of the unused intervals, chained by next; 0: none
}

// segment is an extent of content of which a place holds a block.
type segment struct {
	key       uint64
	first     int32 // block
	intervals int32 // first interval

	// Of routedIndex: one of the places that hold it, and the head of that place; 0: of none.
	holder, head int32
}

// interval is consecutive blocks of one segment that the same places hold.
type interval struct {
	end   int32 // block after the last one; the interval begins where the one before ends
	count int32 // places in its set, fewer than in the interval before; ≥ 1
	next  int32 // 0: none
}

func newSegments() segments { return segments{spareSegments: -1, intervals: make([]interval, 1)} }

// find returns the segment of the extent with that key, −1 if no place holds a
// block of it.
func (t *segments) find(key uint64) int32 { return t.byKey.Find(key) }

// open returns a new segment, which has no intervals. It lasts from the first hold
// to the release of its last block.
func (t *segments) open(key uint64, first int32) int32 {
	s := t.spareSegments
	if s >= 0 {
		t.spareSegments = t.list[s].intervals
	} else {
		s = int32(len(t.list))
		t.list = append(t.list, segment{})
	}
	t.list[s] = segment{key: key, first: first}
	t.byKey.Insert(key, s)
	return s
}

// hold notes that place, which held the blocks of segment s before from, holds
// those before end.
func (t *segments) hold(s int32, place int, from, end int32) {
	before, p := t.seek(s, from)
	for from < end {
		if p == 0 {
			p = t.insert(s, before, interval{end: end})
		} else if t.intervals[p].end > end {
			t.split(p, end)
		}
		t.holders.add(p, place)
		t.intervals[p].count++
		from = t.intervals[p].end
		before = t.join(before, p)
		p = t.intervals[before].next
	}
}

// release notes that place, which held the blocks of segment s before end, holds
// those before from only.
func (t *segments) release(s int32, place int, from, end int32) {
	before, p := t.seek(s, from)
	if t.begin(s, before) < from {
		t.split(p, from)
		before, p = p, t.intervals[p].next
	}
	for from < end {
		from = t.intervals[p].end
		t.holders.remove(p, place)
		if t.intervals[p].count--; t.intervals[p].count == 0 { // then p is the last one
			t.cut(s, before)
			return
		}
		before, p = p, t.intervals[p].next
	}
	t.join(before, p)
}

// seek returns the interval of segment s that has the block, 0 if no place holds it,
// and the interval before it, 0 if it is the first.
func (t *segments) seek(s, block int32) (before, p int32) {
	p = t.list[s].intervals
	for p != 0 && t.intervals[p].end <= block {
		before, p = p, t.intervals[p].next
	}
	return before, p
}

// begin returns the first block after interval before of segment s. For before = 0 it
// is the first block of the segment.
func (t *segments) begin(s, before int32) int32 {
	if before == 0 {
		return t.list[s].first
	}
	return t.intervals[before].end
}

// insert adds a interval without holders to segment s, behind interval before, as the
// first if that is 0.
func (t *segments) insert(s, before int32, with interval) int32 {
	p := t.spareIntervals
	if p != 0 {
		t.spareIntervals = t.intervals[p].next
	} else {
		p = int32(len(t.intervals))
		t.intervals = append(t.intervals, interval{})
		t.holders.grow(p)
	}
	t.intervals[p] = with
	if before != 0 {
		t.intervals[before].next = p
	} else {
		t.list[s].intervals = p
	}
	return p
}

// split cuts interval p in two before a block within it.
func (t *segments) split(p, block int32) {
	rest := t.insert(-1, p, t.intervals[p])
	copy(t.holders.at(rest), t.holders.at(p))
	t.intervals[p].end = block
}

// join makes one of intervals p and next, which follows it, if they have equal
// holders: the second set lies in the first, so if they are equally large. It
// returns the interval that has the blocks of next. Either may be 0.
func (t *segments) join(p, next int32) int32 {
	if p == 0 || next == 0 || t.intervals[p].count != t.intervals[next].count {
		return next
	}
	t.intervals[p].end, t.intervals[p].next = t.intervals[next].end, t.intervals[next].next
	clear(t.holders.at(next))
	t.intervals[next].next, t.spareIntervals = t.spareIntervals, next
	return p
}

// cut removes the last interval of segment s, which has no holders, and the segment
// if it has no other. before is the interval before the last one.
func (t *segments) cut(s, before int32) {
	p := t.list[s].intervals
	if before != 0 {
		p, t.intervals[before].next = t.intervals[before].next, 0
	}
	t.intervals[p].next, t.spareIntervals = t.spareIntervals, p
	if before == 0 {
		t.byKey.Remove(t.list[s].key)
		t.list[s].intervals, t.spareSegments = t.spareSegments, s
	}
}
