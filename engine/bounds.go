package engine

import (
	"blis/latency"
	"blis/vtime"
)

// What an instance can say of its future, if nothing more is delivered to it.
// Too early costs parallelism, too late would be wrong: whoever relies on it
// would miss an event. How early depends on the floor of the latency model.

// minStep is the minimum step duration of m, at least 1 µs.
func minStep(m latency.Model) vtime.Duration {
	f, ok := m.(latency.Floor)
	if !ok {
		return 1
	}
	step, err := vtime.Truncate(f.MinStep())
	if err != nil {
		return 1
	}
	return max(1, min(step, longestFloor))
}

// longestFloor keeps products of a floor and a number of steps within int64.
const longestFloor = 1 << 30

// MinQueueing is the least time between delivery and queued for a prompt of so
// many tokens.
func MinQueueing(m latency.Model, input int32) vtime.Duration {
	f, ok := m.(latency.Floor)
	if !ok {
		return 0
	}
	queueing, err := vtime.Truncate(f.MinQueueing(int64(input)))
	if err != nil {
		return 0
	}
	return max(0, queueing)
}

// FirstEnd is a time before which no request of the instance can end, vtime.Never
// if it holds none.
func (e *Engine) FirstEnd() vtime.Time {
	at := vtime.Never
	for k, t := range e.agenda.at {
		at = min(at, t.Add(e.untilEnd(event(k))))
	}
	return at
}

// untilEnd is the least time from the next event of a kind to an end of a request
// that it may lead to.
func (e *Engine) untilEnd(kind event) vtime.Duration {
	switch {
	case kind == eventTimeout || kind == eventQueued && e.requests.refusable > 0:
		return 0
	case kind == eventQueued || e.inFlight.n == 0:
		return e.minStep
	case e.inFlight.executing().mayEnd || len(e.overdue) > 0:
		return 0
	case e.requests.waiting() > 0 || len(e.individuals) > 0 || e.cohort.n == 0:
		return e.leastTime(e.cohortSteps(1))
	default:
		return e.leastTime(e.cohortSteps(1 << 20))
	}
}

// FirstChange is a time before which neither the wait queue nor the running
// list changes its length, vtime.Never if nothing can change it. With class it
// is a Key: the change does not come before it.
func (e *Engine) FirstChange() (at vtime.Time, class uint8) {
	next := e.agenda.at
	if e.steadyDecode() {
		rounds := int64(e.cache.Free())/int64(e.cohort.n) - 1 // in which each member takes a block
		next[eventStep] = next[eventStep].Add(e.leastTime(e.cohortSteps(min(1<<20, rounds*int64(e.cfg.BlockSize)))))
	}
	at, kind := next.next()
	return at, classOf[kind]
}

// FirstStepState is a time before which StepState stays as it is, or with lengths
// only its counts of requests, vtime.Never if nothing can change it.
func (e *Engine) FirstStepState(lengths bool) vtime.Time {
	end := e.agenda.at[eventStep]
	if e.inFlight.n == 0 {
		end = min(end, e.agenda.at[eventQueued]).Add(e.minStep)
	}
	if lengths && e.stepState.Waiting == e.requests.waiting() && e.stepState.Running == e.requests.running() {
		change, _ := e.FirstChange()
		end = max(end, change)
	}
	return end
}

// steadyDecode reports whether the executing step can end without a request joining
// or leaving the running list or the wait queue: nothing but members of the
// cohort, none of which ends, with blocks for all.
func (e *Engine) steadyDecode() bool {
	b := e.inFlight.executing()
	return b != nil && !b.mayEnd && e.cohort.n > 0 && e.requests.waiting() == 0 && len(e.individuals) == 0 && len(e.overdue) == 0 &&
		e.cache.Free() >= 2*int(e.cohort.n)
}

// cohortSteps is how many steps after the executing one pass, at most limit,
// before the first member of the cohort ends; 0 when one ends in it.
func (e *Engine) cohortSteps(limit int64) int64 {
	return max(0, min(limit, e.cohort.ends.next()-e.inFlight.executing().number))
}

// leastTime is the least time that n steps take.
func (e *Engine) leastTime(n int64) vtime.Duration { return vtime.Duration(n) * e.minStep }
