package heap_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blis/vtime/heap"
)

// task has many equal times and a number that breaks ties.
type task struct{ at, number int }

func (t *task) Before(o *task) bool { return compare(*t, *o) < 0 }

func compare(a, b task) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.number, b.number))
}

// A heap gives what a sorted slice gives.
func TestHeapEqualsASortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h, sorted []task
		for number := range rapid.IntRange(0, 200).Draw(t, "steps") {
			x := task{rapid.IntRange(0, 20).Draw(t, "at"), number}
			switch step := rapid.IntRange(0, 5).Draw(t, "step"); {
			case step == 5: // every third element goes
				gone := func(x task) bool { return x.number%3 == 0 }
				h, sorted = slices.DeleteFunc(h, gone), slices.DeleteFunc(sorted, gone)
				heap.Init(h)
			case step == 0 && len(h) > 0:
				h, sorted = heap.Pop(h), sorted[1:]
			case step == 1 && len(h) > 0:
				h = heap.ReplaceFirst(h, x)
				sorted = append(slices.Clone(sorted[1:]), x)
			default:
				h, sorted = heap.Push(h, x), append(slices.Clone(sorted), x)
			}
			slices.SortFunc(sorted, compare)
			if len(h) != len(sorted) || len(h) > 0 && h[0] != sorted[0] {
				t.Fatalf("heap %v, sorted %v", h, sorted)
			}
		}
		for ; len(h) > 0; h, sorted = heap.Pop(h), sorted[1:] {
			if h[0] != sorted[0] {
				t.Fatalf("heap %v, sorted %v", h, sorted)
			}
		}
	})
}

func TestHeapDoesNotAllocate(t *testing.T) {
	h := make([]task, 0, 64)
	if n := testing.AllocsPerRun(100, func() {
		for i := range 64 {
			h = heap.Push(h, task{i * 37 % 64, i})
		}
		for len(h) > 0 {
			h = heap.Pop(h)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
