package engine

import (
	"cmp"
	"slices"

	"blis/metrics"
	"blis/vtime"
)

// step is the event at which an instance's step ends and the next begins: what
// ends now is finished, then batches are formed until one executes and, with
// async scheduling, another is ready.
func (e *Engine) step(now vtime.Time) {
	e.integrate(now)
	e.agenda.at[eventStep] = vtime.Never
	f, r := &e.inFlight, &e.requests
	if f.n > 0 {
		e.finish(now)
		if e.threshold != nil {
			e.threshold.stepEnds(now)
		}
		e.publish(now)
	}
	if f.n > 0 {
		e.begin()
	}
	for r.unfinished() && !f.full() {
		b := e.batcher.form(now)
		switch {
		case !b.empty() && f.n == 1:
			e.begin()
		case b.empty() && f.n > 0:
			return // formed again when the step in flight ends
		case b.empty() && b.preempted == 0:
			stuck(e, now, "")
		}
	}
}

// begin lets the first batch in flight execute.
func (e *Engine) begin() {
	b, c := e.inFlight.executing(), &e.Counters
	e.agenda.at[eventStep] = b.end
	c.Steps++
	c.ScheduledTokens += b.sums.Scheduled()
	c.PrefillTokens += b.sums.PrefillTokens
	c.DecodeTokens += b.sums.DecodeTokens
	e.books.begins(b.sums.Scheduled())
}

// finish ends the executing batch: time-outs first, in the order of the running
// list, then tokens and completions in the order of the batch.
func (e *Engine) finish(now vtime.Time) {
	f := &e.batcher
	b := e.inFlight.executing()
	e.Counters.BusyMicros += int64(b.duration)
	if k := e.requests.backlog; k != nil {
		k.add(b)
	}
	e.expire(now)
	f.cohort.removeEnding(b.number, true)
	for g, n := range b.yield {
		if n > 0 {
			e.cfg.Sink.ITL(g, now.Sub(e.inFlight.lastEnd), int(n))
			f.fruitlessPreemptions = 0
		}
	}
	for _, it := range b.items {
		s := e.requests.at(it.slot)
		if s.ID != it.id {
			continue
		}
		if s.evicted != vtime.Never && s.computed >= s.deficit {
			s.bookRecovery(now)
		}
		for range it.emits {
			e.deliverToken(it.slot, now)
		}
	}
	e.inFlight.pop(now)
}

// publish does what a server does at the end of a step: it renews its metrics and
// sends its KV events.
func (e *Engine) publish(now vtime.Time) {
	if e.cfg.KeepStepState {
		e.stepState = e.State()
	}
	if len(e.changes) > 0 {
		e.cfg.BlockEvents(now, e.changes)
		e.changes = e.changes[:0]
	}
}

// expire lets go of the requests whose deadline passed during the step, those
// that run before those that wait.
func (e *Engine) expire(now vtime.Time) {
	if len(e.overdue) == 0 {
		return
	}
	slices.SortFunc(e.overdue, func(x, y member) int {
		a, b := e.requests.at(x.slot), e.requests.at(y.slot)
		switch {
		case a.phase.runs() && b.phase.runs():
			return cmp.Compare(a.order, b.order)
		case a.phase == b.phase:
			return cmp.Compare(x.id, y.id)
		case a.phase.runs():
			return -1
		default:
			return 1
		}
	})
	for _, m := range e.overdue {
		if e.requests.holds(m) {
			e.timeOut(m.slot, now)
		}
	}
	e.overdue = e.overdue[:0]
}

// timeOut ends the request in slot i, whose time is up. Its blocks are released, and
// its token in flight is not delivered.
func (e *Engine) timeOut(i int32, now vtime.Time) {
	e.batcher.remove(i)
	e.done(i, upAs(e.requests.at(i)), metrics.NoReason, now)
}

// deliverToken delivers one token to slot i, or the end of its prefill when its
// client wants no token, and completes it after its last one.
func (e *Engine) deliverToken(i int32, now vtime.Time) {
	s := e.requests.at(i)
	s.inFlight--
	e.batcher.fruitlessPreemptions = 0
	if s.output > 0 {
		s.generated++
		if s.phase == waiting && e.requests.backlog != nil {
			e.requests.backlog.waiting++ // it is to be prefilled as well
		}
		if s.firstToken == vtime.Never {
			s.firstToken = now
		} else if s.group >= 0 {
			e.cfg.Sink.ITL(int(s.group), now.Sub(s.lastToken), 1)
		}
		s.lastToken = now
	}
	if s.phase == waiting { // preempted with this token in flight
		s.evicted = now
	}
	if e.cfg.Async && (s.phase == running || s.phase == completing) {
		e.cfg.Cache.Key(&s.seq, s.computed-s.inFlight)
	}
	if s.generated < s.target {
		return
	}
	reason := metrics.NoReason
	if s.generated < s.output {
		reason = metrics.LengthCapped
		e.Counters.LengthCapped++
	}
	handsOver := e.connector != nil && e.connector.disaggregation.completes(i, now)
	e.batcher.remove(i)
	if e.diagnosis.completed(s, now); handsOver {
		e.connector.disaggregation.handOver(i, now)
		return
	}
	e.done(i, metrics.Completed, reason, now)
}

// done ends the life of slot i in the given state and tells the sink.
func (e *Engine) done(i int32, state metrics.State, reason metrics.Reason, now vtime.Time) {
	e.report(i, state, reason, now)
	e.cfg.Sink.Done(&e.outcome, now)
	e.vacate(i)
}

// vacate frees slot i for another request.
func (e *Engine) vacate(i int32) {
	if c := e.connector; c != nil && c.holds(i) {
		c.hold(i)
	} else {
		e.requests.to(i, vacant)
	}
	e.agenda.vacated(i)
}
