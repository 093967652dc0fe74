package prefixindex

import (
	"math/bits"

	"blis/kv"
	"blis/workload"
)

// mirrorIndex follows events: instances say which blocks, and which entries of lower
// tiers, they store and remove, by key. A place may have a block and not the one
// before it, so nothing is known of runs of blocks.
//
// A place has a block of a prompt if any medium has it; an entry is all its blocks.
// The blocks of a place are counted by the fastest medium that has them:
//
//	GPU    0 1 . . 4 . .
//	CPU    [0 1] [2 3] [4 5] .     entries of two blocks
//	       six blocks: three of the GPU, three of the CPU
type mirrorIndex struct {
	blockSize int32
	media     []holdings // by kv.Medium; without tiers that of the GPU alone
	first     []uint64   // set of the places that have the first block in any medium
}

func newMirrorIndex(blockSize, entryTokens int32) *mirrorIndex {
	x := &mirrorIndex{blockSize: blockSize, media: []holdings{{tokens: blockSize, blocks: 1}}}
	for m := kv.CPU; m < kv.Media && entryTokens > 0; m++ {
		x.media = append(x.media, holdings{tokens: entryTokens, blocks: entryTokens / blockSize})
	}
	return x
}

func (x *mirrorIndex) cover(places int) {
	for m := range x.media {
		x.media[m].sets.cover(places)
	}
	x.first = make([]uint64, x.media[kv.GPU].sets.words)
}

// look finds the places that have blocks of a prompt.
func (x *mirrorIndex) look(input int32, spans []workload.Span, found *hits) {
	found.blocks, found.holders = input/x.blockSize, x.first
	clear(x.first)
	for m := range x.media {
		h := &x.media[m]
		if m > 0 && h.tokens == x.media[m-1].tokens {
			h.chain = x.media[m-1].chain
		} else {
			h.chain = workload.AppendKeys(h.chain[:0], spans, h.tokens, int(input/h.tokens))
		}
		h.known = h.known[:0]
		for w, set := range h.at(0) {
			x.first[w] |= set
		}
	}
	x.measure(found)
}

// measure writes how far each holder of the first block goes, in any medium, and how
// many of its blocks each lower tier is the fastest to have.
func (x *mirrorIndex) measure(found *hits) {
	for w, left := range found.holders {
		for out := left; out != 0; out &= out - 1 {
			found.lower[64*w+bits.TrailingZeros64(out)] = [kv.Media]int32{}
		}
		for i := int32(0); left != 0; i++ {
			had := uint64(0)
			for m := range x.media {
				set := x.media[m].at(i)
				if set == nil {
					continue
				}
				for slower := left & set[w] &^ had; m > 0 && slower != 0; slower &= slower - 1 {
					found.lower[64*w+bits.TrailingZeros64(slower)][m]++
				}
				had |= set[w]
			}
			for out := left &^ had; out != 0; out &= out - 1 {
				found.depth[64*w+bits.TrailingZeros64(out)] = i
			}
			left &= had
		}
	}
}

// empty notes that a place has nothing any more.
func (x *mirrorIndex) empty(place int) {
	for m := range x.media {
		x.media[m].empty(place)
	}
}
