package policy

// segments is which places hold how many blocks of each extent of content
// (workload.Extent), for the index that follows routing. What a place holds of
// an extent has no gaps and begins with the first block. So the places that hold
// a block are among those that hold the block before it, and a segment is a list
// of parts with ever fewer holders:
//
//	block    40      48           60   64
//	         |-------|------------|----|
//	part     {0,1,3}  {0,3}        {3}       place 1 holds blocks 40–47, place 3 all
//
// The costs are by parts, not blocks. A segment has no more parts than its
// places hold different numbers of its blocks: neighbours with equal holders
// are joined.
type segments struct {
	byKey table // extent key → segment, for extents of which a place holds a block
	list  []segment
	spare int32 // first of the segments to be used again, chained by parts; −1: none

	parts      []part  // parts[0] is none
	holders    bitsets // by part; the set of part 0 is empty
	spareParts int32   // first of the parts to be used again, chained by next; 0: none
}

// segment is an extent of content of which a place holds a block.
type segment struct {
	key   uint64
	first int32 // block
	parts int32 // first part
}

// part is a run of blocks of one segment that the same places hold.
type part struct {
	end   int32 // block after the last one; the part begins where the one before ends
	count int32 // places in its set, fewer than in the part before; ≥ 1
	next  int32 // 0: none
}

func newSegments() segments { return segments{spare: -1, parts: make([]part, 1)} }

// find returns the segment of the extent with that key, −1 if no place holds a
// block of it.
func (t *segments) find(key uint64) int32 { return t.byKey.find(key) }

// open returns a new segment, which has no parts. It lasts from the first hold
// to the release of its last block.
func (t *segments) open(key uint64, first int32) int32 {
	s := t.spare
	if s >= 0 {
		t.spare = t.list[s].parts
	} else {
		s = int32(len(t.list))
		t.list = append(t.list, segment{})
	}
	t.list[s] = segment{key: key, first: first}
	t.byKey.insert(key, s)
	return s
}

// hold notes that place, which held the blocks of segment s before from, holds
// those before end.
func (t *segments) hold(s int32, place int, from, end int32) {
	before, p := t.seek(s, from)
	for from < end {
		if p == 0 {
			p = t.insert(s, before, part{end: end})
		} else if t.parts[p].end > end {
			t.split(p, end)
		}
		t.holders.add(p, place)
		t.parts[p].count++
		from = t.parts[p].end
		before = t.join(before, p)
		p = t.parts[before].next
	}
}

// release notes that place, which held the blocks of segment s before end, holds
// those before from only.
func (t *segments) release(s int32, place int, from, end int32) {
	before, p := t.seek(s, from)
	if t.begin(s, before) < from {
		t.split(p, from)
		before, p = p, t.parts[p].next
	}
	for from < end {
		from = t.parts[p].end
		t.holders.remove(p, place)
		if t.parts[p].count--; t.parts[p].count == 0 { // then p is the last one
			t.cut(s, before)
			return
		}
		before, p = p, t.parts[p].next
	}
	t.join(before, p)
}

// seek returns the part of segment s that has the block, 0 if no place holds it,
// and the part before it, 0 if it is the first.
func (t *segments) seek(s, block int32) (before, p int32) {
	p = t.list[s].parts
	for p != 0 && t.parts[p].end <= block {
		before, p = p, t.parts[p].next
	}
	return before, p
}

// begin returns the first block after part before of segment s. For before = 0 it
// is the first block of the segment.
func (t *segments) begin(s, before int32) int32 {
	if before == 0 {
		return t.list[s].first
	}
	return t.parts[before].end
}

// insert adds a part without holders to segment s, behind part before, as the
// first if that is 0.
func (t *segments) insert(s, before int32, with part) int32 {
	p := t.spareParts
	if p != 0 {
		t.spareParts = t.parts[p].next
	} else {
		p = int32(len(t.parts))
		t.parts = append(t.parts, part{})
		t.holders.grow(p)
	}
	t.parts[p] = with
	if before != 0 {
		t.parts[before].next = p
	} else {
		t.list[s].parts = p
	}
	return p
}

// split cuts part p in two at a block within it.
func (t *segments) split(p, block int32) {
	rest := t.insert(-1, p, t.parts[p])
	copy(t.holders.at(rest), t.holders.at(p))
	t.parts[p].end = block
}

// join makes one of parts p and next, which follows it, if they have equal
// holders: the second set lies in the first, so if they are equally large. It
// returns the part that has the blocks of next. Either may be 0.
func (t *segments) join(p, next int32) int32 {
	if p == 0 || next == 0 || t.parts[p].count != t.parts[next].count {
		return next
	}
	t.parts[p].end, t.parts[p].next = t.parts[next].end, t.parts[next].next
	clear(t.holders.at(next))
	t.parts[next].next, t.spareParts = t.spareParts, next
	return p
}

// cut removes the last part of segment s, which has no holders, and the segment
// if it has no other. before is the part before the last one.
func (t *segments) cut(s, before int32) {
	p := t.list[s].parts
	if before != 0 {
		p, t.parts[before].next = t.parts[before].next, 0
	}
	t.parts[p].next, t.spareParts = t.spareParts, p
	if before == 0 {
		t.byKey.remove(t.list[s].key)
		t.list[s].parts, t.spare = t.spare, s
	}
}
