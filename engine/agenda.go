package engine

import (
	"blis/vtime"
	"blis/vtime/heap"
)

// event is a kind of event of an instance.
type event uint8

// Kinds of events, in the order of their classes.
const (
	eventQueued  event = iota // a request enters the wait queue
	eventStep                 // the executing step ends, or an idle instance starts one
	eventTimeout              // the deadline of a request passes
	events
)

var classOf = [events]uint8{vtime.ClassQueued, vtime.ClassStep, vtime.ClassTimeout}

// times is the time of the next event of each kind, Never if there is none.
type times [events]vtime.Time

// agenda is the events that an instance has before it. Their times are stored,
// and written when they change: they are read far more often.
type agenda struct {
	at times

	// Heaps of requests by (time, number), arrivals by (time, turn). Requests that are gone stay in them,
	// but are never the first.
	arrivals  []timer // pending requests by the time at which they are queued
	deadlines []timer // requests by deadline, unless it has passed

	requests *requests
}

func newAgenda(r *requests) agenda {
	return agenda{at: times{vtime.Never, vtime.Never, vtime.Never}, requests: r}
}

// timer files a request under a time or a formation, and among equal ones under a
// number.
type timer struct {
	at, number int64
	member
}

// Before implements heap.Ordered.
func (x *timer) Before(y *timer) bool {
	if x.at != y.at {
		return x.at < y.at
	}
	return x.number < y.number
}

// next returns the earliest event: its time, Never if there is none, and its kind.
func (ts *times) next() (at vtime.Time, kind event) {
	at, kind = ts[eventStep], eventStep
	if t := ts[eventQueued]; t <= at && t != vtime.Never { // its class is the first
		at, kind = t, eventQueued
	}
	if t := ts[eventTimeout]; t < at {
		at, kind = t, eventTimeout
	}
	return at, kind
}

// stepsUntil returns the first time at which a step would come after an event of
// another kind: at one instant the classes say which of two comes first.
func (ts *times) stepsUntil() vtime.Time {
	at := vtime.Never
	for k, t := range ts {
		switch k := event(k); {
		case k < eventStep:
			at = min(at, t)
		case k > eventStep:
			at = min(at, t.Add(1))
		}
	}
	return at
}

// addArrival files a pending request that is queued at time at, among others then by its turn.
func (a *agenda) addArrival(at vtime.Time, turn int64, m member) {
	a.arrivals = heap.Push(a.arrivals, timer{int64(at), turn, m})
	a.at[eventQueued] = first(a.arrivals)
}

// addDeadline files a request under its deadline.
func (a *agenda) addDeadline(at vtime.Time, m member) {
	a.deadlines = heap.Push(a.deadlines, timer{int64(at), m.id, m})
	a.at[eventTimeout] = first(a.deadlines)
}

// takeArrival removes the request that is queued next, and returns its slot.
func (a *agenda) takeArrival() int32 {
	i := a.arrivals[0].slot
	a.arrivals = heap.Pop(a.arrivals)
	a.trimArrivals()
	return i
}

// takeDeadline removes the request whose deadline is next, and returns it.
func (a *agenda) takeDeadline() member {
	m := a.deadlines[0].member
	a.deadlines = heap.Pop(a.deadlines)
	a.trimDeadlines()
	return m
}

// vacated removes the request that was in slot i, if it was the first.
func (a *agenda) vacated(i int32) {
	if len(a.arrivals) > 0 && a.arrivals[0].slot == i {
		a.trimArrivals()
	}
	if len(a.deadlines) > 0 && a.deadlines[0].slot == i {
		a.trimDeadlines()
	}
}

func (a *agenda) trimArrivals() {
	for len(a.arrivals) > 0 && !a.requests.is(a.arrivals[0].member, pending) {
		a.arrivals = heap.Pop(a.arrivals)
	}
	a.at[eventQueued] = first(a.arrivals)
}

func (a *agenda) trimDeadlines() {
	for len(a.deadlines) > 0 && !a.requests.holds(a.deadlines[0].member) {
		a.deadlines = heap.Pop(a.deadlines)
	}
	a.at[eventTimeout] = first(a.deadlines)
}

// first returns the time of the first timer of a heap.
func first(heap []timer) vtime.Time {
	if len(heap) == 0 {
		return vtime.Never
	}
	return vtime.Time(heap[0].at)
}
