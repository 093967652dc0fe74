package lookahead

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"blis/vtime"
)

// Config is how a simulation runs. Only End can change a result.
type Config struct {
	Workers    int  // goroutines that run leaves, the caller's included; at least 1
	Sequential bool // the strictest twin: one Key of one process at a time, no windows

	Notices [NoticeKinds]Notice // by kind; see AddControl for who receives which

	End Key // events at or after End are not executed; the zero Key and NeverKey: no end

	// InlineBelow is the expected number of events below which a window runs
	// inline, on the coordinator's goroutine. 0: a default, negative: never.
	InlineBelow int

	Record   io.Writer                         // gets every frame as msgpack [receiver, frame], and what processes Record; nil: not recorded
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
	loop    coordinator
	started bool
	digests []ProcessDigest // after a run without error
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
	s := &Simulation{}
	co := &s.loop
	co.config, co.run, co.root, co.workers = cfg, runs.Add(1), system().Root, newWorkers(workers, cfg.Assign)
	co.workers.wakeAt = 2 * cfg.InlineBelow
	co.meanWork = float64(cfg.InlineBelow) // the first windows are estimated
	co.fleet.notices = cfg.Notices
	co.sinkFrameMin = sinkFrameMin
	if cfg.Sequential || cfg.Record != nil {
		co.sinkFrameMin = 1 // sinks take part in the order of Keys; a recording has frames turn by turn
	}
	co.view = view{notices: cfg.Notices, end: cfg.End, window: cfg.MaxWindow}
	return s
}

// AddControl adds a control process that receives the given kinds of notices;
// with none given, kind 0. It is called before Run. At one Key control processes
// execute their events in the order in which they were added.
//
// A control process is held back by promises of the kinds that it receives. It
// may send to another control process only if that one receives all these kinds
// too.
func (s *Simulation) AddControl(name string, p Process, receives ...NoticeKind) ProcessID {
	co := &s.loop
	if len(receives) == 0 {
		receives = []NoticeKind{0}
	}
	for _, k := range receives {
		if k >= NoticeKinds {
			panic(fmt.Sprintf("lookahead: %q receives notices of kind %d; the kinds are 0 to %d", name, k, NoticeKinds-1))
		}
	}
	id := ProcessID(len(co.control))
	if id >= FirstLeaf {
		id += ThirdControl - FirstLeaf
	}
	n := co.spawn(id, name, p)
	if n.optional.preparer != nil {
		co.workers.preparers = append(co.workers.preparers, n)
	}
	n.slot = len(co.control)
	co.control = append(co.control, n)
	co.view.control = append(co.view.control, controlState{receives: kindsOf(receives)})
	co.fleet.use(kindsOf(receives))
	return id
}

// AddLeaf adds a leaf. It is called before Run, or from within a turn of a
// control process; then the leaf's events must be later than the executing one.
func (s *Simulation) AddLeaf(name string, p Process) ProcessID {
	co := &s.loop
	if co.overlapped != nil {
		panic(fmt.Sprintf("lookahead: %q adds a leaf while it streams", co.overlapped.name))
	}
	id := FirstLeaf + ProcessID(len(co.fleet.nodes))
	if id >= ThirdControl {
		panic(fmt.Sprintf("lookahead: %q would be one leaf too many", name))
	}
	n := co.spawn(id, name, p)
	co.fleet.add(n)
	if co.running != nil {
		co.leafAdded(co.running, n)
	}
	return id
}

// AddSink adds a process that receives and never sends.
func (s *Simulation) AddSink(name string, p Process) ProcessID {
	co := &s.loop
	id := FirstSink + ProcessID(len(co.sinks))
	n := co.spawn(id, name, p)
	n.slot = len(co.sinks)
	co.sinks = append(co.sinks, n)
	return id
}

// Run runs the simulation until the last event that keeps it alive, or the last
// event before Config.End, has been executed; then it returns nil. The error is
// ctx.Err() if ctx was cancelled, a *Fault if a process panicked or broke a
// rule, a *Deadlock if events remain and no process may advance, or the error
// of Config.Record. Run can be called once.
func (s *Simulation) Run(ctx context.Context) error {
	if s.started {
		return errors.New("lookahead: a simulation runs once")
	}
	s.started = true
	co := &s.loop
	defer co.stopActors()
	defer context.AfterFunc(ctx, func() { co.halted.Store(true) })()
	if err := ctx.Err(); err != nil {
		return err
	}
	loop := co.windows
	if co.config.Sequential {
		loop = co.keyByKey
	}
	co.workers.start()
	err := co.guarded(loop)
	co.workers.stop()
	switch {
	case co.failed.Load():
		return co.firstFault()
	case err != nil:
		return err
	case co.halted.Load():
		co.flushSinkFrames() // for Undelivered, while there are actors to post to
		return ctx.Err()
	}
	return co.guarded(s.closeDigests)
}

// Digest returns the digest of every process, in the order of ids; nil unless
// Run has returned without error.
func (s *Simulation) Digest() []ProcessDigest { return s.digests }

// Trace returns the marks that Config.Trace asked for, in the order of ids.
func (s *Simulation) Trace() []ProcessTrace {
	var list []ProcessTrace
	for i, n := range s.loop.all() {
		t := ProcessTrace{Name: n.name, ID: n.id, Marks: n.history.marks(), Messages: n.history.digest.messages}
		if s.digests != nil {
			t.Final = s.digests[i].Hash
		}
		list = append(list, t)
	}
	return list
}

// closeDigests adds the final states of processes to their digests.
func (s *Simulation) closeDigests() error {
	for _, n := range s.loop.all() {
		s.loop.asked = n
		hash := n.history.close(n.process)
		s.digests = append(s.digests, ProcessDigest{Name: n.name, ID: n.id, Hash: hash, Messages: n.history.digest.messages})
	}
	return nil
}

// Undelivered takes the messages out of the mailboxes that a run left there
// because it was cut short, and visits them: process by process, each in the
// order of stamps. m is valid during the call of visit. Undelivered is called
// after Run.
func (s *Simulation) Undelivered(visit func(to ProcessID, m *Message)) error {
	for _, n := range s.loop.all() {
		n.worker = &s.loop.workers.list[0]
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
