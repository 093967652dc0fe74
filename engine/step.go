package engine

import (
	"cmp"
	"fmt"
	"slices"

	"blis/metrics"
	"blis/vtime"
)

// step is the event at which an instance's step ends and the next begins: what
// ends now is finished, then batches are formed until one executes (and, with
// async scheduling, one more is ready).
func (e *Engine) step(now vtime.Time) {
	e.integrate(now)
	e.agenda.at[eventStep] = vtime.Never
	f := &e.inFlight
	if f.n > 0 {
		e.finish(now)
		if e.cfg.KeepStepState {
			e.stepState = e.State()
		}
		if len(e.changes) > 0 {
			e.cfg.BlockEvents(now, e.changes)
			e.changes = e.changes[:0]
		}
	}
	if f.n > 0 {
		e.begin()
	}
	for e.requests.running()+e.requests.waiting() > 0 && !f.full() {
		b := e.form(now)
		switch {
		case !b.empty() && f.n == 1:
			e.begin()
		case b.empty() && f.n > 0:
			return // formed again when the step in flight ends
		case b.empty() && b.preempted == 0:
			panic(fmt.Sprintf("engine: instance %d at %v: %d running and %d waiting requests, nothing can be scheduled", e.index, now, e.requests.running(), e.requests.waiting()))
		}
	}
}

// begin lets the first batch in flight execute.
func (e *Engine) begin() {
	b := e.inFlight.executing()
	e.agenda.at[eventStep] = b.end
	e.Counters.Steps++
	e.Counters.ScheduledTokens += b.sums.Scheduled()
	e.Counters.PrefillTokens += b.sums.PrefillTokens
	e.Counters.DecodeTokens += b.sums.DecodeTokens
}

// finish ends the executing batch: time-outs first, in the order of the
// running list, then tokens and completions in the order of the batch.
func (e *Engine) finish(now vtime.Time) {
	b := e.inFlight.executing()
	e.Counters.BusyMicros += int64(b.duration)
	if k := e.requests.backlog; k != nil {
		k.add(b)
	}
	e.expire(now)
	e.removeEnding(b.number, true)
	for g, n := range b.yield {
		if n > 0 {
			e.sink.ITL(g, now.Sub(e.inFlight.lastEnd), int(n))
			e.fruitlessPreemptions = 0
		}
	}
	for _, it := range b.items {
		s := e.slot(it.slot)
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
	e.inFlight.pop()
}

// bookRecovery books the time that preemption cost: from the first eviction to the
// end of the step that made up for it.
func (s *slot) bookRecovery(now vtime.Time) {
	if s.firstToken == vtime.Never {
		s.prefillLost += now.Sub(s.evicted)
	} else {
		s.decodeLost += now.Sub(s.evicted)
	}
	s.evicted, s.deficit = vtime.Never, 0
}

// expire lets go of the requests whose deadline passed during the step, those
// that run before those that wait.
func (e *Engine) expire(now vtime.Time) {
	if len(e.overdue) == 0 {
		return
	}
	slices.SortFunc(e.overdue, func(x, y member) int {
		a, b := e.slot(x.slot), e.slot(y.slot)
		switch {
		case a.phase.seated() && b.phase.seated():
			return cmp.Compare(a.order, b.order)
		case a.phase == b.phase:
			return cmp.Compare(x.id, y.id)
		case a.phase.seated():
			return -1
		default:
			return 1
		}
	})
	for _, m := range e.overdue {
		if e.slot(m.slot).ID == m.id {
			e.leave(m.slot, now)
		}
	}
	e.overdue = e.overdue[:0]
}

// leave times slot i out: blocks and seat are free, its token in flight is
// not delivered.
func (e *Engine) leave(i int32, now vtime.Time) {
	e.remove(i)
	e.done(i, metrics.TimedOut, metrics.NoReason, now)
}

// remove takes the request in slot i out of the list that it is in and releases
// its blocks.
func (e *Engine) remove(i int32) {
	s := e.slot(i)
	switch s.phase {
	case running:
		e.removeIndividual(i)
	case decoding:
		e.cohort.ends.remove(e, i, s.last())
		e.materialize(i)
		e.adjustYield(s, -1)
	}
	if s.phase.seated() {
		e.cache.Release(&s.seq)
	}
	e.requests.to(i, leaving) // an entry in the wait queue is stale now
}

// deliverToken delivers one token to slot i, or the end of its prefill when it
// wants no token, and completes it after its last one.
func (e *Engine) deliverToken(i int32, now vtime.Time) {
	s := e.slot(i)
	s.inFlight--
	e.fruitlessPreemptions = 0
	if s.output > 0 {
		s.generated++
		if s.phase == waiting && e.requests.backlog != nil {
			e.requests.backlog.waiting++ // it is to be prefilled as well
		}
		if s.firstToken == vtime.Never {
			s.firstToken = now
		} else if s.group >= 0 {
			e.sink.ITL(int(s.group), now.Sub(s.lastToken), 1)
		}
		s.lastToken = now
	}
	if s.phase == waiting { // preempted with this token in flight
		s.evicted = now
	}
	if e.cfg.Async && (s.phase == running || s.phase == completing) {
		e.cache.Key(&s.seq, s.computed-s.inFlight)
	}
	if s.generated < s.target {
		return
	}
	reason := metrics.NoReason
	if s.generated < s.output {
		reason = metrics.LengthCapped
		e.Counters.LengthCapped++
	}
	e.remove(i)
	e.diagnosis.completed(s, now)
	e.done(i, metrics.Completed, reason, now)
}
