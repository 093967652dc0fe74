// Package lookahead runs logical processes in virtual time, in parallel, and
// gives the same bits on any number of cores. It is a conservative kernel: a
// process executes an event only when no message can arrive any more that
// would have to be executed before it, so nothing is ever undone. It knows
// nothing of what is simulated.
//
// A process is a control process, a leaf or a sink. Messages go between
// control and leaves in both directions, among control processes, and from
// both to sinks; leaves do not talk to each other. Every process is a
// protoactor actor with a mailbox of this package: the mailbox sorts what
// arrives by stamp, and a worker drains it when the window gives it to that
// worker. No goroutine is started per message or per window.
//
// Where to read what:
//
//	stamp.go     Key and Stamp, the total order
//	process.go   what a process implements
//	decide.go    who may run next and how far: the protocol as a pure function
//	run.go       the window loop that carries the decisions out; turns.go: who
//	             runs the turns of a window; settle.go: when nobody may advance
//	sequential.go  the strictest twin: one key of one process at a time
//	crew.go      the workers, how they claim turns and meet
//	node.go      one turn of one process
//	mailbox.go   the merge by stamp; frame.go, decoder.go: the wire format
//	outbox.go    sending, and the horizon as a process sees it
//	fleet.go     what the coordinator keeps of every leaf; minima.go: the least
//	             of many keys
//	digest.go    what a run's equality is judged by; trace.go: where two differ
//	fault.go     traps, faults, deadlock
//
// Not modelled: messages from leaf to leaf, and processes that go away; one
// that has nothing to do costs next to nothing.
package lookahead
