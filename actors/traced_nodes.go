package actors

import (
	"blis/lookahead"
	"blis/policy"
	"blis/trace"
	"blis/vtime"
)

// tracedNoCapacity says that no node has room for an instance that is wanted, on its way to the tracer.
type tracedNoCapacity struct {
	pool          int32
	there, wanted int32 // instances
	reason        policy.Reason
}

// noCapacity records it in the event that executes. A nil t records nothing.
func (t *tracing) noCapacity(out *lookahead.Outbox, x tracedNoCapacity) {
	if t != nil {
		sendTracedNoCapacity(out, &x)
	}
}

func sendTracedNoCapacity(out *lookahead.Outbox, x *tracedNoCapacity) {
	out.Begin(collectorID, out.Cause().Next(), kindTracedNoCapacity, 4)
	out.Int(int64(x.pool))
	out.Int(int64(x.there))
	out.Int(int64(x.wanted))
	out.Uint(uint64(x.reason))
	out.End()
}

func readTracedNoCapacity(b *lookahead.Decoder) (x tracedNoCapacity) {
	x.pool = int32(b.Int())
	x.there = int32(b.Int())
	x.wanted = int32(b.Int())
	x.reason = policy.Reason(b.Uint())
	mustDecode(b)
	return x
}

// lacks gives the record of an instance for which no node has room.
func (t *tracer) lacks(at vtime.Time, b *lookahead.Decoder) {
	x := readTracedNoCapacity(b)
	t.scale = trace.Scale{Type: "scale", At: at, Pool: t.fleet.pools[x.pool].name, Action: trace.NoCapacity, From: x.there, To: x.wanted, Wanted: x.wanted, Ready: x.there, Reason: x.reason.String()}
	t.give(&t.scale)
}
