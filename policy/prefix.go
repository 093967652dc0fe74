package policy

import (
	"math/bits"

	"blis/workload"
)

// PrefixIndex is what the router expects each instance to have cached of the
// prompts that come: block keys with the instances that hold them. It is the
// router's, one for a run; policies that observe Prefixes read it.
//
// There are two ways to keep it. One that follows routing (NewPrefixIndex)
// guesses from where requests were sent, with an LRU order per instance: see
// lruIndex. One that follows events (NewPrefixMirror) is told by the instances
// which blocks they store and remove: see Store and Remove.
//
// A request is taken in hand by Look; then instances can be asked about it,
// until Record says where it went.
type PrefixIndex struct {
	blockSize int32

	slots table // block key → slot, for keys that some instance holds
	keys  []uint64
	count []int32 // by slot: how many instances hold it
	held  bitsets // by slot: which
	spare []int32 // free slots

	lru *lruIndex // nil: it follows events

	// The request in hand.
	blocks  int32    // full blocks of its prompt
	chain   []uint64 // keys of the named ones
	known   []int32  // slots of the first of them, as far as Look went
	matched []int32  // by instance that holds the first: blocks of the chain from the start
}

// bitsets is an array of sets of instances.
type bitsets struct {
	words int // per set
	bits  []uint64
}

func (b *bitsets) at(set int32) []uint64 {
	return b.bits[int(set)*b.words : (int(set)+1)*b.words]
}

// NewPrefixIndex returns an empty index that follows routing. blockSize is
// tokens per block, at least 1.
func NewPrefixIndex(blockSize int32) *PrefixIndex { return newPrefixIndex(blockSize, indexCapacity) }

func newPrefixIndex(blockSize, capacity int32) *PrefixIndex {
	return &PrefixIndex{blockSize: blockSize, lru: &lruIndex{capacity: capacity, nodes: make([]node, 1)}}
}

// NewPrefixMirror returns an empty index that follows events.
func NewPrefixMirror(blockSize int32) *PrefixIndex { return &PrefixIndex{blockSize: blockSize} }

// BlockSize is tokens per block.
func (x *PrefixIndex) BlockSize() int32 { return x.blockSize }

// Cover makes room for so many instances, if there are more than before.
func (x *PrefixIndex) Cover(instances int) {
	if instances <= len(x.matched) {
		return
	}
	x.matched = append(x.matched, make([]int32, instances-len(x.matched))...)
	if x.lru != nil {
		x.lru.cover(instances)
	}
	if words := (instances + 63) / 64; words > x.held.words {
		x.held.widen(max(words, 2*x.held.words))
	}
}

// widen gives every set more words.
func (b *bitsets) widen(words int) {
	var wide []uint64
	if b.words > 0 {
		wide = make([]uint64, len(b.bits)/b.words*words)
		for i := range len(b.bits) / b.words {
			copy(wide[i*words:], b.at(int32(i)))
		}
	}
	b.words, b.bits = words, wide
}

// Look takes a request in hand and finds for the instances that are expected
// to have blocks of its prompt, from the start without a gap, how many. It
// changes nothing of what is expected.
func (x *PrefixIndex) Look(req *Request) {
	x.blocks = req.Input / x.blockSize
	x.chain, x.known = x.chain[:0], x.known[:0]
	if len(req.Spans) == 0 {
		return
	}
	most := x.blocks
	if x.lru != nil {
		most = min(most, x.lru.capacity) // blocks beyond it cannot be held, so they need no key
	}
	x.chain = workload.AppendKeys(x.chain, req.Spans, x.blockSize, int(most))
	for _, key := range x.chain {
		slot := x.slots.find(key)
		if slot < 0 {
			break
		}
		x.known = append(x.known, slot)
	}
	if x.lru != nil {
		x.measureNested()
	} else {
		x.measure()
	}
}

// measure notes how far each holder of the first block goes.
func (x *PrefixIndex) measure() {
	if len(x.known) == 0 {
		return
	}
	for w, left := range x.held.at(x.known[0]) {
		for i := 1; left != 0; i++ {
			goOn := uint64(0)
			if i < len(x.known) {
				goOn = left & x.held.at(x.known[i])[w]
			}
			for out := left &^ goOn; out != 0; out &= out - 1 {
				x.matched[64*w+bits.TrailingZeros64(out)] = int32(i)
			}
			left = goOn
		}
	}
}

// measureNested is measure where what an instance holds of a chain has no gaps.
// Sets one within the other are equal when they are equally large, so only
// where some fall out need they be read.
func (x *PrefixIndex) measureNested() {
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
// more, until Record.
func (x *PrefixIndex) holders() []uint64 {
	if len(x.known) == 0 {
		return nil
	}
	return x.held.at(x.known[0])
}

// affinity is matched / full blocks of an instance among the holders.
func (x *PrefixIndex) affinity(instance int) float64 {
	return float64(x.matched[instance]) / float64(x.blocks)
}

// Expected is how many tokens of the prompt in hand an instance is expected to
// have cached: whole blocks, from the start.
func (x *PrefixIndex) Expected(instance int) int32 {
	set := x.holders()
	if set == nil || set[instance/64]>>(instance%64)&1 == 0 {
		return 0
	}
	return x.matched[instance] * x.blockSize
}

// Record notes that the request in hand goes to an instance. An index that
// follows events is told of it by the instance, in time.
func (x *PrefixIndex) Record(instance int) {
	if x.lru != nil {
		x.lru.record(x, instance)
	}
}

// Store notes that an instance has the block of that key. An instance that has
// it already changes nothing.
func (x *PrefixIndex) Store(instance int, key uint64) {
	slot := x.slotOf(key)
	set, bit := x.held.at(slot), uint64(1)<<(instance%64)
	if set[instance/64]&bit == 0 {
		set[instance/64] |= bit
		x.count[slot]++
	}
}

// Remove notes that an instance no longer has the block of that key.
func (x *PrefixIndex) Remove(instance int, key uint64) {
	if slot := x.slots.find(key); slot >= 0 {
		x.withdraw(slot, instance)
	}
}

// Drop notes that an instance has nothing any more.
func (x *PrefixIndex) Drop(instance int) {
	if x.lru != nil {
		x.lru.drop(x, instance)
		return
	}
	if instance >= len(x.matched) {
		return
	}
	for slot := range x.keys {
		if x.count[slot] > 0 {
			x.withdraw(int32(slot), instance)
		}
	}
}

// slotOf is the slot of a key, a new one if no instance holds it.
func (x *PrefixIndex) slotOf(key uint64) int32 {
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

// withdraw takes the instance from the holders of slot, if it is one.
func (x *PrefixIndex) withdraw(slot int32, instance int) {
	set, bit := x.held.at(slot), uint64(1)<<(instance%64)
	if set[instance/64]&bit == 0 {
		return
	}
	set[instance/64] &^= bit
	x.count[slot]--
	if x.count[slot] == 0 {
		x.slots.remove(x.keys[slot])
		x.spare = append(x.spare, slot)
	}
}
