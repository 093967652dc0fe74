package lookahead

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"blis/vtime"
)

// Config is how a simulation runs. Only End can change a result.
type Config struct {
	Workers    int  // goroutines that run leaves, the caller's included; at least 1
	Sequential bool // the strictest twin: one Key of one process at a time, no windows

	// React returns the earliest effect of a notice that arrives at a Key: the
	// first Key at which it can cause a message to a leaf, or an observation
	// of live state, which leaves must not be past. A notice to any control
	// process counts, and what others do because that one tells them. It must
	// be monotone. Nil: notices cause neither.
	React func(Key) Key
	// Reply returns the earliest effect of a message to a leaf that takes
	// effect at a Key (see Outbox.BeginWithEffectAt): the first Key at which
	// the leaf can send a notice because of it. It must be monotone. Nil: the
	// next Key.
	Reply func(Key) Key

	End Key // events at or after End are not executed; the zero Key and NeverKey: no end

	// InlineBelow is the expected number of events below which a window runs
	// inline, on the coordinator's goroutine. 0: a default, negative: never.
	InlineBelow int

	Record   io.Writer                         // gets every frame as msgpack [receiver, frame]; nil: not recorded
	Progress func(now vtime.Time, work uint64) // called now and then, with the messages and events done
	Trace    Trace

	// For tests.
	Assign    func(ProcessID) int // the worker that runs a leaf, modulo Workers; nil: any
	MaxWindow vtime.Duration      // maximum length of a window; 0: no limit
}

// inlineBelow is the default of Config.InlineBelow. A turn on another core costs
// some microseconds of cache traffic, and a window two synchronisations; above
// about this many events, sharing is worth that.
const inlineBelow = 128

// Simulation is a set of processes and one run of them. It is not safe for
// concurrent use; different simulations are independent.
type Simulation struct {
	config  Config
	run     uint64 // number of this simulation, part of the actors' names
	root    *actor.RootContext
	workers *workers
	fleet   fleet
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

	meanWork float64 // moving mean of events and messages per turn; see runTurns

	counts       Stats
	rounds       uint64 // passes of the loop; see report
	reported     uint64 // work at the last call of Config.Progress
	ownReported  uint64 // the coordinator's work when report looked last
	workAtResume uint64 // 1 + work when resumeStopped last returned true
	finished     bool
	started      bool
	digests      []ProcessDigest
}

// system is protoactor's, shared by all simulations: making one takes
// milliseconds. Nothing of it reaches a result.
var system = sync.OnceValue(func() *actor.ActorSystem {
	return actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.DiscardHandler)
	}))
})

// New returns a simulation without processes.
func New(cfg Config) *Simulation {
	if cfg.End == (Key{}) {
		cfg.End = NeverKey
	}
	workers := max(1, cfg.Workers)
	if cfg.Sequential {
		workers = 1
	}
	switch {
	case cfg.InlineBelow == 0:
		cfg.InlineBelow = inlineBelow
	case cfg.InlineBelow < 0:
		cfg.InlineBelow = 0
	}
	s := &Simulation{config: cfg, run: runs.Add(1), root: system().Root, workers: newWorkers(workers, cfg.Assign)}
	s.workers.wakeAt = 2 * cfg.InlineBelow
	s.meanWork = float64(cfg.InlineBelow) // the first windows are estimated
	s.fleet.reply = cfg.Reply
	s.sinkFrameMin = sinkFrameMin
	if cfg.Sequential || cfg.Record != nil {
		s.sinkFrameMin = 1 // sinks take part in the order of Keys; a recording has frames turn by turn
	}
	s.view = view{react: cfg.React, end: cfg.End, window: cfg.MaxWindow}
	return s
}

// AddControl adds a control process. It is called before Run. At one Key control
// processes execute their events in the order in which they were added.
func (s *Simulation) AddControl(name string, p Process) ProcessID {
	id := ProcessID(len(s.control))
	if id >= FirstLeaf {
		id += ThirdControl - FirstLeaf
	}
	n := s.spawn(id, name, p)
	if n.optional.preparer != nil {
		s.workers.preparers = append(s.workers.preparers, n)
	}
	n.slot = len(s.control)
	s.control = append(s.control, n)
	s.view.control = append(s.view.control, controlState{})
	return id
}

// AddLeaf adds a leaf. It is called before Run, or from within a turn of a
// control process; then the leaf's events must be later than the executing one.
func (s *Simulation) AddLeaf(name string, p Process) ProcessID {
	if s.overlapped != nil {
		panic(fmt.Sprintf("lookahead: %q adds a leaf while it streams", s.overlapped.name))
	}
	id := FirstLeaf + ProcessID(len(s.fleet.nodes))
	if id >= ThirdControl {
		panic(fmt.Sprintf("lookahead: %q would be one leaf too many", name))
	}
	n := s.spawn(id, name, p)
	s.fleet.add(n)
	if s.running != nil {
		s.running.out.lower(s.fleet.promise.key(n.slot))
	}
	return id
}

// AddSink adds a process that receives and never sends.
func (s *Simulation) AddSink(name string, p Process) ProcessID {
	id := FirstSink + ProcessID(len(s.sinks))
	n := s.spawn(id, name, p)
	n.slot = len(s.sinks)
	s.sinks = append(s.sinks, n)
	return id
}

// runs counts the simulations of this program.
var runs atomic.Uint64

// spawn makes an actor of a process.
func (s *Simulation) spawn(id ProcessID, name string, p Process) *node {
	n := newNode(s, id, name, p)
	props := actor.PropsFromProducer(func() actor.Actor { return n },
		actor.WithMailbox(func() actor.Mailbox { return &n.mailbox }),
		actor.WithDispatcher(callerDispatcher{}))
	pid, err := s.root.SpawnNamed(props, strconv.FormatUint(s.run, 10)+"/"+strconv.FormatUint(uint64(id), 10)+"/"+name)
	if err != nil { // ids make the names unique
		panic("lookahead: " + err.Error())
	}
	n.pid = pid
	n.mailbox.handleSystem()
	return n
}

// stopActors takes the actors out of protoactor's registry.
func (s *Simulation) stopActors() {
	for _, n := range s.all() {
		s.root.Stop(n.pid)
		n.mailbox.handleSystem()
	}
}

// lookup returns the process with an id, nil if there is none.
func (s *Simulation) lookup(id ProcessID) *node {
	list, i := s.control, int(id)
	switch {
	case id >= FirstSink:
		list, i = s.sinks, int(id-FirstSink)
	case id >= ThirdControl:
		i = int(id - ThirdControl + FirstLeaf)
	case id >= FirstLeaf:
		list, i = s.fleet.nodes, int(id-FirstLeaf)
	}
	if i >= len(list) {
		return nil
	}
	return list[i]
}

// all returns the processes in the order of their ids.
func (s *Simulation) all() []*node {
	first := min(len(s.control), int(FirstLeaf))
	return slices.Concat(s.control[:first], s.fleet.nodes, s.control[first:], s.sinks)
}

// Digest returns the digest of every process, in the order of ids; nil unless
// Run has returned without error.
func (s *Simulation) Digest() []ProcessDigest { return s.digests }

// Trace returns the marks that Config.Trace asked for, in the order of ids.
func (s *Simulation) Trace() []ProcessTrace {
	var list []ProcessTrace
	for i, n := range s.all() {
		t := ProcessTrace{Name: n.name, ID: n.id, Marks: n.history.marks(), Messages: n.history.digest.messages}
		if s.finished {
			t.Final = s.digests[i].Hash
		}
		list = append(list, t)
	}
	return list
}

// closeDigests adds the final states of processes to their digests.
func (s *Simulation) closeDigests() error {
	for _, n := range s.all() {
		s.asked = n
		hash := n.history.close(n.process)
		s.digests = append(s.digests, ProcessDigest{Name: n.name, ID: n.id, Hash: hash, Messages: n.history.digest.messages})
	}
	s.finished = true
	return nil
}

// Undelivered takes the messages out of the mailboxes that a run left there
// because it was cut short, and visits them: process by process, each in the
// order of stamps. m is valid during the call of visit. Undelivered is called
// after Run.
func (s *Simulation) Undelivered(visit func(to ProcessID, m *Message)) error {
	for _, n := range s.all() {
		n.worker = &s.workers.list[0]
		n.mailbox.absorb()
		for f := n.mailbox.top(); f != nil; f = n.mailbox.top() {
			end, err := skipFields(f.buf, f.head.body, f.head.fields)
			if err != nil {
				return err
			}
			n.message = Message{Stamp: f.head.stamp, Kind: f.head.kind, Body: Decoder{buf: f.buf[:end], pos: f.head.body, left: f.head.fields}}
			visit(n.id, &n.message)
			n.mailbox.advance(f, end)
		}
	}
	return nil
}
