package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// Messages about the ends of requests and about instances that come and go.

// sendEnded tells the router that a request of an instance ended at now, and
// how many tokens it had yielded if somebody may go on from there; with fared
// also how it fared.
func sendEnded(out *lookahead.Outbox, now vtime.Time, instance int, o *metrics.Outcome, tokens bool, fared *policy.Ending) {
	fields := 3
	if tokens {
		fields++
	}
	if fared != nil {
		fields += endingFields
	}
	out.Begin(routerID, lookahead.Key{At: now, Class: vtime.ClassNotice}, kindEnded, fields)
	out.Int(int64(instance))
	out.Int(o.ID)
	out.Uint(uint64(o.State)<<16 | uint64(o.Tenant))
	if fared != nil {
		writeEnding(out, o.Class, fared)
	}
	if tokens {
		out.Int(int64(o.Generated))
	}
	out.End()
}

// endingFields is how many fields there are of how a request fared.
const endingFields = 4

func writeEnding(out *lookahead.Outbox, class workload.Label, x *policy.Ending) {
	out.Int(int64(x.TTFT))
	out.Int(int64(x.TPOT))
	out.Int(int64(x.E2E))
	word := uint64(class) << 2
	if x.Judged {
		word |= 1
	}
	if x.Attained {
		word |= 2
	}
	out.Uint(word)
}

// readEnding is the inverse.
func readEnding(b *lookahead.Decoder) (class workload.Label, x policy.Ending) {
	x.TTFT, x.TPOT, x.E2E = vtime.Duration(b.Int()), vtime.Duration(b.Int()), vtime.Duration(b.Int())
	word := b.Uint()
	x.Judged, x.Attained = word&1 != 0, word&2 != 0
	return workload.Label(word >> 2), x
}

// ended is a request that an instance told the router of.
type ended struct {
	instance  int
	request   int64
	tenant    workload.Label
	completed bool
	generated int32 // 0 if it was not told
	class     workload.Label
	fared     policy.Ending // if it was told
}

// readEnded is the inverse.
func readEnded(b *lookahead.Decoder, fared bool) (e ended) {
	e.instance = int(b.Int())
	e.request = b.Int()
	word := b.Uint()
	e.tenant, e.completed = workload.Label(word), metrics.State(word>>16) == metrics.Completed
	if fared {
		e.class, e.fared = readEnding(b)
	}
	if b.Left() > 0 {
		e.generated = int32(b.Int())
	}
	mustDecode(b)
	return e
}

// sendScale tells the router how many instances there are to be.
func sendScale(out *lookahead.Outbox, now vtime.Time, target int32, reason policy.Reason) {
	out.Begin(routerID, lookahead.Key{At: now, Class: vtime.ClassScaleAction}, kindScale, 2)
	out.Int(int64(target))
	out.Int(int64(reason))
	out.End()
}

// readScale is the inverse.
func readScale(b *lookahead.Decoder) (target int32, reason policy.Reason) {
	target, reason = int32(b.Int()), policy.Reason(b.Int())
	mustDecode(b)
	return target, reason
}

// sendStop takes an instance away: what it has ends, or is given back.
func sendStop(out *lookahead.Outbox, to lookahead.ProcessID, at vtime.Time, giveBack bool) {
	out.Begin(to, lookahead.Key{At: at, Class: vtime.ClassDelivery}, kindStop, 1)
	mode := int64(0)
	if giveBack {
		mode = 1
	}
	out.Int(mode)
	out.End()
}

// readStop is the inverse.
func readStop(b *lookahead.Decoder) (giveBack bool) {
	giveBack = b.Int() == 1
	mustDecode(b)
	return giveBack
}

// progressFields is how many fields the progress of a request has.
const progressFields = 15

func writeProgress(out *lookahead.Outbox, arrival vtime.Time, p *engine.Progress) {
	for _, t := range [...]vtime.Time{p.Routed, p.Queued, p.Scheduled, p.FirstToken, p.LastToken, p.Evicted} {
		out.Int(since(arrival, t))
	}
	out.Int(int64(p.PrefillLost))
	out.Int(int64(p.DecodeLost))
	for _, n := range [...]int32{p.Generated, p.Cached, p.Preemptions, p.Recomputed, p.Lost, p.Deficit, p.Redirects} {
		out.Int(int64(n))
	}
}

func readProgress(b *lookahead.Decoder, p *engine.Progress) {
	for _, t := range [...]*vtime.Time{&p.Routed, &p.Queued, &p.Scheduled, &p.FirstToken, &p.LastToken, &p.Evicted} {
		*t = vtime.Time(b.Int()) // since the arrival, which is not known yet
	}
	p.PrefillLost, p.DecodeLost = vtime.Duration(b.Int()), vtime.Duration(b.Int())
	for _, n := range [...]*int32{&p.Generated, &p.Cached, &p.Preemptions, &p.Recomputed, &p.Lost, &p.Deficit, &p.Redirects} {
		*n = int32(b.Int())
	}
}

// from makes times since an arrival absolute.
func fromArrival(p *engine.Progress, arrival vtime.Time) {
	for _, t := range [...]*vtime.Time{&p.Routed, &p.Queued, &p.Scheduled, &p.FirstToken, &p.LastToken, &p.Evicted} {
		*t = after(arrival, int64(*t))
	}
}

// sendReturned gives a request back to the router.
func sendReturned(out *lookahead.Outbox, now vtime.Time, instance int, d *engine.Delivery, p *engine.Progress) {
	fields, rare := deliveryFields(d)
	out.Begin(routerID, lookahead.Key{At: now, Class: vtime.ClassNotice}, kindReturned, 1+progressFields+fields)
	out.Int(int64(instance))
	writeProgress(out, d.Arrival, p)
	writeDelivery(out, d, rare)
	out.End()
}

// readReturned is the inverse.
func readReturned(b *lookahead.Decoder, d *engine.Delivery, p *engine.Progress) (instance int) {
	instance = int(b.Int())
	readProgress(b, p)
	readDelivery(b, d)
	fromArrival(p, d.Arrival)
	return instance
}

// sendResumed delivers a request that was on another instance.
func sendResumed(out *lookahead.Outbox, to lookahead.ProcessID, now, quiet vtime.Time, d *engine.Delivery, p *engine.Progress) {
	fields, rare := deliveryFields(d)
	out.BeginWithEffectAt(to, lookahead.Key{At: now, Class: vtime.ClassDelivery}, lookahead.Key{At: quiet, Class: vtime.ClassQueued}, kindResumed, progressFields+fields)
	writeProgress(out, d.Arrival, p)
	writeDelivery(out, d, rare)
	out.End()
}

// readResumed is the inverse.
func readResumed(b *lookahead.Decoder, d *engine.Delivery, p *engine.Progress) {
	readProgress(b, p)
	readDelivery(b, d)
	fromArrival(p, d.Arrival)
}
