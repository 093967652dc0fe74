package lookahead

import "blis/vtime"

// Outbox is a process's way out: it sends messages, asks how far it may go,
// and says what it executes. It is valid during Receive and Advance.
//
// A message is Begin, then as many fields as announced, then End. It travels
// when the turn is over. In steady state nothing is allocated.
type Outbox struct {
	node *node

	limit   Key // of the turn: lowered by sends and by Stop
	horizon Key // of the Advance in progress, not after limit
	cause   Key // of what is executing or was executed last
	stopped bool
	streams bool // it was Stream that ended the turn
	beside  bool // the turn is one beside those of leaves

	seq     uint64
	current *frame
	missing int // fields announced and not written
	open    []*frame
	aside   []*frame // to sinks: kept over turns until they are worth a post
	filled  []filled // to sinks: full before the turn was over
	holds   bool     // the process is among the holders of a stock
	touched []*node
	scratch sorter

	sent, toLeaves, events uint64
	firstToLeaf            Key               // of the turn
	lookahead              [3]vtime.Duration // smallest per channel
}

// The channels of which the smallest lookahead is kept, by the receiver.
const (
	toControl = iota
	toLeaf
	toSink
)

// Horizon is the Key before which the process may execute local events now.
// It may be lower after a send than before.
func (o *Outbox) Horizon() Key {
	if o.node.sim.halted.Load() {
		return Key{}
	}
	return o.horizon
}

// Execute reports whether the local event at k may be executed now, and takes
// note that it is: what is sent next has it as cause. Keys must not decrease.
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

// Stop ends a control process's turn early: nothing further is below its
// horizon until the leaves have worked.
func (o *Outbox) Stop() {
	if o.node.sim.config.Sequential {
		return // nobody streams ahead there
	}
	o.stopped = true
	o.lower(Key{})
}

// Stream is for control processes that send much. It ends the turn like Stop
// once there are so many messages to leaves that have not been executed. A
// process that reads nothing of the leaves and hears nothing from them has far
// fewer to wait for: while they work on these it goes on, beside them, and
// sends more each time up to the full number. It may not add leaves then.
func (o *Outbox) Stream(most int) {
	switch s := o.node.sim; {
	case o.beside:
		most = min(most, streamGrowth*int(s.undelivered))
	case s.view.apart(&s.view.control[o.node.id]):
		most /= streamStart
	}
	if o.Undelivered() >= most {
		o.Stop()
		o.streams = o.stopped
	}
}

// While a control process makes its first messages everybody waits: so it makes
// few. Leaves take several times as long for a message as what sends it, so it
// may send several times as many while they work.
const (
	streamStart  = 16
	streamGrowth = 4
)

// Undelivered is the number of messages to leaves, from all control
// processes, that have not been executed: those sent in this turn included,
// what leaves executed since the turn began not. Only control processes may
// ask.
func (o *Outbox) Undelivered() int {
	return int(o.node.sim.undelivered + int64(o.toLeaves))
}

// Begin starts a message with the given number of fields. Its Key must be
// strictly later than that of the executing event.
func (o *Outbox) Begin(to ProcessID, at Key, kind Kind, fields int) {
	o.BeginWithEffectAt(to, at, at, kind, fields)
}

// BeginWithEffectAt is Begin for a message to a leaf that takes effect on other
// processes at effectAt only: before then the leaf publishes what it would
// publish without it, and sends nothing to a control process because of it. So
// no process has to wait until the leaf has read it.
func (o *Outbox) BeginWithEffectAt(to ProcessID, at, effectAt Key, kind Kind, fields int) {
	n := o.node
	receiver := n.sim.lookup(to)
	if receiver == nil || !n.maySend(receiver) {
		n.trap(ruleRoute, n.stamp(at), Stamp{Source: uint32(to)})
	}
	if !o.cause.Less(at) || at.IsNever() {
		n.trap(ruleCause, n.stamp(o.cause), n.stamp(at))
	}
	if floor := receiver.floorNow(); at.Less(floor) {
		n.trap(ruleHorizon, n.stamp(at), receiver.stamp(floor))
	}
	if o.missing != 0 || o.current != nil {
		n.trap(ruleFields, n.stamp(o.cause), n.stamp(at))
	}
	o.seq++
	o.sent++
	f := o.frameTo(receiver)
	f.open(Stamp{At: at.At, Class: at.Class, Source: uint32(n.id), Seq: o.seq}, kind, fields)
	f.quiet = earliest(f.quiet, effectAt)
	o.current, o.missing = f, fields
	channel := receiver.channel()
	if d := at.At.Sub(o.cause.At); d < o.lookahead[channel] {
		o.lookahead[channel] = d
	}
	if n.id < FirstLeaf {
		n.sim.sentByControl(n, receiver, at, effectAt)
	}
}

// Int adds an integer field.
func (o *Outbox) Int(v int64) {
	o.current.buf = appendInt(o.current.buf, v)
	o.missing--
}

// Uint adds an integer field that is not negative.
func (o *Outbox) Uint(v uint64) {
	o.current.buf = appendUint(o.current.buf, v)
	o.missing--
}

// Float adds a float field. NaN has one form only if its source has.
func (o *Outbox) Float(v float64) {
	o.current.buf = appendFloat(o.current.buf, v)
	o.missing--
}

// Bytes adds a byte string; it is copied.
func (o *Outbox) Bytes(v []byte) {
	o.current.buf = appendBytes(o.current.buf, v)
	o.missing--
}

// End completes the message.
func (o *Outbox) End() {
	if o.missing != 0 {
		o.node.trap(ruleFields, o.current.last, o.node.stamp(o.cause))
	}
	o.current = nil
}

// lower brings the turn's limit down to k.
func (o *Outbox) lower(k Key) {
	o.limit = earliest(o.limit, k)
	o.horizon = earliest(o.horizon, k)
}

// frameTo returns the open frame for a receiver.
func (o *Outbox) frameTo(receiver *node) *frame {
	table, i := &o.open, int(receiver.id)
	if receiver.id >= FirstSink {
		table, i = &o.aside, int(receiver.id-FirstSink)
	}
	for i >= len(*table) {
		*table = append(*table, nil)
	}
	f := (*table)[i]
	if f != nil && receiver.id >= FirstSink && f.count >= asideMost {
		o.filled = append(o.filled, filled{receiver, f})
		f = nil
	}
	if f == nil {
		f = o.node.stock.take()
		f.start(o.node.id)
		(*table)[i] = f
		if receiver.id < FirstSink {
			o.touched = append(o.touched, receiver)
		} else if !o.holds {
			o.holds = true
			o.node.stock.holders = append(o.node.stock.holders, o.node)
		}
	}
	return f
}

// asideMessages is how many messages a frame to a sink gathers, over turns,
// before it is posted: sinks are in no hurry, and a frame costs more than a
// message.
const asideMessages = 64

// asideMost is how many it holds at most. A control process that streams tells a
// sink much in one turn: frames as long as that, used again by all others in
// turn, would make every frame that long.
const asideMost = 8 * asideMessages

// filled is a frame that waits for the end of the turn.
type filled struct {
	receiver *node
	frame    *frame
}

// post sends the frames of the turn through protoactor.
func (o *Outbox) post() {
	n := o.node
	if o.current != nil {
		n.trap(ruleFields, o.current.last, n.stamp(o.cause))
	}
	for _, receiver := range o.touched {
		f := o.open[receiver.id]
		o.open[receiver.id] = nil
		o.send(receiver, f)
	}
	o.touched = o.touched[:0]
	for _, f := range o.filled {
		o.send(f.receiver, f.frame)
	}
	o.filled = o.filled[:0]
	o.postAside(n.sim.asideAtLeast)
}

// postAside posts the frames to sinks that hold at least so many messages.
func (o *Outbox) postAside(least int) {
	for i, f := range o.aside {
		if f != nil && f.count >= least {
			o.aside[i] = nil
			o.send(o.node.sim.sinks[i], f)
		}
	}
}

// send posts one frame.
func (o *Outbox) send(receiver *node, f *frame) {
	n := o.node
	if err := f.finish(&o.scratch); err != nil {
		n.trap(ruleFrame+": "+err.Error(), f.first, f.last)
	}
	if n.sim.config.Record != nil {
		n.recorded = appendRecord(n.recorded, receiver.id, f.buf)
	}
	n.sim.posting(n, receiver, f)
	n.sim.root.Send(receiver.pid, f)
}

// appendRecord adds [receiver, frame] to a recording.
func appendRecord(b []byte, receiver ProcessID, frame []byte) []byte {
	return append(appendUint(appendArray(b, 2), uint64(receiver)), frame...)
}
