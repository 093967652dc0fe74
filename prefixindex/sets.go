package prefixindex

import (
	"math/bits"

	"blis/kv"
)

// hits says how many blocks of one prompt each place is expected to hold.
type hits struct {
	blocks  int32    // full blocks of the prompt
	holders []uint64 // set of the places that hold the first block; valid until the index changes
	depth   []int32  // by place in holders: blocks held from the start without a gap; ≥ 1
	// lower counts, by place in holders, those of them of which a lower tier has the
	// fastest copy. The element of the GPU stays 0.
	lower [][kv.Media]int32
}

// cover makes room for places 0 … places−1.
func (h *hits) cover(places int) {
	if more := places - len(h.depth); more > 0 {
		h.depth = append(h.depth, make([]int32, more)...)
		h.lower = append(h.lower, make([][kv.Media]int32, more)...)
	}
}

// at returns the number of blocks of the prompt that place is expected to hold.
func (h *hits) at(place int) int32 {
	if h.holders == nil || h.holders[place/64]>>(place%64)&1 == 0 {
		return 0
	}
	return h.depth[place]
}

// leave writes the depth of the places in set that are not in next. A nil next
// is the empty set.
func (h *hits) leave(set, next []uint64, depth int32) {
	for w, out := range set {
		if next != nil {
			out &^= next[w]
		}
		for ; out != 0; out &= out - 1 {
			h.depth[64*w+bits.TrailingZeros64(out)] = depth
		}
	}
}

// bitsets is an array of sets of places, in pages that stay where they are:
// with many instances and large caches the sets are most of the index, too much
// to be copied when the array grows.
type bitsets struct {
	words int // per set
	pages [][]uint64
}

// pageBits is log₂ of the sets of a page.
const pageBits = 10

// at returns the set of that number.
func (b *bitsets) at(set int32) []uint64 {
	first := int(set&(1<<pageBits-1)) * b.words
	return b.pages[set>>pageBits][first : first+b.words]
}

// grow makes room for the set of that number, which is empty then. Sets are
// grown one after the other.
func (b *bitsets) grow(set int32) {
	if int(set>>pageBits) == len(b.pages) {
		b.pages = append(b.pages, make([]uint64, b.words<<pageBits))
	}
}

// cover makes room for places 0 … places−1 in every set.
func (b *bitsets) cover(places int) {
	words := (places + 63) / 64
	if words <= b.words {
		return
	}
	words = max(words, 2*b.words)
	for p, page := range b.pages {
		wide := make([]uint64, words<<pageBits)
		for i := range 1 << pageBits {
			copy(wide[i*words:], page[i*b.words:(i+1)*b.words])
		}
		b.pages[p] = wide
	}
	b.words = words
}

// add puts place into a set and reports whether it was not in there.
func (b *bitsets) add(set int32, place int) bool {
	word, bit := &b.at(set)[place/64], uint64(1)<<(place%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

// remove takes place out of a set and reports whether it was in there.
func (b *bitsets) remove(set int32, place int) bool {
	word, bit := &b.at(set)[place/64], uint64(1)<<(place%64)
	if *word&bit == 0 {
		return false
	}
	*word &^= bit
	return true
}
