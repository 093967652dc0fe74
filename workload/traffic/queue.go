package traffic

import (
	"slices"

	"blis/vtime"
	"blis/vtime/heap"
	"blis/workload"
)

// entry is a request that is to come: a request of a session, or the next
// arrival of a client.
type entry struct {
	at     vtime.Time
	source uint32
	index  uint64
	slot   int32 // of the session; noSlot: an arrival
}

const noSlot = -1

func (e *entry) client() int { return int(e.source - workload.FirstSource) }
func (e *entry) step() int   { return int(e.index & (maxSteps - 1)) }

// Before implements heap.Ordered.
func (e *entry) Before(o *entry) bool {
	if e.at != o.at {
		return e.at < o.at
	}
	if e.source != o.source {
		return e.source < o.source
	}
	return e.index < o.index
}

// queue is a binary heap of entries.
type queue struct{ heap []entry }

func (q *queue) len() int     { return len(q.heap) }
func (q *queue) first() entry { return q.heap[0] }

func (q *queue) push(e entry) { q.heap = heap.Push(q.heap, e) }

func (q *queue) pop() entry {
	e := q.heap[0]
	q.heap = heap.Pop(q.heap)
	return e
}

// forget removes the entries of a session, except steps for which keep is true.
func (q *queue) forget(slot int32, keep func(step int) bool) {
	q.heap = slices.DeleteFunc(q.heap, func(e entry) bool { return e.slot == slot && !keep(e.step()) })
	heap.Init(q.heap)
}

// replaceFirst replaces the first entry by e.
func (q *queue) replaceFirst(e entry) {
	q.heap = heap.ReplaceFirst(q.heap, e)
}
