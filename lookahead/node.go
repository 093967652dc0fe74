package lookahead

import (
	"runtime/debug"

	"github.com/asynkron/protoactor-go/actor"

	"blis/vtime"
)

// node is a process and what the kernel keeps of it. The worker that has the
// process's turn owns it during the turn, the coordinator between turns.
type node struct {
	loop    *coordinator // that gives the turns
	id      ProcessID
	channel channel // the class of receivers that it belongs to
	slot    int     // its index in that class
	name    string
	process Process

	optional optional // interfaces of process

	pid     *actor.PID
	mailbox mailbox
	out     Outbox
	worker  *worker // that has the turn, or had the last one

	message Message   // the actor is invoked with it, once per message
	rest    advanceTo // the actor is invoked with it at the end of a turn

	history history // what the process executed

	advanced Key  // every local event before it has been executed
	floor    Key  // no message may arrive before it (control processes and sinks)
	deferred bool // the message at the top of the mailbox stays for a later turn

	horizon     Key   // of the last turn given
	expected    int   // expected work of the turn, where it was estimated
	executed    int   // messages executed in the turn
	threshold   int64 // of a sink: number of waiting messages that gives it a turn in a window
	controlMail int   // of a control process: waiting messages from control processes
	fault       *Fault
	recorded    []byte // frames sent since Config.Record was last written to
}

// optional is the optional interfaces of a process, nil where it lacks one.
type optional struct {
	periodic  Periodic
	observer  Observer
	publisher Publisher
	notifier  Notifier
	estimator Estimator
	preparer  Preparer
}

// optionalOf returns the optional interfaces of a process.
func optionalOf(p Process) (o optional) {
	o.periodic, _ = p.(Periodic)
	o.observer, _ = p.(Observer)
	o.publisher, _ = p.(Publisher)
	o.notifier, _ = p.(Notifier)
	o.estimator, _ = p.(Estimator)
	o.preparer, _ = p.(Preparer)
	return o
}

// advanceTo is the message that ends every turn: execute the local events
// before the Key until.
type advanceTo struct{ until Key }

// Receive implements actor.Actor.
func (n *node) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *Message:
		n.receive(m)
	case *advanceTo:
		n.advance(m.until)
	}
}

// runTurn gives the process a turn up to h on the calling goroutine, which is
// worker w. A panic of the process becomes the node's fault.
func (n *node) runTurn(h Key, w *worker) {
	defer n.recover()
	before, done := n.out.events, n.done()
	n.execute(h, w)
	n.out.post()
	if n.channel == toLeaf {
		n.loop.fleet.update(n)
		w.executed += n.executed
		w.work += n.executed + int(n.out.events-before)
	}
	w.done += n.done() - done
}

// done counts messages executed, events and messages sent: any progress of the
// process increases it.
func (n *node) done() uint64 { return n.history.digest.messages + n.out.events + n.out.sent }

// runOverlapped gives a control process a turn up to h during a window. It
// keeps the frames that it fills until post.
func (n *node) runOverlapped(h Key, w *worker) {
	defer n.recover()
	n.out.overlapped = true
	defer func() { n.out.overlapped = false }()
	done := n.done()
	n.execute(h, w)
	w.done += n.done() - done
}

// prepare lets a control process work ahead during a window.
func (n *node) prepare() {
	defer n.recover()
	n.optional.preparer.Prepare()
}

// post ends an overlapped turn when the window is over: it posts the frames.
func (n *node) post() {
	defer n.recover()
	if n.fault == nil {
		n.out.post()
	}
}

// execute runs a turn without posting what was sent in it.
func (n *node) execute(h Key, w *worker) {
	n.worker = w
	o := &n.out
	o.limit, o.horizon, o.stopped, o.streaming = h, h, false, false
	o.toLeaves, o.firstEffect, o.firstTold = 0, NeverKey, NeverKey
	n.horizon, n.executed = h, 0
	n.mailbox.run()
	n.mailbox.waiting.Add(-int64(n.executed))
}

// dispatch runs a turn, called by the dispatcher: messages below the horizon in
// the order of their stamps, with the local events before each, then the
// remaining local events.
func (n *node) dispatch() {
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
	if o.limit.IsNever() && n.optional.periodic != nil && n.channel == toLeaf {
		n.runToEnd()
	} else if n.advanced.Less(o.limit) {
		n.rest.until = o.limit
		m.invoker.InvokeUserMessage(&n.rest)
	}
}

// runToEnd runs a leaf with periodic events to its end, when no horizon limits
// it any more. It goes event by event, because periodic events do not keep the
// leaf alive: it stops with its last event that is not periodic.
func (n *node) runToEnd() {
	for k := n.process.Next(); k.Less(n.out.limit) && !n.loop.halted.Load(); k = n.process.Next() {
		n.rest.until = k.Next()
		n.mailbox.invoker.InvokeUserMessage(&n.rest)
	}
}

// receive executes the local events before the message at the top of the
// mailbox, then the message. It defers the message if that is not below the
// horizon, which those events may have lowered.
func (n *node) receive(m *Message) {
	o, key := &n.out, m.Stamp.Key()
	if n.advanced.Less(Earliest(key, o.limit)) {
		n.advance(key)
	}
	if !key.Less(o.limit) || n.loop.halted.Load() {
		n.deferred = true
		return
	}
	if !n.history.last.Less(m.Stamp) {
		rule := ruleBackward
		if n.history.last == m.Stamp {
			rule = ruleOrder
		}
		n.trap(rule, n.history.last, m.Stamp)
	}
	if key.Less(o.cause) {
		n.trap(ruleBackward, n.stamp(o.cause), m.Stamp)
	}
	n.history.last, o.cause, o.horizon = m.Stamp, key, o.limit
	f := n.mailbox.top()
	end, err := n.digestMessage(f.buf, &f.head)
	if err != nil {
		n.trap(ruleFrame+": "+err.Error(), f.first, f.last)
	}
	m.Body = Decoder{buf: f.buf[:end], pos: f.head.body, left: f.head.fields}
	n.process.Receive(m, o)
	if m.Body.err != nil {
		n.trap(ruleBody+": "+m.Body.err.Error(), m.Stamp, n.history.last)
	}
	if m.Kind&Silent != 0 {
		end = n.skipRest(f, m)
	} else {
		n.history.mark(m.Stamp)
	}
	n.executed++
	if n.channel == toControl {
		n.loop.controlReceived(n, m.Stamp)
	}
	n.mailbox.advance(f, end)
}

// digestMessage adds a message to the digest and returns where it ends in b. A
// silent message is not digested: its end is known when it has been read
// (skipRest), and digestMessage returns the end of the frame.
func (n *node) digestMessage(b []byte, m *message) (int, error) {
	if m.kind&Silent == 0 {
		return n.history.digest.message(b, m)
	}
	if n.channel != toSink {
		n.trap(ruleSilent, n.stamp(n.out.cause), m.stamp)
	}
	return len(b), nil
}

// skipRest returns where a silent message ends, after the process has read all
// or some of its fields.
func (n *node) skipRest(f *frame, m *Message) int {
	end, err := skipFields(f.buf, m.Body.pos, m.Body.left)
	if err != nil {
		n.trap(ruleFrame+": "+err.Error(), f.first, f.last)
	}
	return end
}

// advance executes the local events before h.
func (n *node) advance(h Key) {
	o := &n.out
	o.horizon = Earliest(h, o.limit)
	n.process.Advance(h, o)
	if reached := Earliest(h, o.limit); !o.stopped {
		n.advanced = latest(n.advanced, reached)
	}
}

// alive returns the Key of an event or message of the process that keeps the run
// alive, of processes but sinks the earliest one. Periodic events do not, nor do
// silent messages: a run goes on as long as it would without a trace. Only the
// coordinator calls it, between windows.
func (n *node) alive() Key {
	n.mailbox.absorb()
	if n.channel == toSink {
		return Earliest(n.process.Next(), n.mailbox.loud())
	}
	return Earliest(n.process.Next(), n.mailbox.head())
}

// estimate returns the expected work of a turn up to h.
func (n *node) estimate(h Key) int {
	if n.optional.estimator == nil {
		return 1 + n.mailbox.UserMessageCount()
	}
	return n.optional.estimator.Work(h)
}

// maySend reports whether the protocol allows messages from n to receiver.
func (n *node) maySend(receiver *node) bool {
	switch n.channel {
	case toControl:
		return n != receiver
	case toLeaf:
		return receiver.channel != toLeaf
	}
	return false
}

// floorNow returns the Key before which no message may be sent to the process.
func (n *node) floorNow() Key {
	if n.channel == toLeaf {
		return n.loop.leafFloor
	}
	return n.floor
}

// stamp makes a Stamp of a Key of this process, for traps.
func (n *node) stamp(k Key) Stamp {
	return Stamp{At: k.At, Class: k.Class, Source: uint32(n.id), Seq: n.out.seq}
}

// trap stops the run because a rule of the protocol is broken.
func (n *node) trap(rule string, first, second Stamp) {
	panic(&Trap{rule, n.name, first, second})
}

// recover, when deferred, turns a panic into the node's fault.
func (n *node) recover() {
	if v := recover(); v != nil {
		n.fault = &Fault{Process: n.name, ID: n.id, At: n.out.cause, Last: n.history.last, Value: v, Stack: debug.Stack()}
		n.loop.failed.Store(true)
	}
}

// newNode prepares a process. coordinator.spawn makes it an actor.
func newNode(co *coordinator, id ProcessID, name string, p Process) *node {
	n := &node{loop: co, id: id, channel: id.channel(), name: name, process: p, optional: optionalOf(p), worker: &co.workers.list[0]}
	n.mailbox.node = n
	n.mailbox.dispatch = n.dispatch
	n.out.node = n
	for i := range n.out.lookahead {
		n.out.lookahead[i] = vtime.Duration(vtime.Never)
	}
	n.history.start(co.config.Trace, id)
	n.threshold = sinkBatch
	return n
}
