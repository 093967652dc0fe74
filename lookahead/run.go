package lookahead

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// Run runs the simulation until the last event that keeps it alive, or the last
// event before Config.End, has been executed; then it returns nil. The error is
// ctx.Err() if ctx was cancelled, a *Fault if a process panicked or broke a
// rule, a *Deadlock if events remain and no process may advance, or the error
// of Config.Record. Run can be called once.
func (s *Simulation) Run(ctx context.Context) error {
	if s.started {
		return errors.New("lookahead: a simulation runs once")
	}
	s.started = true
	defer s.stopActors()
	defer context.AfterFunc(ctx, func() { s.halted.Store(true) })()
	if err := ctx.Err(); err != nil {
		return err
	}
	loop := s.windows
	if s.config.Sequential {
		loop = s.keyByKey
	}
	s.workers.start()
	err := s.guarded(loop)
	s.workers.stop()
	switch {
	case s.failed.Load():
		return s.firstFault()
	case err != nil:
		return err
	case s.halted.Load():
		s.flushSinkFrames() // for Undelivered, while there are actors to post to
		return ctx.Err()
	}
	return s.guarded(s.closeDigests)
}

// guarded runs a part of the run in which the coordinator asks processes for
// their state outside of turns. A panic in an answer becomes a Fault of the
// process that was asked last.
func (s *Simulation) guarded(part func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			n := s.asked
			err = &Fault{Process: n.name, ID: n.id, At: n.out.cause, Last: n.history.last, Value: v, Stack: debug.Stack()}
		}
	}()
	return part()
}

// windows is the window loop: decide from what is known between turns, carry
// the decision out, repeat. Whatever could go wrong between processes is in
// decide.
func (s *Simulation) windows() error {
	s.updateAll()
	for !s.failed.Load() && !s.halted.Load() {
		s.view.leaves = s.fleet.summary()
		m := decide(&s.view)
		var err error
		done := false
		switch m.action {
		case runControl:
			err = s.runControl(m.control, m.horizon)
		case runLeaves:
			err = s.runLeaves(m)
		case quiesce:
			done, err = s.quiesce()
		}
		if done || err != nil {
			return err
		}
		s.report()
	}
	return nil
}

// updateAll reads the state of every process, before the first window.
func (s *Simulation) updateAll() {
	for _, n := range s.fleet.nodes {
		s.asked = n
		s.fleet.update(n)
		s.fleet.refresh(n.slot)
	}
	for c := range s.control {
		s.updateControl(c)
	}
}

// runControl gives control process c a turn up to h, on this goroutine. A turn
// that was due to an observation alone must end that observation, else the loop
// would give the same turn for ever: that is a trap.
func (s *Simulation) runControl(c int, h Key) error {
	n, before := s.control[c], s.view.control[c]
	s.running = n
	n.runTurn(h, &s.workers.list[0])
	s.running = nil
	s.controlEnded(c)
	after := &s.view.control[c]
	if !s.halted.Load() && !before.due.Less(h) && after.due == before.due && after.observed == before.observed && !after.stopped {
		return &Fault{Process: n.name, ID: n.id, At: h, Last: n.history.last,
			Value: &Trap{ruleIdle, n.name, n.stamp(before.observed.At), n.stamp(before.observed.Until)}}
	}
	s.updateFromMail()
	return s.recordTurn(n)
}

// controlEnded updates what is known of control process c after its turn.
func (s *Simulation) controlEnded(c int) {
	n := s.control[c]
	s.counts.ControlTurns++
	n.floor = n.advanced
	s.undelivered += int64(n.out.toLeaves)
	s.updateControl(c)
	s.view.control[c].stopped, s.view.control[c].streaming = n.out.stopped, n.out.streaming
}

// runLeaves runs one window: turns of leaves with events before the horizon, of
// sinks with many waiting messages, and an overlapped turn of a control process
// that streams.
//
// Afterwards the coordinator reads the fleet's Keys of the leaves and not the
// leaves themselves: their memory is in the caches of the workers that ran them.
func (s *Simulation) runLeaves(m move) error {
	s.slots = s.slots[:0]
	overfull := s.sinksOverfull()
	if !overfull {
		s.slots = s.fleet.selectLeaves(s.slots, m.horizon, m.stateBefore, m.notifyBefore)
	}
	if len(s.slots) == 0 {
		s.slots = s.fleet.selectLeaves(s.slots, m.horizon, NeverKey, NeverKey)
	}
	s.turns = s.turns[:0]
	for _, slot := range s.slots {
		s.turns = append(s.turns, s.fleet.nodes[slot])
	}
	leaves := len(s.turns)
	s.leafFloor = latest(s.leafFloor, m.horizon)
	s.counts.Windows++
	s.counts.Turns += uint64(leaves)
	s.addSinkTurns()
	if m.overlappedHorizon != (Key{}) {
		s.overlapped = s.control[m.overlapped]
		s.overlapped.horizon = m.overlappedHorizon
	}
	s.runTurns(m.horizon)
	s.fleet.refreshAll(s.slots)
	for _, n := range s.turns[leaves:] {
		left := n.mailbox.waiting.Load()
		n.threshold = max(2*left, sinkBatch, sinkShare*int64(s.sinkSenders))
	}
	if overfull { // all leaves ran: the sinks can read in the next window
		for _, n := range s.sinks {
			n.threshold = sinkBatch
		}
	}
	for c := range s.view.control {
		s.view.control[c].stopped = false
	}
	if n := s.overlapped; n != nil {
		s.overlapped = nil
		n.post()
		s.controlEnded(m.overlapped)
		s.turns = append(s.turns, n)
	}
	s.updateFromMail()
	return s.recordTurns()
}

// earliestDue returns the Key of the earliest event of all leaves and control
// processes.
func (s *Simulation) earliestDue() Key {
	due := s.view.leaves.due
	for c := range s.view.control {
		due = earliest(due, s.view.control[c].due)
	}
	return due
}

// runTurns runs the turns of a window: of leaves up to h, of sinks up to their
// own horizons, and the overlapped turn. The workers share them if the expected
// work is worth it. Estimators of all processes cost some percent of a window,
// so they are asked only where the mean work of recent turns does not decide:
// not if the turns are many and worth sharing by that mean, and not if they are
// few even at longerTurns times the mean.
func (s *Simulation) runTurns(h Key) {
	turns, c := len(s.turns), s.workers
	expected := float64(s.meanWork * float64(turns))
	switch {
	case len(c.list) == 1 || turns < 2 && s.overlapped == nil:
		s.runInline(h)
	case turns >= manyTurns*len(c.list) && (s.overlapped != nil || expected >= float64(s.config.InlineBelow)):
		c.runParallel(s.turns, h, s.overlapped, false, int(expected))
	case s.overlapped == nil && float64(longerTurns*expected) < float64(s.config.InlineBelow):
		s.runInline(h)
	default:
		work := s.estimateWork(h)
		if s.overlapped == nil && work < s.config.InlineBelow {
			s.runInline(h)
			break
		}
		c.runParallel(s.turns, h, s.overlapped, true, work)
	}
	work := 0
	for i := range c.list {
		w := &c.list[i]
		s.undelivered -= int64(w.executed)
		work += w.work
		w.executed, w.work = 0, 0
	}
	s.updateMeanWork(float64(work) / float64(turns))
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
func (s *Simulation) updateMeanWork(work float64) { s.meanWork += (work - s.meanWork) / 8 }

// estimateWork asks every process of the window for its expected work and
// returns the sum.
func (s *Simulation) estimateWork(h Key) int {
	work := 0
	for _, n := range s.turns {
		s.asked = n
		n.expected = n.estimate(n.turnUntil(h))
		work += n.expected
	}
	return work
}

// runInline runs the turns on the coordinator's goroutine.
func (s *Simulation) runInline(h Key) {
	s.counts.Inline++
	for _, n := range s.turns {
		n.runTurn(n.turnUntil(h), &s.workers.list[0])
	}
	if n := s.overlapped; n != nil {
		n.runOverlapped(n.horizon, &s.workers.list[0])
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

// report calls Config.Progress now and then. When a control process streams, one
// window may have a hundred thousand events. So report also looks when the
// coordinator's own share of the work has grown, which is cheap to read.
func (s *Simulation) report() {
	s.rounds++
	own := s.workers.list[0].done
	if s.config.Progress == nil || s.rounds%reportEvery != 0 && own-s.ownReported < reportWork/8 {
		return
	}
	s.ownReported = own
	if work := s.work(); work-s.reported >= reportWork {
		s.reported = work
		s.config.Progress(s.earliestDue().At, work)
	}
}

// work returns the work done so far: any progress increases it. The workers
// count it, because a sum over all processes would cost more the more processes
// the run has had.
func (s *Simulation) work() uint64 {
	sum := uint64(0)
	for w := range s.workers.list {
		sum += s.workers.list[w].done
	}
	return sum
}

// recordTurns writes the frames that the window's turns sent to Config.Record, in
// the order of s.turns, which does not depend on the workers.
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

// recordTurn writes the frames that one turn sent.
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
