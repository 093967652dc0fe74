package prefixindex

import (
	"math/rand/v2"
	"testing"

	"blis/internal/prefixtwin"
	"blis/kv"
	"blis/workload"
)

// TestPlacesEqualInstances lets instances come and go and compares an index that
// follows events with one that has a place for every instance there ever was.
// TestRoutedEqualsBlocks does so with one that follows routing.
func TestPlacesEqualInstances(t *testing.T) {
	reused, late := 0, 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 23))
		size := int32(1 + rng.IntN(5))
		x, all := NewMirror(size, 0), newByPlace(newMirrorIndex(size, 0), 0)
		view, source := &fleet{}, &prefixtwin.Traffic{Rng: rng, Longest: 3}
		var gone []int
		for step := range 200 {
			for view.Len() == 0 || len(view.present()) == 0 || rng.IntN(9) == 0 {
				view.add(0)
				all.cover(view.Len())
			}
			if len(view.present()) > 1 && rng.IntN(12) == 0 {
				i := int(view.present()[rng.IntN(len(view.present()))])
				view.leave(i)
				if gone = append(gone, i); rng.IntN(2) == 0 {
					x.Drop(i) // else the next Cover that finds more instances does
				}
			}
			x.Cover(view)
			req := source.Next(size)
			x.Look(req.Input, req.Spans)
			all.look(&req)
			holders := 0
			for i := range view.Len() {
				if view.Gone(i) {
					if x.place(i) < 0 && x.Expected(i) != 0 {
						t.Fatalf("seed %d, step %d: %d tokens expected of instance %d, which is gone", seed, step, x.Expected(i), i)
					}
					continue
				}
				want := all.at(i)
				if got := x.Expected(i); got != want*size {
					t.Fatalf("seed %d, step %d: %d tokens expected of instance %d, want %d blocks of %d", seed, step, got, i, want, size)
				}
				if want > 0 {
					holders++
				}
			}
			listed := 0
			for k, h := range x.Holders() {
				if k > 0 && x.Holders()[k-1].Instance >= h.Instance {
					t.Fatalf("seed %d, step %d: holders %v are not in the order of instances", seed, step, x.Holders())
				}
				if !view.Gone(int(h.Instance)) {
					listed++
				}
			}
			if listed != holders {
				t.Fatalf("seed %d, step %d: holders %v, want %d of them", seed, step, x.Holders(), holders)
			}
			if len(x.instance) < len(x.places) {
				reused++
			}
			target := int(view.present()[rng.IntN(len(view.present()))])
			x.Record(target) // tells a mirror nothing
			for _, key := range workload.AppendKeys(nil, req.Spans, size, int(req.Input/size)) {
				x.Store(target, kv.GPU, key)
				all.index.media[kv.GPU].store(target, key)
				if len(gone) > 0 { // news that was on its way
					i := gone[rng.IntN(len(gone))]
					if x.place(i) < 0 {
						x.Store(i, kv.GPU, key)
						x.Remove(i, kv.GPU, key)
						late++
					}
				}
				if rng.IntN(4) == 0 {
					x.Remove(target, kv.GPU, key)
					all.index.media[kv.GPU].remove(target, key)
				}
			}
		}
	}
	if reused < 1000 || late < 1000 {
		t.Errorf("too little is tested: %d steps with places used again, %d late events", reused, late)
	}
}

// TestIndexIsAsLargeAsEachCache: what is remembered of an instance is what its own
// cache holds, in blocks of the index, as it was when the instance joined; or the
// number that was given for all.
func TestIndexIsAsLargeAsEachCache(t *testing.T) {
	prompt := workload.Request{Identity: workload.Identity{Input: 1600}, Terms: workload.Terms{Spans: []workload.Span{{Content: 1, Length: 1600}}}} // 100 blocks of the index
	expected := func(x *Index, view *fleet, instance int) int32 {
		x.Cover(view)
		x.Look(prompt.Input, prompt.Spans)
		x.Record(instance)
		x.Look(prompt.Input, prompt.Spans)
		return x.Expected(instance) / 16
	}
	view := fleetOf(40, 60, 500)
	view.blockSize = 16
	for _, c := range []struct {
		blocks    int32
		blockSize int32 // of caches
		want      []int32
	}{{0, 16, []int32{40, 60, 100}}, {0, 8, []int32{20, 30, 100}}, {0, 32, []int32{80, 100, 100}}, {70, 16, []int32{70, 70, 70}}} {
		view.blockSize = c.blockSize
		x := NewRouted(16, c.blocks)
		for i, want := range c.want {
			if got := expected(x, view, i); got != want {
				t.Errorf("%d blocks given, caches with blocks of %d: instance %d is expected to have %d, want %d", c.blocks, c.blockSize, i, got, want)
			}
		}
	}
	t.Run("later ones and those that take a place", func(t *testing.T) {
		view := fleetOf(40)
		x := NewRouted(16, 0)
		x.Cover(view)
		view.caches[0] = 90 // too late
		if got := expected(x, view, 0); got != 40 {
			t.Errorf("%d, want 40: the size is that of the joining", got)
		}
		view.add(7)
		if got := expected(x, view, 1); got != 7 {
			t.Errorf("%d, want 7", got)
		}
		view.leave(0)
		view.add(55)
		x.Cover(view)
		if len(x.instance) != 2 {
			t.Fatalf("%d places, want 2", len(x.instance))
		}
		if got := expected(x, view, 2); got != 55 {
			t.Errorf("%d, want 55", got)
		}
	})
	t.Run("a size that is not known", func(t *testing.T) {
		x := NewRouted(16, 0)
		x.Cover(fleetOf(0))
		if got := x.routed.orders.list[0].capacity; got != 31_250 {
			t.Errorf("%d, want 31,250", got)
		}
	})
}

// TestExpectedHitsAreFoundHitsInEachPool serves requests of 60 chains at two pools
// whose caches differ in size by five, each instance an LRU of blocks, and wants
// the router to expect what each finds: the index is its cache.
func TestExpectedHitsAreFoundHitsInEachPool(t *testing.T) {
	const seed, block = 8, 16
	rng := rand.New(rand.NewPCG(seed, 8))
	view := &fleet{blockSize: block}
	for i := range 6 {
		view.add([]int64{400, 2000}[i/3])
	}
	caches := &prefixtwin.LRU{Lists: make([][]prefixtwin.Block, 6)}
	caches.Join(view.Len(), func(i int) int64 { return view.caches[i] })
	for _, c := range []struct {
		name   string
		blocks int32
		right  bool
	}{{"as large as each cache", 0, true}, {"one size for all", 2000, false}} {
		x := NewRouted(block, c.blocks)
		x.Cover(view)
		var expected, found, tokens [2]int
		for n := range 4000 {
			content := workload.ContentID(1 + rng.IntN(60))
			req := workload.Request{Identity: workload.Identity{ID: int64(n), Input: 800}, Terms: workload.Terms{Spans: []workload.Span{{Content: content, Length: int32(100 + rng.IntN(650))}}}}
			blocks := prefixtwin.Blocks(req.ID, req.Input, req.Spans, block)
			i := rng.IntN(6)
			x.Look(req.Input, req.Spans)
			expected[i/3] += int(x.Expected(i))
			found[i/3] += block * caches.Matched(blocks, i)
			tokens[i/3] += int(req.Input)
			x.Record(i)
			caches.Record(blocks, i)
		}
		worst := 0.0
		for pool := range 2 {
			off := float64(expected[pool]-found[pool]) / float64(tokens[pool])
			worst = max(worst, off, -off)
			t.Logf("%s, pool %d: %.1f %% expected, %.1f %% found", c.name, pool, 100*float64(expected[pool])/float64(tokens[pool]), 100*float64(found[pool])/float64(tokens[pool]))
		}
		if (worst <= 0.02) != c.right {
			t.Errorf("%s: expected and found hits differ by up to %.1f points of prompt tokens", c.name, 100*worst)
		}
	}
}
