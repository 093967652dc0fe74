package actors

import (
	"blis/lookahead"
	"blis/trace"
	"blis/vtime"
)

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
