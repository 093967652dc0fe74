package policy

import (
	"math/rand/v2"
	"testing"

	"blis/workload"
)

// TestPlacesEqualInstances lets instances come and go and compares an index of
// places with one that has a place for every instance there ever was.
func TestPlacesEqualInstances(t *testing.T) {
	reused, late := 0, 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 23))
		size := int32(1 + rng.IntN(5))
		mirror := rng.IntN(2) == 0
		x, all := NewPrefixIndex(size), newPrefixIndex(size, indexCapacity)
		if mirror {
			x, all = NewPrefixMirror(size), newPrefixMirror(size)
		}
		view, source := &View{}, &traffic{rng: rng, longest: 3}
		var gone []int
		for step := range 200 {
			for view.Len() == 0 || len(view.Present()) == 0 || rng.IntN(9) == 0 {
				view.Add(Slot{Routable: true, Total: 9})
				all.cover(view.Len())
			}
			if len(view.Present()) > 1 && rng.IntN(12) == 0 {
				i := int(view.Present()[rng.IntN(len(view.Present()))])
				view.Set(i, Slot{Phase: Gone})
				if gone = append(gone, i); rng.IntN(2) == 0 {
					x.Drop(i) // else the next Cover that finds more instances does
				}
			}
			x.Cover(view)
			req := source.next(size)
			x.Look(&req)
			all.look(&req)
			holders := 0
			for i := range view.Len() {
				if view.Phase(i) == Gone {
					if x.place(i) < 0 && x.Expected(i) != 0 {
						t.Fatalf("seed %d, step %d: %d tokens expected of instance %d, which is gone", seed, step, x.Expected(i), i)
					}
					continue
				}
				want := all.expected(i)
				if got := x.Expected(i); got != want*size {
					t.Fatalf("seed %d, step %d: %d tokens expected of instance %d, want %d blocks of %d", seed, step, got, i, want, size)
				}
				if want > 0 {
					holders++
				}
			}
			listed := 0
			for k, h := range x.holders() {
				if k > 0 && x.holders()[k-1].instance >= h.instance {
					t.Fatalf("seed %d, step %d: holders %v are not in the order of instances", seed, step, x.holders())
				}
				if view.Phase(int(h.instance)) != Gone {
					listed++
				}
			}
			if listed != holders {
				t.Fatalf("seed %d, step %d: holders %v, want %d of them", seed, step, x.holders(), holders)
			}
			if len(x.instance) < len(x.places) {
				reused++
			}
			target := int(view.Present()[rng.IntN(len(view.Present()))])
			x.Record(target)
			all.record(target)
			for _, key := range workload.AppendKeys(nil, req.Spans, size, int(req.Input/size)) {
				if !mirror {
					break
				}
				x.Store(target, key)
				all.store(target, key)
				if len(gone) > 0 { // news that was on its way
					i := gone[rng.IntN(len(gone))]
					if x.place(i) < 0 {
						x.Store(i, key)
						x.Remove(i, key)
						late++
					}
				}
				if rng.IntN(4) == 0 {
					x.Remove(target, key)
					all.remove(target, key)
				}
			}
		}
	}
	if reused < 1000 || late < 1000 {
		t.Errorf("too little is tested: %d steps with places used again, %d late events", reused, late)
	}
}
