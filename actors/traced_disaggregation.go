package actors

import (
	"slices"

	"blis/engine"
	"blis/lookahead"
	"blis/setup"
	"blis/trace"
	"blis/vtime"
)

// disaggregationEvent is what a record of disaggregation is about.
type disaggregationEvent uint8

const (
	tracePrefill  disaggregationEvent = iota // an instance computes the prompt for another one
	traceAlone                               // an instance of the pool that decodes does both
	traceHandOver                            // the prompt is computed
	traceExpired                             // its KV was not pulled in time
)

var disaggregationEventNames = [...]string{tracePrefill: "prefill", traceAlone: "alone", traceHandOver: "hand_over", traceExpired: "expired"}

// disaggregationReason is why a request is disaggregated or not.
type disaggregationReason uint8

const (
	noDisaggregationReason disaggregationReason = iota
	deciderAlways
	deciderNever
	deciderThreshold
	deciderDirect
	aloneResumed   // it has tokens: an instance gave it back, or was lost with it
	aloneNoOutput  // it wants none
	aloneNoPrefill // no prefill instance takes it
)

var disaggregationReasonNames = [...]string{noDisaggregationReason: "", deciderAlways: setup.DecideAlways, deciderNever: setup.DecideNever, deciderThreshold: setup.DecidePrefixThreshold,
	deciderDirect: setup.DecideDirect, aloneResumed: "resumed", aloneNoOutput: "no_output", aloneNoPrefill: "no_prefill_instance"}

// tracedDisaggregation is a record of disaggregation on its way to the tracer. What it does not have is −1.
type tracedDisaggregation struct {
	event                     disaggregationEvent
	reason                    disaggregationReason
	request                   int64
	input                     int32
	expected, prefill, decode int32 // prefill and decode: the instances
	blocks                    int32
}

// reasonOf returns why request i is disaggregated or not, if there is an instance for each part.
func (c *coordinator) reasonOf(of *deployment, i int32) disaggregationReason {
	if why := c.exemption(i); why != noDisaggregationReason {
		return why
	}
	return disaggregationReason(slices.Index(disaggregationReasonNames[:], of.plan.PD.Decider))
}

// decided records in the event that executes whether request i is disaggregated. at is where it goes first;
// refused: its prompt would have been computed elsewhere, but no prefill instance takes it.
func (c *coordinator) decided(event disaggregationEvent, i int32, at *place, refused bool, out *lookahead.Outbox) {
	if c.router.tracing == nil {
		return
	}
	s, d := c.state(i), &c.router.held.requests[i]
	x := tracedDisaggregation{event, c.reasonOf(at.pool.deployment, i), d.ID, d.Input, -1, -1, -1, -1}
	if event == traceAlone {
		x.decode, x.expected = int32(at.instance), expectedOf(at, d.Expected)
	} else {
		x.prefill = int32(at.instance)
		if s.decode != nil {
			x.decode, x.expected = int32(s.decode.instance), expectedOf(s.decode, s.expected)
		}
	}
	if refused {
		x.reason = aloneNoPrefill
	}
	sendTracedDisaggregation(out, &x)
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
	x := tracedDisaggregation{traceHandOver, noDisaggregationReason, d.ID, d.Input, -1, int32(s.prefill.instance), -1, s.source.Blocks}
	if s.decode != nil {
		x.decode = int32(s.decode.instance)
	}
	sendTracedDisaggregation(out, &x)
}

func sendTracedDisaggregation(out *lookahead.Outbox, x *tracedDisaggregation) {
	out.Begin(collectorID, out.Cause().Next(), kindTracedDisaggregation, 7)
	out.Uint(uint64(x.event)<<8 | uint64(x.reason))
	out.Int(x.request)
	for _, n := range [...]int32{x.input, x.expected, x.prefill, x.decode, x.blocks} {
		out.Int(int64(n))
	}
	out.End()
}

func readTracedDisaggregation(b *lookahead.Decoder) (x tracedDisaggregation) {
	word := b.Uint()
	x.event, x.reason = disaggregationEvent(word>>8), disaggregationReason(word)
	x.request = b.Int()
	for _, n := range [...]*int32{&x.input, &x.expected, &x.prefill, &x.decode, &x.blocks} {
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

// disaggregated gives the record of a step of a request of two instances.
func (t *tracer) disaggregated(at vtime.Time, b *lookahead.Decoder) {
	t.giveDisaggregation(at, readTracedDisaggregation(b))
}

// expired gives the record of KV that was not pulled in time.
func (t *tracer) expired(at vtime.Time, source uint32, b *lookahead.Decoder) {
	number := t.source(source, b)
	x := tracedDisaggregation{event: traceExpired, expected: -1, prefill: int32(number), decode: -1}
	x.request, x.blocks = readTracedExpiry(b)
	t.giveDisaggregation(at, x)
}

func (t *tracer) giveDisaggregation(at vtime.Time, x tracedDisaggregation) {
	r, s := &t.disaggregation, &t.store
	*r = trace.Disaggregation{Type: "disaggregation", At: at, Event: disaggregationEventNames[x.event], Request: x.request, Reason: disaggregationReasonNames[x.reason], Input: x.input}
	if s.hit = x.expected; x.expected >= 0 {
		r.ExpectedHit = &s.hit
	}
	if s.instance = int(x.prefill); x.prefill >= 0 {
		r.Prefill = &s.instance
	}
	if s.target = int(x.decode); x.decode >= 0 {
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
