package engine

import (
	"blis/kv"
	"blis/latency"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
)

// batcher forms batches, as vLLM's scheduler does: from the running list, then
// from the wait queue. While blocks and budget suffice for every running
// request, the order in which they are served makes no difference, and members
// of the cohort are not looked at one by one.
type batcher struct {
	cfg       *Config
	cache     kv.Cache
	total     int // KV blocks
	requests  *requests
	inFlight  *inFlight
	diagnosis *diagnosis
	connector *connector // nil: none
	threshold *threshold // nil: none
	counters  *metrics.Counters
	reach     *Reach
	pace      pace
	lockStep  bool // others say when a step begins and how long it takes

	// The running list is the individuals and the cohort.
	queue       waitQueue
	individuals individuals
	cohort      cohort
	admissions  int64

	blocked              blockade // since the last formation
	fruitlessPreemptions int      // since a token was delivered last
	average              preemptionAverage

	// Of the formation at hand.
	ctx         policy.SchedulerContext
	asked       asked    // what the scheduler is asked about
	over        []member // memory for a scan
	plan        []int32  // tokens of each individual
	prefillLeft int32    // budget for prefill
}

// blockade is why requests wait although a batch was just formed.
type blockade uint8

const (
	free      blockade = iota
	atMaxSeqs          // the running list is full
	noBudget           // the token budget is spent
	heldBack           // too many prefills await their pull
	noFit              // the head's prompt exceeds the budget left, and chunked prefill is off
	noBlocks           // the head needs more KV blocks than are free
)

// headBlocked reports whether the queue stands still because its head does not
// fit into what is left.
func (b blockade) headBlocked() bool { return b >= noFit }

// form forms the next batch at now: running requests in order of admission, then,
// if nothing was preempted, waiting ones. What it schedules counts as computed
// from here on.
func (f *batcher) form(now vtime.Time) *batch {
	b := f.inFlight.blank(now)
	f.refreshContext(now)
	f.diagnosis.begins()
	if f.connector != nil {
		f.connector.begins(now)
	}
	if f.threshold != nil {
		f.threshold.back = 0
	}
	if f.cfg.Async {
		f.cohort.removeEnding(f.inFlight.formed, false)
	}
	left, fits := f.formAll(b)
	if !fits {
		f.cohort.disband()
		left = f.formWithPreemption(b)
	}
	f.blocked = free
	before := len(b.items)
	if b.preempted == 0 {
		switch {
		case f.asked.maker != nil:
			f.admitChosen(b, left)
		case f.connector == nil:
			f.admit(b, left)
		default:
			f.admitPast(b, left)
		}
		f.diagnosis.admitted(b.items[before:], now)
	}
	if f.connector != nil {
		f.work(b, before, f.inFlight.lastFormedEnd())
	}
	if !b.empty() {
		f.close(b)
	}
	if !f.lockStep {
		f.diagnosis.formed(b, f)
	}
	c := f.counters
	c.PeakBlocks = max(c.PeakBlocks, int64(f.used()))
	c.PeakRunning = max(c.PeakRunning, int64(f.requests.running()))
	c.Preemptions += int64(b.preempted)
	f.diagnosis.preempted(b.preempted, now)
	return b
}

// used returns the number of KV blocks that requests hold.
func (f *batcher) used() int { return f.total - f.cache.Free() }

// refreshContext renews what schedulers see of the instance.
func (f *batcher) refreshContext(now vtime.Time) {
	f.ctx = policy.SchedulerContext{
		Now: now, Waiting: f.requests.waiting(), Running: f.requests.running(), FreeSeqs: f.cfg.MaxNumSeqs - f.requests.running(),
		FreeBlocks: int64(f.cache.Free()), TotalBlocks: int64(f.total),
	}
}

// formAll schedules what each running request wants, if budget and blocks suffice
// for all of them in any order, and returns the budget left.
// Otherwise it changes nothing and reports false: formWithPreemption then goes
// request by request.
func (f *batcher) formAll(b *batch) (left int32, ok bool) {
	c, n := &f.cohort, f.cohort.n()
	left = f.cfg.MaxNumBatchedTokens - n
	if f.cfg.StepByStep || left < 0 {
		return 0, false
	}
	crossing := c.crossing(b.number)
	need := crossing
	f.plan = f.plan[:0]
	f.reserveDecodes()
	for _, i := range f.individuals.list {
		s := f.requests.at(i)
		w := f.wants(s)
		if w > left {
			// Members admitted later would have got less.
			if n > 0 && c.maxOrder > s.order {
				return 0, false
			}
			w = left
		}
		if w > 0 {
			need += f.cache.Need(&s.seq, s.computed+w)
			left -= w
		}
		f.plan = append(f.plan, w)
	}
	if need > f.cache.Free() {
		return 0, false
	}
	if crossing > 0 {
		f.cache.Take(crossing)
	}
	for k, i := range f.individuals.list {
		if w := f.plan[k]; w > 0 && !f.schedule(b, i, w) {
			panic("engine: blocks that were counted as free are not")
		}
	}
	b.members = n
	return left, true
}

// reserveDecodes computes the budget for prefill of a formation: what is left
// once every decoding request has its token.
func (f *batcher) reserveDecodes() {
	f.prefillLeft = f.cfg.MaxNumBatchedTokens - f.cohort.n()
	for _, i := range f.individuals.list {
		if f.remaining(f.requests.at(i)) == 1 {
			f.prefillLeft--
		}
	}
}

// remaining returns the number of tokens that a running request has to compute; not
// positive when there are none.
func (f *batcher) remaining(s *slot) int32 {
	if s.inFlight > 0 && s.generated+s.inFlight >= s.limit {
		return 0 // its token in flight is its last by length
	}
	return min(s.missing(), f.requests.maxLen-1-s.computed)
}

// wants returns the number of tokens that a running request asks for, not capped by
// the budget.
func (f *batcher) wants(s *slot) int32 {
	n := f.remaining(s)
	if n > 1 {
		n = f.chunk(s, n, s.computed)
		f.prefillLeft -= n
	}
	return n
}

// chunk caps n tokens of prefill after computed ones by the threshold and the
// scheduler's choice.
func (f *batcher) chunk(s *slot, n, computed int32) int32 {
	if t := f.cfg.LongPrefillTokenThreshold; t > 0 {
		n = min(n, t)
	}
	f.asked.one = policy.Running{ID: s.ID, Priority: s.Priority, Arrival: s.Arrival, Input: s.Input, Computed: computed, Generated: s.generated, Hints: s.Hints}
	return max(0, min(n, f.cfg.Scheduler.Chunk(&f.asked.one, n, max(0, f.prefillLeft), &f.ctx)))
}

// schedule allocates blocks for n more tokens of slot i and enters it in b. It
// reports false, and changes nothing, when the blocks are not there.
func (f *batcher) schedule(b *batch, i, n int32) bool {
	s := f.requests.at(i)
	if !f.cache.Extend(&s.seq, s.computed+n, s.known()) {
		f.counters.AllocationFailures++
		return false
	}
	b.items = append(b.items, item{member: member{i, s.ID}, order: s.order, scheduled: n, decode: s.decodes()})
	s.computed += n
	return true
}

// close computes the sums and the duration of b, puts it in flight, and lets the
// requests that only decode from here on join the cohort.
func (f *batcher) close(b *batch) {
	f.inFlight.push()
	b.yield = append(b.yield, f.cohort.groups...)
	q := &b.sums
	for k := range b.items {
		it := &b.items[k]
		s := f.requests.at(it.slot)
		it.addTo(q, s.computed, f.cfg.BlockSize)
		if s.missing() <= 0 {
			it.emits = 1
			q.SampledRows += int64(it.emits)
			s.inFlight += it.emits
			b.mayEnd = b.mayEnd || s.generated+s.inFlight >= s.target
		}
	}
	f.cohort.addTo(q, b)
	q.Preempted = int64(b.preempted)
	f.reach.StepTokens = max(f.reach.StepTokens, q.Scheduled())
	q.PreemptionEMA = f.average.add(b.preempted, f.requests.running())
	if !f.lockStep {
		b.duration = f.duration(b)
		if b.end = b.start.Add(b.duration); b.end < b.notBefore {
			b.end, b.duration = b.notBefore, b.notBefore.Sub(b.start)
		}
	}
	if !f.cfg.StepByStep {
		f.joinCohort(b)
	}
}

// duration returns how long b takes, which is not empty.
func (f *batcher) duration(b *batch) vtime.Duration {
	if f.threshold == nil {
		return f.pace.duration(&b.sums, b.formedAt)
	}
	return f.threshold.duration(&f.pace, &b.sums, b.formedAt)
}

// joinCohort lets the individuals join that have a token in b, not their last,
// and take blocks of their own content alone from here on.
func (f *batcher) joinCohort(b *batch) {
	kept := f.individuals.list[:0]
	k := 0
	for _, i := range f.individuals.list {
		s := f.requests.at(i)
		for k < len(b.items) && b.items[k].order < s.order {
			k++
		}
		if k < len(b.items) && b.items[k].slot == i && b.items[k].emits > 0 && s.target > s.generated+s.inFlight && s.seq.OwnOnly(s.computed) {
			f.cohort.join(i)
		} else {
			kept = append(kept, i)
		}
	}
	f.individuals.list = kept
}

// remove takes the request in slot i out of the list that it is in and releases
// its blocks.
func (f *batcher) remove(i int32) {
	s := f.requests.at(i)
	switch s.phase {
	case running:
		f.individuals.remove(i)
	case decoding:
		f.cohort.remove(i)
	}
	switch {
	case f.connector != nil:
		f.connector.leave(i)
	case s.phase.runs() && f.threshold != nil:
		f.cache.Preempt(&s.seq) // its own content moves down too
	case s.phase.runs():
		f.cache.Release(&s.seq)
	}
	f.requests.to(i, leaving) // an entry in the wait queue is stale now
}

// canRepeat reports whether the next step can be part of a decode run: all
// batches in flight are of the cohort alone, and no request can be admitted.
func (f *batcher) canRepeat() bool {
	n := f.cohort.n()
	if f.diagnosis.observer != nil || !f.inFlight.full() || n == 0 || len(f.individuals.list) > 0 || f.connector != nil && !f.connector.quiet() {
		return false
	}
	for k := range f.inFlight.n {
		if b := f.inFlight.at(k); len(b.items) > 0 || b.members != n {
			return false
		}
	}
	// Without completions blocks only get scarcer. The need of the head could
	// still shrink when blocks that it hits are evicted from the free list.
	return f.requests.waiting() == 0 || f.blocked != free && (f.blocked != noBlocks || !f.headHitsFree())
}

func (f *batcher) headHitsFree() bool {
	s := f.requests.at(f.queue.head())
	return f.cache.Lookup(&s.seq, s.known()).OnFree > 0
}

// repeat forms a batch like those in flight when the executing one, b, ends, and puts
// it in the place of b. Only members of the cohort are in
// it, of which crossing take a block; the other sums are zero or stay.
func (f *batcher) repeat(b *batch, crossing int) {
	c, k, now := &f.cohort, f.counters, b.end
	last := f.inFlight.last()
	f.inFlight.formed++
	f.inFlight.lastEnd = now
	if crossing > 0 {
		f.cache.Take(crossing)
		c.blocks += int64(crossing)
		k.PeakBlocks = max(k.PeakBlocks, int64(f.used()))
	}
	if f.requests.waiting() > 0 && f.blocked == noBlocks {
		k.AllocationFailures++
	}
	if f.blocked.headBlocked() {
		f.diagnosis.headBlocked(f.queue.head(), now)
	}
	if b != last {
		b.sums = last.sums
	}
	q := &b.sums
	q.DecodeContext = c.context + int64(c.n())*(f.inFlight.formed+1)
	q.DecodeBlocks = c.blocks
	if q.Preempted = 0; f.average.value != 0 {
		q.PreemptionEMA = f.average.add(0, f.requests.running())
	}
	b.number, b.formedAt, b.start = f.inFlight.formed, now, last.end
	if f.connector != nil {
		f.repeatWork(b)
	}
	if !f.lockStep {
		b.duration = f.pace.duration(q, now)
		b.end = b.start.Add(b.duration)
	}
	f.inFlight.rotate()
}

// preemptionAverage is the moving average of preempted per running request, in
// which a new step weighs gamma.
type preemptionAverage struct{ value, gamma float64 }

// add takes in a step, and returns the average.
func (a *preemptionAverage) add(preempted int, running int32) float64 {
	if a.value != 0 || preempted != 0 {
		share := float64(preempted) / float64(max(1, running))
		a.value = float64(a.gamma*share) + float64((1-a.gamma)*a.value)
	}
	return a.value
}

// addTo adds the item of a request with computed tokens, those of the item
// included, to the sums of its batch.
func (it *item) addTo(q *latency.Batch, computed, blockSize int32) {
	n := int64(it.scheduled)
	if it.decode {
		q.DecodeTokens += n
		q.DecodeRequests++
		q.DecodeContext += int64(computed)
		q.DecodeBlocks += int64((computed + blockSize - 1) / blockSize)
		return
	}
	before := int64(computed) - n
	q.PrefillTokens += n
	q.PrefillRequests++
	q.PrefillPairs += n*before + n*(n+1)/2
	q.PrefillContext += before
}
