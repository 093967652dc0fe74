package gateway

import (
	"blis/vtime"
	"blis/vtime/heap"
)

// Queue is the requests that wait at a gateway. Callers number the requests that they hold by slots from
// 0 on, as closely as they can.
type Queue struct {
	rules   Rules
	bands   []*band // in descending priority
	slots   []waiting
	waiting int64
	entries int64 // so far
	leaving []leave
}

// leave is when a request leaves unless it is dispatched before.
type leave struct {
	at       vtime.Time
	number   int64
	sequence int64 // of its entry
	slot     int32
	expires  bool // else its deadline passes
}

// Before implements heap.Ordered.
func (l *leave) Before(o *leave) bool {
	return l.at < o.at || l.at == o.at && l.number < o.number
}

// New returns an empty queue with rules.
func New(rules Rules) *Queue { return &Queue{rules: rules} }

// Waiting is the number of requests that wait.
func (q *Queue) Waiting() int64 { return q.waiting }

// Entry is what became of a request that came.
type Entry struct {
	Full   bool  // it did not enter: its band is full, or the queue
	Victim int32 // slot of the request that left for it; −1: none
}

// Enter puts a request into the queue, at now, if there is room. A band or a flow that it is the first
// to reach exists from then on, whether it enters or not.
func (q *Queue) Enter(slot int32, r *Request, now vtime.Time) Entry {
	b := q.band(r.Band)
	f := b.flow(q, r.Flow)
	victim := int32(-1)
	if q.rules.PerBand > 0 && b.waiting >= q.rules.PerBand {
		return Entry{Full: true, Victim: -1}
	}
	if q.rules.Total > 0 && q.waiting >= q.rules.Total {
		if q.rules.Shed {
			victim = q.victim(r.Band)
		}
		if victim < 0 {
			return Entry{Full: true, Victim: -1}
		}
		q.Leave(victim)
	}
	q.add(slot, r, f, now)
	return Entry{Victim: victim}
}

// add adds a request to its flow.
func (q *Queue) add(slot int32, r *Request, f *flow, now vtime.Time) {
	for int(slot) >= len(q.slots) {
		q.slots = append(q.slots, waiting{at: -1})
	}
	b := f.band
	q.entries++
	q.slots[slot] = waiting{Request: *r, flow: f, entry: now, key: q.rules.keyOf(r, now), sequence: q.entries, earlier: b.last, later: -1}
	if b.last >= 0 {
		q.slots[b.last].later = slot
	}
	b.last = slot
	first := f.empty()
	f.slots.push(slot)
	switch {
	case first:
		b.turns.began(f)
	case f.head() == slot:
		b.turns.changed(f)
	}
	b.waiting++
	q.waiting++
	q.plan(slot)
}

// plan notes when a request leaves if it is not dispatched before.
func (q *Queue) plan(slot int32) {
	w := &q.slots[slot]
	l := leave{at: max(w.Deadline, w.entry), number: w.Number, sequence: w.sequence, slot: slot}
	if ttl := q.rules.TTL; ttl > 0 && w.entry.Add(ttl) < l.at {
		l.at, l.expires = w.entry.Add(ttl), true
	}
	if l.at != vtime.Never {
		q.leaving = heap.Push(q.leaving, l)
	}
}

// victim is the slot of the request that leaves for one of a band: sheddable, of a lower band, the
// lowest one; in it the one that entered last. −1: there is none.
func (q *Queue) victim(priority int) int32 {
	for i := len(q.bands) - 1; i >= 0; i-- {
		switch b := q.bands[i]; {
		case b.priority >= 0 || b.priority >= priority:
			return -1
		case b.waiting > 0:
			return b.last
		}
	}
	return -1
}

// Leave takes a waiting request out of the queue.
func (q *Queue) Leave(slot int32) {
	w := &q.slots[slot]
	f, b := w.flow, w.flow.band
	if w.earlier >= 0 {
		q.slots[w.earlier].later = w.later
	}
	if w.later >= 0 {
		q.slots[w.later].earlier = w.earlier
	} else {
		b.last = w.earlier
	}
	first := w.at == 0
	f.slots.remove(w.at)
	if first {
		b.turns.changed(f)
	}
	b.waiting--
	q.waiting--
	for len(q.leaving) > 0 && !q.waits(&q.leaving[0]) {
		q.leaving = heap.Pop(q.leaving)
	}
}

// waits reports whether the request that is to leave has not left.
func (q *Queue) waits(l *leave) bool {
	w := &q.slots[l.slot]
	return w.at >= 0 && w.sequence == l.sequence
}

// NextLeave is when the next request leaves unless it is dispatched: it expires, or its deadline
// passes. vtime.Never: none does.
func (q *Queue) NextLeave() vtime.Time {
	if len(q.leaving) == 0 {
		return vtime.Never
	}
	return q.leaving[0].at
}

// PopLeave takes the request that leaves at NextLeave out of the queue. It reports whether it expires;
// else its deadline passes.
func (q *Queue) PopLeave() (slot int32, expires bool) {
	l := q.leaving[0]
	q.Leave(l.slot)
	return l.slot, l.expires
}

// Entered is when a waiting request entered.
func (q *Queue) Entered(slot int32) vtime.Time { return q.slots[slot].entry }

// Turn is how a cycle ended.
type Turn struct {
	Slot    int32   // of the request that was dispatched; −1: none
	Ceiling float64 // of its band, or of the one at which the cycle ended
	Band    int     // that band
	Closed  bool    // the cycle ended at a ceiling
}

// Cycle dispatches at most one request: of the first band with requests, unless the saturation s has
// reached its ceiling or that of a band above it. tick is the number of the tick, 0 at an entry.
func (q *Queue) Cycle(s float64, tick int64) Turn {
	if q.waiting == 0 {
		return Turn{Slot: -1}
	}
	priority := func(i int) int { return q.bands[i].priority }
	for i, b := range q.bands {
		c := q.rules.Ceilings.of(i, len(q.bands), s, tick, priority)
		switch {
		case s >= c:
			return Turn{Slot: -1, Ceiling: c, Band: b.priority, Closed: true}
		case b.waiting > 0:
			f := b.turns.next()
			slot := f.head()
			b.turns.serve(f, q.slots[slot].Tokens)
			q.Leave(slot)
			return Turn{Slot: slot, Ceiling: c, Band: b.priority}
		}
	}
	panic("gateway: requests wait in no band")
}

// All calls f with the slots of the requests that wait, in the order of bands and then of entry.
func (q *Queue) All(f func(slot int32)) {
	for _, b := range q.bands {
		first := b.last
		for first >= 0 && q.slots[first].earlier >= 0 {
			first = q.slots[first].earlier
		}
		for i := first; i >= 0; i = q.slots[i].later {
			f(i)
		}
	}
}
