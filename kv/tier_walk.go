package kv

import "math"

// ownPart is the part of a request's entries that is own content. Other parts are numbered
// like the extents of its content.
const ownPart = -1

// part returns the part of t in which entry i is, and the entry at which the part ends.
func (t *TierSequence) part(i int32) (part int, end int32) {
	if c := &t.content; i < c.nameable() {
		j := c.extent(i)
		return j, c.extents[j].End
	}
	return ownPart, math.MaxInt32
}

// segmentOfPart returns the segment with a part of s, none if there is none.
func (t *tierTree) segmentOfPart(s *TierSequence, part int) segmentID {
	if part == ownPart {
		return t.own.get(s.content.id)
	}
	return t.findSegment(s.content.chain, part)
}

// firstOfPart returns the first interval of the segment with a part of s, none if there is none.
func firstOfPart(t *tierTree, s *TierSequence, part int) intervalID {
	if g := t.segmentOfPart(s, part); g != none {
		return t.segments.at(g).first
	}
	return none
}

// tierWalk goes through entries of a sequence in pieces: entries of one interval, or
// entries of one part that are not there. What it has passed may be cut and merged meanwhile.
type tierWalk struct {
	t      *tierTree
	s      *TierSequence
	to     int32      // where the walk ends
	part   int        // with the piece
	absent bool       // there is no segment with the named part before, so none with one behind it
	end    int32      // of the part, or of the walk
	next   intervalID // the first one of the segment that is not passed
	id     intervalID // of the piece; none: not there
	lo, hi int32      // the piece
}

// walk returns the walk through entries from … to−1 of s, before the first piece.
func (t *tierTree) walk(s *TierSequence, from, to int32) tierWalk {
	return tierWalk{t: t, s: s, to: to, end: from, hi: from}
}

// piece goes on to the next piece and reports whether there is one.
func (w *tierWalk) piece() bool {
	if w.lo = w.hi; w.lo >= w.to {
		return false
	}
	if w.lo >= w.end {
		w.part, w.end = w.s.part(w.lo)
		w.end = min(w.end, w.to)
		if w.next = none; w.part == ownPart || !w.absent {
			g := w.t.segmentOfPart(w.s, w.part)
			if w.absent = g == none; !w.absent {
				w.next = w.t.segments.at(g).first
			}
		}
	}
	w.id, w.hi = none, w.end
	for w.next != none {
		v := w.t.intervals.at(w.next)
		if v.present() && v.to > w.lo {
			if v.from > w.lo {
				w.hi = min(v.from, w.end)
				return true
			}
			w.id, w.hi, w.next = w.next, min(v.to, w.end), v.next
			return true
		}
		w.next = v.next
	}
	return true
}
