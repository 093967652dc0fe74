package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/vtime"
	"blis/vtime/heap"
)

// schedule is a priority queue of the router's decisions at later times, in order of
// (time, request), or (time, turn). Most are pushed in that order, and a push appends to entries. An
// entry before the last one of these is pushed on the heap late: it may come after a
// request that admission delays.
type schedule struct {
	entries []entry
	head    int     // index in entries of the first entry that is not popped
	late    []entry // a binary heap
}

type entry struct {
	at      vtime.Time
	request int64 // its number, or its turn, or of an instance
	slot    int32 // in heldRequests, or an instance
}

// Before implements heap.Ordered.
func (e *entry) Before(o *entry) bool {
	if e.at != o.at {
		return e.at < o.at
	}
	return e.request < o.request
}

func (s *schedule) len() int { return len(s.entries) - s.head + len(s.late) }

// first is the first entry, nil if there is none, and whether it is in late.
func (s *schedule) first() (e *entry, late bool) {
	if s.head < len(s.entries) {
		e = &s.entries[s.head]
	}
	if len(s.late) > 0 && (e == nil || s.late[0].Before(e)) {
		return &s.late[0], true
	}
	return e, false
}

// at is the time of the first entry, vtime.Never if there is none.
func (s *schedule) at() vtime.Time {
	if e, _ := s.first(); e != nil {
		return e.at
	}
	return vtime.Never
}

// key is the Key of the first entry as an event of the given class.
func (s *schedule) key(class uint8) lookahead.Key {
	if at := s.at(); at != vtime.Never {
		return lookahead.Key{At: at, Class: class}
	}
	return lookahead.NeverKey
}

func (s *schedule) push(e entry) {
	if n := len(s.entries); n > s.head && e.Before(&s.entries[n-1]) {
		s.late = heap.Push(s.late, e)
		return
	}
	if s.head > 0 && len(s.entries) == cap(s.entries) {
		n := copy(s.entries, s.entries[s.head:])
		s.entries, s.head = s.entries[:n], 0
	}
	s.entries = append(s.entries, e)
}

// pop removes the first entry and returns its slot.
func (s *schedule) pop() int32 {
	e, late := s.first()
	slot := e.slot
	if late {
		s.late = heap.Pop(s.late)
	} else if s.head++; s.head == len(s.entries) {
		s.entries, s.head = s.entries[:0], 0
	}
	return slot
}

// heldRequests are the requests that wait for a decision of the router, or for their
// time-out.
type heldRequests struct {
	requests  []engine.Delivery   // slots are reused
	delays    []int32             // by slot: how often admission has delayed the request
	vacant    []int32             // slots without a request
	admit     schedule            // admission decisions
	route     schedule            // routing decisions
	handOver  schedule            // deliveries to the instance where a request goes on whose prompt another one computed
	retry     schedule            // arrivals of requests that their clients send again
	expire    schedule            // requests whose deadline comes before their next decision
	transfers map[int32]*transfer // by slot, of requests that an instance returned, or that were lost with one
}

// handsOver reports whether the next routing decision is about a request whose prompt is computed.
func (h *heldRequests) handsOver() bool {
	second, _ := h.handOver.first()
	if second == nil {
		return false
	}
	first, _ := h.route.first()
	return first == nil || second.Before(first)
}

// add returns a slot for a request.
func (h *heldRequests) add() int32 {
	if n := len(h.vacant); n > 0 {
		i := h.vacant[n-1]
		h.vacant = h.vacant[:n-1]
		return i
	}
	h.requests = append(h.requests, engine.Delivery{})
	h.delays = append(h.delays, 0)
	return int32(len(h.requests) - 1)
}

// drop frees slot i.
func (h *heldRequests) drop(i int32) {
	if h.transfers != nil {
		delete(h.transfers, i)
	}
	h.vacant = append(h.vacant, i)
}

// plan schedules the next decision on request i at the time at, or its time-out if
// that comes first.
func (h *heldRequests) plan(s *schedule, i int32, at vtime.Time) {
	d := &h.requests[i]
	if d.Deadline < at {
		h.expire.push(entry{max(d.Deadline, d.Arrival), d.ID, i})
		return
	}
	s.push(entry{at, turnOf(d), i})
}

// turnOf is the place of d among the decisions of one instant.
func turnOf(d *engine.Delivery) int64 {
	if d.Turn != 0 {
		return d.Turn
	}
	return engine.TurnOf(d.ID)
}
