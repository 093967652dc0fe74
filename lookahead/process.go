package lookahead

// Message is what a process receives. It is valid only during the call.
type Message struct {
	Stamp Stamp
	Kind  Kind
	Body  Decoder // the fields, in the order in which they were sent
}

// Process is one logical process of the simulation. It owns its state: no other
// process reads or writes it, except that control processes read what a leaf
// publishes for observation.
type Process interface {
	// Next returns the Key of the earliest local event that is not periodic,
	// NeverKey if there is none. Messages in the mailbox are not local events.
	Next() Key
	// Promise returns the Key of the earliest message that the process could
	// send if nothing more is delivered to it. For a leaf only notices of kind
	// 0 count (see Notifier): sinks need no promise. A promise that is too
	// early costs parallelism; one that is too late is a trap, in the leaf that
	// sends or in the receiver. A process can send only after its next event,
	// so a promise at or before Next counts as the Key after Next.
	Promise() Key
	// Receive executes one message. Every local event before its Key has been
	// executed. Messages at a Key are executed before local events at that Key.
	Receive(m *Message, out *Outbox)
	// Advance executes every local event before h, in order. It calls
	// out.Execute before each event and returns when that is false:
	//
	//	for out.Execute(p.Next()) {
	//		…
	//	}
	//
	// (or compares with out.Horizon itself), because a message that it sends
	// may lower the horizon.
	Advance(h Key, out *Outbox)
}

// Notifier is implemented by leaves that send notices of other kinds than 0. A
// leaf without it sends notices of kind 0 alone.
type Notifier interface {
	// PromiseOf is Promise for the notices of kind k, which is at least 1. The
	// kernel asks for kinds that some control process receives.
	PromiseOf(k NoticeKind) Key
}

// Periodic is implemented by processes with events that do not keep a run alive,
// such as refreshes and checks at intervals. Advance executes them in order with
// the others. A periodic event of a control process happens only if, when
// everything before it has been executed, an event that is not periodic is
// pending in some process; the kernel gives horizons accordingly. A periodic
// event of a leaf sends nothing, and happens as far as the leaf's horizon
// allows.
type Periodic interface {
	// NextPeriodic returns the Key of the earliest periodic event, NeverKey if
	// there is none.
	NextPeriodic() Key
}

// Observer is implemented by control processes that read what leaves publish
// outside of messages. What it answers depends on its own state alone: the
// kernel does not ask again when another process has had a turn.
type Observer interface {
	// Observation returns the next observation. The kernel asks after each
	// message and after each turn. At must not be later than the first event
	// that could read, if nothing more is delivered.
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

// Publisher is implemented by leaves with published state that events leave as it
// is.
type Publisher interface {
	// StableUntil returns the Key until which everything that control processes
	// read of this leaf stays as it is, if nothing is delivered. An
	// observation with a StateBefore that is not later does not wait for the
	// leaf. A leaf without Publisher is stable until its next event.
	//
	// The leaf need not consider what answers to notices can change, not even
	// answers to its own: the kernel knows how early an answer can come
	// (Notice.React) and lets nobody read later state before (see
	// view.stableUntil).
	StableUntil() Key
}

// Estimator is implemented by processes that can estimate their work.
type Estimator interface {
	// Work returns the expected number of events before h. It decides which
	// worker runs the process, never a result.
	Work(h Key) int
}

// Preparer is implemented by control processes that can do some of their work
// in advance, such as reading their input.
type Preparer interface {
	// Prepare is called during windows in which this process has no turn. How
	// often and when depends on the machine, so it must change nothing that
	// shows in a message, in an answer to the kernel or in a result.
	Prepare()
}

// Folder is implemented by processes with state that the digest covers.
type Folder interface {
	// Fold returns a hash of the final state, such as random streams and free
	// lists.
	Fold() uint64
}
