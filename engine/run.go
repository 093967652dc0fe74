package engine

import "blis/vtime"

// longestRun is the most steps that are executed in one go, which take
// milliseconds: a caller can stop in between. It changes no result, since a run
// that ends here only pauses.
const longestRun = 1 << 16

// run executes steps in one go while nothing can happen but decoding: every
// request in the batches in flight is a member of the cohort and none of them
// ends, no request can be admitted, no event of another kind comes first, and
// blocks suffice. What members fill is stored in the CPU tier meanwhile. It stops before (until, class), which only pauses it.
func (e *Engine) run(until vtime.Time, class uint8) {
	if len(e.overdue) > 0 || !e.batcher.canRepeat() || !e.passes.quiet() {
		return
	}
	if vtime.ClassStep < class {
		until = until.Add(1)
	}
	until = min(until, e.agenda.at.stepsUntil())
	if e.connector != nil { // the formation at an answer's end notices it
		until = min(until, e.connector.storages.next())
	}
	f, c := &e.inFlight, &e.batcher.cohort
	if f.executing().end >= until || c.ends.next() <= f.formed {
		return // most calls, so that they stay short
	}
	gap, steps := vtime.Duration(-1), 0
	free, level := e.cfg.Cache.Free(), e.level() // of which only the blocks change in a run
	mayMove := e.threshold != nil
	for range longestRun {
		end := f.executing().end
		if end >= until || c.ends.next() <= f.formed {
			break
		}
		crossing := c.crossing(f.formed + 1)
		if crossing > free {
			break
		}
		if mayMove && level.used > int64(e.threshold.most) {
			if !e.threshold.settled() {
				break // the end of this step moves blocks
			}
			mayMove = false // nor do those after it
		}
		e.now = end
		if d := end.Sub(f.lastEnd); d != gap || e.books.endsBin(end) {
			c.deliver(e.cfg.Sink, gap, steps)
			gap, steps = d, 0
		}
		e.books.integrate(end, level)
		steps++
		e.repeatStep(f.executing(), crossing)
		free -= crossing
		level.used += int64(crossing)
	}
	e.agenda.at[eventStep] = f.executing().end
	if c.deliver(e.cfg.Sink, gap, steps); steps > 0 {
		e.batcher.fruitlessPreemptions = 0
	}
}

// repeatStep ends the executing step of a decode run, which is b, begins the next one
// and forms another like it, in which crossing members take a block.
func (e *Engine) repeatStep(b *batch, crossing int) {
	c := &e.Counters
	n := int64(e.batcher.cohort.n())
	c.BusyMicros += int64(b.duration)
	c.Steps++
	c.DecodeTokens += n
	c.ScheduledTokens += n
	e.books.begins(n)
	if e.cfg.KeepStepState {
		e.stepState = e.State()
	}
	e.batcher.repeat(b, crossing)
}
