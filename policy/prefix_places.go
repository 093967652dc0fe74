package policy

import (
	"math"
	"math/bits"
	"slices"
)

// PrefixIndex is what the router expects each instance to have cached of the
// prompts that come. It is the router's, one for a run; policies that observe
// Prefixes read it. One that follows routing (NewPrefixIndex) guesses from where
// requests were sent; one that follows events (NewPrefixMirror) is told by the
// instances which blocks they store and remove.
//
// A request is taken in hand by Look; then instances can be asked about it,
// until Record says where it goes.
//
// Instances come and go: each has a place in the index, and leaves it to another
// once it is gone. While nobody goes places are instances.
type PrefixIndex struct {
	index    *prefixIndex
	places   []int32 // by instance, −1: none any more
	instance []int32 // by place, −1: vacant
	vacant   []int32 // places
	found    []holder
	blocks   int32 // that each place may hold; 0: as many as the instance's cache
}

// holder is an instance that is expected to have blocks of a prompt cached.
type holder struct{ instance, blocks int32 }

// NewPrefixIndex returns an empty index that follows routing. blockSize is
// tokens per block, at least 1. Of each instance it remembers so many blocks; if
// that is 0 as many tokens, in whole blocks, as the instance's own cache holds,
// which the view says when the instance joins.
func NewPrefixIndex(blockSize, blocks int32) *PrefixIndex {
	return &PrefixIndex{index: newPrefixIndex(blockSize, blocks), blocks: blocks}
}

// NewPrefixMirror returns an empty index that follows events.
func NewPrefixMirror(blockSize int32) *PrefixIndex {
	return &PrefixIndex{index: newPrefixMirror(blockSize)}
}

// BlockSize is tokens per block.
func (x *PrefixIndex) BlockSize() int32 { return x.index.blockSize }

// Cover gives places to the instances that were added to the view since the last
// call, those of the ones that are gone first.
func (x *PrefixIndex) Cover(view *View) {
	if view.Len() <= len(x.places) {
		return
	}
	for _, i := range x.instance {
		if i >= 0 && view.slots[i].Phase == Gone {
			x.Drop(int(i))
		}
	}
	first := len(x.places)
	for i := first; i < view.Len(); i++ {
		place := int32(-1)
		if view.slots[i].Phase != Gone {
			place = x.give(int32(i))
		}
		x.places = append(x.places, place)
	}
	x.index.cover(len(x.instance))
	if x.blocks == 0 && x.index.lru != nil {
		for i := first; i < view.Len(); i++ {
			if place := x.places[i]; place >= 0 {
				x.index.lru.limit(int(place), x.sizeOf(view, i))
			}
		}
	}
}

// sizeOf is how many blocks of the index the cache of an instance is.
func (x *PrefixIndex) sizeOf(view *View, i int) int32 {
	total := view.slots[i].Total
	if total <= 0 {
		return unknownCache
	}
	size := x.index.blockSize
	if view.BlockSize > 0 {
		total *= int64(view.BlockSize)
	} else {
		total *= int64(size)
	}
	return int32(min(max(total/int64(size), 1), math.MaxInt32))
}

// give finds a place for an instance.
func (x *PrefixIndex) give(instance int32) (place int32) {
	if last := len(x.vacant) - 1; last >= 0 {
		place, x.vacant = x.vacant[last], x.vacant[:last]
		x.instance[place] = instance
		return place
	}
	x.instance = append(x.instance, instance)
	return int32(len(x.instance) - 1)
}

// Drop notes that an instance is gone, with all it had. It can be told more than
// once.
func (x *PrefixIndex) Drop(instance int) {
	place := x.place(instance)
	if place < 0 {
		return
	}
	x.index.empty(place)
	x.places[instance], x.instance[place] = -1, -1
	x.vacant = append(x.vacant, int32(place))
}

// place is that of an instance, −1: it has none.
func (x *PrefixIndex) place(instance int) int {
	if instance >= len(x.places) {
		return -1
	}
	return int(x.places[instance])
}

// Look takes a request in hand. It changes nothing of what is expected.
func (x *PrefixIndex) Look(req *Request) {
	x.index.look(req)
	found, ordered := x.found[:0], true
	for word, set := range x.index.holders() {
		for ; set != 0; set &= set - 1 {
			place := 64*word + bits.TrailingZeros64(set)
			h := holder{x.instance[place], x.index.matched[place]}
			ordered = ordered && (len(found) == 0 || found[len(found)-1].instance < h.instance)
			found = append(found, h)
		}
	}
	if !ordered {
		slices.SortFunc(found, func(a, b holder) int { return int(a.instance - b.instance) })
	}
	x.found = found
}

// holders lists who is expected to have blocks of the prompt in hand, from the
// start without a gap, in the order of instances. It is valid until the next
// Look.
func (x *PrefixIndex) holders() []holder { return x.found }

// affinity is the share that so many blocks, which a holder has, are of the full
// blocks of the request in hand.
func (x *PrefixIndex) affinity(blocks int32) float64 {
	return float64(blocks) / float64(x.index.blocks)
}

// Expected is how many tokens of the prompt in hand an instance is expected to
// have cached: whole blocks, from the start.
func (x *PrefixIndex) Expected(instance int) int32 {
	place := x.place(instance)
	if place < 0 {
		return 0
	}
	return x.index.expected(place) * x.index.blockSize
}

// Record notes that the request in hand goes to an instance.
func (x *PrefixIndex) Record(instance int) {
	if place := x.place(instance); place >= 0 {
		x.index.record(place)
	}
}

// Store notes that an instance has the block of that key. What one tells that is
// gone counts no more.
func (x *PrefixIndex) Store(instance int, key uint64) {
	if place := x.place(instance); place >= 0 {
		x.index.store(place, key)
	}
}

// Remove notes that an instance no longer has the block of that key.
func (x *PrefixIndex) Remove(instance int, key uint64) {
	if place := x.place(instance); place >= 0 {
		x.index.remove(place, key)
	}
}
