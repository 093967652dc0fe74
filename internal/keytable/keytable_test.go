package keytable

import (
	"math/rand/v2"
	"testing"
)

// TestTableIsAMap drives the table beside a built-in map, with few keys so
// that clusters form and gaps close, and with keys whose homes collide.
func TestTableIsAMap(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var fast Table
		slow := map[uint64]int32{}
		for step := range 3000 {
			key := uint64(rng.IntN(120))
			if seed%2 == 1 {
				key <<= 40
			}
			value, present := slow[key]
			if !present {
				value = -1
			}
			if got := fast.Find(key); got != value {
				t.Fatalf("seed %d, step %d: find(%d) = %d, want %d", seed, step, key, got, value)
			}
			if present {
				fast.Remove(key)
				delete(slow, key)
			} else {
				fast.Insert(key, int32(step))
				slow[key] = int32(step)
			}
			if fast.used != len(slow) {
				t.Fatalf("seed %d, step %d: %d keys, want %d", seed, step, fast.used, len(slow))
			}
		}
	}
}
