package lookahead

// quiesce is called when no process has an event before its horizon. Then
// control processes that stopped themselves go on; or a periodic event is
// executed; or the sinks read; or the run is over; or there is a deadlock. It
// returns true when the run is over.
func (co *coordinator) quiesce() (done bool, err error) {
	if co.resumeStopped() {
		return false, nil
	}
	// Sinks read only when no other process keeps the run alive.
	work := Earliest(co.alive(co.control), co.leavesAlive())
	c, ok := co.periodicTurn(work)
	if !ok {
		co.runSinks(toBeSent(co))
		work = Earliest(work, co.alive(co.sinks))
		if work.IsNever() {
			co.runSinks(co.config.End) // silent messages alone may be left
			return true, nil
		}
		c, ok = co.periodicTurn(work)
	}
	// Even if all work lies beyond the end, periodic events before the end happen.
	if ok {
		return false, co.runControl(c, co.view.control[c].periodic.Next())
	}
	if !work.Less(co.config.End) {
		return true, nil
	}
	if co.halted.Load() {
		return false, nil // cancelled: that is why no process advances
	}
	return false, co.deadlock()
}

// alive returns the Key of the earliest event, or message, of the processes that
// keeps the run alive.
func (co *coordinator) alive(list []*node) Key {
	work := NeverKey
	co.counts.Asked += uint64(len(list))
	for _, n := range list {
		co.asked = n
		work = Earliest(work, n.alive())
	}
	return work
}

// leavesAlive returns alive of all leaves. Without periodic leaf events that is
// the fleet's minimum; with them each leaf has to be asked.
func (co *coordinator) leavesAlive() Key {
	if !co.fleet.periodic {
		return co.fleet.due.min()
	}
	return co.alive(co.fleet.nodes)
}

// resumeStopped lets control processes that stopped themselves go on. It returns
// false if there is none, or if nothing was executed since it last returned
// true.
func (co *coordinator) resumeStopped() bool {
	stopped := false
	for c := range co.view.control {
		stopped = stopped || co.view.control[c].stopped
		co.view.control[c].stopped = false
	}
	if !stopped {
		return false
	}
	work := co.workers.done() + 1
	if co.workAtResume == work {
		return false
	}
	co.workAtResume = work
	return true
}

// periodicTurn returns the control process whose periodic event is to be
// executed now, if there is one. Everything before that event must have been
// executed, and something must keep the run alive: work is the Key of the
// earliest such event.
func (co *coordinator) periodicTurn(work Key) (int, bool) {
	if work.IsNever() {
		return 0, false
	}
	best, at := -1, co.config.End
	for c := range co.view.control {
		if co.view.control[c].periodic.Less(at) {
			best, at = c, co.view.control[c].periodic
		}
	}
	if best < 0 || work.Less(at) || !at.Less(co.view.leaves.earliest(co.view.leaves.kinds)) {
		return 0, false
	}
	t := &co.view.control[best]
	if !at.Less(t.observed.At) && co.view.leaves.stableUntil.Less(t.observed.StateBefore) {
		return 0, false
	}
	for o := range co.view.control {
		if o != best && !at.Less(peerHorizon(best, o, co.view.control[o].due)) {
			return 0, false
		}
	}
	return best, true
}
