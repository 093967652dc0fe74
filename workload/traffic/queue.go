package traffic

import (
	"blis/vtime"
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

func (e *entry) before(o *entry) bool {
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

func (q *queue) push(e entry) {
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(&q.heap[up]) {
			break
		}
		q.heap[i] = q.heap[up]
		i = up
	}
	q.heap[i] = e
}

func (q *queue) pop() entry {
	top, last := q.heap[0], len(q.heap)-1
	e := q.heap[last]
	q.heap = q.heap[:last]
	if last > 0 {
		q.replaceFirst(e)
	}
	return top
}

// forget removes the entries of a session, except steps for which keep is true.
func (q *queue) forget(slot int32, keep func(step int) bool) {
	kept := q.heap
	q.heap = q.heap[:0]
	for _, e := range kept {
		if e.slot != slot || keep(e.step()) {
			q.push(e) // no later than where it was read
		}
	}
}

// replaceFirst replaces the first entry by e.
func (q *queue) replaceFirst(e entry) {
	i, n := 0, len(q.heap)
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && q.heap[child+1].before(&q.heap[child]) {
			child++
		}
		if !q.heap[child].before(&e) {
			break
		}
		q.heap[i] = q.heap[child]
		i = child
	}
	q.heap[i] = e
}
