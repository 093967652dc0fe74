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
	child    segmentID  // the one of them, of named content, that is not in the table; none: there is no such
	first    intervalID // intervals in the order of their blocks
}

// segmentTree has the segments of named content, the child of the segment of the span
// before each, and those of own content.
//
// One child of each is found through its parent, the others through the table: most prompts
// are chains of spans which no other prompt shares, and need the table for their first alone.
type segmentTree struct {
	named    table // segments by the key of the extent, but for child
	own      table // segments of own content by the number of the request
	segments slab[segmentID, segment]
}

// findSegment returns the segment of extent j of c, none if there is none. Then there are none of the
// extents behind it either: a segment keeps its parent.
func (t *segmentTree) findSegment(c *chain, j int) segmentID {
	key := c.extents[j].Key
	if g := c.found[j]; g != none {
		if s := t.segments.at(g); s.key == key && !s.own {
			return g
		}
	}
	if j == 0 {
		c.found[0] = t.named.get(key)
	} else {
		c.found[j] = childOf(t, t.findSegment(c, j-1), key)
	}
	return c.found[j]
}

// childOf returns the child of segment g with a key; none if there is none, or g is none.
func childOf(t *segmentTree, g segmentID, key uint64) segmentID {
	if g == none {
		return none
	}
	s, inTable := t.segments.at(g), int32(0)
	if inTable = s.children; s.child != none {
		if t.segments.at(s.child).key == key {
			return s.child
		}
		inTable--
	}
	if inTable == 0 {
		return none
	}
	return t.named.get(key)
}

// segmentOf returns the segment of extent j of c, made if there is none.
func (t *segmentTree) segmentOf(c *chain, j int) segmentID {
	if g := t.findSegment(c, j); g != none {
		return g
	}
	s := segment{key: c.extents[j].Key, parent: none, child: none, first: none, content: c.content(j)}
	if j == 0 {
		c.found[0] = t.segments.add(s)
		t.named.set(s.key, c.found[0])
		return c.found[0]
	}
	s.parent = t.segmentOf(c, j-1)
	before := t.segments.at(s.parent)
	s.start = before.start + c.spans[j-1].Length
	g := t.segments.add(s)
	if before.children++; before.child == none {
		before.child = g
	} else {
		t.named.set(s.key, g)
	}
	c.found[j] = g
	return g
}

// segmentOfOwn returns the segment of the own content of request id, made if
// there is none.
func (t *segmentTree) segmentOfOwn(id uint64) segmentID {
	g := t.own.get(id)
	if g == none {
		g = t.segments.add(segment{key: id, own: true, parent: none, child: none, first: none})
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
		parent := s.parent
		switch {
		case s.own:
			t.own.remove(s.key)
		case parent != none && t.segments.at(parent).child == g:
			t.segments.at(parent).child = none
		default:
			t.named.remove(s.key)
		}
		s.own = true // nobody finds it
		t.segments.drop(g)
		if g = parent; g != none {
			t.segments.at(g).children--
		}
	}
}

// allSegments returns the segments of t, in no order.
func allSegments(t *segmentTree) []segmentID {
	list := t.named.all()
	for i := 0; i < len(list); i++ {
		if child := t.segments.at(list[i]).child; child != none {
			list = append(list, child)
		}
	}
	return append(list, t.own.all()...)
}
