package gateway

import (
	"math/bits"
	"slices"
	"strings"
)

// turns knows which flow of a band is served next. Flows with requests are in a heap, or for RoundRobin
// marked in the order of their names.
type turns struct {
	fairness Fairness
	heap     indexed[*flow] // not for RoundRobin
	served   *flow          // last; nil: none yet

	// RoundRobin: all flows by name, and a bit for each with requests.
	named []*flow
	some  []uint64
}

func newTurns(q *Queue) turns {
	t := turns{fairness: q.rules.Fairness}
	t.heap.moved = func(f *flow, to int) { f.at = to }
	if t.fairness == VTC {
		t.heap.before = func(a, b *flow) bool {
			return a.counter < b.counter || a.counter == b.counter && a.name < b.name
		}
	} else {
		t.heap.before = func(a, b *flow) bool { return q.slots[a.head()].before(&q.slots[b.head()]) }
	}
	return t
}

// add adds a flow, which is empty.
func (t *turns) add(f *flow) {
	if t.fairness != RoundRobin {
		return
	}
	i, _ := slices.BinarySearchFunc(t.named, f.name, func(a *flow, name string) int { return strings.Compare(a.name, name) })
	t.named = slices.Insert(t.named, i, f)
	if 64*len(t.some) < len(t.named) {
		t.some = append(t.some, 0)
	}
	clear(t.some)
	for rank, g := range t.named {
		g.rank = rank
		if !g.empty() {
			t.some[rank/64] |= 1 << (rank % 64)
		}
	}
}

// began notes that a flow, which was empty, has its first request.
func (t *turns) began(f *flow) {
	switch t.fairness {
	case RoundRobin:
		t.some[f.rank/64] |= 1 << (f.rank % 64)
		return
	case VTC:
		if len(t.heap.list) > 0 {
			f.counter = max(f.counter, t.heap.list[0].counter)
		} else if t.served != nil {
			f.counter = max(f.counter, t.served.counter)
		}
	}
	t.heap.push(f)
}

// changed notes that a flow has another first request, or none any more.
func (t *turns) changed(f *flow) {
	switch {
	case t.fairness == RoundRobin:
		if f.empty() {
			t.some[f.rank/64] &^= 1 << (f.rank % 64)
		}
	case f.empty():
		t.heap.remove(f.at)
	default:
		t.heap.fix(f.at)
	}
}

// next is the flow that is served next; some flow has requests.
func (t *turns) next() *flow {
	if t.fairness != RoundRobin {
		return t.heap.list[0]
	}
	from := 0
	if t.served != nil {
		from = t.served.rank + 1
	}
	if i := t.marked(from); i >= 0 {
		return t.named[i]
	}
	return t.named[t.marked(0)]
}

// marked is the rank of the first flow with requests from a rank on, −1 if there is none.
func (t *turns) marked(from int) int {
	for w := from / 64; w < len(t.some); w++ {
		x := t.some[w]
		if w == from/64 {
			x &= ^uint64(0) << (from % 64)
		}
		if x != 0 {
			return 64*w + bits.TrailingZeros64(x)
		}
	}
	return -1
}

// serve notes that a flow was served a request of so many prompt tokens. Its requests have not changed
// yet.
func (t *turns) serve(f *flow, tokens int32) {
	t.served = f
	if t.fairness == VTC {
		f.counter += int64(float64(f.charge * float64(tokens)))
	}
}
