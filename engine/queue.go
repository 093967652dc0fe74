package engine

import "blis/policy"

// member names the request id in slot. It is stale, and skipped, once the
// slot holds another request or the request is no longer where it was filed.
type member struct {
	slot int32
	id   int64
}

// ranked is an entry of a wait queue that the scheduler orders. It holds a
// copy of what the scheduler reads, which stays as it is while queued.
type ranked struct {
	member
	waiting policy.Waiting
	engine  *Engine
}

func (x *ranked) before(y *ranked) bool {
	return x.engine.cfg.Scheduler.Less(&x.waiting, &y.waiting, &x.engine.ctx)
}

// line is the wait queue of a scheduler that never reorders: queued order,
// preempted requests in front. A ring with a power of two places.
type line struct {
	ring []member
	head int
	n    int
}

func (l *line) grow() {
	if l.n < len(l.ring) {
		return
	}
	ring := make([]member, max(16, 2*len(l.ring)))
	for i := range l.n {
		ring[i] = l.ring[(l.head+i)&(len(l.ring)-1)]
	}
	l.ring, l.head = ring, 0
}

func (l *line) pushBack(m member) {
	l.grow()
	l.ring[(l.head+l.n)&(len(l.ring)-1)] = m
	l.n++
}

func (l *line) pushFront(m member) {
	l.grow()
	l.head = (l.head - 1) & (len(l.ring) - 1)
	l.ring[l.head] = m
	l.n++
}

func (l *line) pop() {
	l.head = (l.head + 1) & (len(l.ring) - 1)
	l.n--
}

// enqueue puts slot i into the wait queue: at its end, or where the
// scheduler's order has it; front is for preempted requests.
func (e *Engine) enqueue(i int32, front bool) {
	s := e.slot(i)
	e.requests.to(i, waiting)
	m := member{i, s.ID}
	switch {
	case e.reorders:
		e.ranked = push(e.ranked, ranked{m, s.Waiting, e})
	case front:
		e.line.pushFront(m)
	default:
		e.line.pushBack(m)
	}
}

// head is the first waiting request, or -1.
func (e *Engine) head() int32 {
	for e.reorders && len(e.ranked) > 0 {
		if m := e.ranked[0].member; e.waits(m) {
			return m.slot
		}
		e.ranked = pop(e.ranked)
	}
	for e.line.n > 0 {
		if m := e.line.ring[e.line.head]; e.waits(m) {
			return m.slot
		}
		e.line.pop()
	}
	return -1
}

// dequeue removes the head, which is in slot i, and leaves it in phase p.
func (e *Engine) dequeue(i int32, p phase) {
	e.requests.to(i, p)
	if e.reorders {
		e.ranked = pop(e.ranked)
		return
	}
	e.line.pop()
}

func (e *Engine) waits(m member) bool { return e.requests.is(m, waiting) }
