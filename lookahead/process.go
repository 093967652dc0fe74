package lookahead

// Message is what a process receives. It is valid only during the call.
type Message struct {
	Stamp Stamp
	Kind  Kind
	Body  Decoder // the fields, in the order in which they were sent
}

// Process is one logical process of the simulation. It owns its state: nobody
// else reads or writes it while the process may run, except what it publishes
// for observation.
type Process interface {
	// Next is the Key of its earliest local event that is not periodic,
	// NeverKey if there is none. What waits in its mailbox is not its concern.
	Next() Key
	// Promise is the Key of the earliest message that it could send if
	// nothing more is delivered to it; of a leaf, the earliest message to a
	// control process (sinks need no promise). Too early costs parallelism,
	// too late is a trap in the receiver. A process can send only after its
	// next event, so an answer at or before Next counts as the key after it.
	Promise() Key
	// Receive executes one message. Every local event before its Key has been
	// executed; messages at a Key act before local events at that Key.
	Receive(m *Message, out *Outbox)
	// Advance executes every local event before h, in order. It asks
	// out.Execute before each event and returns when that says no:
	//
	//	for out.Execute(p.Next()) {
	//		…
	//	}
	//
	// (or compares with out.Horizon itself), because what it sends may lower
	// the horizon while it runs.
	Advance(h Key, out *Outbox)
}

// Periodic is implemented by processes with events that do not keep a run
// alive. A periodic event of a control process is executed by Advance, in
// order with the others, only if once everything before it has executed an
// event that is not periodic is pending somewhere; the kernel sees to it by
// the horizons that it gives. A leaf's periodic events (refreshes) send
// nothing, and run as far as the leaf's horizon allows.
type Periodic interface {
	NextPeriodic() Key // NeverKey if there is none
}

// Observer is implemented by control processes that read what leaves publish
// outside of messages.
type Observer interface {
	// Observation is the next one. The kernel asks after each message and
	// after each turn: At must be no later than the first event that could
	// read, if nothing more is delivered.
	Observation() Observation
}

// Observation says what the events of a control process at Keys in [At, Until)
// read of the leaves. An At of NeverKey reads nothing.
type Observation struct {
	At, Until Key

	// StateBefore is the state that is read: every leaf has executed its
	// events before StateBefore, or is stable until then (see Publisher).
	StateBefore Key
	// LeafLimit bounds the leaves until the events have read: no leaf
	// executes anything at or after it.
	LeafLimit Key
}

// Publisher is implemented by leaves whose published state outlives events.
type Publisher interface {
	// StableUntil is the Key until which everything that control processes
	// read of this leaf stays as it is, if nothing is delivered. An
	// observation with a StateBefore that is not later does not wait for the
	// leaf. A leaf without Publisher is stable until its next event.
	StableUntil() Key
}

// Estimator is implemented by processes that can guess their work.
type Estimator interface {
	// Work is the expected number of events before h. It steers only who runs
	// where, never a result.
	Work(h Key) int
}

// Preparer is implemented by control processes that can do some of their work
// in advance, such as reading their input.
type Preparer interface {
	// Prepare is called now and then while leaves have their turns and this
	// process has none, how often and when depends on the machine. So it may
	// change nothing that a message, an answer to the kernel or a result could
	// tell.
	Prepare()
}

// Folder is implemented by processes with a state that the digest covers.
type Folder interface {
	Fold() uint64 // hash of the final state: random streams, free lists
}
