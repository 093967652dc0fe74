package lookahead

import "fmt"

// settle is reached when no horizon lets anybody advance: the run is over, a
// periodic event is to be decided upon, or there is a deadlock.
func (s *Simulation) settle() (done bool, err error) {
	if s.resume() {
		return false, nil
	}
	// Sinks have time until there is nobody else to keep the run alive.
	work := earliest(s.alive(s.control), s.leavesAlive())
	c, ok := s.periodicTurn(work)
	if !ok {
		s.runSinks()
		work = earliest(work, s.alive(s.sinks))
		if work.IsNever() {
			return true, nil
		}
		c, ok = s.periodicTurn(work)
	}
	// What is left may lie beyond the end: periodic events before it happen.
	if ok {
		return false, s.runControl(c, s.view.control[c].periodic.Next())
	}
	if !work.Less(s.config.End) {
		return true, nil
	}
	if s.halted.Load() {
		return false, nil // nobody may any more
	}
	return false, s.deadlock()
}

// alive is the Key of the earliest event of some processes that keeps the run
// alive.
func (s *Simulation) alive(list []*node) Key {
	work := NeverKey
	s.counts.Asked += uint64(len(list))
	for _, n := range list {
		s.asked = n
		work = earliest(work, n.alive())
	}
	return work
}

// leavesAlive is alive of the leaves. What is due there keeps the run alive,
// unless some of them have periodic events: then each has to be asked.
func (s *Simulation) leavesAlive() Key {
	if !s.fleet.periodic {
		return s.fleet.due.least()
	}
	return s.alive(s.fleet.nodes)
}

// resume lets control processes that stopped themselves go on. It reports
// false when none had, or when nothing happened since it last did so.
func (s *Simulation) resume() bool {
	stopped := false
	for c := range s.view.control {
		stopped = stopped || s.view.control[c].stopped
		s.view.control[c].stopped = false
	}
	if !stopped {
		return false
	}
	work := s.work() + 1
	if s.stalled == work {
		return false
	}
	s.stalled = work
	return true
}

// runSinks lets the sinks read what no one can precede any more: nobody may
// advance but for a periodic event.
func (s *Simulation) runSinks() {
	s.flushAside()
	h := s.config.End
	for c := range s.view.control {
		h = earliest(h, s.view.control[c].periodic)
	}
	for _, n := range s.sinks {
		s.asked = n
		n.mailbox.absorb()
		if n.mailbox.head().Less(h) {
			n.floor = latest(n.floor, h)
			s.counts.SinkTurns++
			n.take(h, &s.crew.stocks[0])
		}
	}
}

// periodicTurn finds the control process whose periodic event is to be
// executed now: everything before it has been, and work, the earliest event
// that keeps the run alive, is still pending.
func (s *Simulation) periodicTurn(work Key) (int, bool) {
	if work.IsNever() {
		return 0, false
	}
	best, at := -1, s.config.End
	for c := range s.view.control {
		if s.view.control[c].periodic.Less(at) {
			best, at = c, s.view.control[c].periodic
		}
	}
	if best < 0 || work.Less(at) || !at.Less(s.view.leaves.promise) {
		return 0, false
	}
	t := &s.view.control[best]
	if !at.Less(t.observed.At) && s.view.leaves.steady.Less(t.observed.StateBefore) {
		return 0, false
	}
	for o := range s.view.control {
		if o != best && !at.Less(turnOf(best, o, s.view.control[o].due)) {
			return 0, false
		}
	}
	return best, true
}

// work counts what has been done, so that progress can be seen. The workers
// have counted it: to ask every process would cost more the more of them there
// have been.
func (s *Simulation) work() uint64 {
	sum := uint64(0)
	for w := range s.crew.stocks {
		sum += s.crew.stocks[w].done
	}
	return sum
}

// reportEvery is the number of windows between two looks at the progress, as
// long as they are small, reportWork the work between two reports.
const (
	reportEvery = 256
	reportWork  = 1 << 16
)

// report tells Config.Progress now and then. Where the control plane streams
// ahead a window may hold a hundred thousand events: the coordinator's own share
// of them, which costs nothing to read, says so.
func (s *Simulation) report() {
	s.rounds++
	own := s.crew.stocks[0].done
	if s.config.Progress == nil || s.rounds%reportEvery != 0 && own-s.looked < reportWork/8 {
		return
	}
	s.looked = own
	if work := s.work(); work-s.reported >= reportWork {
		s.reported = work
		s.config.Progress(s.earliestDue().At, work)
	}
}

// firstFault is the earliest fault of the window.
func (s *Simulation) firstFault() error {
	var first *Fault
	for _, n := range s.all() {
		if n.fault != nil && (first == nil || n.fault.At.Less(first.At)) {
			first = n.fault
		}
	}
	return first
}

// recordTurns writes what the window's turns sent, in the order of ids.
func (s *Simulation) recordTurns() error {
	if s.config.Record == nil {
		return nil
	}
	for _, n := range s.turns {
		if err := s.recordTurn(n); err != nil {
			return err
		}
	}
	return nil
}

// recordTurn writes what one turn sent.
func (s *Simulation) recordTurn(n *node) error {
	if len(n.recorded) == 0 {
		return nil
	}
	_, err := s.config.Record.Write(n.recorded)
	n.recorded = n.recorded[:0]
	if err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	return nil
}

// deadlock says who waits for what.
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

// controlWaits says what control process c waits for.
func (s *Simulation) controlWaits(c int) string {
	t := &s.view.control[c]
	if !t.due.Less(t.observed.At) {
		for i, n := range s.fleet.nodes {
			if s.fleet.steady.key(i).Less(t.observed.StateBefore) {
				return fmt.Sprintf("an observation of %q, which is at %v and must reach %v", n.name, s.fleet.steady.key(i), t.observed.StateBefore)
			}
		}
	}
	for i, n := range s.fleet.nodes {
		if p := s.fleet.promise.key(i); !t.due.Less(p) {
			return fmt.Sprintf("%q, which may send from %v on", n.name, p)
		}
	}
	for o, n := range s.control {
		if o != c && !t.due.Less(turnOf(c, o, s.view.control[o].due)) {
			return fmt.Sprintf("%q, which is at %v", n.name, s.view.control[o].due)
		}
	}
	return "its own turn, which it ends without an event"
}

// leafWaits says what keeps leaves from passing h.
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
