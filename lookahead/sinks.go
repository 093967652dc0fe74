package lookahead

// Sinks are in no hurry: they get a turn in a window when node.threshold
// messages wait. That is at least sinkBatch, and sinkShare for each process with
// unposted frames, because each posts a frame of its own. It is at least twice
// the number of messages that the sink could not read in its last turn: a leaf
// that no process waits for may stand still for long, and the sink cannot read
// past it. When more than sinkMax messages wait, all leaves have to run.
const (
	sinkBatch = 2048
	sinkShare = 8
	sinkMax   = 1 << 16
)

// addSinkTurns adds the sinks with enough waiting messages to the window. All
// messages sent from now on are later than the earliest event of all processes,
// so sinks may read up to that event while the others still send.
func (co *coordinator) addSinkTurns() {
	for _, n := range co.sinks {
		if n.mailbox.waiting.Load() >= n.threshold {
			co.flushSinkFrames()
			n.horizon = Earliest(co.earliestDue().Next(), co.config.End)
			n.floor = latest(n.floor, n.horizon)
			co.counts.SinkTurns++
			co.turns = append(co.turns, n)
		}
	}
}

// sinksOverfull reports whether more than sinkMax messages wait for a sink.
func (co *coordinator) sinksOverfull() bool {
	for _, n := range co.sinks {
		if n.mailbox.waiting.Load() > sinkMax {
			return true
		}
	}
	return false
}

// flushSinkFrames posts all unposted frames to sinks.
func (co *coordinator) flushSinkFrames() {
	co.sinkSenders = 0
	for i := range co.workers.list {
		w := &co.workers.list[i]
		for _, n := range w.sinkSenders {
			co.asked = n
			n.out.postSinkFrames(1)
			n.out.isSinkSender = false
		}
		co.sinkSenders += len(w.sinkSenders)
		co.counts.Asked += uint64(len(w.sinkSenders))
		clear(w.sinkSenders)
		w.sinkSenders = w.sinkSenders[:0]
	}
}

// toBeSent returns the Key before which no message to a sink is still to be sent when no process may
// advance: that of the next periodic event.
func toBeSent(co *coordinator) Key {
	h := co.config.End
	for c := range co.view.control {
		h = Earliest(h, co.view.control[c].periodic)
	}
	return h
}

// runSinks gives every sink with messages before h a turn to read them.
func (co *coordinator) runSinks(h Key) {
	co.flushSinkFrames()
	for _, n := range co.sinks {
		co.asked = n
		n.mailbox.absorb()
		if n.mailbox.head().Less(h) {
			n.floor = latest(n.floor, h)
			co.counts.SinkTurns++
			n.runTurn(h, &co.workers.list[0])
		}
	}
}
