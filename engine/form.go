package engine

import (
	"fmt"

	"blis/latency"
	"blis/policy"
	"blis/vtime"
)

// form forms the next batch at now: running requests in order of
// admission, then, if nothing was preempted, waiting ones. What it schedules
// counts as computed from here on.
func (e *Engine) form(now vtime.Time) *batch {
	b := e.inFlight.blank(now)
	e.refreshContext(now)
	if e.formation != nil {
		e.formation.clear()
	}
	if e.cfg.Async {
		e.removeEnding(e.inFlight.formed, false)
	}
	left, fits := e.formAll(b)
	if !fits {
		e.disband()
		left = e.formWithPreemption(b)
	}
	e.blocked = free
	if b.preempted == 0 {
		before := len(b.items)
		e.admit(b, left, now)
		e.diagnosis.admitted(b.items[before:], now)
	}
	if !b.empty() {
		e.closeBatch(b)
	}
	if e.formation != nil {
		e.observe(b)
	}
	e.account(b)
	return b
}

// refreshContext renews what schedulers see of the instance.
func (e *Engine) refreshContext(now vtime.Time) {
	e.ctx = policy.SchedulerContext{
		Now: now, Waiting: e.requests.waiting(), Running: e.requests.running(),
		FreeBlocks: int64(e.cache.Free()), TotalBlocks: int64(e.cache.Total()),
	}
}

// formAll gives every running request what it wants, if budget and blocks
// suffice for all of them in whatever order, and returns the budget left.
// Otherwise it changes nothing and reports false: formWithPreemption then goes request
// by request.
func (e *Engine) formAll(b *batch) (left int32, ok bool) {
	c := &e.cohort
	left = e.cfg.MaxBatchedTokens - c.n
	if e.cfg.StepByStep || left < 0 {
		return 0, false
	}
	crossing := c.cross[b.number%int64(e.cfg.BlockSize)]
	need := int(crossing)
	e.plan = e.plan[:0]
	e.reserveDecodes()
	for _, i := range e.individuals {
		s := e.slot(i)
		n := e.wants(s)
		if n > left {
			// Members admitted later would have got less.
			if c.n > 0 && c.maxOrder > s.order {
				return 0, false
			}
			n = left
		}
		if n > 0 {
			need += e.cache.Need(&s.seq, s.computed+n)
			left -= n
		}
		e.plan = append(e.plan, n)
	}
	if need > e.cache.Free() {
		return 0, false
	}
	if crossing > 0 {
		e.cache.Take(int(crossing))
	}
	for k, i := range e.individuals {
		if n := e.plan[k]; n > 0 && !e.schedule(b, i, n) {
			panic("engine: blocks that were counted as free are not")
		}
	}
	b.members = c.n
	return left, true
}

// reserveDecodes computes the budget for prefill of a formation: what is left
// once every decoding request has its token.
func (e *Engine) reserveDecodes() {
	e.prefillLeft = e.cfg.MaxBatchedTokens - e.cohort.n
	for _, i := range e.individuals {
		if e.remaining(e.slot(i)) == 1 {
			e.prefillLeft--
		}
	}
}

// remaining is the number of tokens that a running request has to compute; not
// positive when there are none.
func (e *Engine) remaining(s *slot) int32 {
	if s.inFlight > 0 && s.generated+s.inFlight >= s.limit {
		return 0 // its token in flight is its last by length
	}
	return min(s.known()+s.inFlight-s.computed, e.maxLen-1-s.computed)
}

// wants is the number of tokens that a running request asks for, not capped by
// the budget.
func (e *Engine) wants(s *slot) int32 {
	n := e.remaining(s)
	if n > 1 {
		n = e.chunk(s, n, s.computed)
		e.prefillLeft -= n
	}
	return n
}

// chunk caps n tokens of prefill after computed ones by the threshold and the
// scheduler's choice.
func (e *Engine) chunk(s *slot, n, computed int32) int32 {
	n = e.capped(n)
	e.ask = policy.Running{ID: s.ID, Priority: s.Priority, Arrival: s.Arrival, Input: s.Input, Computed: computed, Generated: s.generated}
	return max(0, min(n, e.cfg.Scheduler.Chunk(&e.ask, n, max(0, e.prefillLeft), &e.ctx)))
}

// capped is n tokens of prefill, or the threshold.
func (e *Engine) capped(n int32) int32 {
	if t := e.cfg.LongPrefillThreshold; t > 0 {
		return min(n, t)
	}
	return n
}

// schedule allocates blocks for n more tokens of slot i and enters it in b. It
// reports false, and changes nothing, when the blocks are not there.
func (e *Engine) schedule(b *batch, i, n int32) bool {
	s := e.slot(i)
	if !e.cache.Extend(&s.seq, s.computed+n, s.known()) {
		e.Counters.AllocationFailures++
		return false
	}
	prefill := s.known()+s.inFlight-s.computed > 1 || s.generated+s.inFlight == 0
	s.computed += n
	b.items = append(b.items, item{member: member{i, s.ID}, order: s.order, scheduled: n, decode: !prefill})
	return true
}

// admit moves waiting requests into the running list while budget and seats
// allow and each fits whole; the first that does not fit stops the scan.
func (e *Engine) admit(b *batch, left int32, now vtime.Time) {
	for e.requests.waiting() > 0 {
		switch {
		case e.requests.running() >= e.cfg.MaxSeqs:
			e.blocked = noSeat
			return
		case left <= 0:
			e.blocked = noBudget
			return
		}
		i := e.head()
		s := e.slot(i)
		known := s.known()
		hit := e.cache.Lookup(&s.seq, known)
		cached := int32(hit.Blocks) * e.cfg.BlockSize
		n := known - cached
		if n > 1 {
			e.prefillLeft = left
			n = e.chunk(s, n, cached)
		}
		if why := e.shortage(s, known, cached, n, left); why != free {
			if why == noBlocks {
				e.Counters.AllocationFailures++
			}
			e.blocked = why
			if !b.empty() { // else it is no step
				e.diagnosis.headBlocked(i, now)
			}
			return
		}
		if n = min(n, left); n <= 0 {
			return // the scheduler gives it nothing now
		}
		s.computed, s.order = cached, e.orders
		if !e.schedule(b, i, n) {
			panic("engine: a request that fits does not")
		}
		left -= n
		e.dequeue(i, running)
		e.enterRunning(s, i, cached, known, now)
	}
}

// shortage is what keeps a waiting request from being admitted that was just
// looked up, asks for n tokens and finds left of the budget; free: nothing.
func (e *Engine) shortage(s *slot, known, cached, n, left int32) blockade {
	if !e.cfg.ChunkedPrefill && n > left {
		return noFit
	}
	upto := cached + max(0, min(n, left))
	if e.cfg.ReserveFullISL {
		upto = min(known, e.maxLen)
	}
	if e.cache.Need(&s.seq, upto) > e.cache.Free() {
		return noBlocks
	}
	return free
}

// enterRunning books slot i, just served from the wait queue, into the running list.
func (e *Engine) enterRunning(s *slot, i, cached, known int32, now vtime.Time) {
	e.orders++
	e.individuals = append(e.individuals, i)
	c := &e.Counters
	if s.Preempted {
		s.Preempted = false
		again := max(0, s.lost-cached)
		s.recomputed += again
		if e.cfg.PrefixCaching {
			c.RelookedTokens += int64(known)
		}
		c.RecachedTokens += int64(cached)
		c.Recomputed += int64(again)
		if e.formation != nil {
			e.formation.Resumed = append(e.formation.Resumed, s.ID)
		}
	} else {
		s.cached, s.scheduled = cached, now
		if e.cfg.PrefixCaching {
			c.LookedUpTokens += int64(known)
		}
		c.CachedTokens += int64(cached)
		if e.formation != nil {
			e.formation.New = append(e.formation.New, s.ID)
		}
	}
	if e.formation != nil {
		e.formation.Cached = append(e.formation.Cached, Share{s.ID, cached})
	}
}

// closeBatch gives the batch its sums and its duration, and lets the requests that
// from here on only decode join the cohort.
func (e *Engine) closeBatch(b *batch) {
	e.inFlight.push()
	size := e.cfg.BlockSize
	b.yield = append(b.yield, e.cohort.groups...)
	q := &b.sums
	for k := range b.items {
		it := &b.items[k]
		s := e.slot(it.slot)
		if it.decode {
			q.DecodeTokens += int64(it.scheduled)
			q.DecodeRequests++
			q.DecodeContext += int64(s.computed)
			q.DecodeBlocks += int64((s.computed + size - 1) / size)
		} else {
			n, before := int64(it.scheduled), int64(s.computed-it.scheduled)
			q.PrefillTokens += n
			q.PrefillRequests++
			q.PrefillPairs += n*before + n*(n+1)/2
			q.PrefillContext += before
		}
		if s.computed >= s.known()+s.inFlight {
			it.emits = 1
			q.SampledRows += int64(it.emits)
			s.inFlight += it.emits
			b.mayEnd = b.mayEnd || s.generated+s.inFlight >= s.target
		}
	}
	e.addCohort(q, b)
	q.Preempted = int64(b.preempted)
	e.Reach.StepTokens = max(e.Reach.StepTokens, q.Scheduled())
	e.ema = advanceEMA(e.ema, e.gamma, b.preempted, e.requests.running())
	q.PreemptionEMA = e.ema
	b.duration = e.duration(q)
	b.end = b.start.Add(b.duration)
	if e.cfg.StepByStep {
		return
	}
	kept := e.individuals[:0]
	k := 0
	for _, i := range e.individuals {
		s := e.slot(i)
		for k < len(b.items) && b.items[k].order < s.order {
			k++
		}
		if k < len(b.items) && b.items[k].slot == i && b.items[k].emits > 0 && s.target > s.generated+s.inFlight && s.seq.OwnOnly(s.computed) {
			e.join(i)
		} else {
			kept = append(kept, i)
		}
	}
	e.individuals = kept
}

// addCohort adds the members of the cohort to the sums of b and books the
// blocks that they took in it.
func (e *Engine) addCohort(q *latency.Batch, b *batch) {
	c := &e.cohort
	if b.members == 0 {
		return
	}
	c.blocks += int64(c.cross[b.number%int64(e.cfg.BlockSize)])
	n := int64(c.n)
	q.DecodeTokens += n
	q.DecodeRequests += n
	q.SampledRows += n
	q.DecodeContext += c.context + n*(b.number+1)
	q.DecodeBlocks += c.blocks
}

// duration asks the latency model for the length of a step, at least 1 µs.
func (e *Engine) duration(q *latency.Batch) vtime.Duration {
	step := e.model.Step(q)
	if e.now < e.warm {
		step = float64(step * e.cfg.Warmup.factor(e.now))
	}
	d, err := vtime.Truncate(step)
	if err != nil {
		panic(fmt.Sprintf("engine: the latency model gives NaN for the step %+v", *q))
	}
	return max(1, d)
}

// advanceEMA is the preemption average after one more step, which weighs gamma.
func advanceEMA(ema, gamma float64, preempted int, running int32) float64 {
	if ema == 0 && preempted == 0 {
		return 0
	}
	share := float64(preempted) / float64(max(1, running))
	return float64(gamma*share) + float64((1-gamma)*ema)
}

// account updates peaks after a formation.
func (e *Engine) account(b *batch) {
	c := &e.Counters
	c.PeakBlocks = max(c.PeakBlocks, int64(e.UsedBlocks()))
	c.PeakRunning = max(c.PeakRunning, int64(e.requests.running()))
	c.Preemptions += int64(b.preempted)
	e.diagnosis.preempted(b.preempted, b.formedAt)
}
