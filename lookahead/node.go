package lookahead

import (
	"runtime/debug"

	"github.com/asynkron/protoactor-go/actor"

	"blis/vtime"
)

// node is a process with everything that the kernel keeps of it. During a
// turn one worker owns it, between turns the coordinator.
type node struct {
	sim     *Simulation
	id      ProcessID
	slot    int // in the fleet, of a leaf
	name    string
	process Process

	periodic  Periodic // the optional interfaces, nil where absent
	observer  Observer
	publisher Publisher
	estimator Estimator
	preparer  Preparer

	pid     *actor.PID
	mailbox mailbox
	out     Outbox
	stock   *stock // of the worker that has the turn

	message Message // what the actor is invoked with: the same memory each time
	target  turn

	digest digest
	tracer *tracer
	last   Stamp // of the last message executed

	advanced Key // every local event before it has been executed
	floor    Key // no message may arrive before it (control and sinks)
	deferred bool

	horizon  Key   // of the turn given
	work     int   // expected in that turn
	executed int   // messages, in that turn
	enough   int64 // waiting messages that make it worth a turn (of a sink)
	fellow   int   // waiting messages from control processes (of a control process)
	fault    *Fault
	recorded []byte
}

// turn is the message that ends every turn: execute what is local up to here.
type turn struct{ until Key }

// Receive is the actor.
func (n *node) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *Message:
		n.receive(m)
	case *turn:
		n.advance(m.until)
	}
}

// take gives the process a turn up to h on the calling goroutine, with frames
// from s. A panic in it becomes the node's fault.
func (n *node) take(h Key, s *stock) {
	defer n.recover()
	before, done := n.out.events, n.done()
	n.execute(h, s)
	n.out.post()
	if n.channel() == toLeaf {
		n.sim.fleet.set(n)
		s.executed += n.executed
		s.work += n.executed + int(n.out.events-before)
	}
	s.done += n.done() - done
}

// done counts what the process has done, so that progress can be seen.
func (n *node) done() uint64 { return n.digest.messages + n.out.events + n.out.sent }

// takeBeside gives a control process a turn up to h while leaves have theirs.
// What it sends stays with it until post.
func (n *node) takeBeside(h Key, s *stock) {
	defer n.recover()
	n.out.beside = true
	defer func() { n.out.beside = false }()
	done := n.done()
	n.execute(h, s)
	s.done += n.done() - done
}

// prepare lets a control process work ahead while leaves have their turns.
func (n *node) prepare() {
	defer n.recover()
	n.preparer.Prepare()
}

// post is the rest of a turn beside leaves, when they are done.
func (n *node) post() {
	defer n.recover()
	if n.fault == nil {
		n.out.post()
	}
}

// execute is a turn but for what was sent in it.
func (n *node) execute(h Key, s *stock) {
	n.stock = s
	o := &n.out
	o.limit, o.horizon, o.stopped, o.streams = h, h, false, false
	o.toLeaves, o.firstToLeaf = 0, NeverKey
	n.horizon, n.executed = h, 0
	n.mailbox.run()
	n.mailbox.waiting.Add(-int64(n.executed))
}

// drain is the turn as the dispatcher runs it: messages below the horizon in
// the order of their stamps, then the local rest.
func (n *node) drain() {
	m, o := &n.mailbox, &n.out
	m.absorb()
	for {
		f := m.top()
		if f == nil {
			break
		}
		n.message.Stamp, n.message.Kind = f.head.stamp, f.head.kind
		n.deferred = false
		m.invoker.InvokeUserMessage(&n.message)
		if n.deferred {
			break
		}
	}
	if o.limit.IsNever() && n.periodic != nil && n.id >= FirstLeaf {
		n.runOut()
	} else if n.advanced.Less(o.limit) {
		n.target.until = o.limit
		m.invoker.InvokeUserMessage(&n.target)
	}
}

// runOut ends a leaf with periodic events that nobody will ask for any more:
// event by event, so that it stops with its last one.
func (n *node) runOut() {
	for k := n.process.Next(); k.Less(n.out.limit) && !n.sim.halted.Load(); k = n.process.Next() {
		n.target.until = k.Next()
		n.mailbox.invoker.InvokeUserMessage(&n.target)
	}
}

// receive executes what is local before the message at the top of the mailbox
// and then the message, if it is below the horizon; what came before it may
// have lowered that.
func (n *node) receive(m *Message) {
	o, key := &n.out, m.Stamp.Key()
	if n.advanced.Less(earliest(key, o.limit)) {
		n.advance(key)
	}
	if !key.Less(o.limit) || n.sim.halted.Load() {
		n.deferred = true
		return
	}
	if !n.last.Less(m.Stamp) {
		rule := ruleBackward
		if n.last == m.Stamp {
			rule = ruleOrder
		}
		n.trap(rule, n.last, m.Stamp)
	}
	if key.Less(o.cause) {
		n.trap(ruleBackward, n.stamp(o.cause), m.Stamp)
	}
	n.last, o.cause, o.horizon = m.Stamp, key, o.limit
	f := n.mailbox.top()
	end, err := n.fold(f.buf, &f.head)
	if err != nil {
		n.trap(ruleFrame+": "+err.Error(), f.first, f.last)
	}
	m.Body = Decoder{buf: f.buf[:end], pos: f.head.body, left: f.head.fields}
	n.process.Receive(m, o)
	if m.Body.err != nil {
		n.trap(ruleBody+": "+m.Body.err.Error(), m.Stamp, n.last)
	}
	if m.Kind&Silent != 0 {
		end = n.skip(f, m)
	} else if n.tracer != nil {
		n.tracer.mark(n.digest.messages, m.Stamp, &n.digest)
	}
	n.executed++
	if n.id < FirstLeaf {
		n.sim.controlReceived(n, m.Stamp)
	}
	n.mailbox.advance(f, end)
}

// fold takes a message into the digest and returns where it ends; of a silent
// one, of which that is found when it has been read, where its frame does.
func (n *node) fold(b []byte, m *message) (int, error) {
	if m.kind&Silent == 0 {
		return n.digest.message(b, m)
	}
	if n.id < FirstSink {
		n.trap(ruleSilent, n.stamp(n.out.cause), m.stamp)
	}
	return len(b), nil
}

// skip returns where a silent message ends that was read, all of it or not.
func (n *node) skip(f *frame, m *Message) int {
	end, err := skipFields(f.buf, m.Body.pos, m.Body.left)
	if err != nil {
		n.trap(ruleFrame+": "+err.Error(), f.first, f.last)
	}
	return end
}

// advance executes the local events before h.
func (n *node) advance(h Key) {
	o := &n.out
	o.horizon = earliest(h, o.limit)
	n.process.Advance(h, o)
	if reached := earliest(h, o.limit); !o.stopped {
		n.advanced = latest(n.advanced, reached)
	}
}

// alive is the Key of the earliest event that keeps the run alive.
// It is asked only between windows.
func (n *node) alive() Key {
	n.mailbox.absorb()
	return earliest(n.process.Next(), n.mailbox.head())
}

// expect estimates the work before h.
func (n *node) expect(h Key) int {
	if n.estimator == nil {
		return 1 + n.mailbox.UserMessageCount()
	}
	return n.estimator.Work(h)
}

// maySend reports whether messages go from n to receiver.
func (n *node) maySend(receiver *node) bool {
	switch {
	case n.id >= FirstSink || n == receiver:
		return false
	case n.id >= FirstLeaf:
		return receiver.id < FirstLeaf || receiver.id >= FirstSink
	}
	return true
}

// floorNow is the Key before which no message may be sent to the process.
func (n *node) floorNow() Key {
	if n.channel() == toLeaf {
		return n.sim.leafFloor
	}
	return n.floor
}

func (n *node) channel() int {
	switch {
	case n.id < FirstLeaf:
		return toControl
	case n.id < FirstSink:
		return toLeaf
	}
	return toSink
}

// stamp dresses a Key of this process up as a stamp, for traps.
func (n *node) stamp(k Key) Stamp {
	return Stamp{At: k.At, Class: k.Class, Source: uint32(n.id), Seq: n.out.seq}
}

// trap stops the run: a rule is broken.
func (n *node) trap(rule string, first, second Stamp) {
	panic(&Trap{rule, n.name, first, second})
}

// recover turns a panic of the turn into the node's fault.
func (n *node) recover() {
	if v := recover(); v != nil {
		n.fault = &Fault{Process: n.name, ID: n.id, At: n.out.cause, Last: n.last, Value: v, Stack: debug.Stack()}
		n.sim.failed.Store(true)
	}
}

// newNode prepares a process; AddControl, AddLeaf and AddSink spawn it.
func newNode(s *Simulation, id ProcessID, name string, p Process) *node {
	n := &node{sim: s, id: id, name: name, process: p, stock: &s.crew.stocks[0]}
	n.periodic, _ = p.(Periodic)
	n.observer, _ = p.(Observer)
	n.publisher, _ = p.(Publisher)
	n.estimator, _ = p.(Estimator)
	n.preparer, _ = p.(Preparer)
	n.mailbox.node = n
	n.mailbox.drain = n.drain
	n.out.node = n
	for i := range n.out.lookahead {
		n.out.lookahead[i] = vtime.Duration(vtime.Never)
	}
	n.digest.reset()
	n.enough = sinkBatch
	n.tracer = newTracer(s.config.Trace, id)
	return n
}
