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
	Evicted       vtime.Time // first preemption or drain not made up for; Never: none
	Lost, Deficit int32      // computed tokens when it was taken away, and at which that is made up for
}

// Abort ends every request of an instance whose server is taken away at now.
func (e *Engine) Abort(now vtime.Time) {
	e.drain(now, func(i int32) { e.done(i, metrics.Aborted, metrics.NoReason, now) })
}

// HandBack empties the instance as Abort does, for requests that go on elsewhere: f
// gets each of them, valid during the call. Requests whose deadline passed time out.
func (e *Engine) HandBack(now vtime.Time, f func(*Delivery, *Progress)) {
	e.drain(now, func(i int32) {
		s := e.requests.at(i)
		if isUp(s, now) { // it was to leave with the end of the step
			e.done(i, upAs(s), metrics.NoReason, now)
			return
		}
		d, p := lastSeen(e, i, now)
		f(&d, &p)
		e.vacate(i)
	})
}

// lastSeen returns the request in slot i, which leaves the instance at now and may go on elsewhere, and how far it got.
func lastSeen(e *Engine, i int32, now vtime.Time) (Delivery, Progress) {
	d := e.requests.at(i).delivery()
	if d.HandOver = handOverOf(e, i, now); e.connector != nil {
		e.connector.disaggregation.restore(i, &d)
	}
	return d, e.requests.taken(i, now)
}

// taken returns how far slot i got, which is taken away at now.
func (r *requests) taken(i int32, now vtime.Time) Progress {
	s := r.at(i)
	p := Progress{Progress: s.progress(r.migration(i)), Evicted: s.evicted, Lost: s.lost, Deficit: min(max(s.deficit, s.computed), s.known())}
	p.Redirects++
	if s.scheduled != vtime.Never {
		p.Evicted = min(p.Evicted, now)
	}
	return p
}

// drain stops the step in flight, which yields nothing, and lets go of the
// requests: in the order of the running list, of the wait queue, and of their
// being queued.
func (e *Engine) drain(now vtime.Time, end func(slot int32)) {
	f := &e.batcher
	e.now = now
	e.integrate(now)
	f.cohort.disband()
	if b := e.inFlight.executing(); b != nil {
		e.Counters.BusyMicros += int64(max(0, now.Sub(b.start)))
	}
	e.inFlight.n, e.overdue = 0, e.overdue[:0]
	e.agenda.at[eventStep] = vtime.Never
	for _, i := range slices.Clone(f.individuals.list) {
		s := e.requests.at(i)
		s.lost = min(s.computed, s.known()) // a token in flight is not delivered
		f.remove(i)
		end(i)
	}
	if e.connector != nil {
		for _, m := range e.connector.passed {
			if e.requests.is(m, waiting) {
				f.remove(m.slot)
				end(m.slot)
			}
		}
	}
	for i := f.queue.head(); i >= 0; i = f.queue.head() {
		f.remove(i)
		end(i)
	}
	for e.agenda.at[eventQueued] != vtime.Never {
		i := e.agenda.arrivals[0].slot
		f.remove(i)
		end(i)
	}
	if e.connector != nil {
		e.connector.drop(now)
		e.passes.n, e.passes.until = 0, somethingNew
	}
}

// remains is what an instance still answers once it is released.
type remains struct {
	verdict error  // of Check
	folded  uint64 // Fold
}

// Release gives the memory of an instance back, and reports whether it did: not while answers of
// storage tiers are on their way, which it forgets. The instance holds no request, has no event
// before it and will get no more requests. It is gone since then. Counters, Now, Fold and Check stay
// as they were.
func (e *Engine) Release(gone vtime.Time) bool {
	if e.connector != nil {
		e.connector.settle(&e.books, gone)
		e.connector.drop(gone)
		e.agenda.at[eventStep] = vtime.Never
		e.Tier.Evicted = evicted(e)
		if e.connector.storages.awaited() {
			return false
		}
	}
	if e.threshold != nil {
		e.threshold.integrate(gone)
	}
	if at, _ := e.Next(); at != vtime.Never || e.Running() > 0 || e.Waiting() > 0 {
		panic("engine: an instance is released that has something to do")
	}
	r := &remains{e.Check(), e.Fold()}
	*e = Engine{index: e.index, now: e.now, agenda: agenda{at: e.agenda.at}, books: e.books, stepState: e.stepState, released: r, Counters: e.Counters, Tier: e.Tier, Blocks: e.Blocks, Disaggregated: e.Disaggregated}
	e.Storage, e.Pulls = StoragePort{e}, PullPort{e}
	return true
}
