package engine

import (
	"fmt"
	"math/bits"

	"blis/metrics"
	"blis/vtime"
)

// books keeps the time integrals of the counters.
type books struct {
	counters *metrics.Counters
	pulled   *metrics.Disaggregation // of what counters have
	blocks   *metrics.Integral
	instance int32
	upto     vtime.Time // the integrals are up to this time
	evicted  int64      // entries of the CPU tier, before the instance was restarted
	series   []*metrics.TimeSeries
}

// level is what is integrated over time.
type level struct {
	used             int64    // KV blocks
	waiting, running int64    // requests
	blocked          blockade // why requests wait
	executes         bool     // a step with requests does: dummies of data-parallel ranks are not followed one by one
}

// integrate brings the integrals up to now, for a level that held since then.
//
// The books are checked when a bin of the integral of blocks ends: often enough,
// as bins are a small part of the time so far.
func (k *books) integrate(now vtime.Time, l level) {
	dt := int64(now - k.upto)
	if dt < 0 {
		panic(fmt.Sprintf("engine: instance %d: time goes back from %v to %v", k.instance, k.upto, now))
	}
	c := k.counters
	if k.blocks.Due(now) {
		k.check(now, dt, l)
		k.blocks.Pass(c.BlockMicros, k.upto, now, l.used)
	}
	for _, s := range k.series {
		k.extend(s, now, &l)
	}
	k.upto = now
	c.BlockMicros += dt * l.used
	c.RunningMicros += dt * l.running
	if l.waiting == 0 {
		return
	}
	c.WaitingMicros += dt * l.waiting
	switch l.blocked {
	case atMaxSeqs:
		c.LimitMaxSeqsMicros += dt
	case noBlocks:
		c.LimitKVMicros += dt
	case noBudget, noFit:
		c.LimitBudgetMicros += dt
	}
}

// extend enters a level that held until now in a time series.
func (k *books) extend(s *metrics.TimeSeries, now vtime.Time, l *level) {
	if s.Due(now) {
		c := *k.counters
		c.LookUpOnce(k.pulled)
		s.Pass(now, &c)
	}
	executes := int64(0)
	if l.executes {
		executes = 1
	}
	s.Gauges[metrics.RunningGauge].Hold(now, l.running)
	s.Gauges[metrics.WaitingGauge].Hold(now, l.waiting)
	s.Gauges[metrics.BlocksGauge].Hold(now, l.used)
	s.Gauges[metrics.ExecutingGauge].Hold(now, executes)
}

// endsBin reports whether a bin with histograms ends at or before now: what was observed before
// must be told then.
func (k *books) endsBin(now vtime.Time) bool {
	for _, s := range k.series {
		if s.ITL != nil && s.Due(now) {
			return true
		}
	}
	return false
}

// begins observes the tokens of a step that begins.
func (k *books) begins(tokens int64) {
	for _, s := range k.series {
		s.ObserveStep(tokens)
	}
}

// check panics when an integral would pass 2⁶² by the end of the next bin.
func (k *books) check(now vtime.Time, dt int64, l level) {
	const most = 1 << 62
	c := k.counters
	ahead := uint64(now)/16 + 1<<11 // more than the width of a bin
	for _, b := range [...]struct{ sum, level, peak int64 }{
		{c.BlockMicros, l.used, c.PeakBlocks}, {c.RunningMicros, l.running, c.PeakRunning}, {c.WaitingMicros, l.waiting, c.PeakWaiting},
	} {
		high, grown := bits.Mul64(uint64(dt), uint64(b.level))
		higher, next := bits.Mul64(ahead, uint64(max(b.level, b.peak)))
		if high|higher != 0 || grown > most || next > most || uint64(b.sum)+grown+next > most {
			panic(&TooLong{now})
		}
	}
}

// backlog is what an instance knows of how long a prompt will have to wait: the
// tokens that wait to be prefilled, and the recent prefill rate. Instances keep
// it with Config.KeepBacklog alone.
type backlog struct {
	waiting int64 // Σ known tokens of the requests in phase waiting

	// Sums over the last RecentPrefills steps that prefilled something.
	ring           [RecentPrefills]prefill
	next           int
	tokens, micros int64
}

// RecentPrefills is the number of steps that the prefill rate looks back. Steps
// that prefilled nothing do not count.
const RecentPrefills = 32

// prefill is one step that prefilled something: its prefill tokens and its length.
type prefill struct{ tokens, micros int64 }

// add takes in a step that ended.
func (k *backlog) add(b *batch) {
	if b.sums.PrefillTokens == 0 {
		return
	}
	out := &k.ring[k.next]
	in := prefill{b.sums.PrefillTokens, int64(b.duration)}
	k.tokens += in.tokens - out.tokens
	k.micros += in.micros - out.micros
	*out = in
	k.next = (k.next + 1) % RecentPrefills
}
