package engine

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// The wheel against a plain list, through its wraps, its reach and members
// that leave early.
func TestWheelAgreesWithAList(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	table := requests{slots: make([]slot, 300)}
	formed := int64(0)
	w := &wheel{requests: &table}
	w.clear()
	var list []int32 // members
	nextOrder, ended := int64(0), 0
	byEnd := func(x, y int32) int {
		a, b := table.at(x), table.at(y)
		return cmp.Or(cmp.Compare(a.last(), b.last()), cmp.Compare(a.order, b.order))
	}
	first := func() int64 {
		if len(list) == 0 {
			return never
		}
		return table.at(slices.MinFunc(list, byEnd)).last()
	}
	leave := func(i int32) {
		list = slices.DeleteFunc(list, func(x int32) bool { return x == i })
		table.at(i).phase = running
		if len(list) == 0 {
			w.later = w.later[:0]
		}
	}
	for step := range 30_000 {
		formed++
		if step%2000 > 1000 && step%3 > 0 { // sparse: scan far
			formed += r.Int64N(40)
			if at := first(); at <= formed {
				formed = at
			}
		}
		for w.next() <= formed {
			at := w.next()
			got := slices.Clone(w.take(at))
			want := slices.DeleteFunc(slices.Clone(list), func(i int32) bool { return table.at(i).last() != at })
			slices.SortFunc(want, byEnd)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, step %d: %v end in formation %d, want %v", seed, step, got, at, want)
			}
			for _, i := range got {
				leave(i)
			}
			ended += len(got)
		}
		if at := first(); at <= formed || w.next() > at {
			t.Fatalf("seed %d, step %d: the next end is %d by the wheel, %d in the list", seed, step, w.next(), at)
		}
		i := r.Int32N(300)
		s := table.at(i)
		switch {
		case s.phase == decoding && r.IntN(3) == 0:
			w.remove(i, s.last())
			leave(i)
		case s.phase != decoding:
			s.request = request{phase: decoding, joined: formed + 1, target: 1 + r.Int32N([]int32{3, 100, 1000, 1100, 5000}[r.IntN(5)]), order: nextOrder}
			s.ID = nextOrder
			nextOrder++
			w.add(i, s.last(), formed)
			list = append(list, i)
		}
		if step%500 == 0 {
			var all []int32
			w.each(func(i int32) { all = append(all, i) })
			slices.Sort(all)
			slices.Sort(list)
			if !slices.Equal(all, list) {
				t.Fatalf("seed %d, step %d: members %v, want %v", seed, step, all, list)
			}
		}
		if step%7777 == 0 {
			w.clear()
			for _, i := range list {
				table.at(i).phase = running
			}
			list = nil
		}
	}
	if ended < 5000 {
		t.Errorf("seed %d: only %d members ended", seed, ended)
	}
}
