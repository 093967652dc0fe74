package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/vtime"
)

// Messages about instances that fail.

// failureKey is the Key at which an instance learns of a failure at t, or of its end: before all
// else that reaches it at that instant.
func failureKey(t vtime.Time) lookahead.Key {
	return lookahead.Key{At: t.Add(1), Class: vtime.ClassDelivery}
}

// incarnation is an instance between two crashes: number counts those before.
type incarnation struct{ instance, number int32 }

// word is the instance alone before its first crash.
func (i incarnation) word() int64 { return int64(uint32(i.instance)) | int64(i.number)<<32 }

func readIncarnation(word int64) incarnation { return incarnation{int32(word), int32(word >> 32)} }

// sendCrash takes an instance down at t.
func sendCrash(out *lookahead.Outbox, to lookahead.ProcessID, t vtime.Time) {
	out.Begin(to, failureKey(t), kindCrash, 0)
	out.End()
}

// sendRepair brings an instance back at t.
func sendRepair(out *lookahead.Outbox, to lookahead.ProcessID, t vtime.Time) {
	out.Begin(to, failureKey(t), kindRepair, 0)
	out.End()
}

// sendSlow multiplies the length of an instance's steps by factor from t on.
func sendSlow(out *lookahead.Outbox, to lookahead.ProcessID, t vtime.Time, factor float64) {
	out.Begin(to, failureKey(t), kindSlow, 1)
	out.Float(factor)
	out.End()
}

// linkShare is the share of the bandwidth that pulls of or to the n ranks of an instance have, from the one numbered first
// on.
type linkShare struct {
	first, n int
	share    float64
}

// sendLink gives pulls that begin after t a share of their bandwidth.
func sendLink(out *lookahead.Outbox, to lookahead.ProcessID, t vtime.Time, l linkShare) {
	out.Begin(to, failureKey(t), kindLink, 3)
	out.Int(int64(l.first))
	out.Int(int64(l.n))
	out.Float(l.share)
	out.End()
}

func readLink(b *lookahead.Decoder) (l linkShare) {
	l.first, l.n, l.share = int(b.Int()), int(b.Int()), b.Float()
	mustDecode(b)
	return l
}

func readSlow(b *lookahead.Decoder) (factor float64) {
	factor = b.Float()
	mustDecode(b)
	return factor
}

// lost is a request that was lost with its instance.
type lost struct {
	transfer
	tokens int32 // whose KV was there, or wasRefused, or itsPullFailed
}

// What a request is lost by, in place of the tokens of one that was on an instance which crashed.
const (
	wasRefused    = -1 // it was delivered while the instance was down
	itsPullFailed = -2
)

// reason is why the request fails, if it does.
func (l *lost) reason() metrics.Reason {
	if l.tokens == itsPullFailed {
		return metrics.TransferFailed
	}
	return metrics.InstanceLost
}

// sendCutOff tells the router of a request that was lost at now.
func sendCutOff(out *lookahead.Outbox, now vtime.Time, d *engine.Delivery, l *lost) {
	out.BeginNotice(routerID, lookahead.Key{At: now, Class: vtime.ClassNotice}, cutOffNotice, kindCutOff, 2+progressFields+deliveryFields(d))
	out.Int(int64(l.from))
	out.Int(int64(l.tokens))
	writeProgress(out, d.Arrival, &l.Progress)
	writeDelivery(out, d)
	out.End()
}

func readCutOff(b *lookahead.Decoder, d *engine.Delivery, l *lost) {
	l.from, l.tokens = int32(b.Int()), int32(b.Int())
	readResumed(b, d, &l.Progress)
}
