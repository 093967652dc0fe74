package kv

import "blis/workload"

// segment is what a cache or a tier has of one extent. A segment of a cache has gaps only
// where deep blocks were pinned while those before them were evicted. It lives as long as it
// has intervals or children.
type segment struct {
	key     uint64             // of the extent; the request's number if own
	content workload.ContentID // of the span
	start   int32              // token at which the span begins, or the own content; 0 for own content in a tier
	own     bool               // own content, of a preempted request if in a cache: no keys of blocks, no children

	parent   segmentID  // of the span before; none: this is the first, or own content in a tier
	children int32      // segments with this parent
	first    intervalID // intervals in the order of their blocks
}

// segmentTree has the segments of named content, the child of the segment of the span
// before each, and those of own content.
type segmentTree struct {
	named    table // segments by the key of the extent
	own      table // segments of own content by the number of the request
	segments slab[segmentID, segment]
}

// segmentOf returns the segment of extent j of c, made if there is none.
func (t *segmentTree) segmentOf(c *chain, j int) segmentID {
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
func (t *segmentTree) segmentOfOwn(id uint64) segmentID {
	g := t.own.get(id)
	if g == none {
		g = t.segments.add(segment{key: id, own: true, parent: none, first: none})
		t.own.set(id, g)
	}
	return g
}

// segmentOfOwnBehind is segmentOfOwn for a cache, which knows what content is before: all
// spans of c.
func (t *segmentTree) segmentOfOwnBehind(c *content) segmentID {
	if g := t.own.get(c.id); g != none {
		return g
	}
	g := t.segmentOfOwn(c.id)
	if c.named > 0 {
		parent := t.segmentOf(c.chain, len(c.spans)-1)
		s := t.segments.at(g)
		s.parent, s.start = parent, c.named
		t.segments.at(parent).children++
	}
	return g
}

// dropUnused forgets segment g if it has neither intervals nor children, then
// its parent, and so on.
func (t *segmentTree) dropUnused(g segmentID) {
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
