package actors

import (
	"blis/lookahead"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// The router's part in scaling. The autoscaler tells it how many instances there
// should be; the router knows which instance has which requests.

// ScaleEvent is one change of the wanted number of instances.
type ScaleEvent struct {
	At       vtime.Time
	From, To int32 // instances that are starting, warming or serving
	Reason   policy.Reason
}

// Shortage is a change of the number of instances that are wanted and for which no node has enough free
// GPUs. One with as many there as are wanted ends those before it.
type Shortage struct {
	At            vtime.Time
	Wanted, There int32 // instances: wanted, and starting, warming or serving
}

// scale starts or removes instances until there are target, or no node has room for one more: the
// autoscaler asks again at its next check.
func (s *pool) scale(target int32, reason policy.Reason, now vtime.Time, out *lookahead.Outbox, t *tracing) {
	b := s.replicas
	if e := (ScaleEvent{now, b.count + b.pending, target, reason}); e.From != e.To { // else no node had room before
		b.events = append(b.events, e)
		b.published.scale(e)
	}
	for b.count < target && b.start(now) {
	}
	b.wait(target, now)
	if b.pending > 0 {
		t.noCapacity(out, tracedNoCapacity{int32(s.index), b.count, target, reason})
	}
	for b.count > target {
		i := b.victim()
		if !b.drain(i, now) {
			continue
		}
		switch {
		case b.pool.Scaling.Drain != setup.DrainWait:
			s.stop(i, b.pool.Scaling.Drain == setup.DrainRedirect, now, out)
		case b.pool.Scaling.DrainTimeout > 0:
			b.overdue.push(entry{now.Add(b.pool.Scaling.DrainTimeout), int64(i), int32(i)})
		}
	}
}

// wait notes how many instances of the target no node has room for. The end of a shortage is a change too.
func (b *replicas) wait(target int32, now vtime.Time) {
	b.pending = max(0, target-b.count)
	if b.pending > 0 {
		b.short++
	}
	var last Shortage // none: as many as are wanted
	if n := len(b.shortages); n > 0 {
		last = b.shortages[n-1]
	}
	x := Shortage{now, target, min(target, b.count)}
	if b.pending == 0 && last.Wanted > last.There || b.pending > 0 && (x.Wanted != last.Wanted || x.There != last.There) {
		b.shortages = append(b.shortages, x)
	}
	b.published.wait(b.pending)
}

// stop takes instance i away at the next tick, after the deliveries that are on
// their way to it. With giveBack its requests are returned, else aborted.
func (s *pool) stop(i int, giveBack bool, now vtime.Time, out *lookahead.Outbox) {
	if giveBack {
		s.replicas.handingBack++
	}
	at := s.replicas.list[i].at
	at.takenAway = true
	sendStop(out, at.process(), now+1, giveBack)
	s.replicas.coordinator.lose(at, now, out)
}

// minCheckGap is the least time between two checks of a trigger's conditions, unless
// the interval between evaluations is shorter.
const minCheckGap = vtime.Second

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
		g.interval = min(s.Interval, minCheckGap)
	case s.Trigger == policy.EventTrigger:
		g.interval = s.Interval
	}
	return g
}

// noteEvent tells the autoscalers of an event at now that calls for an evaluation.
func (f *fleet) noteEvent(now vtime.Time, out *lookahead.Outbox) {
	for _, s := range f.pools {
		if s.trigger.note(now) {
			sendEvaluate(out, s.autoscaler, now, s.trigger.last)
		}
	}
}
