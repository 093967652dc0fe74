package lookahead

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"blis/vtime"
)

// Config is how a simulation runs. Nothing in it but End can change a result.
type Config struct {
	Workers    int  // goroutines that run leaves, the caller's included; at least 1
	Sequential bool // the strictest twin: one Key of one process at a time, no windows

	// React gives the earliest Key at which a notice from a leaf at a Key can
	// cause a message to a leaf or an observation of live state (leaves must
	// not be past it); Reply the earliest message to a control process that
	// can follow when a message to a leaf takes effect at a Key (see
	// Outbox.BeginWithEffectAt). Both must be monotone. Nil React: none; nil Reply:
	// the next Key.
	React func(Key) Key
	Reply func(Key) Key

	End Key // events at or after it are not executed; the zero Key and NeverKey: no end

	// InlineBelow is the expected number of events below which a window runs
	// on the coordinator alone; 0: a default, negative: never.
	InlineBelow int

	Record   io.Writer                         // every frame as msgpack [receiver, frame]; nil: none
	Progress func(now vtime.Time, work uint64) // now and then, with the messages and events done
	Trace    Trace

	// For tests: which worker runs a leaf, and the longest window. Zero: as
	// it comes, no limit.
	Assign    func(ProcessID) int
	MaxWindow vtime.Duration
}

// inlineBelow is the default of Config.InlineBelow: about where the turns that
// another worker takes over are worth what travels between the caches of two
// cores for each, some microseconds, beside the two meetings.
const inlineBelow = 128

// Simulation is a set of processes and one run of them. It is not safe for
// concurrent use; different simulations are independent.
type Simulation struct {
	config Config
	run    uint64 // number of this simulation, for the actors' names
	root   *actor.RootContext
	crew   *crew
	fleet  fleet
	view   view

	control []*node
	sinks   []*node
	slots   []int32 // of the leaves that have a turn in the window
	turns   []*node // of the window: theirs, then those of sinks

	asideAtLeast int   // messages that make a frame to a sink worth posting
	leafFloor    Key   // no message to a leaf may be earlier
	undelivered  int64 // messages to leaves not executed
	holders      int   // processes that held messages to sinks when these were last called
	running      *node // the control process that has its turn
	beside       *node // the control process that has one beside leaves
	asked        *node // the process that the coordinator asked last
	halted       atomic.Bool
	failed       atomic.Bool

	usualWork float64 // events and messages of a turn in the last windows; decides who runs where alone

	counts   Stats
	reported uint64
	looked   uint64 // what the coordinator had done at the last look
	rounds   uint64
	stalled  uint64
	finished bool
	started  bool
	digests  []ProcessDigest
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
	s := &Simulation{config: cfg, run: runs.Add(1), root: system().Root, crew: newCrew(workers, cfg.Assign)}
	s.crew.wake = 2 * cfg.InlineBelow
	s.usualWork = float64(cfg.InlineBelow) // so that the first windows are asked
	s.fleet.reply = cfg.Reply
	s.asideAtLeast = asideMessages
	if cfg.Sequential || cfg.Record != nil {
		s.asideAtLeast = 1 // sinks take part in the one order; recordings tell turns apart
	}
	s.view = view{react: cfg.React, end: cfg.End, window: cfg.MaxWindow}
	return s
}

// AddControl adds a control process: id 0, then 1. There is no third.
func (s *Simulation) AddControl(name string, p Process) ProcessID {
	id := ProcessID(len(s.control))
	if id >= FirstLeaf {
		panic(fmt.Sprintf("lookahead: %q would be the third control process", name))
	}
	n := s.spawn(id, name, p)
	if n.preparer != nil {
		s.crew.ahead = append(s.crew.ahead, n)
	}
	s.control = append(s.control, n)
	s.view.control = append(s.view.control, station{})
	return id
}

// AddLeaf adds a leaf. Before Run, or from within a turn of a control
// process: then its events must be later than the one that adds it.
func (s *Simulation) AddLeaf(name string, p Process) ProcessID {
	if s.beside != nil {
		panic(fmt.Sprintf("lookahead: %q adds a leaf while it streams", s.beside.name))
	}
	id := FirstLeaf + ProcessID(len(s.fleet.nodes))
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
	s.sinks = append(s.sinks, s.spawn(id, name, p))
	return id
}

// runs counts the simulations of this program.
var runs atomic.Uint64

// spawn makes a process an actor.
func (s *Simulation) spawn(id ProcessID, name string, p Process) *node {
	n := newNode(s, id, name, p)
	props := actor.PropsFromProducer(func() actor.Actor { return n },
		actor.WithMailbox(func() actor.Mailbox { return &n.mailbox }),
		actor.WithDispatcher(inline{}))
	pid, err := s.root.SpawnNamed(props, strconv.FormatUint(s.run, 10)+"/"+strconv.FormatUint(uint64(id), 10)+"/"+name)
	if err != nil { // ids make the names unique
		panic("lookahead: " + err.Error())
	}
	n.pid = pid
	n.mailbox.handleSystem()
	return n
}

// retire takes the actors out of protoactor's registry.
func (s *Simulation) retire() {
	for _, n := range s.all() {
		s.root.Stop(n.pid)
		n.mailbox.handleSystem()
	}
}

// lookup finds a process by id, nil if there is none.
func (s *Simulation) lookup(id ProcessID) *node {
	list, i := s.control, int(id)
	switch {
	case id >= FirstSink:
		list, i = s.sinks, int(id-FirstSink)
	case id >= FirstLeaf:
		list, i = s.fleet.nodes, int(id-FirstLeaf)
	}
	if i >= len(list) {
		return nil
	}
	return list[i]
}

// all lists the processes in the order of their ids.
func (s *Simulation) all() []*node {
	list := append([]*node(nil), s.control...)
	return append(append(list, s.fleet.nodes...), s.sinks...)
}

// Digest is what every process executed, in the order of ids; nil unless Run
// has returned without error.
func (s *Simulation) Digest() []ProcessDigest { return s.digests }

// Trace returns what Config.Trace asked for, in the order of ids.
func (s *Simulation) Trace() []ProcessTrace {
	var list []ProcessTrace
	for i, n := range s.all() {
		t := ProcessTrace{Name: n.name, ID: n.id, Messages: n.digest.messages}
		if n.tracer != nil {
			t.Marks = n.tracer.marks
		}
		if s.finished {
			t.Final = s.digests[i].Hash
		}
		list = append(list, t)
	}
	return list
}

// conclude closes the digests.
func (s *Simulation) conclude() error {
	for _, n := range s.all() {
		s.asked = n
		if n.tracer != nil {
			n.tracer.finish(n.digest.messages, n.last, &n.digest)
		}
		if f, ok := n.process.(Folder); ok {
			n.digest.word(f.Fold())
		}
		s.digests = append(s.digests, ProcessDigest{Name: n.name, ID: n.id, Hash: n.digest.sum(), Messages: n.digest.messages})
	}
	s.finished = true
	return nil
}
