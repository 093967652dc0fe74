package prefixindex

import (
	"blis/internal/keytable"
	"blis/workload"
)

// unknownCache is the number of blocks that the router remembers of an instance
// whose cache size it does not know: the default of the prefix scorer of the Gateway
// API inference extension.
const unknownCache = 31_250

// routedIndex follows routing: it is the router's guess at what each place has
// cached, made from the routing decisions alone. Per place it is an LRU cache of
// the blocks of the prompts that were sent there.
//
// A decision touches all full blocks of its prompt on the target, from the last
// to the first, so that the deepest goes first when room is needed: a chain that
// lost its first block would be worth nothing. Then the oldest blocks are dropped
// until the place holds no more than its capacity. Looking touches nothing.
//
// The index equals an LRU list of blocks per place, block for block, but its cost
// follows the spans of the prompts. Blocks covered by named spans can be found
// again: they are kept by extents, in segments with the places that hold them and
// in the orders. The rest of a prompt, its tail, belongs to this one request: it is
// a length in the order of the place.
//
// Two properties make that possible. A decision that touches a block touches all
// blocks before it, and leaves these newer: so what a place holds of a chain has no
// gaps and is dropped from the deep end. And however often a place's blocks of a
// segment were touched, the next touch leaves at most two runs where it went: the
// touched blocks, and the rest of the run in which it ended.
type routedIndex struct {
	blockSize int32
	capacity  int32 // blocks, of places without one of their own
	largest   int32 // largest capacity that a place ever had

	segments segments
	orders   orders
	heads    keytable.Table // (segment, place) → the head of the place in the segment, but for segment.holder

	// Of the prompt that look was asked about:
	blocks int32             // full blocks
	chain  []workload.Extent // extents, of blocks before largest
	known  []int32           // segments of the first extents, as far as there are any
}

func newRoutedIndex(blockSize, capacity int32) *routedIndex {
	return &routedIndex{blockSize: blockSize, capacity: capacity, largest: capacity,
		segments: newSegments(), orders: orders{runs: make([]run, 1)}}
}

func (x *routedIndex) cover(places int) {
	x.segments.holders.cover(places)
	for len(x.orders.list) < places {
		x.orders.list = append(x.orders.list, order{})
		x.limit(len(x.orders.list)-1, x.capacity)
	}
}

// limit gives a place, which holds nothing, its capacity.
func (x *routedIndex) limit(place int, capacity int32) {
	x.orders.list[place].capacity = capacity
	x.largest = max(x.largest, capacity)
}

// look finds the places that hold blocks of a prompt. Blocks beyond the
// largest capacity cannot be held.
func (x *routedIndex) look(input int32, spans []workload.Span, found *hits) {
	x.blocks = input / x.blockSize
	x.chain, x.known = x.chain[:0], x.known[:0]
	found.blocks, found.holders = x.blocks, nil
	if len(spans) == 0 {
		return
	}
	x.chain = workload.AppendExtents(x.chain, spans, x.blockSize, int(min(x.blocks, x.largest)))
	t := &x.segments
	last, depth := int32(0), int32(0) // the interval of the deepest block found, and the block after it
	for i := range x.chain {
		s := t.find(x.chain[i].Key)
		if s < 0 {
			break
		}
		x.known = append(x.known, s)
		for p := t.list[s].intervals; p != 0 && depth < x.chain[i].End; p = t.intervals[p].next {
			if last == 0 {
				found.holders = t.holders.at(p)
			} else if t.intervals[p].count != t.intervals[last].count { // else the sets, one in the other, are equal
				found.leave(t.holders.at(last), t.holders.at(p), depth)
			}
			last, depth = p, min(t.intervals[p].end, x.chain[i].End)
		}
	}
	if last != 0 {
		found.leave(t.holders.at(last), nil, depth)
	}
}

// record notes that the prompt which look was asked about goes to place.
// Nothing may have changed in between.
func (x *routedIndex) record(place int) {
	o := &x.orders.list[place]
	named := int32(0)
	if len(x.chain) > 0 {
		named = x.chain[len(x.chain)-1].End
	}
	if tail := min(x.blocks, o.capacity) - named; tail > 0 {
		x.orders.lengthen(o, tail)
	}
	for i := len(x.chain) - 1; i >= 0; i-- {
		if e := &x.chain[i]; e.First < o.capacity {
			x.touch(o, place, x.segment(i), min(e.End, o.capacity))
		}
	}
	for o.blocks > o.capacity {
		x.shrink(o, place, o.blocks-o.capacity)
	}
}

// segment returns the segment of extent i of the chain.
func (x *routedIndex) segment(i int) int32 {
	if i < len(x.known) {
		return x.known[i]
	}
	return x.segments.open(x.chain[i].Key, x.chain[i].First)
}

// touch makes the blocks before end of segment s the newest of place.
func (x *routedIndex) touch(o *order, place int, s, end int32) {
	had := x.segments.list[s].first
	if head := x.head(s, place); head >= 0 {
		had = x.orders.touch(o, head, end)
	} else {
		x.addHead(s, place, x.orders.push(o, run{segment: s, end: end}))
	}
	if had < end {
		x.segments.hold(s, place, had, end)
		o.blocks += end - had
	}
}

// pairOf returns the key of a segment and a place in heads.
func pairOf(s int32, place int) uint64 { return uint64(s)<<32 | uint64(place) }

// head returns the head of place in segment s: its run that has the first block of it; −1 if
// there is none.
func (x *routedIndex) head(s int32, place int) int32 {
	if g := &x.segments.list[s]; g.head != 0 && g.holder == int32(place) {
		return g.head
	}
	return x.heads.Find(pairOf(s, place))
}

// addHead makes run n the head of place in segment s, where it has none. Most segments are held
// by one place and need no table.
func (x *routedIndex) addHead(s int32, place int, n int32) {
	if g := &x.segments.list[s]; g.head == 0 {
		g.holder, g.head = int32(place), n
	} else {
		x.heads.Insert(pairOf(s, place), n)
	}
}

// removeHead forgets the head of place in segment s.
func (x *routedIndex) removeHead(s int32, place int) {
	if g := &x.segments.list[s]; g.head != 0 && g.holder == int32(place) {
		g.head = 0
	} else {
		x.heads.Remove(pairOf(s, place))
	}
}

// shrink drops blocks of the oldest run of place: excess of them, or all.
func (x *routedIndex) shrink(o *order, place int, excess int32) {
	n := o.oldest
	r := &x.orders.runs[n]
	begin := x.begin(r)
	end := max(begin, r.end-excess)
	o.blocks -= r.end - end
	if r.segment >= 0 {
		x.segments.release(r.segment, place, end, r.end)
	}
	if r.end = end; end > begin {
		return
	}
	switch { // it was the deepest of its segment
	case r.shallower != 0:
		x.orders.runs[r.shallower].deeper = 0
	case r.segment >= 0:
		x.removeHead(r.segment, place)
	}
	x.orders.drop(o, n)
}

// begin returns the first block of a run, 0 for a tail.
func (x *routedIndex) begin(r *run) int32 {
	switch {
	case r.segment < 0:
		return 0
	case r.shallower != 0:
		return x.orders.runs[r.shallower].end
	}
	return x.segments.list[r.segment].first
}

// empty notes that a place holds nothing any more.
func (x *routedIndex) empty(place int) {
	for o := &x.orders.list[place]; o.oldest != 0; {
		x.shrink(o, place, o.blocks)
	}
}
