package kv

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// checkFreeList does operations on a free list and on a slice of single
// blocks, noBlock for an anonymous one. It returns how often the list was
// packed and how long its ring became.
func checkFreeList(pick func(int) int, operations int, fatal func(string, ...any)) (packed, ring int) {
	start := 1 + pick(9)
	f, twin := newFreeList(start), slices.Repeat([]BlockID{noBlock}, start)
	var named entries // the blocks 0, 1, …
	appetite := 2 + pick(4)
	for op := range operations {
		tail := f.tail
		switch p := pick(10); {
		case p < 4:
			f.reserve(&named)
			b := named.take()
			named.at(b).pos = f.pushNamed(b)
			twin = append(twin, b)
		case p < 6:
			n := pick(4)
			f.reserve(&named)
			f.pushAnonymous(int32(n))
			twin = append(twin, slices.Repeat([]BlockID{noBlock}, n)...)
		case p < 6+appetite/2 && len(twin) > 0:
			if i := pick(len(twin)); twin[i] != noBlock {
				f.leave(named.at(twin[i]).pos)
				twin = slices.Delete(twin, i, i+1)
			}
		case len(twin) > 0 && pick(appetite) == 0:
			// The pool's Take is the one that pops.
			n := pick(min(5, len(twin)) + 1)
			p := Pool{free: f, entries: entries{pages: named.pages, n: named.n}, keys: newTable()}
			for i := range named.n {
				p.entries.at(BlockID(i)).key = uint64(i)
				p.keys.set(uint64(i), BlockID(i))
			}
			p.Take(n)
			f, twin = p.free, twin[n:]
		}
		if f.tail < tail {
			packed++
		}
		if got := listOf(&f); !slices.Equal(got, twin) || f.blocks != len(twin) {
			fatal("after %d operations the list is %v (%d blocks), want %v", op+1, got, f.blocks, twin)
		}
		for pos := f.head + 1; pos < f.tail; pos++ {
			a, b := f.at(pos-1), f.at(pos)
			if a.block == noBlock && b.block == noBlock && a.n > 0 && b.n > 0 {
				fatal("after %d operations two anonymous entries stand side by side", op+1)
			}
		}
	}
	return packed, len(f.entries)
}

func listOf(f *freeList) (list []BlockID) {
	for pos := f.head; pos < f.tail; pos++ {
		for range f.at(pos).n {
			list = append(list, f.at(pos).block)
		}
	}
	return list
}

func TestFreeListEqualsSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkFreeList(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }, 100, t.Fatalf)
	})
}

func TestFreeListEqualsSliceForLong(t *testing.T) {
	seed := rand.Uint64()
	packed, longest := 0, 0
	for n := range uint64(60) {
		p, ring := checkFreeList(rand.New(rand.NewPCG(seed, n)).IntN, 600, func(format string, args ...any) {
			t.Fatalf("seed %d, list %d: "+format, append([]any{seed, n}, args...)...)
		})
		packed += p
		longest = max(longest, ring)
	}
	t.Logf("seed %d: packed %d times, longest ring %d", seed, packed, longest)
	if packed == 0 || longest <= 64 {
		t.Errorf("seed %d: packed %d times, longest ring %d: too easy", seed, packed, longest)
	}
}
