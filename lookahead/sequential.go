package lookahead

// keyByKey is the strictest twin of the window loop: of all processes the one
// with the smallest Key executes exactly that Key, again and again; at one Key
// control processes go first, then leaves, then sinks, each in the order of ids. It
// uses no promise, horizon or observation, so an error in them cannot change its
// result; but a notice that comes before its promise is a trap here too.
func (co *coordinator) keyByKey() error {
	co.updateAll()
	for !co.failed.Load() && !co.halted.Load() {
		n, key := co.nextProcess()
		if n == nil || !key.Less(co.config.End) {
			return nil
		}
		if n.channel != toSink && key.Less(n.alive()) && !co.anyAlive() {
			co.runSinks(co.config.End) // only periodic events are left, and silent messages
			return nil
		}
		co.leafFloor = key
		if n.channel == toControl {
			co.running = n
		}
		n.runTurn(key.Next(), &co.workers.list[0])
		co.running = nil
		n.floor = n.advanced
		switch n.channel {
		case toControl:
			co.undelivered += int64(n.out.toLeaves)
		case toLeaf:
			co.undelivered -= int64(n.executed)
			co.fleet.refresh(n.slot)
		}
		if err := co.recordTurn(n); err != nil {
			return err
		}
		co.report()
	}
	return nil
}

// nextProcess returns the process with the smallest Key, the first one in the order of
// keyByKey, nil if no process has an event.
func (co *coordinator) nextProcess() (first *node, at Key) {
	at = NeverKey
	for c, n := range co.control {
		co.updateControl(c)
		if due := co.view.control[c].due; due.Less(at) {
			first, at = n, due
		}
	}
	if n, due := co.fleet.first(); due.Less(at) {
		first, at = n, due
	}
	for _, n := range co.sinks {
		co.asked = n
		n.mailbox.absorb()
		if due := n.mailbox.head(); due.Less(at) {
			first, at = n, due
		}
	}
	return first, at
}

// anyAlive reports whether an event that is not periodic, or a message, is
// pending.
func (co *coordinator) anyAlive() bool {
	work := Earliest(Earliest(co.alive(co.control), co.leavesAlive()), co.alive(co.sinks))
	return !work.IsNever()
}
