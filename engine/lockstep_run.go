package engine

import (
	"blis/latency"
	"blis/vtime"
)

// decodeRun is what one rank does in a decode run of its group. A rank without requests executes
// dummies meanwhile.
type decodeRun struct {
	dummies  bool
	crossing int   // members of the cohort that take a block in the next step
	free     int   // KV blocks
	level    level // of which only the blocks change
	mayMove  bool  // blocks may move to a tier when a step ends
}

// run executes steps of the group in one go while nothing can happen but decoding: what Engine.run
// does for each rank that has requests, as long as all of them can. It stops before (until, class), which
// only pauses it.
func (g *lockStep) run(until vtime.Time, class uint8) {
	if g.renew(); !g.running || g.rests {
		return
	}
	if vtime.ClassStep < class {
		until = until.Add(1)
	}
	if until = g.runsUntil(until); g.end() >= until || !g.beginRuns() {
		return
	}
	gap, steps := vtime.Duration(-1), 0
	for range longestRun {
		end := g.end()
		if end >= until || !g.repeats() {
			break
		}
		g.now = end
		if d := end.Sub(g.lastEnd()); d != gap || g.endsBin(end) {
			g.deliver(gap, steps)
			gap, steps = d, 0
		}
		steps++
		g.repeat(end)
	}
	g.setNow(g.now)
	g.setAgendas(g.end())
	g.deliver(gap, steps)
}

// runsUntil returns the first time at which the end of a step comes after another event, or where
// something that has ended would be noticed.
func (g *lockStep) runsUntil(until vtime.Time) vtime.Time {
	for _, e := range g.ranks {
		until = min(until, e.agenda.at.stepsUntil())
		if c := e.connector; c != nil {
			until = min(until, c.storages.next())
			if e.requests.running() == 0 && e.cfg.Passes.IdleRelease {
				until = min(until, c.next())
			}
		}
	}
	return until
}

// beginRuns begins the run of each rank. It reports whether there can be one: each rank decodes alone,
// or has no request and nothing to notice, and some rank decodes.
func (g *lockStep) beginRuns() bool {
	decodes := false
	for i, e := range g.ranks {
		if len(e.overdue) > 0 {
			return false
		}
		x := &g.runs[i]
		*x = decodeRun{}
		if !e.requests.unfinished() {
			if c := e.connector; !idles(e) || c != nil && (c.endings > 0 || c.storages.fresh != nil) {
				return false
			}
			x.dummies = true
			continue
		}
		if !e.batcher.canRepeat() || !e.passes.quiet() {
			return false
		}
		decodes = true
		x.free, x.level, x.mayMove = e.cfg.Cache.Free(), e.level(), e.threshold != nil
	}
	return decodes
}

// repeats reports whether the executing step can be followed by another like those in flight, on each
// rank.
func (g *lockStep) repeats() bool {
	for i, e := range g.ranks {
		x, f, c := &g.runs[i], &e.inFlight, &e.batcher.cohort
		if x.dummies {
			continue
		}
		if c.ends.next() <= f.formed {
			return false
		}
		if x.crossing = c.crossing(f.formed + 1); x.crossing > x.free {
			return false
		}
		if x.mayMove && x.level.used > int64(e.threshold.most) {
			if !e.threshold.settled() {
				return false
			}
			x.mayMove = false
		}
	}
	return true
}

// lastEnd returns when the step before the executing one ended.
func (g *lockStep) lastEnd() vtime.Time { return g.ranks[0].inFlight.lastEnd }

// repeat ends the executing step of a run at now and begins the next one. The tokens of the group stay
// the same, and so do the lengths of ranks.
func (g *lockStep) repeat(now vtime.Time) {
	for i := range g.endpoints {
		g.endpoints[i].fronts.stepEndsAlike(now)
	}
	start := g.ranks[0].inFlight.last().end
	longest, sum := vtime.Duration(0), vtime.Duration(0)
	for i, e := range g.ranks {
		x := &g.runs[i]
		var d vtime.Duration
		if x.dummies {
			d = repeatDummy(e, now, &g.dummy)
		} else {
			d = repeatInGroup(e, now, x)
		}
		longest = max(longest, d)
		sum += d
	}
	for _, e := range g.ranks {
		b := e.inFlight.last()
		b.start, b.end, b.duration = start, start.Add(longest), longest
	}
	s := g.formed
	s.waits = vtime.Duration(len(g.ranks))*longest - sum
	if g.ranks[0].cfg.Async { // the step that begins was formed before
		s, g.formed = g.formed, s
	} else {
		g.formed = s
	}
	g.number++
	g.book(&s)
}

// repeatInGroup ends the executing step of the rank in a run and forms the next one. It returns how
// long that takes on this rank.
func repeatInGroup(e *Engine, now vtime.Time, x *decodeRun) vtime.Duration {
	e.books.integrate(now, x.level)
	b := e.inFlight.executing()
	e.repeatStep(b, x.crossing)
	x.free -= x.crossing
	x.level.used += int64(x.crossing)
	e.batcher.fruitlessPreemptions = 0
	return e.batcher.pace.duration(&b.sums, now)
}

// repeatDummy ends the executing dummy of the rank and forms the next one.
func repeatDummy(e *Engine, now vtime.Time, q *latency.Batch) vtime.Duration {
	f := &e.inFlight
	e.Counters.BusyMicros += int64(f.executing().duration)
	if e.cfg.KeepStepState { // its last pass has begun transfers
		e.stepState = e.State()
	}
	f.rotate()
	f.formed++
	f.lastEnd = now
	b := f.last()
	b.number, b.formedAt = f.formed, now
	return e.batcher.pace.duration(q, now)
}

// endsBin is books.endsBin of some rank.
func (g *lockStep) endsBin(now vtime.Time) bool {
	for _, e := range g.ranks {
		if e.books.endsBin(now) {
			return true
		}
	}
	return false
}

// deliver tells the sinks of the ranks of steps of equal length in which each member of a cohort got a
// token.
func (g *lockStep) deliver(gap vtime.Duration, steps int) {
	for i, e := range g.ranks {
		if !g.runs[i].dummies {
			e.batcher.cohort.deliver(e.cfg.Sink, gap, steps)
		}
	}
}
