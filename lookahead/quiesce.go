package lookahead

// quiesce is called when no process has an event before its horizon. Then
// control processes that stopped themselves go on; or a periodic event is
// executed; or the sinks read; or the run is over; or there is a deadlock. It
// returns true when the run is over.
func (s *Simulation) quiesce() (done bool, err error) {
	if s.resumeStopped() {
		return false, nil
	}
	// Sinks read only when no other process keeps the run alive.
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
	// Even if all work lies beyond the end, periodic events before the end happen.
	if ok {
		return false, s.runControl(c, s.view.control[c].periodic.Next())
	}
	if !work.Less(s.config.End) {
		return true, nil
	}
	if s.halted.Load() {
		return false, nil // cancelled: that is why no process advances
	}
	return false, s.deadlock()
}

// alive returns the Key of the earliest event, or message, of the processes that
// keeps the run alive.
func (s *Simulation) alive(list []*node) Key {
	work := NeverKey
	s.counts.Asked += uint64(len(list))
	for _, n := range list {
		s.asked = n
		work = earliest(work, n.alive())
	}
	return work
}

// leavesAlive returns alive of all leaves. Without periodic leaf events that is
// the fleet's minimum; with them each leaf has to be asked.
func (s *Simulation) leavesAlive() Key {
	if !s.fleet.periodic {
		return s.fleet.due.min()
	}
	return s.alive(s.fleet.nodes)
}

// resumeStopped lets control processes that stopped themselves go on. It returns
// false if there is none, or if nothing was executed since it last returned
// true.
func (s *Simulation) resumeStopped() bool {
	stopped := false
	for c := range s.view.control {
		stopped = stopped || s.view.control[c].stopped
		s.view.control[c].stopped = false
	}
	if !stopped {
		return false
	}
	work := s.work() + 1
	if s.workAtResume == work {
		return false
	}
	s.workAtResume = work
	return true
}

// periodicTurn returns the control process whose periodic event is to be
// executed now, if there is one. Everything before that event must have been
// executed, and something must keep the run alive: work is the Key of the
// earliest such event.
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
	if !at.Less(t.observed.At) && s.view.leaves.stableUntil.Less(t.observed.StateBefore) {
		return 0, false
	}
	for o := range s.view.control {
		if o != best && !at.Less(peerHorizon(best, o, s.view.control[o].due)) {
			return 0, false
		}
	}
	return best, true
}
