package actors

import (
	"slices"

	"blis/engine"
	"blis/lookahead"
	"blis/setup"
	"blis/trace"
	"blis/vtime"
)

// pairEvent is what a record of disaggregation is about.
type pairEvent uint8

const (
	tracePrefill  pairEvent = iota // an instance computes the prompt for another one
	traceAlone                     // an instance of the pool that decodes does both
	traceHandOver                  // the prompt is computed
	traceExpired                   // its KV was not pulled in time
)

var pairEventNames = [...]string{tracePrefill: "prefill", traceAlone: "alone", traceHandOver: "hand_over", traceExpired: "expired"}

// pairReason is why a request is disaggregated or not.
type pairReason uint8

const (
	noPairReason pairReason = iota
	pairAlways
	pairNever
	pairThreshold
	pairDirect
	pairResumed   // an instance gave it back with tokens
	pairNoOutput  // it wants none
	pairNoPrefill // no prefill instance takes it
)

var pairReasonNames = [...]string{noPairReason: "", pairAlways: setup.DecideAlways, pairNever: setup.DecideNever, pairThreshold: setup.DecidePrefixThreshold,
	pairDirect: setup.DecideDirect, pairResumed: "resumed", pairNoOutput: "no_output", pairNoPrefill: "no_prefill_instance"}

// tracedPair is a record of disaggregation on its way to the tracer. What it does not have is −1.
type tracedPair struct {
	event                    pairEvent
	reason                   pairReason
	request                  int64
	input                    int32
	expected, prefill, other int32 // other: the instance that decodes
	blocks                   int32
}

// reasonOf returns why request i is disaggregated or not, if there is an instance for each part.
func (c *coordinator) reasonOf(of *deployment, i int32) pairReason {
	d := &c.router.held.requests[i]
	if t := c.router.held.transfers[i]; t != nil && t.FirstToken != vtime.Never {
		return pairResumed
	}
	if d.Output < 1 {
		return pairNoOutput
	}
	return pairReason(slices.Index(pairReasonNames[:], of.plan.PD.Decider))
}

// decided records in the event that executes whether request i is disaggregated. at is where it goes first;
// refused: its prompt would have been computed elsewhere, but no prefill instance takes it.
func (c *coordinator) decided(event pairEvent, i int32, at *place, refused bool, out *lookahead.Outbox) {
	if c.router.tracing == nil {
		return
	}
	s, d := c.state(i), &c.router.held.requests[i]
	x := tracedPair{event, c.reasonOf(at.pool.deployment, i), d.ID, d.Input, -1, -1, -1, -1}
	switch {
	case event == traceAlone:
		x.other, x.expected = int32(at.instance), expectedOf(at, d.Expected)
	default:
		x.prefill = int32(at.instance)
		if s.decode != nil {
			x.other, x.expected = int32(s.decode.instance), expectedOf(s.decode, s.expected)
		}
	}
	if refused {
		x.reason = pairNoPrefill
	}
	sendTracedPair(out, &x)
}

// expectedOf returns the prompt tokens that the router's index expects at an instance, −1 without an index.
func expectedOf(at *place, tokens int32) int32 {
	if at.pool.endpoints.prefixes == nil {
		return -1
	}
	return tokens
}

// handed records that the prefill of a request has ended, in the event that executes.
func (t *tracing) handed(out *lookahead.Outbox, s *handOver, d *engine.Delivery) {
	if t == nil {
		return
	}
	x := tracedPair{traceHandOver, noPairReason, d.ID, d.Input, -1, int32(s.prefill.instance), -1, s.source.Blocks}
	if s.decode != nil {
		x.other = int32(s.decode.instance)
	}
	sendTracedPair(out, &x)
}

func sendTracedPair(out *lookahead.Outbox, x *tracedPair) {
	out.Begin(collectorID, out.Cause().Next(), kindTracedPair, 7)
	out.Uint(uint64(x.event)<<8 | uint64(x.reason))
	out.Int(x.request)
	for _, n := range [...]int32{x.input, x.expected, x.prefill, x.other, x.blocks} {
		out.Int(int64(n))
	}
	out.End()
}

func readTracedPair(b *lookahead.Decoder) (x tracedPair) {
	word := b.Uint()
	x.event, x.reason = pairEvent(word>>8), pairReason(word)
	x.request = b.Int()
	for _, n := range [...]*int32{&x.input, &x.expected, &x.prefill, &x.other, &x.blocks} {
		*n = int32(b.Int())
	}
	mustDecode(b)
	return x
}

func sendTracedExpiry(out *lookahead.Outbox, rank int, now vtime.Time, request int64, blocks int32) {
	beginInStep(out, rank, now, kindTracedExpiry, 2)
	out.Int(request)
	out.Int(int64(blocks))
	out.End()
}

func readTracedExpiry(b *lookahead.Decoder) (request int64, blocks int32) {
	request, blocks = b.Int(), int32(b.Int())
	mustDecode(b)
	return request, blocks
}

// pair gives the record of a step of a request of two instances.
func (t *tracer) pair(at vtime.Time, b *lookahead.Decoder) { t.givePair(at, readTracedPair(b)) }

// expired gives the record of KV that was not pulled in time.
func (t *tracer) expired(at vtime.Time, source uint32, b *lookahead.Decoder) {
	number := t.source(source, b)
	x := tracedPair{event: traceExpired, expected: -1, prefill: int32(number), other: -1}
	x.request, x.blocks = readTracedExpiry(b)
	t.givePair(at, x)
}

func (t *tracer) givePair(at vtime.Time, x tracedPair) {
	r, s := &t.disaggregation, &t.store
	*r = trace.Disaggregation{Type: "disaggregation", At: at, Event: pairEventNames[x.event], Request: x.request, Reason: pairReasonNames[x.reason], Input: x.input}
	if s.hit = x.expected; x.expected >= 0 {
		r.ExpectedHit = &s.hit
	}
	if s.instance = int(x.prefill); x.prefill >= 0 {
		r.Prefill = &s.instance
	}
	if s.target = int(x.other); x.other >= 0 {
		r.Decode = &s.target
	}
	if s.blocks = x.blocks; x.blocks >= 0 {
		r.Blocks = &s.blocks
	}
	t.give(r)
}

// tracedBackpressure is a hand-over at which many prefills of the instance await their pull, on its way to the
// tracer.
type tracedBackpressure struct {
	instance int32
	request  int64
	awaiting int64
}

// backpressure records the anomaly in the event that executes. A nil t records nothing.
func (t *tracing) backpressure(out *lookahead.Outbox, x tracedBackpressure) {
	if t != nil && t.level == trace.Detailed {
		sendTracedBackpressure(out, &x)
	}
}

func sendTracedBackpressure(out *lookahead.Outbox, x *tracedBackpressure) {
	out.Begin(collectorID, out.Cause().Next(), kindTracedBackpressure, 3)
	out.Int(int64(x.instance))
	out.Int(x.request)
	out.Int(x.awaiting)
	out.End()
}

func readTracedBackpressure(b *lookahead.Decoder) (x tracedBackpressure) {
	x.instance = int32(b.Int())
	x.request = b.Int()
	x.awaiting = b.Int()
	mustDecode(b)
	return x
}

// pressed gives the anomaly of a hand-over with backpressure.
func (t *tracer) pressed(at vtime.Time, b *lookahead.Decoder) {
	x := readTracedBackpressure(b)
	t.store.requests = append(t.store.requests[:0], x.request)
	t.anomalous(at, "pd_backpressure", "", int(x.instance), float64(x.awaiting), t.store.requests...)
}

// decideAgain says that the next routing decision is about a request that has had one, and its priority. A nil t
// records nothing.
func (t *tracing) decideAgain() {
	if t != nil {
		t.again = true
	}
}
