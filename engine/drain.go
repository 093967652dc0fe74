package engine

import (
	"slices"

	"blis/metrics"
	"blis/vtime"
)

// Progress is how far a request got on an instance that was taken away. It is
// delivered to another with it, where its prompt and what it generated so far
// are prefilled again, as after a preemption.
type Progress struct {
	metrics.Progress
	Evicted       vtime.Time // since when nothing was won; Never if nothing was lost
	Lost, Deficit int32      // computed tokens when it was taken away, and the most ever
}

// Abort ends every request of an instance whose server is taken away at now.
func (e *Engine) Abort(now vtime.Time) {
	e.drain(now, func(i int32) { e.done(i, metrics.Aborted, metrics.NoReason, now) })
}

// HandBack is Abort for requests that go on elsewhere: f gets each of them, valid
// during the call. Those whose time is over time out.
func (e *Engine) HandBack(now vtime.Time, f func(*Delivery, *Progress)) {
	var d Delivery
	e.drain(now, func(i int32) {
		s := e.slot(i)
		if s.deadline <= now { // it was to leave with the end of the step
			e.done(i, metrics.TimedOut, metrics.NoReason, now)
			return
		}
		p := e.taken(i, now)
		d = Delivery{Priority: s.Priority, Admitted: s.admitted, Expected: s.expected}
		d.Identity, d.Output = s.Identity, s.output
		d.MaxOutput, d.Deadline = s.MaxOutput, s.deadline
		d.Spans, d.OutputContent = s.seq.Content()
		f(&d, &p)
		e.vacate(i)
	})
}

// migration is what only requests have that came from another instance.
type migration struct {
	queued    vtime.Time // the first time; Never: not yet
	redirects int32
}

// migrationOf is that of slot i.
func (e *Engine) migrationOf(i int32) migration {
	if e.slot(i).migrated {
		return e.migrated[i]
	}
	return migration{queued: vtime.Never}
}

// progress is how far s got so far; resume is the inverse.
func (s *slot) progress(before migration) metrics.Progress {
	return metrics.Progress{
		Routed: s.routed, Queued: min(s.Queued, before.queued), Scheduled: s.scheduled, FirstToken: s.firstToken, LastToken: s.lastToken,
		PrefillLost: s.prefillLost, DecodeLost: s.decodeLost,
		Cached: s.cached, Generated: s.generated, Preemptions: s.preemptions, Recomputed: s.recomputed, Redirects: before.redirects,
	}
}

// resume makes s a slot that got so far elsewhere.
func (s *slot) resume(p *metrics.Progress) migration {
	s.migrated = true
	s.routed, s.scheduled, s.firstToken, s.lastToken = p.Routed, p.Scheduled, p.FirstToken, p.LastToken
	s.prefillLost, s.decodeLost = p.PrefillLost, p.DecodeLost
	s.cached, s.generated, s.preemptions, s.recomputed = p.Cached, p.Generated, p.Preemptions, p.Recomputed
	return migration{p.Queued, p.Redirects}
}

// taken is how far slot i got, which is taken away at now.
func (e *Engine) taken(i int32, now vtime.Time) Progress {
	s := e.slot(i)
	p := Progress{Progress: s.progress(e.migrationOf(i)), Evicted: s.evicted, Lost: s.lost, Deficit: min(max(s.deficit, s.computed), s.known())}
	p.Redirects++
	if s.scheduled != vtime.Never {
		p.Evicted = min(p.Evicted, now)
	}
	return p
}

// Resume is Deliver for a request that was taken away from another instance.
func (e *Engine) Resume(d *Delivery, p *Progress, now vtime.Time) {
	e.Deliver(d, now)
	i := e.newest
	s := e.slot(i)
	if e.migrated == nil {
		e.migrated = map[int32]migration{}
	}
	e.migrated[i] = s.resume(&p.Progress)
	s.evicted, s.lost, s.deficit = p.Evicted, p.Lost, p.Deficit
	s.Preempted = p.Scheduled != vtime.Never
}

// drain stops the step in flight, which yields nothing, and lets go of the
// requests: in the order of the running list, of the wait queue, and of their
// being queued.
func (e *Engine) drain(now vtime.Time, end func(slot int32)) {
	e.now = now
	e.integrate(now)
	e.disband()
	if b := e.inFlight.executing(); b != nil {
		e.Counters.BusyMicros += int64(now.Sub(b.start))
	}
	e.inFlight.n, e.overdue = 0, e.overdue[:0]
	e.agenda.at[eventStep] = vtime.Never
	for _, i := range slices.Clone(e.individuals) {
		s := e.slot(i)
		s.lost = min(s.computed, s.known()) // a token in flight is not delivered
		e.remove(i)
		end(i)
	}
	for i := e.head(); i >= 0; i = e.head() {
		e.dequeue(i, leaving)
		end(i)
	}
	for e.agenda.at[eventQueued] != vtime.Never {
		i := e.agenda.arrivals[0].slot
		e.remove(i)
		end(i)
	}
}
