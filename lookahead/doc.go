// Package lookahead runs logical processes in virtual time, in parallel, and
// gives the same bits on any number of cores. It is a conservative kernel of
// parallel discrete-event simulation (PDES): a process executes an event only
// when no message can arrive any more that would have to be executed before
// it, so nothing is ever undone. The package knows nothing of what is
// simulated.
//
// A process is a control process, a leaf or a sink. Messages go between
// control processes and leaves in both directions, among control processes,
// and from both to sinks; leaves do not talk to each other. Every process is a
// protoactor actor with a mailbox of this package. The mailbox sorts what
// arrives by stamp, and the worker that has the process's turn reads it. No
// goroutine is started per message or per window.
//
// There may be any number of control processes, and each may observe. In virtual
// time they execute one after the other, in the order of (Key, id), so nothing
// that one of them sends can change what another has already read. The ranges of
// ids (see ProcessID): control processes 0 and 1, leaves from FirstLeaf on,
// further control processes from ThirdControl on, sinks from FirstSink on.
//
// Each kind of notice has a promise per leaf, and functions that tell how early a
// notice of it has an effect (Notice). A control process waits for the kinds that
// it receives, and for what the others can lead to: an answer to a leaf that then
// sends it a notice, or shows it another state. So a store that leaves ask holds
// back nobody who does not ask it, and a kind with an early effect costs
// nothing while no leaf is about to send it.
//
// The words of the protocol:
//
//	Key          an instant and the class of events within it
//	Stamp        the place of a message in the total order, headed by a Key
//	notice       a message from a leaf to a control process; of one of several
//	             kinds
//	promise      the earliest Key at which a process may send a message
//	horizon      the Key before which a process may execute events now
//	turn         a process executes, on one worker, everything before a horizon
//	window       the turns that leaves have at the same time
//	observation  a control process reads what leaves publish, without messages
//
// Where to read what:
//
//	stamp.go       Key and Stamp, the total order
//	process.go     what a process implements
//	decide.go      which process runs next and how far: the protocol as a pure
//	               function
//	simulation.go  what users call
//	coordinator.go the processes of a simulation and the books of the loop
//	run.go         the window loop that carries the decisions out, and whether
//	               the workers share the turns of a window
//	control.go     what the coordinator knows of control processes
//	notice.go      kinds of notices, and what can follow from one
//	sinks.go       when sinks read
//	quiesce.go     what happens when no process may advance; deadlock.go
//	sequential.go  the strictest twin: one Key of one process at a time
//	workers.go     the workers, how they claim turns and wait
//	node.go        one turn of one process
//	mailbox.go     the merge by stamp; frame.go, decoder.go, msgpack.go: the
//	               wire format; framepool.go: spent frames
//	outbox.go      sending, and the horizon as a process sees it
//	fleet.go       the Keys of every leaf; mintree.go: the minimum of many
//	               Keys
//	digest.go      the hash that makes runs comparable; trace.go: where two
//	               runs part
//	fault.go       traps and faults
//	stats.go       counts of a run
//
// Not modelled: messages from leaf to leaf, and processes that go away; a
// process that has nothing to do costs next to nothing.
package lookahead
