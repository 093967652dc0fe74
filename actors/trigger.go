package actors

import (
	"blis/lookahead"
	"blis/vtime"
)

// lookInterval is the least time between two looks at the conditions of a
// trigger, unless evaluations may be closer.
const lookInterval = vtime.Second

// trigger is the router's part in evaluations that events call for: requests
// that arrive, and requests that end on instances. An evaluation at T sees all
// of T, so one event calls for it at its own time or, if the last evaluation
// was less than an interval ago, when that has passed; those that follow until
// then call for nothing. With conditions an event calls for a look at them in
// the same way; the policy is asked if one holds.
//
// The autoscaler hears of it by a message in the instant of the event, which
// keeps no run alive that would end there; the evaluation is then a periodic
// event of its own.
type trigger struct {
	interval vtime.Duration // at least between two evaluations; 0: no event calls for any
	last     vtime.Time     // evaluation called for
	called   bool           // there was one
}

// soonest is when the next evaluation after the last one called for may be.
func (g *trigger) soonest() vtime.Time {
	if !g.called {
		return 0
	}
	return g.last.Add(g.interval)
}

// note takes note of an event at now. It reports whether that calls for another
// evaluation, at g.last.
func (g *trigger) note(now vtime.Time) bool {
	if g.interval == 0 || g.called && now <= g.last {
		return false
	}
	g.last, g.called = max(now, g.soonest()), true
	return true
}

// reaction is the Key of the first evaluation that an event at t or later can
// call for, beyond those that are called for already.
func (g *trigger) reaction(t vtime.Time) lookahead.Key {
	if g.interval == 0 || t == vtime.Never {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: max(t, g.soonest()), Class: vtime.ClassScale}
}

// noteEvent tells the autoscaler of an event at now if it is to be asked for it.
func (r *router) noteEvent(now vtime.Time, out *lookahead.Outbox) {
	if r.trigger.note(now) {
		sendEvaluate(out, now, r.trigger.last)
	}
}
