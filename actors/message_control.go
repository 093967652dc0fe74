package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/policy"
	"blis/vtime"
)

// Messages about instances: how many there should be, which is taken away, what
// their prefix caches hold.

// sendEvaluate tells the autoscaler at now to ask its policy at the time at.
func sendEvaluate(out *lookahead.Outbox, now, at vtime.Time) {
	out.Begin(autoscalerID, lookahead.Key{At: now, Class: vtime.ClassScale}, kindEvaluate, 1)
	out.Int(int64(at))
	out.End()
}

func readEvaluate(b *lookahead.Decoder) (at vtime.Time) {
	at = vtime.Time(b.Int())
	mustDecode(b)
	return at
}

// sendScale tells the router how many instances there should be.
func sendScale(out *lookahead.Outbox, now vtime.Time, target int32, reason policy.Reason) {
	out.Begin(routerID, lookahead.Key{At: now, Class: vtime.ClassScaleAction}, kindScale, 2)
	out.Int(int64(target))
	out.Int(int64(reason))
	out.End()
}

func readScale(b *lookahead.Decoder) (target int32, reason policy.Reason) {
	target, reason = int32(b.Int()), policy.Reason(b.Int())
	mustDecode(b)
	return target, reason
}

// sendStop takes an instance away: its requests are aborted, or returned to the
// router with giveBack.
func sendStop(out *lookahead.Outbox, to lookahead.ProcessID, at vtime.Time, giveBack bool) {
	out.Begin(to, lookahead.Key{At: at, Class: vtime.ClassDelivery}, kindStop, 1)
	out.Uint(bit(giveBack))
	out.End()
}

func readStop(b *lookahead.Decoder) (giveBack bool) {
	giveBack = b.Uint() == 1
	mustDecode(b)
	return giveBack
}

// sendBlocks tells the router at a time which blocks the prefix cache of an
// instance has stored and removed since it did so last, in their order: the
// number and the keys of blocks that were stored, then of blocks that were
// removed, and so on in turn.
func sendBlocks(out *lookahead.Outbox, at vtime.Time, instance int, changes []engine.BlockChange) {
	turns, stored := 0, false
	for _, c := range changes {
		if turns == 0 || c.Stored != stored {
			turns, stored = turns+1, c.Stored
		}
	}
	if !changes[0].Stored {
		turns++ // no blocks stored come first
	}
	out.Begin(routerID, lookahead.Key{At: at, Class: vtime.ClassNotice}, kindBlocks, 1+turns+len(changes))
	out.Int(int64(instance))
	if !changes[0].Stored {
		out.Int(0)
	}
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].Stored == changes[0].Stored {
			n++
		}
		out.Int(int64(n))
		for _, c := range changes[:n] {
			out.Uint(c.Key)
		}
		changes = changes[n:]
	}
	out.End()
}

// readBlocks calls f for every change, in their order, with the instance.
func readBlocks(b *lookahead.Decoder, f func(instance int, c engine.BlockChange)) {
	instance := int(b.Int())
	for stored := true; b.Left() > 0; stored = !stored {
		for n := b.Int(); n > 0 && b.Err() == nil; n-- {
			f(instance, engine.BlockChange{Key: b.Uint(), Stored: stored})
		}
	}
	mustDecode(b)
}
