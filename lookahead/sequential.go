package lookahead

// keyByKey is the strictest twin of the window loop: of all processes the one
// with the smallest Key executes exactly that Key, again and again; at one Key
// control processes go first, then leaves, then sinks, each in the order of ids. It
// uses no promise, horizon or observation, so an error in them cannot change its
// result.
func (s *Simulation) keyByKey() error {
	s.updateAll()
	for !s.failed.Load() && !s.halted.Load() {
		n, key := s.nextProcess()
		if n == nil || !key.Less(s.config.End) {
			return nil
		}
		if key.Less(n.alive()) && !s.anyAlive() {
			return nil // only periodic events are left
		}
		s.leafFloor = key
		if n.channel == toControl {
			s.running = n
		}
		n.runTurn(key.Next(), &s.workers.list[0])
		s.running = nil
		n.floor = n.advanced
		switch n.channel {
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

// nextProcess returns the process with the smallest Key, the first one in the order of
// keyByKey, nil if no process has an event.
func (s *Simulation) nextProcess() (first *node, at Key) {
	at = NeverKey
	for c, n := range s.control {
		s.updateControl(c)
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

// anyAlive reports whether an event that is not periodic, or a message, is
// pending.
func (s *Simulation) anyAlive() bool {
	work := earliest(earliest(s.alive(s.control), s.leavesAlive()), s.alive(s.sinks))
	return !work.IsNever()
}
