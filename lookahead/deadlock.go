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
func (co *coordinator) deadlock() error {
	d := &Deadlock{}
	for c, n := range co.control {
		if t := &co.view.control[c]; t.due.Less(co.config.End) {
			d.Blocked = append(d.Blocked, Blocked{n.name, n.id, t.due, co.controlWaits(c)})
		}
	}
	h := co.view.leafHorizon()
	for i, n := range co.fleet.nodes {
		if due := co.fleet.due.key(i); due.Less(co.config.End) {
			d.Blocked = append(d.Blocked, Blocked{n.name, n.id, due, co.leafWaits(h)})
		}
	}
	return d
}

// controlWaits describes what control process c waits for.
func (co *coordinator) controlWaits(c int) string {
	t := &co.view.control[c]
	if !t.due.Less(t.observed.At) {
		if k := co.view.unheard(t); k.Less(t.observed.StateBefore) {
			return fmt.Sprintf("an observation of the state before %v, which a message at %v may change", t.observed.StateBefore, k)
		}
		for i, n := range co.fleet.nodes {
			if co.fleet.stableUntil.key(i).Less(t.observed.StateBefore) {
				return fmt.Sprintf("an observation of %q, which is at %v and must reach %v", n.name, co.fleet.stableUntil.key(i), t.observed.StateBefore)
			}
		}
	}
	for i, n := range co.fleet.nodes {
		var l summary
		co.fleet.summarizeOne(i, &l)
		if p := l.earliest(t.receives); !t.due.Less(p) {
			return fmt.Sprintf("%q, which may send from %v on", n.name, p)
		}
		if p := co.view.notices.firstNotice(&l, t.receives); !t.due.Less(p) {
			return fmt.Sprintf("a notice that can follow at %v from another one, of %q", p, n.name)
		}
	}
	for o, n := range co.control {
		if o != c && !t.due.Less(peerHorizon(c, o, co.view.control[o].due)) {
			return fmt.Sprintf("%q, which is at %v", n.name, co.view.control[o].due)
		}
	}
	return "its own turn, which it ends without an event"
}

// leafWaits describes what keeps the leaves' horizon at h.
func (co *coordinator) leafWaits(h Key) string {
	for c, n := range co.control {
		switch t := &co.view.control[c]; {
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
