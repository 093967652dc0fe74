package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/vtime"
)

// Messages of prefill/decode disaggregation, in the order in which a request causes them.

// Kinds of its notices.
const (
	prefilledNotice lookahead.NoticeKind = 3
	pullingNotice   lookahead.NoticeKind = 4
	notPulledNotice lookahead.NoticeKind = 5
)

// sendPrefill is sendDelivery to an instance that computes the prompt alone.
func sendPrefill(out *lookahead.Outbox, to lookahead.ProcessID, now, effect vtime.Time, d *engine.Delivery) {
	beginDelivery(out, to, now, effect, kindPrefill, deliveryFields(d))
	writeDelivery(out, d)
	out.End()
}

// sendPrefillAgain is sendPrefill for a request that was returned or lost.
func sendPrefillAgain(out *lookahead.Outbox, to lookahead.ProcessID, now, effect vtime.Time, d *engine.Delivery, p *engine.Progress) {
	beginDelivery(out, to, now, effect, kindPrefillAgain, progressFields+deliveryFields(d))
	writeProgress(out, d.Arrival, p)
	writeDelivery(out, d)
	out.End()
}

// prefilled is what an instance says of a prefill that has ended.
type prefilled struct {
	source   engine.KVSource
	awaiting int // prefills of the instance whose KV awaits its pull, with this one
	handOver metrics.HandOver
}

// sendPrefilled tells the router at now that a prefill has ended, of a request that arrived then.
func sendPrefilled(out *lookahead.Outbox, now, arrival vtime.Time, p *prefilled) {
	out.BeginNotice(routerID, lookahead.Key{At: now, Class: vtime.ClassNotice}, prefilledNotice, kindPrefilled, 2+sourceFields+handOverFields(&p.handOver))
	out.Int(int64(arrival))
	writeSource(out, &p.source)
	out.Int(int64(p.awaiting))
	writeHandOver(out, arrival, &p.handOver)
	out.End()
}

func readPrefilled(b *lookahead.Decoder, p *prefilled) {
	arrival := vtime.Time(b.Int())
	readSource(b, &p.source)
	p.awaiting = int(b.Int())
	readHandOver(b, arrival, &p.handOver)
	mustDecode(b)
}

// sendPull is sendDelivery to an instance that pulls the KV of the request; if fails, the pull brings
// nothing.
func sendPull(out *lookahead.Outbox, to lookahead.ProcessID, now, effect vtime.Time, d *engine.Delivery, s *engine.KVSource, fails bool) {
	beginDelivery(out, to, now, effect, kindPull, 1+sourceFields+deliveryFields(d))
	writePullSource(out, s, fails)
	writeDelivery(out, d)
	out.End()
}

func readPull(b *lookahead.Decoder, d *engine.Delivery, s *engine.KVSource) (fails bool) {
	fails = readPullSource(b, s)
	readDelivery(b, d)
	return fails
}

// sendPullAgain is sendPull for a request that was returned or lost.
func sendPullAgain(out *lookahead.Outbox, to lookahead.ProcessID, now, effect vtime.Time, d *engine.Delivery, p *engine.Progress, s *engine.KVSource, fails bool) {
	beginDelivery(out, to, now, effect, kindPullAgain, 1+sourceFields+progressFields+deliveryFields(d))
	writePullSource(out, s, fails)
	writeProgress(out, d.Arrival, p)
	writeDelivery(out, d)
	out.End()
}

func readPullAgain(b *lookahead.Decoder, d *engine.Delivery, p *engine.Progress, s *engine.KVSource) (fails bool) {
	fails = readPullSource(b, s)
	readResumed(b, d, p)
	return fails
}

// writePullSource writes the KV that is pulled, and whether that fails or the KV is gone.
func writePullSource(out *lookahead.Outbox, s *engine.KVSource, fails bool) {
	writeSource(out, s)
	out.Uint(bit(fails) | bit(s.Gone)<<1)
}

func readPullSource(b *lookahead.Decoder, s *engine.KVSource) (fails bool) {
	readSource(b, s)
	how := b.Uint()
	s.Gone = how>>1 == 1
	return how&1 == 1
}

// sendPulling tells the router at now that a pull of the rank numbered by begins.
func sendPulling(out *lookahead.Outbox, now vtime.Time, by int, p *engine.Pull) {
	out.BeginNotice(routerID, lookahead.Key{At: now, Class: vtime.ClassNotice}, pullingNotice, kindPulling, 5+sourceFields)
	out.Int(int64(by))
	writeSource(out, &p.Source)
	out.Int(p.Number)
	out.Int(int64(p.Blocks))
	out.Int(int64(p.Lasts))
	out.Uint(bit(p.Fails) | bit(p.End == vtime.Never)<<1)
	out.End()
}

// readPulling reads what sendPulling sent at now.
func readPulling(b *lookahead.Decoder, now vtime.Time, p *engine.Pull) (by int) {
	by = int(b.Int())
	readSource(b, &p.Source)
	p.Number, p.Blocks, p.Start, p.Lasts = b.Int(), int32(b.Int()), now, vtime.Duration(b.Int())
	how := b.Uint()
	if p.Fails, p.End = how&1 == 1, now.Add(p.Lasts); how>>1 == 1 {
		p.End = vtime.Never
	}
	mustDecode(b)
	return by
}

// sendPullEnded tells a rank of an instance that its pull of that number ends at the time, and how long it took.
func sendPullEnded(out *lookahead.Outbox, to lookahead.ProcessID, at vtime.Time, rank int, number int64, lasted vtime.Duration) {
	out.Begin(to, lookahead.Key{At: at, Class: vtime.ClassTransfer}, kindPullEnded, 3)
	out.Int(int64(rank))
	out.Int(number)
	out.Int(int64(lasted))
	out.End()
}

func readPullEnded(b *lookahead.Decoder) (rank int, number int64, lasted vtime.Duration) {
	rank, number, lasted = int(b.Int()), b.Int(), vtime.Duration(b.Int())
	mustDecode(b)
	return rank, number, lasted
}

// sendNotPulled tells the router at now that a request left before its pull.
func sendNotPulled(out *lookahead.Outbox, now vtime.Time, s *engine.KVSource) {
	out.BeginNotice(routerID, lookahead.Key{At: now, Class: vtime.ClassNotice}, notPulledNotice, kindNotPulled, sourceFields)
	writeSource(out, s)
	out.End()
}

// sendSource tells an instance of KV that awaits its pull there: kindPulled or kindGivenUp.
func sendSource(out *lookahead.Outbox, to lookahead.ProcessID, at vtime.Time, kind lookahead.Kind, s *engine.KVSource) {
	out.Begin(to, lookahead.Key{At: at, Class: vtime.ClassTransfer}, kind, sourceFields)
	writeSource(out, s)
	out.End()
}

// sendRevoked tells an instance that failed at t, or works with one that did, that what it was told of the end of a pull
// is void.
func sendRevoked(out *lookahead.Outbox, to lookahead.ProcessID, t vtime.Time, s *engine.KVSource) {
	out.Begin(to, failureKey(t), kindRevoked, sourceFields)
	writeSource(out, s)
	out.End()
}

// sendSourceLost tells an instance that the KV is gone that another one had, which was lost at t, in n ranks from the one
// numbered first on.
func sendSourceLost(out *lookahead.Outbox, to lookahead.ProcessID, t vtime.Time, first, n int) {
	out.Begin(to, lookahead.Key{At: t.Add(1), Class: vtime.ClassTransfer}, kindSourceLost, 2)
	out.Int(int64(first))
	out.Int(int64(n))
	out.End()
}

func readSourceLost(b *lookahead.Decoder) (first, n int) {
	first, n = int(b.Int()), int(b.Int())
	mustDecode(b)
	return first, n
}

// sendReleased tells the router at now that the blocks of n prefills were let go.
func sendReleased(out *lookahead.Outbox, now vtime.Time, instance, n int) {
	out.Begin(routerID, lookahead.Key{At: now, Class: vtime.ClassNotice}, kindReleased, 2)
	out.Int(int64(instance))
	out.Int(int64(n))
	out.End()
}

func readReleased(b *lookahead.Decoder) (instance, n int) {
	instance, n = int(b.Int()), int(b.Int())
	mustDecode(b)
	return instance, n
}

// sourceFields is the number of fields that writeSource writes.
const sourceFields = 5

func writeSource(out *lookahead.Outbox, s *engine.KVSource) {
	out.Int(s.Request)
	out.Int(s.Number)
	out.Int(int64(s.Slot))
	out.Int(int64(s.Blocks))
	out.Int(s.From)
}

func readSource(b *lookahead.Decoder, s *engine.KVSource) {
	*s = engine.KVSource{Request: b.Int(), Number: b.Int(), Slot: int32(b.Int()), Blocks: int32(b.Int()), From: b.Int()}
}
