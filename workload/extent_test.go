package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawSpans is a prompt of few contents and lengths, so that prompts share
// beginnings, part in the middle of spans and straddle blocks.
func drawSpans(r *rand.Rand) []Span {
	spans := make([]Span, r.IntN(6))
	for i := range spans {
		spans[i] = Span{Content: ContentID(1 + r.IntN(2)), Length: 1 + r.Int32N(20)}
	}
	return spans
}

// TestExtentsAreEqualWhereBlocksAre compares the blocks of random prompts by
// extents and by block keys.
func TestExtentsAreEqualWhereBlocksAre(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	shared := 0
	for range 20_000 {
		size, blocks := 1+r.Int32N(8), r.IntN(40)
		var names [2][]string // by block: its extent and number
		var keys [2][]uint64
		for k := range names {
			spans := drawSpans(r)
			next := int32(0)
			for _, x := range AppendExtents(nil, spans, size, blocks) {
				if x.First != next || x.End <= x.First {
					t.Fatalf("seed %d: spans %v, block size %d: extent %+v follows block %d", seed, spans, size, x, next)
				}
				for ; next < x.End; next++ {
					names[k] = append(names[k], fmt.Sprint(x.Key, next))
				}
			}
			if keys[k] = AppendKeys(nil, spans, size, blocks); len(keys[k]) != int(next) {
				t.Fatalf("seed %d: spans %v, block size %d: %d blocks by extents, %d by keys", seed, spans, size, next, len(keys[k]))
			}
		}
		for i := range min(len(keys[0]), len(keys[1])) {
			if (names[0][i] == names[1][i]) != (keys[0][i] == keys[1][i]) {
				t.Fatalf("seed %d: block size %d, block %d: equal by extents %v, by keys %v", seed, size, i, names[0][i] == names[1][i], keys[0][i] == keys[1][i])
			}
			if keys[0][i] == keys[1][i] {
				shared++
			}
		}
		if len(keys[0]) > 0 && slices.Equal(keys[0], keys[1]) {
			shared++
		}
	}
	if shared < 10_000 {
		t.Errorf("seed %d: %d blocks shared: too few to prove anything", seed, shared)
	}
}
