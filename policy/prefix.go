package policy

import (
	"math/bits"

	"blis/workload"
)

// prefixIndex is what is expected to be cached in each of some places of the
// prompts that come: block keys with the places that hold them. See PrefixIndex
// for whose places they are.
//
// There are two ways to keep it: one that follows routing has an LRU order per
// place, see lruIndex; one that follows events is told what is stored and
// removed.
//
// A request is taken in hand by look; then places can be asked about it.
type prefixIndex struct {
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
	known   []int32  // slots of the first of them, as far as look went
	matched []int32  // by place that holds the first: blocks of the chain from the start
}

// bitsets is an array of sets of places, in pages that stay where they are: of
// many instances with large caches it is most of the index, too much to be
// copied when it grows.
type bitsets struct {
	words int // per set
	pages [][]uint64
}

// pageBits is log₂ of the sets of a page.
const pageBits = 10

func (b *bitsets) at(set int32) []uint64 {
	first := int(set&(1<<pageBits-1)) * b.words
	return b.pages[set>>pageBits][first : first+b.words]
}

// grow makes room for the set of that number, which is empty then.
func (b *bitsets) grow(set int32) {
	if int(set>>pageBits) == len(b.pages) {
		b.pages = append(b.pages, make([]uint64, b.words<<pageBits))
	}
}

func newPrefixIndex(blockSize, capacity int32) *prefixIndex {
	return &prefixIndex{blockSize: blockSize, lru: &lruIndex{capacity: capacity, largest: capacity, nodes: make([]node, 1)}}
}

func newPrefixMirror(blockSize int32) *prefixIndex { return &prefixIndex{blockSize: blockSize} }

// cover makes room for so many places, if there are more than before.
func (x *prefixIndex) cover(places int) {
	if places <= len(x.matched) {
		return
	}
	x.matched = append(x.matched, make([]int32, places-len(x.matched))...)
	if x.lru != nil {
		x.lru.cover(places)
	}
	if words := (places + 63) / 64; words > x.held.words {
		x.held.widen(max(words, 2*x.held.words))
	}
}

// widen gives every set more words.
func (b *bitsets) widen(words int) {
	for p, page := range b.pages {
		wide := make([]uint64, words<<pageBits)
		for i := range 1 << pageBits {
			copy(wide[i*words:], page[i*b.words:(i+1)*b.words])
		}
		b.pages[p] = wide
	}
	b.words = words
}

// look takes a request in hand and finds for the places that are expected
// to have blocks of its prompt, from the start without a gap, how many. It
// changes nothing of what is expected.
func (x *prefixIndex) look(req *Request) {
	x.blocks = req.Input / x.blockSize
	x.chain, x.known = x.chain[:0], x.known[:0]
	if len(req.Spans) == 0 {
		return
	}
	most := x.blocks
	if x.lru != nil {
		most = min(most, x.lru.largest) // blocks beyond it cannot be held, so they need no key
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
func (x *prefixIndex) measure() {
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

// measureNested is measure where what a place holds of a chain has no gaps.
// Sets one within the other are equal when they are equally large, so only
// where some fall out need they be read.
func (x *prefixIndex) measureNested() {
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

// holders is the set of places that match the request in hand by a block or
// more, until something is recorded.
func (x *prefixIndex) holders() []uint64 {
	if len(x.known) == 0 {
		return nil
	}
	return x.held.at(x.known[0])
}

// expected is how many blocks of the prompt in hand a place is expected to hold,
// from the start.
func (x *prefixIndex) expected(place int) int32 {
	set := x.holders()
	if set == nil || set[place/64]>>(place%64)&1 == 0 {
		return 0
	}
	return x.matched[place]
}

// record notes that the request in hand goes to a place. An index that follows
// events is told of it in time.
func (x *prefixIndex) record(place int) {
	if x.lru != nil {
		x.lru.record(x, place)
	}
}

// store notes that a place has the block of that key. One that has it already
// changes nothing.
func (x *prefixIndex) store(place int, key uint64) {
	slot := x.slotOf(key)
	set, bit := x.held.at(slot), uint64(1)<<(place%64)
	if set[place/64]&bit == 0 {
		set[place/64] |= bit
		x.count[slot]++
	}
}

// remove notes that a place no longer has the block of that key.
func (x *prefixIndex) remove(place int, key uint64) {
	if slot := x.slots.find(key); slot >= 0 {
		x.withdraw(slot, place)
	}
}

// empty notes that a place has nothing any more.
func (x *prefixIndex) empty(place int) {
	if x.lru != nil {
		x.lru.empty(x, place)
		return
	}
	for slot := range x.keys {
		if x.count[slot] > 0 {
			x.withdraw(int32(slot), place)
		}
	}
}

// slotOf is the slot of a key, a new one if no place holds it.
func (x *prefixIndex) slotOf(key uint64) int32 {
	slot := x.slots.find(key)
	if slot >= 0 {
		return slot
	}
	if last := len(x.spare) - 1; last >= 0 {
		slot, x.spare = x.spare[last], x.spare[:last]
	} else {
		slot = int32(len(x.keys))
		x.keys, x.count = append(x.keys, 0), append(x.count, 0)
		x.held.grow(slot)
	}
	x.keys[slot] = key
	x.slots.insert(key, slot)
	return slot
}

// withdraw takes the place from the holders of slot, if it is one.
func (x *prefixIndex) withdraw(slot int32, place int) {
	set, bit := x.held.at(slot), uint64(1)<<(place%64)
	if set[place/64]&bit == 0 {
		return
	}
	set[place/64] &^= bit
	x.count[slot]--
	if x.count[slot] == 0 {
		x.slots.remove(x.keys[slot])
		x.spare = append(x.spare, slot)
	}
}
