package engine

import "blis/vtime"

// What an instance can say of its future, if nothing more is delivered to it.
// A time that is too early costs parallelism. One that is too late would be
// wrong: a process that relies on it would miss an event. How early a time is
// depends on the minimum step duration of the latency model.

// FirstEnd returns a time before which no request of the instance can end, vtime.Never
// if it holds none.
func (e *Engine) FirstEnd() vtime.Time {
	at := vtime.Never
	for k, t := range e.agenda.at {
		at = min(at, t.Add(e.untilEnd(event(k))))
	}
	return at
}

// untilEnd returns the least time from the next event of a kind to an end of a request
// that it may lead to.
func (e *Engine) untilEnd(kind event) vtime.Duration {
	f := &e.batcher
	switch {
	case kind == eventTimeout || kind == eventQueued && e.requests.refusable > 0:
		return 0
	case e.connector != nil && (len(e.overdue) > 0 || e.connector.disaggregation.fails()): // a pass without a batch may end next
		return 0
	case kind == eventQueued || e.inFlight.n == 0:
		return f.pace.minStep
	case e.inFlight.executing().mayEnd || len(e.overdue) > 0:
		return 0
	case e.requests.waiting() > 0 || len(f.individuals.list) > 0 || f.cohort.n() == 0:
		return f.pace.minSteps(f.cohort.stepsUntilEnd(1))
	default:
		return f.pace.minSteps(f.cohort.stepsUntilEnd(1 << 20))
	}
}

// FirstChange returns a key (time and class) before which neither the wait queue nor
// the running list changes its length, vtime.Never if nothing can change it.
func (e *Engine) FirstChange() (at vtime.Time, class uint8) {
	if e.released != nil { // it may be told of pulls that end
		return vtime.Never, 0
	}
	next, f := e.agenda.at, &e.batcher
	if len(e.overdue) == 0 && f.onlyDecodes() {
		rounds := int64(f.cache.Free())/int64(f.cohort.n()) - 1 // in which each member takes a block
		steps := f.cohort.stepsUntilEnd(min(1<<20, rounds*int64(e.cfg.BlockSize)))
		next[eventStep] = next[eventStep].Add(f.pace.minSteps(steps))
	}
	at, kind := next.next()
	return at, classOf[kind]
}

// onlyDecodes reports whether the executing step can end without a request
// joining or leaving the running list or the wait queue, but for time-outs: there
// are only members of the cohort, none of which ends, with blocks for all.
func (f *batcher) onlyDecodes() bool {
	if f.inFlight == nil {
		return false // the instance is released, and a message came too late
	}
	b := f.inFlight.executing()
	lazy := f.connector != nil && f.connector.lazy != nil // it may pin any free block
	if b == nil || b.mayEnd || lazy || f.requests.waiting() > 0 || len(f.individuals.list) > 0 {
		return false
	}
	n := f.cohort.n()
	return n > 0 && f.cache.Free() >= 2*int(n)
}

// FirstStepState returns a time before which StepState stays as it is, vtime.Never if
// nothing can change it. With lengths only its Waiting and Running stay.
func (e *Engine) FirstStepState(lengths bool) vtime.Time {
	end := e.agenda.at[eventStep]
	if e.connector != nil && e.inFlight.n == 0 {
		at, _ := e.agenda.at.next() // a pass that schedules nothing ends at once
		return at
	}
	if e.inFlight.n == 0 {
		end = min(end, e.agenda.at[eventQueued]).Add(e.batcher.pace.minStep)
	}
	if lengths && e.stepState.Waiting == int64(e.requests.waiting()) && e.stepState.Running == int64(e.requests.running()) {
		change, _ := e.FirstChange()
		end = max(end, change)
	}
	return end
}
