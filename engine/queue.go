package engine

import (
	"cmp"
	"slices"

	"blis/policy"
	"blis/vtime/heap"
)

// waitQueue is the requests in phase waiting. A scheduler that never reorders
// has them in the order in which they were queued, preempted ones in front. One
// that does has them in a heap. Requests that left in between stay in either
// until they are the first.
type waitQueue struct {
	fifo     fifo
	ordered  []ordered
	reorders bool

	scheduler policy.Scheduler
	ctx       *policy.SchedulerContext
	requests  *requests
}

// push puts slot i, which waits from now on, at the end of the queue or where
// the scheduler's order has it; front is for preempted requests.
func (q *waitQueue) push(i int32, front bool) {
	q.requests.to(i, waiting)
	s := q.requests.at(i)
	m := member{i, s.ID}
	switch {
	case q.reorders:
		q.ordered = heap.Push(q.ordered, ordered{m, s.Waiting, q})
	case front:
		q.fifo.pushFront(m)
	default:
		q.fifo.pushBack(m)
	}
}

// head returns the slot of the first waiting request, −1 if there is none.
func (q *waitQueue) head() int32 {
	for q.reorders && len(q.ordered) > 0 {
		if m := q.ordered[0].member; q.requests.is(m, waiting) {
			return m.slot
		}
		q.ordered = heap.Pop(q.ordered)
	}
	for q.fifo.n > 0 {
		if m := q.fifo.ring[q.fifo.head]; q.requests.is(m, waiting) {
			return m.slot
		}
		q.fifo.pop()
	}
	return -1
}

// pop removes the head, which is in slot i, and moves it to phase p.
func (q *waitQueue) pop(i int32, p phase) {
	q.requests.to(i, p)
	q.drop()
}

// drop removes the head.
func (q *waitQueue) drop() {
	if q.reorders {
		q.ordered = heap.Pop(q.ordered)
		return
	}
	q.fifo.pop()
}

// list appends the slots of the waiting requests of a queue that never reorders, in its order.
func (q *waitQueue) list(slots []int32) []int32 {
	for k := range q.fifo.n {
		if m := q.fifo.ring[(q.fifo.head+k)&(len(q.fifo.ring)-1)]; q.requests.is(m, waiting) {
			slots = append(slots, m.slot)
		}
	}
	return slots
}

// ordered is an entry of a wait queue that the scheduler orders. It holds a copy
// of what the scheduler reads, which stays as it is while queued.
type ordered struct {
	member
	waiting policy.Waiting
	queue   *waitQueue
}

// Before implements heap.Ordered.
func (x *ordered) Before(y *ordered) bool {
	return x.queue.scheduler.Less(&x.waiting, &y.waiting, x.queue.ctx)
}

// fifo is a double-ended queue: a ring with a power of two places.
type fifo struct {
	ring []member
	head int
	n    int
}

func (l *fifo) grow() {
	if l.n < len(l.ring) {
		return
	}
	ring := make([]member, max(16, 2*len(l.ring)))
	for i := range l.n {
		ring[i] = l.ring[(l.head+i)&(len(l.ring)-1)]
	}
	l.ring, l.head = ring, 0
}

func (l *fifo) pushBack(m member) {
	l.grow()
	l.ring[(l.head+l.n)&(len(l.ring)-1)] = m
	l.n++
}

func (l *fifo) pushFront(m member) {
	l.grow()
	l.head = (l.head - 1) & (len(l.ring) - 1)
	l.ring[l.head] = m
	l.n++
}

func (l *fifo) pop() {
	l.head = (l.head + 1) & (len(l.ring) - 1)
	l.n--
}

// keep leaves those members that it is told to, in their order.
func (l *fifo) keep(stays func(member) bool) {
	n := 0
	for k := range l.n {
		if m := l.ring[(l.head+k)&(len(l.ring)-1)]; stays(m) {
			l.ring[(l.head+n)&(len(l.ring)-1)] = m
			n++
		}
	}
	l.n = n
}

// individuals is the part of the running list that is not in the cohort: the requests
// in phase running, in order of admission.
type individuals struct {
	list     []int32
	requests *requests
}

// append adds slot i, admitted last.
func (l *individuals) append(i int32) { l.list = append(l.list, i) }

// insert adds slot i where the order of admission has it.
func (l *individuals) insert(i int32) {
	at, _ := l.find(i)
	l.list = slices.Insert(l.list, at, i)
}

// remove takes slot i out.
func (l *individuals) remove(i int32) {
	at, ok := l.find(i)
	if !ok {
		panic("engine: a running request is in no list")
	}
	l.removeAt(at)
}

func (l *individuals) removeAt(at int) { l.list = slices.Delete(l.list, at, at+1) }

// find returns the first place in the list whose order is not below that of slot i, and
// whether it is slot i.
func (l *individuals) find(i int32) (at int, ok bool) {
	order, end := l.requests.at(i).order, len(l.list)
	for at < end {
		if middle := int(uint(at+end) >> 1); l.requests.at(l.list[middle]).order < order {
			at = middle + 1
		} else {
			end = middle
		}
	}
	return at, at < len(l.list) && l.list[at] == i
}

// sort puts the list in order of admission.
func (l *individuals) sort() {
	slices.SortFunc(l.list, func(x, y int32) int { return cmp.Compare(l.requests.at(x).order, l.requests.at(y).order) })
}
