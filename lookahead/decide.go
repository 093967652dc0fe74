package lookahead

import "blis/vtime"

// view is what the coordinator knows between turns. Everything that a decision
// depends on is in it, so decide is a function of view alone.
type view struct {
	leaves  summary
	control []controlState

	react  func(Key) Key  // Config.React
	end    Key            // Config.End
	window vtime.Duration // maximum length of a window, 0: no limit
}

// controlState is what the coordinator knows of one control process.
type controlState struct {
	due       Key // its earliest event: local, periodic or mail
	periodic  Key // its earliest periodic event, not before due
	promise   Key // the earliest message that it may send, mail in its mailbox considered
	observed  Observation
	stopped   bool // it ended its turn by Outbox.Stop and waits for the leaves
	streaming bool // it ended its turn by Outbox.Stream: stopped, but it may overlap a window
}

// move is a decision: what the coordinator does next.
type move struct {
	action  action
	control int // for runControl: the control process that gets a turn
	horizon Key // of the control process, or of all leaves

	// For runLeaves: the window can be limited to leaves whose published state
	// may change before stateBefore, or which may send a notice before
	// notifyBefore. Both NeverKey: all leaves with events before the horizon.
	stateBefore, notifyBefore Key

	// For runLeaves: the control process that has a turn during the window,
	// and its horizon; the zero Key if there is none.
	overlapped        int
	overlappedHorizon Key
}

type action uint8

const (
	runControl action = iota
	runLeaves
	quiesce // no process may advance: sinks, a periodic event, the end or a deadlock
)

// decide returns what runs next and how far. A horizon that is too early costs
// windows. A horizon that is too late lets a message arrive in the past of its
// receiver, which is a trap.
//
// Control processes go first, interleaved in the order of (Key, index): there are
// few, and each of their turns lets leaves advance further. A control process
// is held back by notices that may still arrive before its next event, and by
// leaves that have not reached the state that it observes. When all are held
// back, the leaves run, up to the earliest message that a control process may
// still send.
func decide(v *view) move {
	stateBefore, notifyBefore, first := NeverKey, NeverKey, NeverKey
	overlapped, overlappedHorizon := 0, Key{}
	for c := range v.control {
		s := &v.control[c]
		if s.stopped {
			if s.streaming && v.independent(s) && overlappedHorizon == (Key{}) {
				if h := v.controlHorizon(c); s.due.Less(h) {
					overlapped, overlappedHorizon = c, h
				}
			}
			continue
		}
		h := v.controlHorizon(c)
		if s.due.Less(h) || s.endsObservation(h) {
			return move{action: runControl, control: c, horizon: h}
		}
		if s.due.Less(first) { // the first of those held back decides which leaves run
			first = s.due
			stateBefore, notifyBefore = s.waitsFor()
		}
	}
	if h := v.leafHorizon(); v.leaves.due.Less(h) {
		return move{action: runLeaves, horizon: h, stateBefore: stateBefore, notifyBefore: notifyBefore, overlapped: overlapped, overlappedHorizon: overlappedHorizon}
	}
	return move{action: quiesce}
}

// independent reports whether s and the leaves exchange nothing that s waits
// for. Then a turn of s and a window may overlap:
//   - nothing that the leaves do can reach s: they send no notices, and s
//     observes nothing, so it does not matter how far they are;
//   - nothing that s does comes too late for the leaves: they do not pass the
//     promise of s, so what s sends meanwhile is ahead of them.
func (v *view) independent(s *controlState) bool {
	return s.observed.At.IsNever() && v.leaves.promise.IsNever()
}

// waitsFor returns what the next event of the process, or its next observation,
// needs of the leaves: the Key up to which their published state must be final,
// and the Key before which no notice may be outstanding.
func (s *controlState) waitsFor() (stateBefore, notifyBefore Key) {
	switch {
	case s.due == s.periodic: // a periodic event waits for everything before it
		return NeverKey, NeverKey
	case s.observed.At.IsNever():
		return Key{}, s.due.Next()
	}
	return s.observed.StateBefore, latest(s.due, s.observed.At).Next()
}

// controlHorizon returns the horizon of control process c.
func (v *view) controlHorizon(c int) (h Key) {
	s := &v.control[c]
	h = Earliest(v.end, v.leaves.promise)
	for o := range v.control {
		if o != c {
			h = Earliest(h, peerHorizon(c, o, v.control[o].due))
		}
	}
	h = v.limitWindow(Earliest(h, s.periodic), s.due)
	if !s.observed.At.Less(h) {
		return h
	}
	if v.leaves.stableUntil.Less(s.observed.StateBefore) {
		return s.observed.At
	}
	return Earliest(h, s.observed.Until)
}

// peerHorizon returns the horizon that control process o, with an event at due,
// sets to control process c: the Key due, exclusive if o comes first by index and
// inclusive if c does, because what o sends is later than due.
func peerHorizon(c, o int, due Key) Key {
	if c < o {
		return due.Next()
	}
	return due
}

// endsObservation reports whether a turn up to h ends an announced observation
// in which the process turns out to have no event: then the turn is needed
// although nothing is due before h.
func (s *controlState) endsObservation(h Key) bool {
	return s.observed.At.Less(h) && s.observed.Until == h && !h.IsNever()
}

// leafHorizon returns the horizon of every leaf. It is the earliest of
//   - the messages that control processes may send, of themselves or in
//     reaction to a notice that a leaf may still send,
//   - the leaf limits of the next observations,
//   - the periodic events of control processes, which must see whether anything
//     is left to do once everything before them is done.
func (v *view) leafHorizon() Key {
	h := v.end
	if v.react != nil && !v.leaves.promise.IsNever() {
		h = Earliest(h, v.react(v.leaves.promise))
	}
	for c := range v.control {
		s := &v.control[c]
		h = Earliest(h, Earliest(s.promise, s.periodic))
		if !s.observed.At.IsNever() {
			h = Earliest(h, s.observed.LeafLimit)
		}
	}
	return v.limitWindow(h, v.leaves.due)
}

// limitWindow lowers h so that a window from the Key from is no longer than
// v.window.
func (v *view) limitWindow(h, from Key) Key {
	if v.window == 0 || from.IsNever() {
		return h
	}
	return Earliest(h, latest(Key{At: from.At.Add(v.window)}, from.Next()))
}
