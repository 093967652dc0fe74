package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/trace"
	"blis/vtime"
)

// The records of failures in a trace.

// failureEvent is what a record of a failure is about.
type failureEvent uint8

const (
	traceCrash failureEvent = iota
	traceRepair
	traceSlow
	traceSlowEnd
	traceDown // the router knows that the instance is down
	traceUp   // … that it is up again
	traceCutOff
	traceRetry // its client sends a request again
	traceLink
	traceLinkEnd
)

var failureEventNames = [...]string{
	traceCrash: "crash", traceRepair: "repair", traceSlow: "slow", traceSlowEnd: "slow_end", traceDown: "down", traceUp: "up",
	traceCutOff: "cut_off", traceRetry: "retry", traceLink: "link", traceLinkEnd: "link_end",
}

// tracedFailure is a record on its way to the tracer. Without an instance or a request they are −1.
type tracedFailure struct {
	event    failureEvent
	instance int32
	request  int64
	retries  int32
}

// failure records what happens to an instance, whose first rank is i, in the event that executes. A nil t records nothing.
func (t *tracing) failure(out *lookahead.Outbox, event failureEvent, i int) {
	if t != nil {
		sendTracedFailure(out, &tracedFailure{event: event, instance: int32(i), request: -1})
	}
}

// lost records what happens in the event that executes to request d, which was lost with an instance; i is −1 if none
// has it.
func (t *tracing) lost(out *lookahead.Outbox, event failureEvent, i int, d *engine.Delivery) {
	if t != nil {
		sendTracedFailure(out, &tracedFailure{event, int32(i), d.ID, d.Retries})
	}
}

func sendTracedFailure(out *lookahead.Outbox, f *tracedFailure) {
	out.Begin(collectorID, out.Cause().Next(), kindTracedFailure, 4)
	out.Uint(uint64(f.event))
	out.Int(int64(f.instance))
	out.Int(f.request)
	out.Int(int64(f.retries))
	out.End()
}

func readTracedFailure(b *lookahead.Decoder) (f tracedFailure) {
	f.event = failureEvent(b.Uint())
	f.instance = int32(b.Int())
	f.request = b.Int()
	f.retries = int32(b.Int())
	mustDecode(b)
	return f
}

// fail gives the record of a failure.
func (t *tracer) fail(at vtime.Time, b *lookahead.Decoder) {
	f, s := readTracedFailure(b), &t.store
	t.failure = trace.Failure{Type: "failure", At: at, Event: failureEventNames[f.event]}
	if s.instance = int(f.instance); s.instance >= 0 {
		t.failure.Instance, t.failure.Pool = &s.instance, t.fleet.ranks[s.instance].pool.name
	}
	if s.request, s.retries = f.request, f.retries; f.request >= 0 {
		t.failure.Request, t.failure.Retries = &s.request, &s.retries
	}
	t.give(&t.failure)
}
