package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// Kinds of messages.
const (
	kindDelivery lookahead.Kind = iota + 1 // router → instance: a request
	kindOutcome                            // instance or router → collector: what became of one
	kindEnded                              // instance → router: a request is no longer in flight
	kindScale                              // autoscaler → router: how many instances there are to be
	kindStop                               // router → instance: it is taken away
	kindReturned                           // instance → router: a request of one that is taken away
	kindResumed                            // router → instance: such a request
	kindBlocks                             // instance → router: what has come into its prefix cache or left it
	kindEvaluate                           // router → autoscaler: something happened that it is to be asked for
)

// Times travel as differences from the arrival, which are short, and labels
// together in one word.

// since is t as a difference from the arrival; −1: never.
func since(arrival, t vtime.Time) int64 {
	if t == vtime.Never {
		return -1
	}
	return int64(t - arrival)
}

// after is the inverse.
func after(arrival vtime.Time, d int64) vtime.Time {
	if d < 0 {
		return vtime.Never
	}
	return arrival + vtime.Time(d)
}

// sendDelivery writes a request for an instance: what every request has, then
// what few have, then spans. Before the time quiet it changes nothing that an
// instance shows, and does not end.
func sendDelivery(out *lookahead.Outbox, to lookahead.ProcessID, now, quiet vtime.Time, d *engine.Delivery) {
	fields, rare := deliveryFields(d)
	out.BeginWithEffectAt(to, lookahead.Key{At: now, Class: vtime.ClassDelivery}, lookahead.Key{At: quiet, Class: vtime.ClassQueued}, kindDelivery, fields)
	writeDelivery(out, d, rare)
	out.End()
}

// deliveryFields is how many fields a request has, and whether those are among
// them that few have.
func deliveryFields(d *engine.Delivery) (fields int, rare bool) {
	rare = d.Session != 0 || d.Round != 0 || d.OutputContent != 0 || len(d.Spans) > 0
	fields = 9
	if rare {
		fields += 4 + 2*len(d.Spans)
	}
	return fields, rare
}

// writeDelivery writes the fields of a request.
func writeDelivery(out *lookahead.Outbox, d *engine.Delivery, rare bool) {
	out.Int(d.ID)
	out.Int(int64(d.Arrival))
	out.Int(since(d.Arrival, d.Admitted))
	out.Int(since(d.Arrival, d.Deadline))
	out.Int(int64(d.Input))
	out.Int(int64(d.Output))
	out.Int(int64(d.MaxOutput))
	out.Uint(uint64(d.Tenant)<<32 | uint64(d.Class)<<16 | uint64(d.Model))
	out.Float(d.Priority)
	if rare {
		out.Uint(d.Session)
		out.Int(int64(d.Round))
		out.Uint(uint64(d.OutputContent))
		out.Int(int64(d.Expected))
		for _, s := range d.Spans {
			out.Uint(uint64(s.Content))
			out.Int(int64(s.Length))
		}
	}
}

// readDelivery is the inverse; d's memory for spans is used again. The request
// is the last of the message.
func readDelivery(b *lookahead.Decoder, d *engine.Delivery) {
	d.ID = b.Int()
	d.Arrival = vtime.Time(b.Int())
	d.Admitted = after(d.Arrival, b.Int())
	d.Deadline = after(d.Arrival, b.Int())
	d.Input = int32(b.Int())
	d.Output = int32(b.Int())
	d.MaxOutput = int32(b.Int())
	labels := b.Uint()
	d.Tenant, d.Class, d.Model = workload.Label(labels>>32), workload.Label(labels>>16), workload.Label(labels)
	d.Priority = b.Float()
	d.Session, d.Round, d.OutputContent, d.Expected, d.Spans = 0, 0, 0, 0, d.Spans[:0]
	if b.Left() > 0 {
		d.Session = b.Uint()
		d.Round = int32(b.Int())
		d.OutputContent = workload.ContentID(b.Uint())
		d.Expected = int32(b.Int())
	}
	for b.Left() > 0 {
		d.Spans = append(d.Spans, workload.Span{Content: workload.ContentID(b.Uint()), Length: int32(b.Int())})
	}
	mustDecode(b)
}

// sendOutcome tells the collector what became of a request at now: what every
// request has, then what few have.
func sendOutcome(out *lookahead.Outbox, now vtime.Time, o *metrics.Outcome) {
	rare := o.Session != 0 || o.Round != 0 || o.Preemptions != 0 || o.Redirects != 0 || o.Expected != 0
	fields := 13
	if rare {
		fields += 8
	}
	out.Begin(collectorID, lookahead.Key{At: now, Class: vtime.ClassNotice}, kindOutcome, fields)
	out.Int(o.ID)
	out.Uint(uint64(o.State)<<56 | uint64(o.Reason)<<48 | uint64(o.Tenant)<<32 | uint64(o.Class)<<16 | uint64(o.Model))
	out.Int(int64(o.Instance))
	out.Int(int64(o.Arrival))
	for _, t := range [...]vtime.Time{o.Admitted, o.Routed, o.Queued, o.Scheduled, o.FirstToken, o.LastToken} {
		out.Int(since(o.Arrival, t))
	}
	out.Int(int64(o.Input))
	out.Int(int64(o.Cached))
	out.Int(int64(o.Generated))
	if rare {
		out.Uint(o.Session)
		out.Int(int64(o.Round))
		out.Int(int64(o.Preemptions))
		out.Int(int64(o.Recomputed))
		out.Int(int64(o.PrefillLost))
		out.Int(int64(o.DecodeLost))
		out.Int(int64(o.Redirects))
		out.Int(int64(o.Expected))
	}
	out.End()
}

// readOutcome is the inverse. A request ended when the message says so.
func readOutcome(m *lookahead.Message, o *metrics.Outcome) {
	b := &m.Body
	*o = metrics.Outcome{Identity: workload.Identity{ID: b.Int()}, Finished: m.Stamp.At}
	word := b.Uint()
	o.State, o.Reason = metrics.State(word>>56), metrics.Reason(word>>48)
	o.Tenant, o.Class, o.Model = workload.Label(word>>32), workload.Label(word>>16), workload.Label(word)
	o.Instance = int32(b.Int())
	o.Arrival = vtime.Time(b.Int())
	for _, t := range [...]*vtime.Time{&o.Admitted, &o.Routed, &o.Queued, &o.Scheduled, &o.FirstToken, &o.LastToken} {
		*t = after(o.Arrival, b.Int())
	}
	o.Input = int32(b.Int())
	o.Cached = int32(b.Int())
	o.Generated = int32(b.Int())
	if b.Left() > 0 {
		o.Session = b.Uint()
		o.Round = int32(b.Int())
		o.Preemptions = int32(b.Int())
		o.Recomputed = int32(b.Int())
		o.PrefillLost = vtime.Duration(b.Int())
		o.DecodeLost = vtime.Duration(b.Int())
		o.Redirects = int32(b.Int())
		o.Expected = int32(b.Int())
	}
	mustDecode(b)
}

// mustDecode: a message between our own actors that does not parse is a bug.
func mustDecode(b *lookahead.Decoder) {
	if err := b.Err(); err != nil {
		panic("actors: message: " + err.Error())
	}
}
