package actors

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The set against a slice of bools, growing.
func TestBitsetIsASet(t *testing.T) {
	const seed = 7
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var s bitset
	var want []bool
	for round := range 200 {
		want = append(want, make([]bool, r.IntN(200))...)
		s.cover(len(want))
		for range r.IntN(20) {
			if len(want) > 0 {
				i := r.IntN(len(want))
				s.add(i)
				want[i] = true
			}
		}
		if round%3 == 0 {
			continue // several rounds gather
		}
		var got, listed []int
		s.empty(func(i int) { got = append(got, i) })
		for i := range want {
			if want[i] {
				listed = append(listed, i)
			}
		}
		clear(want)
		if !slices.Equal(got, listed) {
			t.Fatalf("round %d: %v, want %v", round, got, listed)
		}
		if left := slices.IndexFunc(s.words, func(w uint64) bool { return w != 0 }); left >= 0 {
			t.Fatalf("round %d: word %d is still to be looked at", round, left)
		}
	}
	if len(s.words) < 2 {
		t.Errorf("%d words of words: want several", len(s.words))
	}
}
