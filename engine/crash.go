package engine

import (
	"cmp"

	"blis/policy"
	"blis/vtime"
)

// What an instance does when its server crashes, is restarted, or is slow for a while.

// CutOff empties an instance whose server crashes at now: f gets each of its requests, in any
// order, valid during the call, with the number of its tokens whose KV is lost. The step in flight
// yields nothing.
func CutOff(e *Engine, now vtime.Time, f func(d *Delivery, p *Progress, lost int32)) {
	e.drain(now, func(i int32) {
		s := e.requests.at(i)
		d, p := lastSeen(e, i, now)
		f(&d, &p, min(s.computed, s.known()))
		e.vacate(i)
	})
}

// Restart makes an instance that was emptied a new one: caches, tiers and transfers are gone, and KV
// that awaits its pull. What was counted, and the books over time, go on. cfg is a Config as New takes
// it.
func Restart(e *Engine, cfg Config) {
	verdict := cmp.Or(e.fault, e.Check())
	if c := e.connector; c != nil {
		c.settle(&e.books, vtime.Never)
		e.books.evicted = evicted(e)
	}
	old := *e
	*e = Engine{}
	initialise(e, int(old.index), cfg)
	e.now, e.books.upto, e.books.evicted, e.fault = old.now, old.books.upto, old.books.evicted, verdict
	e.Counters, e.Tier, e.Blocks, e.Reach = old.Counters, old.Tier, old.Blocks, old.Reach
	e.batcher.pace.slow = old.batcher.pace.slow
	if c, was := e.connector, old.connector; c != nil {
		c.integrals.until = was.integrals.until
		c.store.books, c.load.books = was.store.books, was.load.books
		c.store.books.last, c.load.books.last = 0, 0 // of what the worker still waited for
		e.Disaggregated = old.Disaggregated
		c.disaggregation.goOn(was.disaggregation)
	}
	if t, was := e.threshold, old.threshold; t != nil {
		t.until, t.lost = was.until, was.lost+int64(was.cfg.Tier.Used())
	}
	e.stepState = policy.InstanceState{}
	if cfg.KeepStepState {
		e.stepState = e.State()
	}
}

// WarmUp lets the instance warm up from now on, as Config.Warmup says of another time.
func WarmUp(e *Engine, now vtime.Time) {
	p := &e.batcher.pace
	p.warmup.From = now
	p.warm = p.warmup.end()
}

// Slow multiplies the length of the steps that are formed from now on by factor, at least 1.
func Slow(e *Engine, factor float64) { e.batcher.pace.slow = factor }
