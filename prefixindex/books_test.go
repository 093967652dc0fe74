package prefixindex

import (
	"math/bits"
	"testing"

	"blis/workload"
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

func (x *byPlace[T]) look(req *workload.Request) { x.index.look(req.Input, req.Spans, &x.hits) }

// checkRouted counts the books of an index that follows routing: orders, intervals,
// sets and tables say the same, and nothing is kept in more pieces than needed.
func checkRouted(t *testing.T, seed uint64, x *routedIndex) {
	t.Helper()
	b := &books{t: t, seed: seed, index: x, held: map[pairHeld]int32{}}
	b.orders()
	b.segments()
}

// books counts the books of an index.
type books struct {
	t     *testing.T
	seed  uint64
	index *routedIndex
	held  map[pairHeld]int32 // end of the blocks of a segment that a place holds, by its order
}

type pairHeld struct {
	segment int32
	place   int
}

func (b *books) fail(format string, args ...any) {
	b.t.Helper()
	b.t.Fatalf("seed %d: "+format, append([]any{b.seed}, args...)...)
}

// orders checks the orders of all places.
func (b *books) orders() {
	b.t.Helper()
	l, runs := &b.index.orders, 1
	for place, o := range l.list {
		blocks := int32(0)
		for n := o.newest; n != 0; n = l.runs[n].older {
			b.run(place, n)
			blocks += l.runs[n].end - b.index.begin(&l.runs[n])
			runs++
		}
		if blocks != o.blocks || blocks > o.capacity {
			b.fail("place %d counts %d blocks of at most %d, holds %d", place, o.blocks, o.capacity, blocks)
		}
	}
	for n := l.free; n != 0; n = l.runs[n].older {
		runs++
	}
	heads := b.index.heads.Len()
	for i := range b.index.segments.list {
		if s := &b.index.segments.list[i]; s.head != 0 {
			heads++
		}
	}
	if heads != len(b.held) || runs != len(l.runs) {
		b.fail("%d heads, %d pairs of place and segment; %d runs of %d", heads, len(b.held), runs, len(l.runs))
	}
}

// run checks run n of a place, the newer runs of which were checked.
func (b *books) run(place int, n int32) {
	b.t.Helper()
	l := &b.index.orders
	r := &l.runs[n]
	older, begin, pair := &l.runs[r.older], b.index.begin(r), pairHeld{r.segment, place}
	switch {
	case r.end <= begin:
		b.fail("place %d: run %d is empty: %+v", place, n, r)
	case r.older != 0 && (r.deeper == r.older || r.segment < 0 && older.segment < 0):
		b.fail("place %d: runs %d and %d can be one: %+v, %+v", place, n, r.older, r, older)
	case r.segment < 0:
		return
	case r.shallower == 0 && b.index.head(r.segment, place) != n:
		b.fail("place %d: run %d, the first of segment %d, is not found", place, n, r.segment)
	case b.held[pair] != 0 && b.held[pair] != begin:
		b.fail("place %d: run %d does not begin where the newer one ends", place, n)
	}
	b.held[pair] = r.end
}

// segments checks the segments against what the orders hold.
func (b *books) segments() {
	b.t.Helper()
	t, used, intervals := &b.index.segments, 0, 1
	for s, segment := range t.list {
		if t.find(segment.key) != int32(s) {
			continue // unused
		}
		if used++; segment.intervals == 0 {
			b.fail("segment %d has no holders", s)
		}
		intervals += b.intervals(int32(s))
	}
	for pair, end := range b.held { // any order
		if _, p := t.seek(pair.segment, end-1); p == 0 || t.holders.at(p)[pair.place/64]>>(pair.place%64)&1 == 0 {
			b.fail("place %d holds segment %d up to %d and is not in the set", pair.place, pair.segment, end)
		}
	}
	for p := t.spareIntervals; p != 0; p = t.intervals[p].next {
		intervals++
	}
	if used != t.byKey.Len() || intervals != len(t.intervals) {
		b.fail("%d segments, %d in the table; %d intervals of %d", used, t.byKey.Len(), intervals, len(t.intervals))
	}
}

// intervals checks the intervals of segment s and counts them.
func (b *books) intervals(s int32) (n int) {
	b.t.Helper()
	t := &b.index.segments
	begin, last := t.list[s].first, int32(1<<30)
	for p := t.list[s].intervals; p != 0; p = t.intervals[p].next {
		n++
		v, counted := t.intervals[p], 0
		for w, set := range t.holders.at(p) {
			for counted += bits.OnesCount64(set); set != 0; set &= set - 1 {
				if place := 64*w + bits.TrailingZeros64(set); b.held[pairHeld{s, place}] < v.end {
					b.fail("segment %d, interval %d: place %d holds it up to %d, not %d", s, p, place, b.held[pairHeld{s, place}], v.end)
				}
			}
		}
		if v.end <= begin || v.count >= last || int(v.count) != counted {
			b.fail("segment %d, interval %d from %d: %+v with %d holders after %d", s, p, begin, v, counted, last)
		}
		begin, last = v.end, v.count
	}
	return n
}
