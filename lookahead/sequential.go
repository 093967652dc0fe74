package lookahead

// oneByOne is the strictest twin of the window loop: of all processes the one
// with the smallest (Key, id) executes exactly that Key, and so on. It needs
// no promise, horizon or observation, so nothing wrong in them can reach it.
func (s *Simulation) oneByOne() error {
	s.survey()
	for !s.failed.Load() && !s.halted.Load() {
		n, key := s.earliestProcess()
		if n == nil || !key.Less(s.config.End) {
			return nil
		}
		if key.Less(n.alive()) && !s.anyoneAlive() {
			return nil // only periodic events are left
		}
		s.leafFloor = key
		if n.id < FirstLeaf {
			s.running = n
		}
		n.take(key.Next(), &s.crew.stocks[0])
		s.running = nil
		n.floor = n.advanced
		switch n.channel() {
		case toControl:
			s.undelivered += int64(n.out.toLeaves)
		case toLeaf:
			s.undelivered -= int64(n.executed)
			s.fleet.refresh(n.slot)
		}
		if err := s.recordTurn(n); err != nil {
			return err
		}
		s.report()
	}
	return nil
}

// earliestProcess returns the process with the smallest (Key, id).
func (s *Simulation) earliestProcess() (first *node, at Key) {
	at = NeverKey
	for c, n := range s.control {
		s.station(c)
		if due := s.view.control[c].due; due.Less(at) {
			first, at = n, due
		}
	}
	if n, due := s.fleet.first(); due.Less(at) {
		first, at = n, due
	}
	for _, n := range s.sinks {
		s.asked = n
		n.mailbox.absorb()
		if due := n.mailbox.head(); due.Less(at) {
			first, at = n, due
		}
	}
	return first, at
}

// anyoneAlive reports whether an event that is not periodic is pending.
func (s *Simulation) anyoneAlive() bool {
	work := earliest(earliest(s.alive(s.control), s.leavesAlive()), s.alive(s.sinks))
	return !work.IsNever()
}
