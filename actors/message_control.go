package actors

import (
	"blis/engine"
	"blis/kv"
	"blis/lookahead"
	"blis/policy"
	"blis/vtime"
)

// Messages about instances: how many there should be, which is taken away, what
// their prefix caches hold.

// sendEvaluate tells an autoscaler at now to ask its policy at the time at.
func sendEvaluate(out *lookahead.Outbox, autoscaler lookahead.ProcessID, now, at vtime.Time) {
	out.Begin(autoscaler, lookahead.Key{At: now, Class: vtime.ClassScale}, kindEvaluate, 1)
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
func sendBlocks(out *lookahead.Outbox, at vtime.Time, of incarnation, changes []engine.BlockChange) {
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
	out.Int(of.word())
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

// sendTierBlocks is sendBlocks for an instance with a tier: each list says its medium,
// and whether its blocks or entries were stored or removed.
func sendTierBlocks(out *lookahead.Outbox, at vtime.Time, of incarnation, changes []engine.BlockChange) {
	lists := 1
	for k := 1; k < len(changes); k++ {
		if !alike(changes[k-1], changes[k]) {
			lists++
		}
	}
	out.Begin(routerID, lookahead.Key{At: at, Class: vtime.ClassNotice}, kindTierBlocks, 1+lists+len(changes))
	out.Int(of.word())
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && alike(changes[0], changes[n]) {
			n++
		}
		out.Uint(uint64(n)<<9 | uint64(changes[0].Medium)<<1 | bit(changes[0].Stored))
		for _, c := range changes[:n] {
			out.Uint(c.Key)
		}
		changes = changes[n:]
	}
	out.End()
}

// alike reports whether x and y are of one list.
func alike(x, y engine.BlockChange) bool { return x.Medium == y.Medium && x.Stored == y.Stored }

// readTierBlocks is readBlocks for what sendTierBlocks sent.
func readTierBlocks(b *lookahead.Decoder, f func(of incarnation, c engine.BlockChange)) {
	of := readIncarnation(b.Int())
	for b.Left() > 0 && b.Err() == nil {
		list := b.Uint()
		for n := list >> 9; n > 0 && b.Err() == nil; n-- {
			f(of, engine.BlockChange{Key: b.Uint(), Stored: list&1 == 1, Medium: kv.Medium(list >> 1)})
		}
	}
	mustDecode(b)
}

// readBlocks calls f for every change, in their order, with the instance and its incarnation.
func readBlocks(b *lookahead.Decoder, f func(of incarnation, c engine.BlockChange)) {
	of := readIncarnation(b.Int())
	for stored := true; b.Left() > 0; stored = !stored {
		for n := b.Int(); n > 0 && b.Err() == nil; n-- {
			f(of, engine.BlockChange{Key: b.Uint(), Stored: stored})
		}
	}
	mustDecode(b)
}
