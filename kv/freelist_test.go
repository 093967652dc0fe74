package kv

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// checkFreeList does operations on a free list and on a slice of single blocks,
// the run's number for a named one, none for an anonymous one.
func checkFreeList(pick func(int) int, operations int, fatal func(string, ...any)) (longest int) {
	var runs slab[runID, run]
	start := 1 + pick(9)
	f, twin := newFreeList(&runs, start), slices.Repeat([]runID{none}, start)
	length := map[runID]int{}
	var named []runID
	for op := range operations {
		switch p := pick(10); {
		case p < 4:
			id, n := runs.add(run{}), 1+pick(3)
			f.push(id, int32(n))
			length[id], named, twin = n, append(named, id), append(twin, slices.Repeat([]runID{id}, n)...)
		case p < 6:
			n := pick(4)
			f.pushAnonymous(int32(n))
			twin = append(twin, slices.Repeat([]runID{none}, n)...)
		case p < 7 && len(named) > 0: // cut in two: the new run follows
			id := named[pick(len(named))]
			if length[id] == 1 {
				break
			}
			part := runs.add(run{})
			f.insert(id, part)
			length[id], length[part], named = length[id]-1, 1, append(named, part)
			twin[slices.Index(twin, id)+length[id]] = part
		case len(named) > 0:
			i := pick(len(named))
			id := named[i]
			f.leave(id, int32(length[id]))
			runs.drop(id)
			named = slices.Delete(named, i, i+1)
			twin = slices.DeleteFunc(twin, func(r runID) bool { return r == id })
		}
		longest = max(longest, len(named))
		var got []runID
		prev, blank := runID(none), false
		for id := f.head; id != none; id = runs.at(id).next {
			r := runs.at(id)
			if n := length[id]; r.interval != none {
				got, blank = append(got, slices.Repeat([]runID{id}, n)...), false
			} else if blank {
				fatal("after %d operations two anonymous runs stand side by side", op+1)
			} else {
				got, blank = append(got, slices.Repeat([]runID{none}, int(r.anonymous))...), true
			}
			if r.prev != prev {
				fatal("after %d operations run %d is filed behind %d, and stands behind %d", op+1, id, r.prev, prev)
			}
			prev = id
		}
		if !slices.Equal(got, twin) || f.blocks != len(twin) || f.tail != prev {
			fatal("after %d operations the list is %v (%d blocks, tail %d), want %v", op+1, got, f.blocks, f.tail, twin)
		}
	}
	return longest
}

func TestFreeListEqualsSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkFreeList(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }, 100, t.Fatalf)
	})
}

func TestFreeListEqualsSliceForLong(t *testing.T) {
	seed, longest := rand.Uint64(), 0
	for n := range uint64(60) {
		longest = max(longest, checkFreeList(rand.New(rand.NewPCG(seed, n)).IntN, 600, func(format string, args ...any) {
			t.Fatalf("seed %d, list %d: "+format, append([]any{seed, n}, args...)...)
		}))
	}
	t.Logf("seed %d: longest list of %d named runs", seed, longest)
	if longest <= slabPage {
		t.Errorf("seed %d: at most %d named runs: too easy", seed, longest)
	}
}
