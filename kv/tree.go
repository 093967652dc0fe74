package kv

// segmentID, intervalID and runID number the segments, intervals and runs of
// one cache. They reach no output.
type (
	segmentID  int32
	intervalID int32
	runID      int32
)

// interval is the blocks from … to−1 of a segment, of each of which the cache
// has the same copies.
type interval struct {
	segment    segmentID
	from, to   int32      // from < to
	prev, next intervalID // in the segment
	oldest     runID      // copies in the order in which they were keyed; at least one
	newest     runID
}

// run is one copy of the blocks of an interval, or anonymous blocks on the free
// list. All its blocks are held by the same sequences.
type run struct {
	interval  intervalID // none: anonymous
	anonymous int32      // number of blocks then, else 0
	refs      int32      // sequences that hold it; 0: it lies on the free list

	// shallower is the run that was split off the shallow end of this one.
	// It means something only to sequences that have held this one since.
	shallower    runID
	older, newer runID // copies of the interval
	prev, next   runID // on the free list, prev nearer the head
}

// tree is what a cache has of named content, and of the own content of preempted
// requests: segments, their intervals and the copies of these. It knows nothing of
// the free list, on which a run is or is not.
type tree struct {
	segmentTree
	intervals slab[intervalID, interval]
	runs      slab[runID, run]
}

// length returns the number of blocks of the named run r.
func (t *tree) length(r *run) int32 {
	v := t.intervals.at(r.interval)
	return v.to - v.from
}

// addRun makes a copy of v held by one sequence, keyed after the others.
func (t *tree) addRun(v intervalID) runID {
	id := t.runs.add(run{interval: v, refs: 1, shallower: none})
	t.linkCopy(v, id)
	return id
}

func (t *tree) linkCopy(v intervalID, id runID) {
	at, r := t.intervals.at(v), t.runs.at(id)
	if r.older, r.newer = at.newest, none; at.newest == none {
		at.oldest = id
	} else {
		t.runs.at(at.newest).newer = id
	}
	at.newest = id
}

// dropRun forgets a copy, and its interval with the last copy.
func (t *tree) dropRun(id runID) {
	r := t.runs.at(id)
	v := t.intervals.at(r.interval)
	if r.older == none {
		v.oldest = r.newer
	} else {
		t.runs.at(r.older).newer = r.newer
	}
	if r.newer == none {
		v.newest = r.older
	} else {
		t.runs.at(r.newer).older = r.older
	}
	if v.oldest == none {
		t.dropInterval(r.interval)
	}
	t.runs.drop(id)
}

// addInterval puts the blocks from … to−1, still without a copy, behind the
// interval prev of segment g; none: at its beginning.
func (t *tree) addInterval(g segmentID, prev intervalID, from, to int32) intervalID {
	id := t.intervals.add(interval{segment: g, from: from, to: to, prev: prev, oldest: none, newest: none})
	v := t.intervals.at(id)
	if prev == none {
		s := t.segments.at(g)
		v.next, s.first = s.first, id
	} else {
		b := t.intervals.at(prev)
		v.next, b.next = b.next, id
	}
	if v.next != none {
		t.intervals.at(v.next).prev = id
	}
	return id
}

// dropInterval forgets an interval without copies, and its segment with the
// last interval.
func (t *tree) dropInterval(id intervalID) {
	v := t.intervals.at(id)
	if v.next != none {
		t.intervals.at(v.next).prev = v.prev
	}
	if v.prev != none {
		t.intervals.at(v.prev).next = v.next
	} else {
		t.segments.at(v.segment).first = v.next
		t.dropUnused(v.segment)
	}
	t.intervals.drop(id)
}

// split cuts interval id before the block at. The deep part keeps its number,
// and so do its runs; the shallow part becomes the interval before it, with the
// same copies in the same order.
func (t *tree) split(id intervalID, at int32) {
	v := t.intervals.at(id)
	shallow := t.addInterval(v.segment, v.prev, v.from, at)
	v.from = at
	for deep := v.oldest; deep != none; {
		r := t.runs.at(deep)
		r.shallower = t.runs.add(run{interval: shallow, refs: r.refs, shallower: r.shallower})
		t.linkCopy(shallow, r.shallower)
		deep = r.newer
	}
}
