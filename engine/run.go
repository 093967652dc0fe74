package engine

import (
	"blis/vtime"
)

// longestRun is how many steps are executed in one go, milliseconds of them, so
// that a caller who wants to stop gets to say so. It changes no result: what
// ends here only pauses.
const longestRun = 1 << 16

// run executes steps in one go while nothing can happen but decoding: every
// request in the executing batch (and in the next one) is a member of the
// cohort and none of them ends, nobody can be admitted, no event of another
// kind comes first, and blocks suffice. It stops before (until, class), which
// only pauses it.
func (e *Engine) run(until vtime.Time, class uint8) {
	if !e.runnable() {
		return
	}
	size := int64(e.cfg.BlockSize)
	stop := e.agenda.at.stepsUntil()
	f := &e.inFlight
	c := &e.cohort
	gap, steps := vtime.Duration(-1), 0
	for range longestRun {
		end := f.executing().end
		if end > until || end == until && vtime.ClassStep >= class || end >= stop {
			break
		}
		if c.ends.next() <= f.formed {
			break
		}
		crossing := int(c.cross[(f.formed+1)%size])
		if crossing > e.cache.Free() {
			break
		}
		e.now = end
		e.integrate(end)
		if d := end.Sub(f.lastEnd); d != gap {
			e.flushITL(gap, steps)
			gap, steps = d, 0
		}
		steps++
		e.repeatStep(crossing)
	}
	e.agenda.at[eventStep] = f.executing().end
	e.flushITL(gap, steps)
}

// runnable reports whether the next step can be part of a decode run.
func (e *Engine) runnable() bool {
	c := &e.cohort
	f := &e.inFlight
	if e.formation != nil || !f.full() || c.n == 0 || len(e.individuals) > 0 || len(e.overdue) > 0 {
		return false
	}
	for k := range f.n {
		if b := f.at(k); len(b.items) > 0 || b.members != c.n {
			return false
		}
	}
	if e.requests.waiting() == 0 {
		return true
	}
	// Without completions blocks only get scarcer. The need of the head could
	// still shrink when blocks that it hits are evicted from the free list.
	return e.blocked != free && (e.blocked != noBlocks || !e.headHitsFree())
}

func (e *Engine) headHitsFree() bool {
	s := e.slot(e.head())
	return e.cache.Lookup(&s.seq, s.known()).OnFree > 0
}

// repeatStep ends the executing step of a decode run, begins the next one and
// forms another like those in flight, in which crossing members take a block.
func (e *Engine) repeatStep(crossing int) {
	c, f, n := &e.cohort, &e.inFlight, &e.Counters
	b, last := f.executing(), f.at(f.n-1)
	now := b.end
	n.BusyMicros += int64(b.duration)
	n.Steps++
	n.DecodeTokens += int64(c.n)
	n.ScheduledTokens += int64(c.n)
	f.lastEnd = now
	f.formed++
	if e.cfg.KeepStepState {
		e.stepState = e.State()
	}
	if crossing > 0 {
		e.cache.Take(crossing)
		c.blocks += int64(crossing)
		n.PeakBlocks = max(n.PeakBlocks, int64(e.UsedBlocks()))
	}
	if e.requests.waiting() > 0 && e.blocked == noBlocks {
		n.AllocationFailures++
	}
	if e.blocked.headBlocked() {
		e.diagnosis.headBlocked(e.head(), now)
	}
	// Only members are in it: the rest of the sums is zero or constant. The ended
	// batch becomes the new one, and the last in the ring.
	b.sums = last.sums
	q := &b.sums
	q.DecodeContext = c.context + int64(c.n)*(f.formed+1)
	q.DecodeBlocks = c.blocks
	e.ema = advanceEMA(e.ema, e.gamma, 0, e.requests.running())
	q.PreemptionEMA = e.ema
	q.Preempted = 0
	b.number, b.formedAt, b.start, b.duration = f.formed, now, last.end, e.duration(q)
	b.end = b.start.Add(b.duration)
	f.rotate()
}

// flushITL reports steps of equal length in one go.
func (e *Engine) flushITL(gap vtime.Duration, steps int) {
	if steps == 0 {
		return
	}
	for g, n := range e.cohort.groups {
		if n > 0 {
			e.sink.ITL(g, gap, int(n)*steps)
		}
	}
	e.fruitlessPreemptions = 0
}
