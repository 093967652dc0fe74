package engine

import (
	"blis/latency"
	"blis/metrics"
	"blis/vtime"
)

// Deliver hands the instance a request at now, which is not before the last
// event that it executed. d is not kept.
func (e *Engine) Deliver(d *Delivery, now vtime.Time) {
	i := e.newSlot()
	e.newest = i
	e.open(i, d, now)
	delay, err := vtime.Truncate(e.model.Queueing(latency.QueueInput{
		Input: int64(d.Input), Running: int64(e.running), Waiting: int64(e.waiting),
		UsedBlocks: int64(e.UsedBlocks()), FreeBlocks: int64(e.cache.Free()),
		CachedTokens: e.Counters.CachedTokens, PromptTokens: e.Counters.LookedUpTokens,
		PreemptionEMA: e.ema,
	}))
	if err != nil || delay < 0 {
		panic("engine: the latency model gives a queueing delay that is NaN or negative")
	}
	m := member{i, d.ID}
	if e.refused(e.slot(i)) != metrics.NoReason {
		e.refusable++
	}
	e.arrivals = push(e.arrivals, timer{int64(now.Add(delay)), d.ID, m})
	if d.Deadline != vtime.Never {
		e.deadlines = push(e.deadlines, timer{int64(d.Deadline), d.ID, m})
	}
}

// Next is the time and class of the earliest event of the instance,
// vtime.Never if there is none.
func (e *Engine) Next() (vtime.Time, uint8) {
	at, class := e.nextStep(), vtime.ClassStep
	if a := e.nextArrival(); a <= at && a != vtime.Never {
		at, class = a, vtime.ClassQueued
	}
	if d := e.nextDeadline(); d < at {
		at, class = d, vtime.ClassTimeout
	}
	return at, class
}

// nextArrival is when the next request is queued that has not timed out on its
// way.
func (e *Engine) nextArrival() vtime.Time {
	for len(e.arrivals) > 0 {
		a := &e.arrivals[0]
		if s := e.slot(a.slot); s.ID == a.id && s.phase == pending {
			return vtime.Time(a.at)
		}
		e.arrivals = pop(e.arrivals)
	}
	return vtime.Never
}

func (e *Engine) nextStep() vtime.Time {
	if e.current != nil {
		return e.current.end
	}
	return e.wake
}

// nextDeadline is the earliest deadline of a request that is still here.
func (e *Engine) nextDeadline() vtime.Time {
	for len(e.deadlines) > 0 {
		d := &e.deadlines[0]
		if s := e.slot(d.slot); s.ID == d.id && !s.overdue {
			return vtime.Time(d.at)
		}
		e.deadlines = pop(e.deadlines)
	}
	return vtime.Never
}

// Advance executes every event before (until, class), in order. A request
// that is delivered afterwards finds the instance as it was just before.
func (e *Engine) Advance(until vtime.Time, class uint8) {
	for {
		at, what := e.Next()
		if at > until || at == until && what >= class || at == vtime.Never {
			return
		}
		e.Act(until, class)
	}
}

// Act executes the event that Next names, which is before (until, class), and
// the steps of a decode run that follow it before then.
func (e *Engine) Act(until vtime.Time, class uint8) {
	at, what := e.Next()
	e.now = at
	switch what {
	case vtime.ClassQueued:
		e.queued(at)
	case vtime.ClassTimeout:
		e.timeout(at)
	case vtime.ClassStep:
		e.step(at)
		e.run(until, class)
	}
}

// queued moves the first pending request into the wait queue, unless a guard
// refuses it.
func (e *Engine) queued(now vtime.Time) {
	i := e.arrivals[0].slot
	e.arrivals = pop(e.arrivals)
	s := e.slot(i)
	if reason := e.refused(s); reason != metrics.NoReason {
		e.refusable--
		e.done(i, metrics.Dropped, reason, now)
		return
	}
	if s.deadline <= now {
		e.done(i, metrics.TimedOut, metrics.NoReason, now)
		return
	}
	e.integrate(now)
	s.Queued = now
	e.refreshContext(now)
	e.indexPriority(i)
	e.enqueue(i, false)
	e.Counters.PeakWaiting = max(e.Counters.PeakWaiting, int64(e.waiting))
	if e.current == nil {
		e.wake = now
	}
}

// refused is why the guards of the queue drop a request; NoReason if they do
// not.
func (e *Engine) refused(s *slot) metrics.Reason {
	switch {
	case s.Input >= e.maxLen:
		return metrics.PromptTooLong
	case s.MaxOutput >= 0 && int64(s.Input)+int64(s.MaxOutput) > int64(e.maxLen):
		return metrics.OutputTooLong
	}
	return metrics.NoReason
}

// timeout acts on the earliest deadline: a request in the wait queue or in a
// batch leaves when the step in flight ends, any other at once.
func (e *Engine) timeout(now vtime.Time) {
	d := e.deadlines[0]
	e.deadlines = pop(e.deadlines)
	s := e.slot(d.slot)
	if s.phase != pending && e.current != nil {
		s.overdue = true
		e.overdue = append(e.overdue, d.member)
		return
	}
	e.integrate(now)
	e.leave(d.slot, now)
}
