package policy

import (
	"fmt"
	"math/bits"

	"blis/workload"
)

// indexCapacity is how many blocks the router remembers per instance.
const indexCapacity = 10_000

// prefixIndex is the router's guess at what each instance has cached: per
// instance the block keys of the prompts sent there, least recently used
// first out. It is fed by the routing decisions alone.
//
// A decision touches all full blocks of its prompt on the target, from the
// last to the first, so that the deepest goes first when room is needed: a
// chain that lost its head would be worth nothing. Then the oldest are dropped
// until the instance holds no more than the capacity. Looking touches nothing.
//
// So what an instance holds of a chain has no gaps: the holders of a block are
// among those of the block before it.
//
// Equal to an LRU list of keys per instance, block for block, but it costs
// nothing for what cannot be found again. Blocks wholly covered by named spans
// have a key and can be hit: each is a node in the LRU order. The rest of the
// prompt, its tail, belongs to this one request: it is one node with a length,
// and since its blocks were touched together, deepest first, they are dropped
// in that order by shortening it. Tails that follow each other are one.
type prefixIndex struct {
	blockSize int32
	capacity  int32

	slots table // block key → slot, for keys that some instance holds
	keys  []uint64
	count []int32 // by slot: how many instances hold it
	held  bitsets // by slot: which
	spare []int32 // free slots

	lru   []node // node 0 is none
	free  int32  // first of the free nodes, chained by older; 0 for none
	where table  // (slot, instance) → node
	order []order

	// The request in hand, from look to record.
	blocks  int32    // full blocks of its prompt
	chain   []uint64 // keys of the named ones
	known   []int32  // slots of the first of them, as far as look went
	matched []int32  // by instance that holds any: blocks of the chain from the start
}

// node is an entry in the LRU order of one instance: a named block, or a tail.
type node struct {
	newer, older int32
	slot         int32 // −1 for a tail
	length       int32 // blocks
}

// order is the LRU order of one instance.
type order struct {
	newest, oldest int32
	blocks         int32
}

// bitsets is an array of sets of instances.
type bitsets struct {
	words int // per set
	bits  []uint64
}

func (b *bitsets) at(set int32) []uint64 {
	return b.bits[int(set)*b.words : (int(set)+1)*b.words]
}

func newPrefixIndex(env Env, capacity int32) *prefixIndex {
	if env.BlockSize < 1 || env.Instances < 1 {
		panic(fmt.Sprintf("policy: prefix index over %d instances, blocks of %d tokens", env.Instances, env.BlockSize))
	}
	words := (env.Instances + 63) / 64
	return &prefixIndex{
		blockSize: env.BlockSize, capacity: capacity,
		held:    bitsets{words: words},
		lru:     make([]node, 1),
		order:   make([]order, env.Instances),
		matched: make([]int32, env.Instances),
	}
}

// cover makes room for so many instances, if there are more than before.
func (x *prefixIndex) cover(instances int) {
	for len(x.order) < instances {
		x.order = append(x.order, order{})
		x.matched = append(x.matched, 0)
	}
	if words := (instances + 63) / 64; words > x.held.words {
		x.held.widen(max(words, 2*x.held.words))
	}
}

// widen gives every set more words.
func (b *bitsets) widen(words int) {
	wide := make([]uint64, len(b.bits)/b.words*words)
	for i := range len(b.bits) / b.words {
		copy(wide[i*words:], b.at(int32(i)))
	}
	b.words, b.bits = words, wide
}

// look takes a request in hand and finds for the instances that are expected
// to have blocks of its prompt, from the start without a gap, how many.
func (x *prefixIndex) look(req *Request) {
	x.blocks = req.Input / x.blockSize
	x.chain, x.known = x.chain[:0], x.known[:0]
	if len(req.Spans) == 0 {
		return
	}
	// Blocks beyond the capacity cannot be held, so they need no key.
	x.chain = workload.AppendKeys(x.chain, req.Spans, x.blockSize, int(min(x.blocks, x.capacity)))
	for _, key := range x.chain {
		slot := x.slots.find(key)
		if slot < 0 {
			break
		}
		x.known = append(x.known, slot)
	}
	x.measure()
}

// measure notes how far each holder goes. Sets one within the other are equal
// when they are equally large, so only where some fall out need they be read.
func (x *prefixIndex) measure() {
	last := len(x.known) - 1
	for i, slot := range x.known {
		if i < last && x.count[slot] == x.count[x.known[i+1]] {
			continue
		}
		holders := x.held.at(slot)
		for w, out := range holders {
			if i < last {
				out &^= x.held.at(x.known[i+1])[w]
			}
			for ; out != 0; out &= out - 1 {
				x.matched[64*w+bits.TrailingZeros64(out)] = int32(i + 1)
			}
		}
	}
}

// holders is the set of instances that match the request in hand by a block or
// more, until record.
func (x *prefixIndex) holders() []uint64 {
	if len(x.known) == 0 {
		return nil
	}
	return x.held.at(x.known[0])
}

// record touches the blocks of the request in hand on the instance that gets
// it.
func (x *prefixIndex) record(instance int) {
	o := &x.order[instance]
	if tail := min(x.blocks, x.capacity) - int32(len(x.chain)); tail > 0 {
		x.lengthen(o, tail)
	}
	for i := len(x.chain) - 1; i >= 0; i-- {
		x.touch(o, x.slot(i), instance)
	}
	for o.blocks > x.capacity {
		x.shrink(o, instance)
	}
}

// slot returns the slot of block i of the chain, a new one if no instance
// holds it.
func (x *prefixIndex) slot(i int) int32 {
	if i < len(x.known) {
		return x.known[i]
	}
	key := x.chain[i]
	slot := x.slots.find(key)
	if slot >= 0 {
		return slot
	}
	if last := len(x.spare) - 1; last >= 0 {
		slot, x.spare = x.spare[last], x.spare[:last]
	} else {
		slot = int32(len(x.keys))
		x.keys, x.count = append(x.keys, 0), append(x.count, 0)
		for range x.held.words {
			x.held.bits = append(x.held.bits, 0)
		}
	}
	x.keys[slot] = key
	x.slots.insert(key, slot)
	return slot
}

// touch makes the block of slot the newest of the instance.
func (x *prefixIndex) touch(o *order, slot int32, instance int) {
	pair := uint64(slot)<<32 | uint64(instance)
	if n := x.where.find(pair); n >= 0 {
		x.unlink(o, n)
		x.link(o, n)
		return
	}
	x.where.insert(pair, x.push(o, slot, 1))
	x.count[slot]++
	x.held.at(slot)[instance/64] |= 1 << (instance % 64)
}

// lengthen adds a tail as the newest of an order: to the one that is the newest
// already, if there is one.
func (x *prefixIndex) lengthen(o *order, length int32) {
	if n := o.newest; n != 0 && x.lru[n].slot < 0 {
		x.lru[n].length += length
		o.blocks += length
		return
	}
	x.push(o, -1, length)
}

// push adds a new node as the newest of an order.
func (x *prefixIndex) push(o *order, slot, length int32) int32 {
	n := x.free
	if n != 0 {
		x.free = x.lru[n].older
	} else {
		n = int32(len(x.lru))
		x.lru = append(x.lru, node{})
	}
	x.lru[n].slot, x.lru[n].length = slot, length
	o.blocks += length
	x.link(o, n)
	return n
}

// shrink drops the oldest blocks that are too many: what is needed of a tail,
// or one named block.
func (x *prefixIndex) shrink(o *order, instance int) {
	n := o.oldest
	oldest := &x.lru[n]
	if excess := o.blocks - x.capacity; oldest.length > excess {
		oldest.length -= excess
		o.blocks -= excess
		return
	}
	x.drop(o, instance)
}

// drop drops the oldest node.
func (x *prefixIndex) drop(o *order, instance int) {
	n := o.oldest
	oldest := &x.lru[n]
	o.blocks -= oldest.length
	if oldest.slot >= 0 {
		x.forget(oldest.slot, instance)
	}
	x.unlink(o, n)
	x.lru[n].older, x.free = x.free, n
}

// empty drops all that an instance holds.
func (x *prefixIndex) empty(instance int) {
	for o := &x.order[instance]; o.oldest != 0; {
		x.drop(o, instance)
	}
}

// forget takes the instance from the holders of slot.
func (x *prefixIndex) forget(slot int32, instance int) {
	x.where.remove(uint64(slot)<<32 | uint64(instance))
	x.held.at(slot)[instance/64] &^= 1 << (instance % 64)
	x.count[slot]--
	if x.count[slot] == 0 {
		x.slots.remove(x.keys[slot])
		x.spare = append(x.spare, slot)
	}
}

// link makes n, which is in no order, the newest of o.
func (x *prefixIndex) link(o *order, n int32) {
	x.lru[n].newer, x.lru[n].older = 0, o.newest
	if o.newest != 0 {
		x.lru[o.newest].newer = n
	} else {
		o.oldest = n
	}
	o.newest = n
}

func (x *prefixIndex) unlink(o *order, n int32) {
	newer, older := x.lru[n].newer, x.lru[n].older
	if newer != 0 {
		x.lru[newer].older = older
	} else {
		o.newest = older
	}
	if older != 0 {
		x.lru[older].newer = newer
	} else {
		o.oldest = newer
	}
}
