package policy

// unknownCache is how many blocks the router remembers of an instance whose
// cache it does not know the size of: what the gateway's prefix scorer takes
// when a server's metrics do not say.
const unknownCache = 31_250

// lruIndex is the router's guess at what each place has cached: per place the
// block keys of the prompts sent there, least recently used first out. It is
// fed by the routing decisions alone.
//
// A decision touches all full blocks of its prompt on the target, from the
// last to the first, so that the deepest goes first when room is needed: a
// chain that lost its head would be worth nothing. Then the oldest are dropped
// until the place holds no more than its capacity. Looking touches nothing.
//
// So what a place holds of a chain has no gaps: the holders of a block are
// among those of the block before it.
//
// Equal to an LRU list of keys per place, block for block, but it costs
// nothing for what cannot be found again. Blocks wholly covered by named spans
// have a key and can be hit: each is a node in the LRU order. The rest of the
// prompt, its tail, belongs to this one request: it is one node with a length,
// and since its blocks were touched together, deepest first, they are dropped
// in that order by shortening it. Tails that follow each other are one.
type lruIndex struct {
	capacity int32 // of places that were given none of their own
	largest  int32 // capacity that a place ever had

	nodes []node // node 0 is none
	free  int32  // first of the free nodes, chained by older; 0 for none
	where table  // (slot, place) → node
	order []order
}

// node is an entry in the LRU order of one place: a named block, or a tail.
type node struct {
	newer, older int32
	slot         int32 // −1 for a tail
	length       int32 // blocks
}

// order is the LRU order of one place.
type order struct {
	newest, oldest int32
	blocks         int32
	capacity       int32 // blocks that it may hold
}

// cover makes room for so many places.
func (l *lruIndex) cover(places int) {
	for len(l.order) < places {
		l.order = append(l.order, order{})
		l.limit(len(l.order)-1, l.capacity)
	}
}

// limit gives a place, which holds nothing, its capacity.
func (l *lruIndex) limit(place int, capacity int32) {
	l.order[place].capacity = capacity
	l.largest = max(l.largest, capacity)
}

// record touches the blocks of the request in hand on the place that gets
// it.
func (l *lruIndex) record(x *prefixIndex, place int) {
	o := &l.order[place]
	if tail := min(x.blocks, o.capacity) - int32(len(x.chain)); tail > 0 {
		l.lengthen(o, tail)
	}
	for i := min(len(x.chain), int(o.capacity)) - 1; i >= 0; i-- {
		slot := int32(-1)
		if i < len(x.known) {
			slot = x.known[i]
		} else {
			slot = x.slotOf(x.chain[i])
		}
		l.touch(x, o, slot, place)
	}
	for o.blocks > o.capacity {
		l.shrink(x, o, place)
	}
}

// touch makes the block of slot the newest of the place.
func (l *lruIndex) touch(x *prefixIndex, o *order, slot int32, place int) {
	pair := uint64(slot)<<32 | uint64(place)
	if n := l.where.find(pair); n >= 0 {
		l.unlink(o, n)
		l.link(o, n)
		return
	}
	l.where.insert(pair, l.push(o, slot, 1))
	x.count[slot]++
	x.held.at(slot)[place/64] |= 1 << (place % 64)
}

// lengthen adds a tail as the newest of an order: to the one that is the newest
// already, if there is one.
func (l *lruIndex) lengthen(o *order, length int32) {
	if n := o.newest; n != 0 && l.nodes[n].slot < 0 {
		l.nodes[n].length += length
		o.blocks += length
		return
	}
	l.push(o, -1, length)
}

// push adds a new node as the newest of an order.
func (l *lruIndex) push(o *order, slot, length int32) int32 {
	n := l.free
	if n != 0 {
		l.free = l.nodes[n].older
	} else {
		n = int32(len(l.nodes))
		l.nodes = append(l.nodes, node{})
	}
	l.nodes[n].slot, l.nodes[n].length = slot, length
	o.blocks += length
	l.link(o, n)
	return n
}

// shrink drops the oldest blocks that are too many: what is needed of a tail,
// or one named block.
func (l *lruIndex) shrink(x *prefixIndex, o *order, place int) {
	oldest := &l.nodes[o.oldest]
	if excess := o.blocks - o.capacity; oldest.length > excess {
		oldest.length -= excess
		o.blocks -= excess
		return
	}
	l.dropOldest(x, o, place)
}

// dropOldest drops the oldest node of a place.
func (l *lruIndex) dropOldest(x *prefixIndex, o *order, place int) {
	n := o.oldest
	oldest := &l.nodes[n]
	o.blocks -= oldest.length
	if slot := oldest.slot; slot >= 0 {
		l.where.remove(uint64(slot)<<32 | uint64(place))
		x.withdraw(slot, place)
	}
	l.unlink(o, n)
	l.nodes[n].older, l.free = l.free, n
}

// empty forgets what a place holds.
func (l *lruIndex) empty(x *prefixIndex, place int) {
	for o := &l.order[place]; o.oldest != 0; {
		l.dropOldest(x, o, place)
	}
}

// link makes n, which is in no order, the newest of o.
func (l *lruIndex) link(o *order, n int32) {
	l.nodes[n].newer, l.nodes[n].older = 0, o.newest
	if o.newest != 0 {
		l.nodes[o.newest].newer = n
	} else {
		o.oldest = n
	}
	o.newest = n
}

func (l *lruIndex) unlink(o *order, n int32) {
	newer, older := l.nodes[n].newer, l.nodes[n].older
	if newer != 0 {
		l.nodes[newer].older = older
	} else {
		o.newest = older
	}
	if older != 0 {
		l.nodes[older].newer = newer
	} else {
		o.oldest = newer
	}
}
