package prefixindex

import (
	"math/rand/v2"
	"testing"

	"blis/internal/prefixtwin"
	"blis/workload"
)

// TestMirrorEqualsSets plays random events and prompts to a mirror and to a map
// per instance.
func TestMirrorEqualsSets(t *testing.T) {
	gaps, hits, drops := 0, 0, 0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 21))
		instances := 1 + rng.IntN(5)
		if seed%10 == 0 {
			instances = 63 + rng.IntN(70)
		}
		size := int32(1 + rng.IntN(6))
		x, sets := newByPlace(&mirrorIndex{blockSize: size}, 1+rng.IntN(instances)), make([]map[uint64]bool, instances)
		for i := range sets {
			sets[i] = map[uint64]bool{}
		}
		source := &prefixtwin.Traffic{Rng: rng, Longest: 3}
		for step := range 300 {
			x.cover(instances)
			req := source.Next(size)
			keys := workload.AppendKeys(nil, req.Spans, size, int(req.Input/size))
			x.look(&req)
			for i := range instances {
				want := int32(0)
				for int(want) < len(keys) && sets[i][keys[want]] {
					want++
				}
				hits += int(want)
				for _, k := range keys[want:] {
					if sets[i][k] {
						gaps++
					}
				}
				if got := x.at(i); got != want {
					t.Fatalf("seed %d, step %d: instance %d is expected to have %d blocks, want %d", seed, step, i, got, want)
				}
			}
			for _, k := range keys {
				i := rng.IntN(instances)
				switch rng.IntN(5) {
				case 0:
					x.index.remove(i, k)
					delete(sets[i], k)
				default:
					x.index.store(i, k)
					sets[i][k] = true
				}
			}
			if rng.IntN(40) == 0 {
				i := rng.IntN(instances)
				x.index.empty(i)
				clear(sets[i])
				drops++
			}
		}
		used := 0
		for _, n := range x.index.count {
			if n > 0 {
				used++
			}
		}
		if used != x.index.slots.Len() || used != len(x.index.keys)-len(x.index.spare) {
			t.Errorf("seed %d: %d slots are held, %d keys in the table, %d of %d slots spare", seed, used, x.index.slots.Len(), len(x.index.spare), len(x.index.keys))
		}
	}
	if gaps < 1000 || hits < 1000 || drops < 100 {
		t.Errorf("the events test too little: %d blocks behind a gap, %d hits, %d drops", gaps, hits, drops)
	}
}
