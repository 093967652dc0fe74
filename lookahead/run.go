package lookahead

import (
	"fmt"
	"runtime/debug"
)

// guarded runs a part of the run in which the coordinator asks processes for
// their state outside of turns. A panic in an answer becomes a Fault of the
// process that was asked last.
func (co *coordinator) guarded(part func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			n := co.asked
			err = &Fault{Process: n.name, ID: n.id, At: n.out.cause, Last: n.history.last, Value: v, Stack: debug.Stack()}
		}
	}()
	return part()
}

// windows is the window loop: decide from what is known between turns, carry
// the decision out, repeat. Whatever could go wrong between processes is in
// decide.
func (co *coordinator) windows() error {
	co.updateAll()
	for !co.failed.Load() && !co.halted.Load() {
		co.fleet.summarize(&co.view.leaves)
		m := decide(&co.view)
		var err error
		done := false
		switch m.action {
		case runControl:
			err = co.runControl(m.control, m.horizon)
		case runLeaves:
			err = co.runLeaves(m)
		case quiesce:
			done, err = co.quiesce()
		}
		if done || err != nil {
			return err
		}
		co.report()
	}
	return nil
}

// updateAll reads the state of every process, before the first window.
func (co *coordinator) updateAll() {
	for _, n := range co.fleet.nodes {
		co.asked = n
		co.fleet.update(n)
		co.fleet.refresh(n.slot)
	}
	for c := range co.control {
		co.updateControl(c)
	}
}

// runControl gives control process c a turn up to h, on this goroutine. A turn
// that was due to an observation alone must end that observation, else the loop
// would give the same turn for ever: that is a trap.
func (co *coordinator) runControl(c int, h Key) error {
	n, before := co.control[c], co.view.control[c]
	co.running = n
	n.runTurn(h, &co.workers.list[0])
	co.running = nil
	co.controlEnded(c)
	after := &co.view.control[c]
	if !co.halted.Load() && !before.due.Less(h) && after.due == before.due && after.observed == before.observed && !after.stopped {
		return &Fault{Process: n.name, ID: n.id, At: h, Last: n.history.last,
			Value: &Trap{ruleIdle, n.name, n.stamp(before.observed.At), n.stamp(before.observed.Until)}}
	}
	co.updateFromMail()
	return co.recordTurn(n)
}

// controlEnded updates what is known of control process c after its turn.
func (co *coordinator) controlEnded(c int) {
	n := co.control[c]
	co.counts.ControlTurns++
	n.floor = n.advanced
	co.undelivered += int64(n.out.toLeaves)
	co.updateControl(c)
	co.view.control[c].stopped, co.view.control[c].streaming = n.out.stopped, n.out.streaming
}

// runLeaves runs one window: turns of leaves with events before the horizon, of
// sinks with many waiting messages, and an overlapped turn of a control process
// that streams.
//
// Afterwards the coordinator reads the fleet's Keys of the leaves and not the
// leaves themselves: their memory is in the caches of the workers that ran them.
func (co *coordinator) runLeaves(m move) error {
	co.slots = co.slots[:0]
	overfull := co.sinksOverfull()
	if !overfull {
		co.slots = co.fleet.selectLeaves(co.slots, m.horizon, m.stateBefore, m.notifyBefore, m.notifyKinds)
	}
	if len(co.slots) == 0 {
		co.slots = co.fleet.selectLeaves(co.slots, m.horizon, NeverKey, NeverKey, 0)
	}
	co.turns = co.turns[:0]
	for _, slot := range co.slots {
		co.turns = append(co.turns, co.fleet.nodes[slot])
	}
	leaves := len(co.turns)
	co.leafFloor = latest(co.leafFloor, m.horizon)
	co.counts.Windows++
	co.counts.Turns += uint64(leaves)
	co.addSinkTurns()
	if m.overlappedHorizon != (Key{}) {
		co.overlapped = co.control[m.overlapped]
		co.overlapped.horizon = m.overlappedHorizon
	}
	co.runTurns(m.horizon)
	co.fleet.refreshAll(co.slots)
	for _, n := range co.turns[leaves:] {
		left := n.mailbox.waiting.Load()
		n.threshold = max(2*left, sinkBatch, sinkShare*int64(co.sinkSenders))
	}
	if overfull { // all leaves ran: the sinks can read in the next window
		for _, n := range co.sinks {
			n.threshold = sinkBatch
		}
	}
	for c := range co.view.control {
		co.view.control[c].stopped = false
	}
	if n := co.overlapped; n != nil {
		co.overlapped = nil
		n.post()
		co.controlEnded(m.overlapped)
		co.turns = append(co.turns, n)
	}
	co.updateFromMail()
	return co.recordTurns()
}

// earliestDue returns the Key of the earliest event of all leaves and control
// processes.
func (co *coordinator) earliestDue() Key {
	due := co.view.leaves.due
	for c := range co.view.control {
		due = Earliest(due, co.view.control[c].due)
	}
	return due
}

// runTurns runs the turns of a window: of leaves up to h, of sinks up to their
// own horizons, and the overlapped turn. The workers share them if the expected
// work is worth it. Estimators of all processes cost some percent of a window,
// so they are asked only where the mean work of recent turns does not decide:
// not if the turns are many and worth sharing by that mean, and not if they are
// few even at longerTurns times the mean.
func (co *coordinator) runTurns(h Key) {
	turns, c := len(co.turns), co.workers
	expected := float64(co.meanWork * float64(turns))
	switch {
	case len(c.list) == 1 || turns < 2 && co.overlapped == nil:
		co.runInline(h)
	case turns >= manyTurns*len(c.list) && (co.overlapped != nil || expected >= float64(co.config.InlineBelow)):
		c.runParallel(co.turns, h, co.overlapped, false, int(expected))
	case co.overlapped == nil && float64(longerTurns*expected) < float64(co.config.InlineBelow):
		co.runInline(h)
	default:
		work := co.estimateWork(h)
		if co.overlapped == nil && work < co.config.InlineBelow {
			co.runInline(h)
			break
		}
		c.runParallel(co.turns, h, co.overlapped, true, work)
	}
	work := 0
	for i := range c.list {
		w := &c.list[i]
		co.undelivered -= int64(w.executed)
		work += w.work
		w.executed, w.work = 0, 0
	}
	co.updateMeanWork(float64(work) / float64(turns))
}

const (
	// manyTurns is the number of turns per worker from which on the workers
	// have about the same work without estimates.
	manyTurns = 16
	// longerTurns times the mean is the work per turn that must not be worth
	// sharing either, for a window to run inline without estimates.
	longerTurns = 2
)

// updateMeanWork adds a window's work per turn to the exponential moving mean.
func (co *coordinator) updateMeanWork(work float64) { co.meanWork += (work - co.meanWork) / 8 }

// estimateWork asks every process of the window for its expected work and
// returns the sum.
func (co *coordinator) estimateWork(h Key) int {
	work := 0
	for _, n := range co.turns {
		co.asked = n
		n.expected = n.estimate(n.turnUntil(h))
		work += n.expected
	}
	return work
}

// runInline runs the turns on the coordinator's goroutine.
func (co *coordinator) runInline(h Key) {
	co.counts.Inline++
	for _, n := range co.turns {
		n.runTurn(n.turnUntil(h), &co.workers.list[0])
	}
	if n := co.overlapped; n != nil {
		n.runOverlapped(n.horizon, &co.workers.list[0])
	}
}

// turnUntil returns the horizon of the process in a window with leaf horizon h.
func (n *node) turnUntil(h Key) Key {
	if n.channel == toSink {
		return n.horizon
	}
	return h
}

const (
	reportEvery = 256     // windows and control turns between two looks at the progress
	reportWork  = 1 << 16 // work between two calls of Config.Progress
)

// progress is what report knew when it looked last.
type progress struct {
	rounds uint64 // passes of the loop
	work   uint64 // at the last call of Config.Progress
	own    uint64 // the coordinator's share of the work
}

// report calls Config.Progress now and then. When a control process streams, one
// window may have a hundred thousand events. So report also looks when the
// coordinator's own share of the work has grown, which is cheap to read.
func (co *coordinator) report() {
	p := &co.progress
	p.rounds++
	own := co.workers.list[0].done
	if co.config.Progress == nil || p.rounds%reportEvery != 0 && own-p.own < reportWork/8 {
		return
	}
	p.own = own
	if work := co.workers.done(); work-p.work >= reportWork {
		p.work = work
		co.config.Progress(co.earliestDue().At, work)
	}
}

// recordTurns writes the frames that the window's turns sent to Config.Record, in
// the order of co.turns, which does not depend on the workers.
func (co *coordinator) recordTurns() error {
	if co.config.Record == nil {
		return nil
	}
	for _, n := range co.turns {
		if err := co.recordTurn(n); err != nil {
			return err
		}
	}
	return nil
}

// recordTurn writes the frames that one turn sent.
func (co *coordinator) recordTurn(n *node) error {
	if len(n.recorded) == 0 {
		return nil
	}
	_, err := co.config.Record.Write(n.recorded)
	n.recorded = n.recorded[:0]
	if err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	return nil
}
