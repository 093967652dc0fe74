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
	last := e.current // the batch that a further formation follows
	if e.cfg.Async {
		last = e.next
	}
	size := int64(e.cfg.BlockSize)
	stop := e.agenda.at.stepsUntil()
	c := &e.cohort
	gap, steps := vtime.Duration(-1), 0
	for range longestRun {
		end := e.current.end
		if end > until || end == until && vtime.ClassStep >= class || end >= stop {
			break
		}
		if c.ends.next() <= e.formed {
			break
		}
		crossing := int(c.cross[(e.formed+1)%size])
		if crossing > e.cache.Free() {
			break
		}
		e.now = end
		e.integrate(end)
		if d := end.Sub(e.lastEnd); d != gap {
			e.flushITL(gap, steps)
			gap, steps = d, 0
		}
		steps++
		e.repeatStep(last, crossing)
	}
	e.agenda.at[eventStep] = e.current.end
	e.flushITL(gap, steps)
}

// runnable reports whether the next step can be part of a decode run.
func (e *Engine) runnable() bool {
	c := &e.cohort
	b := e.current
	if e.cfg.Ledger != nil || b == nil || c.n == 0 || len(e.individuals) > 0 || len(b.items) > 0 || b.members != c.n || len(e.overdue) > 0 {
		return false
	}
	if e.cfg.Async && (e.next == nil || len(e.next.items) > 0 || e.next.members != c.n) {
		return false
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
// forms another like it, taking crossing blocks. last is the batch formed
// last; its memory is used again.
func (e *Engine) repeatStep(last *batch, crossing int) {
	c := &e.cohort
	ended := e.current
	now := ended.end
	n := &e.Counters
	n.BusyMicros += int64(ended.duration)
	n.Steps++
	n.DecodeTokens += int64(c.n)
	n.ScheduledTokens += int64(c.n)
	e.ended, e.lastEnd = ended.number, now
	e.formed++
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
	// Only members are in it: the rest of the sums is zero or constant. The
	// ended batch's memory takes the new formation.
	ended.sums = last.sums
	q := &ended.sums
	q.DecodeContext = c.context + int64(c.n)*(e.formed+1)
	q.DecodeBlocks = c.blocks
	e.ema = advanceEMA(e.ema, e.gamma, 0, e.requests.running())
	q.PreemptionEMA = e.ema
	q.Preempted = 0
	ended.number, ended.formedAt, ended.duration = e.formed, now, e.duration(q)
	// With one batch in flight it succeeds itself; with two, the next begins.
	if e.next != nil {
		e.current, e.next = e.next, ended
	}
	e.current.start, e.current.end = now, now.Add(e.current.duration)
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
