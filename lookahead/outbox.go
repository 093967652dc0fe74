package lookahead

import "blis/vtime"

// Outbox is what a process sends with. It also tells the process how far it may
// go, and the process tells it what it executes. It is valid during Receive and
// Advance.
//
// A message is Begin, then the announced number of fields, then End. It travels
// when the turn is over. In steady state nothing is allocated.
type Outbox struct {
	node *node

	limit      Key  // the horizon of the turn; sends and Stop lower it
	horizon    Key  // of the Advance in progress; not after limit
	cause      Key  // of the event or message executed last
	stopped    bool // the process ended the turn itself
	streaming  bool // it did so by Stream
	overlapped bool // the turn is an overlapped one

	seq       uint64 // of the last message
	current   *frame // between Begin and End, else nil
	unwritten int    // fields announced and not written

	// open are the frames that are not posted, by channel and slot of the
	// receiver. Frames to control processes and leaves are posted after the
	// turn; frames to sinks are kept over turns until they are worth posting.
	open         [channels][]*frame
	receivers    []*node     // control processes and leaves with an open frame
	fullFrames   []fullFrame // to sinks, full before the end of the turn
	isSinkSender bool        // the process is among worker.sinkSenders
	scratch      sorter

	sent, events uint64                   // messages and events of the run
	toLeaves     uint64                   // messages to leaves in the turn
	firstEffect  Key                      // earliest change of what leaves publish that the turn causes
	firstTold    Key                      // earliest message to another control process in the turn
	lookahead    [channels]vtime.Duration // per channel, the smallest distance of a message from its cause
}

// Horizon returns the Key before which the process may execute local events now.
// A send may lower it.
func (o *Outbox) Horizon() Key {
	if o.node.loop.halted.Load() {
		return Key{}
	}
	return o.horizon
}

// Cause returns the Key of the event, or message, that executes: what is sent now is later.
func (o *Outbox) Cause() Key { return o.cause }

// Steady returns a Key until which what the process observes of leaves stays as it is, as far as is known now:
// unless the process itself causes a change later than the event that it executes. It is for control processes
// that look at leaves again and again, and differs between executors: nothing may depend on it but which events
// are left out that would do nothing.
func (o *Outbox) Steady() Key {
	co := o.node.loop
	if co.config.Sequential {
		co.fleet.summarize(&co.view.leaves)
	}
	k := Earliest(o.firstEffect, o.firstTold)
	for c := range co.view.control {
		if c == o.node.slot {
			k = Earliest(k, co.view.stableUntil(&co.view.control[c]))
		} else {
			k = Earliest(k, co.view.control[c].due)
		}
	}
	return k
}

// Execute reports whether the process may execute its local event at k now. If
// so, the event is the cause of what is sent next. Keys must not decrease.
func (o *Outbox) Execute(k Key) bool {
	if !k.Less(o.Horizon()) {
		return false
	}
	if k.Less(o.cause) {
		o.node.trap(ruleBackward, o.node.stamp(o.cause), o.node.stamp(k))
	}
	o.cause = k
	o.events++
	return true
}

// Stop ends the turn of a control process early: its horizon is before all of its
// events until the leaves have run.
func (o *Outbox) Stop() {
	if o.node.loop.config.Sequential {
		return // a turn is one Key there
	}
	o.stopped = true
	o.lower(Key{})
}

// Stream is for control processes that send many messages. It ends the turn like
// Stop when the number of undelivered messages to leaves has reached most.
//
// A control process that observes nothing and gets no notices stops at a small
// part of most in its first turn. While the leaves execute these messages, it
// has overlapped turns, and in each it may send more, up to most. It must not
// add leaves in an overlapped turn.
func (o *Outbox) Stream(most int) {
	switch co := o.node.loop; {
	case o.overlapped:
		most = min(most, streamGrowth*int(co.undelivered))
	case co.view.independent(&co.view.control[o.node.slot]):
		most /= streamStart
	}
	if o.Undelivered() >= most {
		o.Stop()
		o.streaming = o.stopped
	}
}

// All processes wait while a streaming process sends its first messages, so these
// are one streamStart-th of the limit. A leaf takes several times as long to
// execute a message as its sender to send it, so the sender may send streamGrowth
// times as many messages during a window as the leaves execute in it.
const (
	streamStart  = 16
	streamGrowth = 4
)

// Undelivered returns the number of messages to leaves, from all control
// processes, that have not been executed. It includes messages sent in this turn
// and does not know of messages executed since the turn began. Only control
// processes may call it.
func (o *Outbox) Undelivered() int {
	return int(o.node.loop.undelivered + int64(o.toLeaves))
}

// Begin starts a message with the given number of fields. Its Key must be
// strictly later than the Key of the executing event. A message of a leaf to a
// control process is a notice of kind 0.
func (o *Outbox) Begin(to ProcessID, at Key, kind Kind, fields int) {
	o.begin(to, at, at, 0, kind, fields)
}

// BeginNotice is Begin for a notice of the kind notice, which the receiver must
// receive (see AddControl). It must not come before what the leaf has promised for
// that kind.
func (o *Outbox) BeginNotice(to ProcessID, at Key, notice NoticeKind, kind Kind, fields int) {
	o.begin(to, at, at, notice, kind, fields)
}

// BeginWithEffectAt is Begin for a message to a leaf that takes effect on other
// processes at effectAt only: before then the leaf publishes what it would
// publish without it, and sends nothing to a control process because of it. So
// no process has to wait until the leaf has read it.
func (o *Outbox) BeginWithEffectAt(to ProcessID, at, effectAt Key, kind Kind, fields int) {
	o.begin(to, at, effectAt, 0, kind, fields)
}

// begin starts a message. Of messages other than notices, notice is 0.
func (o *Outbox) begin(to ProcessID, at, effectAt Key, notice NoticeKind, kind Kind, fields int) {
	n := o.node
	receiver := n.loop.lookup(to)
	if receiver == nil || !n.maySend(receiver) {
		n.trap(ruleRoute, n.stamp(at), Stamp{Source: uint32(to)})
	}
	if !o.cause.Less(at) || at.IsNever() {
		n.trap(ruleCause, n.stamp(o.cause), n.stamp(at))
	}
	if n.channel == toLeaf && receiver.channel == toControl {
		n.checkNotice(receiver, notice, at)
	}
	if floor := receiver.floorNow(); at.Less(floor) {
		n.trap(ruleHorizon, n.stamp(at), receiver.stamp(floor))
	}
	if o.unwritten != 0 || o.current != nil {
		n.trap(ruleFields, n.stamp(o.cause), n.stamp(at))
	}
	o.seq++
	o.sent++
	f := o.frameTo(receiver)
	f.begin(Stamp{At: at.At, Class: at.Class, Source: uint32(n.id), Seq: o.seq}, kind, fields)
	f.effectAt = Earliest(f.effectAt, effectAt)
	o.current, o.unwritten = f, fields
	if d := at.At.Sub(o.cause.At); d < o.lookahead[receiver.channel] {
		o.lookahead[receiver.channel] = d
	}
	if n.channel == toControl {
		n.loop.sentByControl(n, receiver, at, effectAt)
	}
}

// Int adds an integer field.
func (o *Outbox) Int(v int64) {
	o.current.buf = appendInt(o.current.buf, v)
	o.unwritten--
}

// Uint adds a field that is a non-negative integer.
func (o *Outbox) Uint(v uint64) {
	o.current.buf = appendUint(o.current.buf, v)
	o.unwritten--
}

// Float adds a float field. The bits of a NaN are kept.
func (o *Outbox) Float(v float64) {
	o.current.buf = appendFloat(o.current.buf, v)
	o.unwritten--
}

// Bytes adds a byte string; it is copied.
func (o *Outbox) Bytes(v []byte) {
	o.current.buf = appendBytes(o.current.buf, v)
	o.unwritten--
}

// End completes the message.
func (o *Outbox) End() {
	if o.unwritten != 0 {
		o.node.trap(ruleFields, o.current.last, o.node.stamp(o.cause))
	}
	o.current = nil
}

// lower lowers the turn's horizon to k.
func (o *Outbox) lower(k Key) {
	o.limit = Earliest(o.limit, k)
	o.horizon = Earliest(o.horizon, k)
}

// frameTo returns the frame for the next message to a receiver.
func (o *Outbox) frameTo(receiver *node) *frame {
	table, i := &o.open[receiver.channel], receiver.slot
	for i >= len(*table) {
		*table = append(*table, nil)
	}
	f := (*table)[i]
	if f != nil && receiver.channel == toSink && f.count >= sinkFrameMax {
		o.fullFrames = append(o.fullFrames, fullFrame{receiver, f})
		f = nil
	}
	if f == nil {
		f = o.node.worker.frames.get()
		f.start(o.node.id)
		(*table)[i] = f
		if receiver.channel != toSink {
			o.receivers = append(o.receivers, receiver)
		} else if !o.isSinkSender {
			o.isSinkSender = true
			o.node.worker.sinkSenders = append(o.node.worker.sinkSenders, o.node)
		}
	}
	return f
}

// sinkFrameMin is the number of messages that a frame to a sink gathers, over
// turns, before it is posted: sinks are in no hurry, and a frame costs more than
// a message.
const sinkFrameMin = 64

// sinkFrameMax is the maximum number of messages of a frame to a sink. A control
// process that streams sends a sink many messages in one turn. Without a maximum
// its frame would become long; frames are reused, so in time all would be long.
const sinkFrameMax = 8 * sinkFrameMin

// fullFrame is a frame to a sink that waits for the end of the turn.
type fullFrame struct {
	receiver *node
	frame    *frame
}

// post sends the frames of the turn to their receivers through protoactor.
func (o *Outbox) post() {
	n := o.node
	if o.current != nil {
		n.trap(ruleFields, o.current.last, n.stamp(o.cause))
	}
	for _, receiver := range o.receivers {
		table := o.open[receiver.channel]
		f := table[receiver.slot]
		table[receiver.slot] = nil
		o.send(receiver, f)
	}
	o.receivers = o.receivers[:0]
	for _, f := range o.fullFrames {
		o.send(f.receiver, f.frame)
	}
	o.fullFrames = o.fullFrames[:0]
	o.postSinkFrames(n.loop.sinkFrameMin)
}

// postSinkFrames posts the frames to sinks with at least atLeast messages.
func (o *Outbox) postSinkFrames(atLeast int) {
	for i, f := range o.open[toSink] {
		if f != nil && f.count >= atLeast {
			o.open[toSink][i] = nil
			o.send(o.node.loop.sinks[i], f)
		}
	}
}

// send finishes a frame and posts it.
func (o *Outbox) send(receiver *node, f *frame) {
	n := o.node
	if err := f.finish(&o.scratch); err != nil {
		n.trap(ruleFrame+": "+err.Error(), f.first, f.last)
	}
	if n.loop.config.Record != nil {
		n.recorded = appendRecord(n.recorded, receiver.id, f.buf)
	}
	n.loop.countFrame(n, receiver, f)
	n.loop.root.Send(receiver.pid, f)
}

// Record adds an entry of the process itself to the recording of the run (see
// Config.Record), for what no message tells. It is a msgpack array that begins with a
// string, which sets it apart from a frame. Entries of a turn come before the frames
// that were sent in it. Without a recording it does nothing.
func (o *Outbox) Record(entry []byte) {
	if o.node.loop.config.Record != nil {
		o.node.recorded = append(o.node.recorded, entry...)
	}
}

// appendRecord adds [receiver, frame] to a recording.
func appendRecord(b []byte, receiver ProcessID, frame []byte) []byte {
	return append(appendUint(appendArray(b, 2), uint64(receiver)), frame...)
}
