package lookahead

import (
	"context"
	"errors"
	"runtime/debug"
)

// Run runs the simulation to its end: nil when the last event that keeps it
// alive, or the last one before End, has been executed. Otherwise the error
// is ctx's when it was cancelled, a *Fault when a process panicked or broke a
// rule, a *Deadlock when nobody can advance, or what Record returned. It can
// be called once.
func (s *Simulation) Run(ctx context.Context) error {
	if s.started {
		return errors.New("lookahead: a simulation runs once")
	}
	s.started = true
	defer s.retire()
	defer context.AfterFunc(ctx, func() { s.halted.Store(true) })()
	if err := ctx.Err(); err != nil {
		return err
	}
	loop := s.windows
	if s.config.Sequential {
		loop = s.oneByOne
	}
	s.crew.start()
	err := s.guarded(loop)
	s.crew.dismiss()
	switch {
	case s.failed.Load():
		return s.firstFault()
	case err != nil:
		return err
	case s.halted.Load():
		s.flushAside() // for Undelivered, while there are actors to post to
		return ctx.Err()
	}
	return s.guarded(s.conclude)
}

// guarded runs a part of the run in which the coordinator asks processes for
// their state outside of turns; a panic in an answer is that process's fault.
func (s *Simulation) guarded(part func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			n := s.asked
			err = &Fault{Process: n.name, ID: n.id, At: n.out.cause, Last: n.last, Value: v, Stack: debug.Stack()}
		}
	}()
	return part()
}

// windows is the window loop. It decides from what is known between turns,
// and runs what it decided; everything that could go wrong between processes
// is in decide.
func (s *Simulation) windows() error {
	s.survey()
	for !s.failed.Load() && !s.halted.Load() {
		s.view.leaves = s.fleet.minima()
		m := decide(&s.view)
		var err error
		done := false
		switch m.action {
		case runControl:
			err = s.runControl(m.control, m.horizon)
		case runLeaves:
			err = s.runLeaves(m)
		case settle:
			done, err = s.settle()
		}
		if done || err != nil {
			return err
		}
		s.report()
	}
	return nil
}

// survey takes stock of every process before the first window.
func (s *Simulation) survey() {
	for _, n := range s.fleet.nodes {
		s.asked = n
		s.fleet.set(n)
		s.fleet.refresh(n.slot)
	}
	for c := range s.control {
		s.station(c)
	}
}

// runControl gives control process c a turn up to h, on this goroutine.
func (s *Simulation) runControl(c int, h Key) error {
	n, before := s.control[c], s.view.control[c]
	s.running = n
	n.take(h, &s.crew.stocks[0])
	s.running = nil
	s.ended(c)
	after := &s.view.control[c]
	if !s.halted.Load() && !before.due.Less(h) && after.due == before.due && after.observed == before.observed && !after.stopped {
		return &Fault{Process: n.name, ID: n.id, At: h, Last: n.last,
			Value: &Trap{ruleIdle, n.name, n.stamp(before.observed.At), n.stamp(before.observed.Until)}}
	}
	s.readMail()
	return s.recordTurn(n)
}

// ended takes note of a turn of control process c.
func (s *Simulation) ended(c int) {
	n := s.control[c]
	s.counts.ControlTurns++
	n.floor = n.advanced
	s.undelivered += int64(n.out.toLeaves)
	s.station(c)
	s.view.control[c].stopped, s.view.control[c].streams = n.out.stopped, n.out.streams
}

// runLeaves is one window: the leaves that have something to do before the
// horizon, sinks with much to read, and a control process that streams.
//
// After it the leaves are known by their slots alone: what they left behind
// lies in the caches of the workers that ran them.
func (s *Simulation) runLeaves(m move) error {
	s.slots = s.slots[:0]
	crowded := s.crowded()
	if !crowded {
		s.slots = s.fleet.behind(s.slots, m.horizon, m.need, m.told)
	}
	if len(s.slots) == 0 {
		s.slots = s.fleet.behind(s.slots, m.horizon, NeverKey, NeverKey)
	}
	s.turns = s.turns[:0]
	for _, slot := range s.slots {
		s.turns = append(s.turns, s.fleet.nodes[slot])
	}
	leaves := len(s.turns)
	s.leafFloor = latest(s.leafFloor, m.horizon)
	s.counts.Windows++
	s.counts.Turns += uint64(leaves)
	s.callSinks()
	if m.besideHorizon != (Key{}) {
		s.beside = s.control[m.beside]
		s.beside.horizon = m.besideHorizon
	}
	s.runTurns(m.horizon)
	s.fleet.refreshAll(s.slots)
	for _, n := range s.turns[leaves:] {
		left := n.mailbox.waiting.Load()
		n.enough = max(2*left, sinkBatch, sinkShare*int64(s.holders))
	}
	if crowded { // now they can read
		for _, n := range s.sinks {
			n.enough = sinkBatch
		}
	}
	for c := range s.view.control {
		s.view.control[c].stopped = false
	}
	if n := s.beside; n != nil {
		s.beside = nil
		n.post()
		s.ended(m.beside)
		s.turns = append(s.turns, n)
	}
	s.readMail()
	return s.recordTurns()
}

// How many messages make a sink worth a turn in a window: so many, and so many
// per process that holds some, because each posts what it holds; and twice what it had to
// leave after its last turn, because leaves that nobody waits for may stand
// still for long, and nothing later can be read. When those hold back too much
// they have to run.
const (
	sinkBatch = 2048
	sinkShare = 8
	sinkMost  = 1 << 16
)

// callSinks adds the sinks with much to read to the window. What is sent
// from now on is later than the earliest event of everyone, so they may read
// up to there while others still send.
func (s *Simulation) callSinks() {
	for _, n := range s.sinks {
		if n.mailbox.waiting.Load() >= n.enough {
			s.flushAside()
			n.horizon = earliest(s.earliestDue().Next(), s.config.End)
			n.floor = latest(n.floor, n.horizon)
			s.counts.SinkTurns++
			s.turns = append(s.turns, n)
		}
	}
}

// crowded reports whether a sink holds more than leaves should keep it from
// reading.
func (s *Simulation) crowded() bool {
	for _, n := range s.sinks {
		if n.mailbox.waiting.Load() > sinkMost {
			return true
		}
	}
	return false
}

// flushAside posts what everybody still holds for sinks.
func (s *Simulation) flushAside() {
	s.holders = 0
	for w := range s.crew.stocks {
		stock := &s.crew.stocks[w]
		for _, n := range stock.holders {
			s.asked = n
			n.out.postAside(1)
			n.out.holds = false
		}
		s.holders += len(stock.holders)
		s.counts.Asked += uint64(len(stock.holders))
		clear(stock.holders)
		stock.holders = stock.holders[:0]
	}
}

// earliestDue is the Key of the earliest event of all that can send.
func (s *Simulation) earliestDue() Key {
	due := s.view.leaves.due
	for c := range s.view.control {
		due = earliest(due, s.view.control[c].due)
	}
	return due
}

// readMail brings the stations of control processes that got mail up to date.
func (s *Simulation) readMail() {
	for c, n := range s.control {
		if n.mailbox.fresh.Load() > 0 {
			s.station(c)
		}
	}
}

// station takes over the state of control process c.
func (s *Simulation) station(c int) {
	n, t := s.control[c], &s.view.control[c]
	s.asked = n
	n.mailbox.absorb()
	mail := n.mailbox.head()
	t.periodic = NeverKey
	if n.periodic != nil {
		t.periodic = n.periodic.NextPeriodic()
	}
	own := earliest(n.process.Next(), t.periodic)
	t.due = earliest(own, mail)
	t.promise = latest(n.process.Promise(), own.Next())
	if n.fellow > 0 {
		t.promise = earliest(t.promise, mail) // at mail it may begin to read
	} else if s.config.React != nil && !mail.IsNever() {
		t.promise = earliest(t.promise, latest(s.config.React(mail), mail))
	}
	t.observed = Observation{At: NeverKey}
	if n.observer != nil {
		t.observed = n.observer.Observation()
	}
}

// sentByControl keeps the sender from running past what its message causes: an
// answer, or another state than the one that it was to observe next.
func (s *Simulation) sentByControl(sender, receiver *node, at, quiet Key) {
	o := &sender.out
	if receiver.channel() == toLeaf {
		o.toLeaves++
		o.firstToLeaf = earliest(o.firstToLeaf, latest(at, quiet))
		o.lower(s.fleet.replyTo(at, quiet))
		if next := &s.view.control[sender.id].observed; o.cause.Less(next.At) && latest(at, quiet).Less(next.StateBefore) {
			o.lower(next.At)
		}
	} else if receiver.channel() == toControl {
		o.lower(turnOf(int(sender.id), int(receiver.id), at))
	}
}

// posting keeps account of a frame that is about to be sent.
func (s *Simulation) posting(sender, receiver *node, f *frame) {
	if sender.id >= FirstLeaf {
		return
	}
	switch receiver.channel() {
	case toLeaf:
		s.fleet.note(receiver.slot, f.first.Key(), f.quiet)
	case toControl:
		receiver.fellow += f.count
	}
}

// controlReceived follows a message to a control process: it may have made an
// observation necessary before the turn's end, or a periodic event possible,
// which is not for this turn: whether it happens is decided when everything
// before it has.
func (s *Simulation) controlReceived(n *node, stamp Stamp) {
	if stamp.Source < uint32(FirstLeaf) {
		n.fellow--
	}
	if n.periodic != nil {
		n.out.lower(latest(n.periodic.NextPeriodic(), stamp.Key()))
	}
	if n.observer == nil || s.config.Sequential {
		return
	}
	next := n.observer.Observation()
	if earliest(s.view.leaves.steady, n.out.firstToLeaf).Less(next.StateBefore) {
		n.out.lower(next.At)
	} else if !next.At.IsNever() {
		n.out.lower(next.Until)
	}
}
