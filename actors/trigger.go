package actors

import (
	"blis/lookahead"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// lookInterval is the least time between two checks of a trigger's conditions,
// unless evaluations may be closer.
const lookInterval = vtime.Second

// trigger is the router's part in evaluations that events call for: an arrival, or
// the end of a request on an instance. The evaluation is at the time of the event,
// or an interval after the last evaluation if that is later. Further events until
// then call for nothing. With conditions the evaluation checks these first and asks
// the policy if one holds.
//
// The router tells the autoscaler by a message at the time of the event. The
// evaluation is then a periodic event of the autoscaler, so it keeps no run alive.
type trigger struct {
	interval vtime.Duration // least time between two evaluations; 0: no event calls for one
	last     vtime.Time     // last evaluation called for
	called   bool           // there was one: last is valid
}

// soonest is the earliest time of the evaluation after the last one called for.
func (g *trigger) soonest() vtime.Time {
	if !g.called {
		return 0
	}
	return g.last.Add(g.interval)
}

// note notes an event at now. It reports whether the event calls for an evaluation,
// at g.last.
func (g *trigger) note(now vtime.Time) bool {
	if g.interval == 0 || g.called && now <= g.last {
		return false
	}
	g.last, g.called = max(now, g.soonest()), true
	return true
}

// reaction is the Key of the first evaluation that an event at t or later can call
// for, without those called for already.
func (g *trigger) reaction(t vtime.Time) lookahead.Key {
	if g.interval == 0 || t == vtime.Never {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: max(t, g.soonest()), Class: vtime.ClassScale}
}

// newTrigger is the router's part in the evaluations of a pool.
func newTrigger(s *setup.Scaling, conditions *policy.Trigger) (g trigger) {
	switch {
	case s == nil:
	case conditions.Conditional():
		g.interval = min(s.Interval, lookInterval)
	case s.Trigger == policy.EventTrigger:
		g.interval = s.Interval
	}
	return g
}

// noteEvent tells the autoscaler of an event at now that calls for an evaluation.
func (r *router) noteEvent(now vtime.Time, out *lookahead.Outbox) {
	if r.pool.trigger.note(now) {
		sendEvaluate(out, now, r.pool.trigger.last)
	}
}
