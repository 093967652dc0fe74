package policy

import (
	"math/bits"
	"testing"
)

// byPlace is an index with what it last found, for tests without instances.
type byPlace[T placeIndex] struct {
	index T
	hits
}

func newByPlace[T placeIndex](index T, places int) *byPlace[T] {
	x := &byPlace[T]{index: index}
	x.cover(places)
	return x
}

func (x *byPlace[T]) cover(places int) {
	x.index.cover(places)
	x.hits.cover(places)
}

func (x *byPlace[T]) look(req *Request) { x.index.look(req, &x.hits) }

// checkRouted counts the books of an index that follows routing: orders, parts,
// sets and tables say the same, and nothing is kept in more pieces than it must.
func checkRouted(t *testing.T, seed uint64, x *routedIndex) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("seed %d: "+format, append([]any{seed}, args...)...)
	}
	type hold struct {
		segment int32
		place   int
	}
	held := map[hold]int32{} // end of what a place holds of a segment
	heads, runs := 0, 1
	for place, o := range x.orders.list {
		blocks := int32(0)
		for n := o.newest; n != 0; n = x.orders.runs[n].older {
			r := &x.orders.runs[n]
			runs++
			blocks += r.end - x.begin(r)
			older := &x.orders.runs[r.older]
			switch {
			case r.end <= x.begin(r):
				fail("place %d: run %d is empty: %+v", place, n, r)
			case r.older != 0 && (r.deeper == r.older || r.segment < 0 && older.segment < 0):
				fail("place %d: runs %d and %d can be one: %+v, %+v", place, n, r.older, r, older)
			case r.segment < 0:
				continue
			case r.shallower == 0 && x.heads.find(pairOf(r.segment, place)) != n:
				fail("place %d: run %d, the first of segment %d, is not found", place, n, r.segment)
			case held[hold{r.segment, place}] != 0 && held[hold{r.segment, place}] != x.begin(r):
				fail("place %d: run %d does not go on where the newer one ends", place, n)
			}
			if r.shallower == 0 {
				heads++
			}
			held[hold{r.segment, place}] = r.end
		}
		if blocks != o.blocks || blocks > o.capacity {
			fail("place %d counts %d blocks of at most %d, holds %d", place, o.blocks, o.capacity, blocks)
		}
	}
	for n := x.orders.free; n != 0; n = x.orders.runs[n].older {
		runs++
	}
	if heads != x.heads.used || heads != len(held) || runs != len(x.orders.runs) {
		fail("%d first runs, %d in the table, %d pairs of place and segment; %d runs of %d", heads, x.heads.used, len(held), runs, len(x.orders.runs))
	}
	segments, parts := 0, 1
	for s, segment := range x.segments.list {
		if x.segments.find(segment.key) != int32(s) {
			continue // spare
		}
		segments++
		if segment.parts == 0 {
			fail("segment %d is held by nobody", s)
		}
		begin, last := segment.first, int32(1<<30)
		for p := segment.parts; p != 0; p = x.segments.parts[p].next {
			parts++
			part, counted := x.segments.parts[p], 0
			for w, set := range x.segments.holders.at(p) {
				for counted += bits.OnesCount64(set); set != 0; set &= set - 1 {
					if end := held[hold{int32(s), 64*w + bits.TrailingZeros64(set)}]; end < part.end {
						fail("segment %d, part %d: place %d holds it up to %d, not %d", s, p, 64*w+bits.TrailingZeros64(set), end, part.end)
					}
				}
			}
			if part.end <= begin || part.count >= last || int(part.count) != counted {
				fail("segment %d, part %d from %d: %+v with %d holders after %d", s, p, begin, part, counted, last)
			}
			begin, last = part.end, part.count
		}
		for key, end := range held { // any order
			if key.segment == int32(s) && !x.segments.has(key.segment, end-1, key.place) {
				fail("place %d holds segment %d up to %d and is not in the set", key.place, s, end)
			}
		}
	}
	for p := x.segments.spareParts; p != 0; p = x.segments.parts[p].next {
		parts++
	}
	if segments != x.segments.byKey.used || parts != len(x.segments.parts) {
		fail("%d segments, %d in the table; %d parts of %d", segments, x.segments.byKey.used, parts, len(x.segments.parts))
	}
}

// has reports whether place holds a block of segment s.
func (t *segments) has(s, block int32, place int) bool {
	_, p := t.seek(s, block)
	return p != 0 && t.holders.at(p)[place/64]>>(place%64)&1 != 0
}
