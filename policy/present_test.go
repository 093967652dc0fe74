package policy

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Which instances are present and how many are ready, against counting them.
func TestViewKnowsWhoIsPresent(t *testing.T) {
	const seed = 11
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var v View
	for step := range 2000 {
		if v.Len() == 0 || r.IntN(4) == 0 {
			v.Add(Slot{Phase: Phase(r.IntN(5))})
		} else {
			v.Set(r.IntN(v.Len()), Slot{Phase: Phase(r.IntN(5)), Queue: int32(r.IntN(2))})
		}
		var present []int32
		ready := int32(0)
		for i := range v.Len() {
			if v.Phase(i) != Gone {
				present = append(present, int32(i))
			}
			if p := v.Phase(i); p == Serving || p == Warming {
				ready++
			}
		}
		if !slices.Equal(v.Present(), present) || v.Ready() != ready {
			t.Fatalf("step %d: present %v, %d ready; want %v, %d", step, v.Present(), v.Ready(), present, ready)
		}
	}
}

// The turn passes over those that are gone, wherever they stand, and comes to
// those that were added.
func TestRoundRobinAmongThoseThatComeAndGo(t *testing.T) {
	const seed = 13
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var v View
	var p roundRobin
	next := 0
	for step := range 3000 {
		if v.Len() == 0 || r.IntN(8) == 0 {
			v.Add(Slot{Phase: Starting})
		}
		i := r.IntN(v.Len())
		phase := Phase(r.IntN(5))
		v.Set(i, Slot{Phase: phase, Routable: phase <= Warming})
		want := -1
		for k := range v.Len() {
			if i := (next + k) % v.Len(); v.Routable(i) && v.Phase(i) != Gone {
				want, next = i, i+1
				break
			}
		}
		if got := p.Route(nil, 0, nil, &v, 0).Target; got != want {
			t.Fatalf("step %d: %d, want %d", step, got, want)
		}
	}
}
