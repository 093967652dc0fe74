package lookahead

import "blis/vtime"

// view is what the coordinator knows between turns. Everything that a decision
// depends on is in it, so decide is a function of view alone.
type view struct {
	leaves  summary
	control []controlState

	notices notices        // Config.Notices
	end     Key            // Config.End
	window  vtime.Duration // maximum length of a window, 0: no limit
}

// controlState is what the coordinator knows of one control process.
type controlState struct {
	receives kindSet // the kinds of notices that leaves may send it

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
	// may change before stateBefore, or which may send a notice of one of
	// notifyKinds before notifyBefore. Both NeverKey: all leaves with events
	// before the horizon.
	stateBefore, notifyBefore Key
	notifyKinds               kindSet

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
// is held back by notices that it may still receive before its next event, and by
// leaves that have not reached the state that it observes. When all are held
// back, the leaves run, up to the earliest message that a control process may
// still send.
func decide(v *view) move {
	m, first := move{action: runLeaves, stateBefore: NeverKey, notifyBefore: NeverKey}, NeverKey
	for c := range v.control {
		s := &v.control[c]
		if s.stopped {
			if s.streaming && v.independent(s) && m.overlappedHorizon == (Key{}) {
				if h := v.controlHorizon(c); s.due.Less(h) {
					m.overlapped, m.overlappedHorizon = c, h
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
			m.stateBefore, m.notifyBefore, m.notifyKinds = v.waitsFor(s)
		}
	}
	if m.horizon = v.leafHorizon(); v.leaves.due.Less(m.horizon) {
		return m
	}
	return move{action: quiesce}
}

// independent reports whether s and the leaves exchange nothing that s waits
// for. Then a turn of s and a window may overlap:
//   - nothing that the leaves do can reach s: they promise no notices that it
//     receives, what follows from other notices bounds its horizon, and it
//     observes nothing, so it does not matter how far they are;
//   - nothing that s does comes too late for the leaves: they do not pass the
//     promise of s, so what s sends meanwhile is ahead of them.
func (v *view) independent(s *controlState) bool {
	return s.observed.At.IsNever() && v.leaves.earliest(s.receives).IsNever()
}

// waitsFor returns what the next event of the process, or its next observation,
// needs of the leaves: the Key up to which their published state must be final,
// and the Key before which no notice of some kinds may be outstanding. These are
// the kinds that the process receives, and those of which a notice could cause,
// over a leaf, what it waits for.
func (v *view) waitsFor(s *controlState) (stateBefore, notifyBefore Key, kinds kindSet) {
	switch {
	case s.due == s.periodic: // a periodic event waits for everything before it
		return NeverKey, NeverKey, 0
	case s.observed.At.IsNever():
		stateBefore, notifyBefore = Key{}, s.due.Next()
	default:
		stateBefore, notifyBefore = s.observed.StateBefore, latest(s.due, s.observed.At).Next()
	}
	kinds = s.receives
	if k := v.unheard(s); k.Less(stateBefore) || !k.IsNever() && v.notices.replies(s.receives, k, k).Less(notifyBefore) {
		kinds = v.leaves.kinds
	}
	return stateBefore, notifyBefore, kinds
}

// unheard returns the Key of the earliest message to a leaf that can follow from
// a notice that s does not get.
func (v *view) unheard(s *controlState) Key { return v.notices.unheard(&v.leaves, s.receives) }

// controlHorizon returns the horizon of control process c.
func (v *view) controlHorizon(c int) (h Key) {
	s := &v.control[c]
	h = Earliest(v.end, v.notices.firstNotice(&v.leaves, s.receives))
	for o := range v.control {
		if o != c {
			h = Earliest(h, peerHorizon(c, o, v.control[o].due))
		}
	}
	h = v.limitWindow(Earliest(h, s.periodic), s.due)
	if !s.observed.At.Less(h) {
		return h
	}
	if v.stableUntil(s).Less(s.observed.StateBefore) {
		return s.observed.At
	}
	return Earliest(h, s.observed.Until)
}

// stableUntil returns the Key until which everything that s reads of leaves stays
// as it is. A leaf answers for itself, if nothing more is delivered to it (see
// Publisher), and its Key covers mail in its mailbox. A message that changes the
// state and has not been sent yet would follow
//   - from an event, or mail, of another control process: peerHorizon does not
//     let s pass that, and the message is later still;
//   - from a notice that s receives: its promise holds s back in the same way;
//   - from a notice that s does not receive: then it is not before unheard.
//
// So a leaf need not consider answers to its notices, nor answers to those of
// others.
func (v *view) stableUntil(s *controlState) Key {
	return Earliest(v.leaves.stableUntil, v.unheard(s))
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
//     reaction to a notice, of any kind, that a leaf may still send,
//   - the leaf limits of the next observations,
//   - the periodic events of control processes, which must see whether anything
//     is left to do once everything before them is done.
func (v *view) leafHorizon() Key {
	h := v.end
	for set := v.leaves.kinds; set != 0; set = set.rest() {
		kind := set.first()
		h = Earliest(h, v.notices.effect(kind, v.leaves.promise[kind]))
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
