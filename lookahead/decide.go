package lookahead

import "blis/vtime"

// view is what the coordinator knows between turns. Everything that decides
// who may run is in it, so decide is a function of it alone.
type view struct {
	leaves  summary
	control []station

	react  func(Key) Key // earliest delivery that a notice can cause
	end    Key
	window vtime.Duration // longest, 0: no limit
}

// station is what the coordinator knows of one control process.
type station struct {
	due      Key // earliest event: local, periodic or mail
	periodic Key // earliest periodic event
	promise  Key // earliest message, whatever waits in its mailbox included
	observed Observation
	stopped  bool // it ended its turn itself and waits for the leaves
	streams  bool // it may go on beside them
}

// move is the next thing to do.
type move struct {
	action  action
	control int // which one, for runControl
	horizon Key
	// For runLeaves: only leaves whose published state may change before
	// need, or which may send something before told, have to run now; both
	// NeverKey: all.
	need, told Key
	// And the control process that has a turn at the same time, up to this
	// horizon; none if that is the zero Key.
	beside        int
	besideHorizon Key
}

type action uint8

const (
	runControl action = iota
	runLeaves
	settle // nobody may advance: periodic events, sinks, the end, or a deadlock
)

// decide says who runs next and how far. A too early horizon costs windows; a
// too late one lets a message arrive in a process's past, which is a trap.
//
// Control processes go first, interleaved in the order of (Key, id): they are
// few, and every step of theirs sends leaves further. When they would pass
// what leaves may still tell them, or need to see leaves that are behind, all
// leaves run until what control may still tell them.
func decide(v *view) move {
	need, told, first := NeverKey, NeverKey, NeverKey
	beside, besideHorizon := 0, Key{}
	for c := range v.control {
		s := &v.control[c]
		if s.stopped {
			if s.streams && v.apart(s) && besideHorizon == (Key{}) {
				if h := v.controlHorizon(c); s.due.Less(h) {
					beside, besideHorizon = c, h
				}
			}
			continue
		}
		h := v.controlHorizon(c)
		if s.due.Less(h) || s.passes(h) {
			return move{action: runControl, control: c, horizon: h}
		}
		if s.due.Less(first) { // of those held back, the one to go on next
			first = s.due
			need, told = s.waitsFor()
		}
	}
	if h := v.leafHorizon(); v.leaves.due.Less(h) {
		return move{action: runLeaves, horizon: h, need: need, told: told, beside: beside, besideHorizon: besideHorizon}
	}
	return move{action: settle}
}

// apart reports whether a control process and the leaves have nothing to tell
// each other: it observes nothing, they send nothing. Then, as leaves do not
// pass its promise, both may run at the same time.
func (v *view) apart(s *station) bool {
	return s.observed.At.IsNever() && v.leaves.promise.IsNever()
}

// waitsFor is what must be known before the process can go on, its next
// observation included: until when what leaves publish must stand, and before
// when no message of theirs may be outstanding.
func (s *station) waitsFor() (need, told Key) {
	switch {
	case s.due == s.periodic: // for everything before it
		return NeverKey, NeverKey
	case s.observed.At.IsNever():
		return Key{}, s.due.Next()
	}
	return s.observed.StateBefore, latest(s.due, s.observed.At).Next()
}

// controlHorizon is the Key before which control process c may run.
func (v *view) controlHorizon(c int) (h Key) {
	s := &v.control[c]
	h = earliest(v.end, v.leaves.promise)
	for o := range v.control {
		if o != c {
			h = earliest(h, turnOf(c, o, v.control[o].due))
		}
	}
	h = v.cut(earliest(h, s.periodic), s.due)
	if !s.observed.At.Less(h) {
		return h
	}
	if v.leaves.steady.Less(s.observed.StateBefore) {
		return s.observed.At
	}
	return earliest(h, s.observed.Until)
}

// turnOf is how far control process c may run while o has an event at due:
// through that Key if c comes first by id, as messages from there are later.
func turnOf(c, o int, due Key) Key {
	if c < o {
		return due.Next()
	}
	return due
}

// passes reports whether a turn up to h, although nothing is due before it,
// ends an observation: the process announced one and reads nothing in it.
func (s *station) passes(h Key) bool {
	return s.observed.At.Less(h) && s.observed.Until == h && !h.IsNever()
}

// leafHorizon is the Key before which every leaf may run: the earliest
// message that control may still send, of itself or caused by a notice that
// is still to come; the next observation; a periodic event, which must see
// whether anything is left once everything before it is done.
func (v *view) leafHorizon() Key {
	h := v.end
	if v.react != nil && !v.leaves.promise.IsNever() {
		h = earliest(h, v.react(v.leaves.promise))
	}
	for c := range v.control {
		s := &v.control[c]
		h = earliest(h, earliest(s.promise, s.periodic))
		if !s.observed.At.IsNever() {
			h = earliest(h, s.observed.LeafLimit)
		}
	}
	return v.cut(h, v.leaves.due)
}

// cut applies the limit on the length of windows.
func (v *view) cut(h, from Key) Key {
	if v.window == 0 || from.IsNever() {
		return h
	}
	return earliest(h, latest(Key{At: from.At.Add(v.window)}, from.Next()))
}
