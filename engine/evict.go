package engine

import (
	"blis/metrics"
	"blis/vtime"
)

// Evict ends a request of that number, as its client's time-out at now would, but in the state
// Evicted: it leaves when the step in flight ends, and one that completes at now completes. Without
// such a request, or if its deadline has passed, it does nothing.
func Evict(e *Engine, number int64, now vtime.Time) {
	for i := range e.requests.slots {
		s := &e.requests.slots[i]
		if s.ID != number || s.phase != pending && s.phase != waiting && !s.phase.runs() {
			continue
		}
		if !isUp(s, now) {
			s.reclaimed = true
			e.agenda.addDeadline(now, member{int32(i), number})
		}
		return
	}
}

// EvictFrom ends a request on whichever rank has it, as Evict does.
func EvictFrom(r *Ranks, number int64, now vtime.Time) {
	r.catchUp(now, vtime.ClassDelivery)
	for _, e := range r.list {
		Evict(e, number, now)
	}
}

// isUp reports whether the time of s is up: its deadline has passed, or it is evicted.
func isUp(s *slot, now vtime.Time) bool { return s.reclaimed || s.deadline <= now }

// upAs is the state in which s ends whose time is up.
func upAs(s *slot) metrics.State {
	if s.reclaimed {
		return metrics.Evicted
	}
	return metrics.TimedOut
}

// becomeOverdue lets a request whose time is up leave when the step in flight ends.
func becomeOverdue(e *Engine, m member) {
	s := e.requests.at(m.slot)
	if s.overdue { // evicted, and then its deadline passed
		return
	}
	s.overdue = true
	e.overdue = append(e.overdue, m)
}
