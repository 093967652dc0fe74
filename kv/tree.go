package kv

import "blis/workload"

// segmentID, intervalID and runID number the segments, intervals and runs of
// one cache. They reach no output.
type (
	segmentID  int32
	intervalID int32
	runID      int32
)

// segment is what a cache has of one extent: the blocks from the extent's first
// one on that are cached, without a gap. It lives as long as it has intervals or
// children.
type segment struct {
	key     uint64             // of the extent; the request's number if own
	content workload.ContentID // of the span
	start   int32              // token of the prompt at which the span begins
	own     bool               // own content of a preempted request: no keys of blocks, no parent, no children

	parent   segmentID  // of the span before; none: this is the first
	children int32      // segments with this parent
	first    intervalID // intervals in the order of their blocks, each beginning where the one before ends
}

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
// requests: segments, the child of the segment of the span before each, their
// intervals and the copies of these. It knows nothing of the free list, on which
// a run is or is not.
type tree struct {
	named     table // segments by the key of the extent
	own       table // segments of own content by the number of the request
	segments  slab[segmentID, segment]
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

// segmentOf returns the segment of extent j of c, made if there is none.
func (t *tree) segmentOf(c *chain, j int) segmentID {
	key := c.extents[j].Key
	if g := t.named.get(key); g != none {
		return g
	}
	s := segment{key: key, parent: none, first: none, content: c.content(j)}
	if j > 0 {
		s.parent = t.segmentOf(c, j-1)
		before := t.segments.at(s.parent)
		before.children++
		s.start = before.start + c.spans[j-1].Length
	}
	g := t.segments.add(s)
	t.named.set(key, g)
	return g
}

// segmentOfOwn returns the segment of the own content of request id, made if
// there is none.
func (t *tree) segmentOfOwn(id uint64) segmentID {
	g := t.own.get(id)
	if g == none {
		g = t.segments.add(segment{key: id, own: true, parent: none, first: none})
		t.own.set(id, g)
	}
	return g
}

// dropUnused forgets segment g if it has neither intervals nor children, then
// its parent, and so on.
func (t *tree) dropUnused(g segmentID) {
	for g != none {
		s := t.segments.at(g)
		if s.first != none || s.children > 0 {
			return
		}
		if s.own {
			t.own.remove(s.key)
		} else {
			t.named.remove(s.key)
		}
		t.segments.drop(g)
		if g = s.parent; g != none {
			t.segments.at(g).children--
		}
	}
}
