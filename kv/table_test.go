package kv

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// checkTable does operations on a table and on a map. Keys collide in their
// low bits, so that probing, wrapping around and shifting back happen.
func checkTable(pick func(int) int, operations int, fatal func(string, ...any)) {
	t, twin := table{}, map[uint64]segmentID{}
	key := func() uint64 { return uint64(pick(3))<<40 | uint64(60+pick(60))%64 }
	for op := range operations {
		k := key()
		if _, there := twin[k]; there && pick(2) == 0 {
			t.remove(k)
			delete(twin, k)
		} else {
			t.set(k, segmentID(op))
			twin[k] = segmentID(op)
		}
		if t.used != len(twin) {
			fatal("%d keys, want %d", t.used, len(twin))
		}
		for a := range uint64(3) {
			for b := range uint64(64) {
				want, there := twin[a<<40|b]
				if !there {
					want = none
				}
				if got := t.get(a<<40 | b); got != want {
					fatal("after %d operations key %d-%d is at %d, want %d", op+1, a, b, got, want)
				}
			}
		}
	}
}

func TestTableEqualsMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkTable(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }, 40, t.Fatalf)
	})
}

func TestTableEqualsMapForLong(t *testing.T) {
	seed := rand.Uint64()
	for n := range uint64(10) {
		checkTable(rand.New(rand.NewPCG(seed, n)).IntN, 500, func(format string, args ...any) {
			t.Fatalf("seed %d, table %d: "+format, append([]any{seed, n}, args...)...)
		})
	}
}
