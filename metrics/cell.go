package metrics

import (
	"blis/vtime"

	"github.com/cespare/xxhash/v2"
)

// cell holds the sums and samples of the measured requests of one class,
// tenant and model. Every scope of a report is a merge of cells, so a sample
// is kept once however many scopes it belongs to.
type cell struct {
	states  [States]int64
	reasons [Reasons]int64

	targeted int64 // requests of a class that has SLO targets
	attained int64 // of these, completed within every target
	late     Violations

	undecided int64 // neither admitted nor rejected: admission had no time to

	input, served     int64 // tokens of all, and of completed requests
	lookedUp, cached  int64 // input and cached tokens of requests that were scheduled
	generated, output int64 // tokens of all, and of completed requests
	preemptions       int64
	recomputed        int64 // tokens
	expected          int64 // cached tokens, by the router, of requests that were scheduled
	diverged          int64 // requests of which it was wrong by a block or more

	firstArrival, lastArrival, lastCompletion vtime.Time

	ttft, tpot, e2e, schedulingDelay, queueWait Distribution

	itl        sum128 // Σ ITL in µs, known without the samples
	itlSamples int64

	split split

	handedOver *handedOver // nil: none was
}

// split is the parts of the E2E of completed requests, in µs; they add up to it.
type split struct {
	frontEnd, queue, prefill, decode, recompute sum128

	handOver sum128 // of requests that were handed over
}

func newCell() *cell {
	return &cell{firstArrival: vtime.Never, lastArrival: -1, lastCompletion: -1}
}

// injected is the number of requests.
func (c *cell) injected() int64 {
	n := int64(0)
	for _, count := range c.states {
		n += count
	}
	return n
}

// add counts one request.
func (c *cell) add(o *Outcome, token, request vtime.Duration, t Targets) {
	c.states[o.State]++
	c.reasons[o.Reason]++
	if o.Admitted == vtime.Never && o.State != Rejected {
		c.undecided++
	}
	c.input += int64(o.Input)
	c.generated += int64(o.Generated)
	c.preemptions += int64(o.Preemptions + o.HandOver.Preemptions)
	c.recomputed += int64(o.Recomputed + o.HandOver.Recomputed)
	c.firstArrival = min(c.firstArrival, o.Arrival)
	c.lastArrival = max(c.lastArrival, o.Arrival)
	if ttft, ok := o.TTFT(token); ok {
		c.ttft.Add(int64(ttft))
	}
	if delay, ok := o.SchedulingDelay(); ok {
		wait, _ := o.QueueWait()
		c.schedulingDelay.Add(int64(delay))
		c.queueWait.Add(int64(wait))
		l := o.Lookup()
		c.cached += int64(l.Cached)
		c.expected += int64(l.Expected)
		c.lookedUp += int64(o.Input)
	}
	itl, samples := o.TotalITL(token)
	c.itl.add(int64(itl))
	c.itlSamples += samples
	if t.any() {
		c.targeted++
		if t.attained(o, token, request) {
			c.attained++
		}
		t.count(&c.late, o, token, request)
	}
	if o.HandOver.Made() {
		h := c.handOvers()
		h.requests++
		h.remote += int64(o.HandOver.RemoteTokens)
	}
	if o.State == Completed {
		c.addCompleted(o, token, request)
	}
}

func (c *cell) addCompleted(o *Outcome, token, request vtime.Duration) {
	c.output += int64(o.Generated)
	c.served += int64(o.Input)
	c.lastCompletion = max(c.lastCompletion, o.Finished)
	e2e, _ := o.E2E(token, request)
	c.e2e.Add(int64(e2e))
	if tpot, ok := o.TPOT(token, request); ok {
		c.tpot.Add(int64(tpot))
	}
	overheads := vtime.Duration(o.Generated)*token + request
	if p, ok := o.phases(overheads); ok {
		c.addHandedOver(o, &p)
		return
	}
	prefilled := min(o.FirstToken, o.Finished)
	c.split.frontEnd.add(int64(o.Queued.Sub(o.Arrival) + overheads))
	c.split.queue.add(int64(o.Scheduled.Sub(o.Queued)))
	c.split.prefill.add(int64(prefilled.Sub(o.Scheduled) - o.PrefillLost))
	c.split.decode.add(int64(o.Finished.Sub(prefilled) - o.DecodeLost))
	c.split.recompute.add(int64(o.PrefillLost + o.DecodeLost))
}

// merge adds o, which stays as it is.
func (c *cell) merge(o *cell) {
	for i := range c.states {
		c.states[i] += o.states[i]
	}
	for i := range c.reasons {
		c.reasons[i] += o.reasons[i]
	}
	counts, sums, distributions := o.counts(), o.sums(), o.distributions()
	for i, n := range c.counts() {
		*n += *counts[i]
	}
	c.expected += o.expected
	c.diverged += o.diverged
	c.late.TTFT += o.late.TTFT
	c.late.TPOT += o.late.TPOT
	c.late.E2E += o.late.E2E
	c.undecided += o.undecided
	for i, s := range c.sums() {
		s.plus(*sums[i])
	}
	c.split.handOver.plus(o.split.handOver)
	if h := o.handedOver; h != nil {
		own := c.handOvers()
		own.requests += h.requests
		own.remote += h.remote
	}
	mine := c.distributions()
	for i, d := range distributions {
		mine[i].Merge(d)
	}
	c.served += o.served
	c.firstArrival = min(c.firstArrival, o.firstArrival)
	c.lastArrival = max(c.lastArrival, o.lastArrival)
	c.lastCompletion = max(c.lastCompletion, o.lastCompletion)
}

func (c *cell) counts() [10]*int64 {
	return [10]*int64{&c.targeted, &c.attained, &c.input, &c.cached, &c.lookedUp, &c.generated, &c.output, &c.preemptions, &c.recomputed, &c.itlSamples}
}

func (c *cell) sums() [6]*sum128 {
	return [6]*sum128{&c.itl, &c.split.frontEnd, &c.split.queue, &c.split.prefill, &c.split.decode, &c.split.recompute}
}

// distributions are those of all requests, then those of requests that were handed over, if any was.
func (c *cell) distributions() []*Distribution {
	list := []*Distribution{&c.ttft, &c.tpot, &c.e2e, &c.schedulingDelay, &c.queueWait}
	if c.handedOver != nil {
		for i := range c.handedOver.phases {
			list = append(list, &c.handedOver.phases[i])
		}
	}
	return list
}

// foldTo hashes the whole cell.
func (c *cell) foldTo(hash *xxhash.Digest) {
	for state, n := range c.states {
		if !State(state).Rare() || n > 0 { // a run in which nothing fails has the digest of versions without failures
			writeInts(hash, uint64(n))
		}
	}
	for reason, n := range c.reasons {
		if n > 0 { // reasons without requests are left out, so that new reasons change no digest
			writeInts(hash, uint64(reason), uint64(n))
		}
	}
	for _, n := range c.counts() {
		writeInts(hash, uint64(*n))
	}
	if c.expected+c.diverged > 0 {
		writeInts(hash, uint64(c.expected), uint64(c.diverged))
	}
	if c.late.Total() > 0 { // nor do violations, if no request was late
		writeInts(hash, uint64(c.late.TTFT), uint64(c.late.TPOT), uint64(c.late.E2E))
	}
	if c.undecided > 0 { // where all are decided on there is nothing to add
		writeInts(hash, uint64(c.undecided))
	}
	for _, s := range c.sums() {
		writeInts(hash, s.hi, s.lo)
	}
	if h := c.handedOver; h != nil {
		writeInts(hash, uint64(h.requests), uint64(h.remote), c.split.handOver.hi, c.split.handOver.lo)
	}
	for _, d := range c.distributions() {
		writeInts(hash, d.Fold())
	}
	writeInts(hash, uint64(c.firstArrival), uint64(c.lastArrival), uint64(c.lastCompletion))
}
