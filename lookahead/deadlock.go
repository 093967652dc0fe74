package lookahead

import (
	"fmt"
	"strings"
)

// Blocked is a process that has an event and may not execute it.
type Blocked struct {
	Process string
	ID      ProcessID
	Next    Key    // of the event
	Waits   string // what the process waits for
}

// Deadlock is the error of a run in which events remain and no process may
// advance.
type Deadlock struct{ Blocked []Blocked }

// Error names each blocked process and what it waits for.
func (d *Deadlock) Error() string {
	var b strings.Builder
	b.WriteString("no process can advance although work remains:")
	for i, p := range d.Blocked {
		if i == 20 {
			fmt.Fprintf(&b, " and %d more", len(d.Blocked)-i)
			break
		}
		fmt.Fprintf(&b, " %q (%d) at %v waits for %s;", p.Process, p.ID, p.Next, p.Waits)
	}
	return strings.TrimSuffix(b.String(), ";")
}

// deadlock describes each blocked process and what it waits for.
func (s *Simulation) deadlock() error {
	d := &Deadlock{}
	for c, n := range s.control {
		if t := &s.view.control[c]; t.due.Less(s.config.End) {
			d.Blocked = append(d.Blocked, Blocked{n.name, n.id, t.due, s.controlWaits(c)})
		}
	}
	h := s.view.leafHorizon()
	for i, n := range s.fleet.nodes {
		if due := s.fleet.due.key(i); due.Less(s.config.End) {
			d.Blocked = append(d.Blocked, Blocked{n.name, n.id, due, s.leafWaits(h)})
		}
	}
	return d
}

// controlWaits describes what control process c waits for.
func (s *Simulation) controlWaits(c int) string {
	t := &s.view.control[c]
	if !t.due.Less(t.observed.At) {
		for i, n := range s.fleet.nodes {
			if s.fleet.stableUntil.key(i).Less(t.observed.StateBefore) {
				return fmt.Sprintf("an observation of %q, which is at %v and must reach %v", n.name, s.fleet.stableUntil.key(i), t.observed.StateBefore)
			}
		}
	}
	for i, n := range s.fleet.nodes {
		if p := s.fleet.promise.key(i); !t.due.Less(p) {
			return fmt.Sprintf("%q, which may send from %v on", n.name, p)
		}
	}
	for o, n := range s.control {
		if o != c && !t.due.Less(peerHorizon(c, o, s.view.control[o].due)) {
			return fmt.Sprintf("%q, which is at %v", n.name, s.view.control[o].due)
		}
	}
	return "its own turn, which it ends without an event"
}

// leafWaits describes what keeps the leaves' horizon at h.
func (s *Simulation) leafWaits(h Key) string {
	for c, n := range s.control {
		switch t := &s.view.control[c]; {
		case !t.observed.At.IsNever() && t.observed.LeafLimit == h:
			return fmt.Sprintf("%q to observe at %v, before %v", n.name, t.observed.At, h)
		case t.promise == h:
			return fmt.Sprintf("%q, which may send from %v on", n.name, h)
		case t.periodic == h:
			return fmt.Sprintf("the periodic event of %q at %v", n.name, h)
		}
	}
	return fmt.Sprintf("what a notice can cause at %v", h)
}
