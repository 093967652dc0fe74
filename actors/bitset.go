package actors

import (
	"math/bits"
	"sync/atomic"
)

// bitset is a set of instances: a bit for each, and a bit in words for each word
// of bits that is not zero. Emptying it takes time by its members, however many
// instances there have been. Several workers may add at a time.
type bitset struct {
	bits  []uint64
	words []uint64
}

// cover makes room for instances below n.
func (s *bitset) cover(n int) {
	for 64*len(s.bits) < n {
		s.bits = append(s.bits, 0)
	}
	for 64*len(s.words) < len(s.bits) {
		s.words = append(s.words, 0)
	}
}

// add puts instance i in.
func (s *bitset) add(i int) {
	w := i / 64
	if atomic.OrUint64(&s.bits[w], 1<<(i%64)) == 0 { // neighbours may run on other workers
		atomic.OrUint64(&s.words[w/64], 1<<(w%64))
	}
}

// empty takes every member out and calls f with it, in order. No worker may add
// meanwhile.
func (s *bitset) empty(f func(i int)) {
	for v, words := range s.words {
		s.words[v] = 0
		for ; words != 0; words &= words - 1 {
			w := 64*v + bits.TrailingZeros64(words)
			set := s.bits[w]
			s.bits[w] = 0
			for ; set != 0; set &= set - 1 {
				f(64*w + bits.TrailingZeros64(set))
			}
		}
	}
}
