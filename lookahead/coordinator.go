package lookahead

import (
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// coordinator has the processes of a simulation and runs them: it decides who
// has a turn next and how far (run.go), and keeps the books that this needs. It
// works on the goroutine that called Simulation.Run.
type coordinator struct {
	config  Config
	run     uint64 // number of this simulation, part of the actors' names
	root    *actor.RootContext
	workers *workers
	fleet   fleet // the leaves
	view    view

	control []*node // in the order of their ids
	sinks   []*node // in the order of their ids
	slots   []int32 // leaves that have a turn in the window, ascending
	turns   []*node // processes that have a turn in the window: leaves, sinks, overlapped

	sinkFrameMin int         // messages from which on a frame to a sink is posted
	leafFloor    Key         // no message to a leaf may be earlier
	undelivered  int64       // messages to leaves that have not been executed
	sinkSenders  int         // processes that had unposted frames to sinks at the last flushSinkFrames
	running      *node       // the control process that has a turn, not overlapped; nil: none
	overlapped   *node       // the control process that has a turn during the window; nil: none
	asked        *node       // the process whose state the coordinator asked for last
	halted       atomic.Bool // ctx was cancelled
	failed       atomic.Bool // a node has a fault

	meanWork     float64 // moving mean of events and messages per turn; see runTurns
	counts       Stats
	progress     progress
	workAtResume uint64 // 1 + work when resumeStopped last returned true
}

// runs counts the simulations of this program.
var runs atomic.Uint64

// spawn makes an actor of a process.
func (co *coordinator) spawn(id ProcessID, name string, p Process) *node {
	n := newNode(co, id, name, p)
	props := actor.PropsFromProducer(func() actor.Actor { return n },
		actor.WithMailbox(func() actor.Mailbox { return &n.mailbox }),
		actor.WithDispatcher(callerDispatcher{}))
	pid, err := co.root.SpawnNamed(props, strconv.FormatUint(co.run, 10)+"/"+strconv.FormatUint(uint64(id), 10)+"/"+name)
	if err != nil { // ids make the names unique
		panic("lookahead: " + err.Error())
	}
	n.pid = pid
	n.mailbox.handleSystem()
	return n
}

// stopActors takes the actors out of protoactor's registry.
func (co *coordinator) stopActors() {
	for _, n := range co.all() {
		co.root.Stop(n.pid)
		n.mailbox.handleSystem()
	}
}

// lookup returns the process with an id, nil if there is none.
func (co *coordinator) lookup(id ProcessID) *node {
	list, i := co.control, int(id)
	switch {
	case id >= FirstSink:
		list, i = co.sinks, int(id-FirstSink)
	case id >= ThirdControl:
		i = int(id - ThirdControl + FirstLeaf)
	case id >= FirstLeaf:
		list, i = co.fleet.nodes, int(id-FirstLeaf)
	}
	if i >= len(list) {
		return nil
	}
	return list[i]
}

// all returns the processes in the order of their ids.
func (co *coordinator) all() []*node {
	first := min(len(co.control), int(FirstLeaf))
	return slices.Concat(co.control[:first], co.fleet.nodes, co.control[first:], co.sinks)
}
