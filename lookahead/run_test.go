package lookahead

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"blis/vtime"
)

func vtimeOf(us int64) vtime.Time { return vtime.Time(us) }

// modes are the twins that every behaviour is checked in.
func modes() map[string]Config {
	return map[string]Config{"windows": {}, "shared": {Workers: 2, InlineBelow: -1}, "one by one": {Sequential: true}}
}

// Periodic events run while something else is pending, and no longer.
func TestPeriodicEventsDoNotKeepARunAlive(t *testing.T) {
	ticks := []Key{at(10, 9), at(20, 9), at(30, 9), at(40, 9), at(50, 9)}
	for name, c := range map[string]struct {
		leaf   []Key
		checks []Key
	}{
		"none pending":              {nil, nil},
		"until the last event":      {[]Key{at(5, 0), at(25, 0)}, ticks[:2]},
		"event at the same time":    {[]Key{at(30, 9)}, ticks[:3]},
		"event just before":         {[]Key{at(30, 8)}, ticks[:2]},
		"event of the same leaf":    {[]Key{at(1, 0), at(30, 9), at(45, 1)}, ticks[:4]},
		"message keeps it running":  {[]Key{at(3, 0)}, ticks[:1]},
		"message at a check's time": {[]Key{at(4, 0)}, ticks[:2]},
	} {
		for mode, cfg := range modes() {
			s := New(cfg)
			scaler := &script{periodic: slices.Clone(ticks)}
			s.AddControl("router", &script{})
			s.AddControl("scaler", scaler)
			leaf := &script{events: c.leaf}
			sink := s.AddSink("sink", &script{})
			switch name {
			case "message keeps it running":
				leaf.event = func(_ Key, out *Outbox) { send(out, sink, at(15, 0)) }
			case "message at a check's time":
				leaf.event = func(_ Key, out *Outbox) { send(out, sink, at(20, 9)) }
			}
			s.AddLeaf("leaf", leaf)
			s.AddLeaf("idle", &script{})
			finish(t, s)
			if !slices.Equal(scaler.log, c.checks) {
				t.Errorf("%s, %s: checks at %v, want %v", name, mode, scaler.log, c.checks)
			}
		}
	}
}

// A check at T sees everything that leaves did before T and nothing after.
func TestPeriodicEventSeesItsTime(t *testing.T) {
	for mode, cfg := range modes() {
		s := New(cfg)
		leaf := &script{events: []Key{at(5, 0), at(9, 8), at(10, 6), at(10, 9), at(10, 10), at(60, 0)}}
		var seen []int
		scaler := &script{periodic: []Key{at(10, 9), at(20, 9)}, promise: at(1000, 0)}
		scaler.event = func(Key, *Outbox) { seen = append(seen, len(leaf.log)) }
		s.AddControl("scaler", scaler)
		s.AddLeaf("leaf", leaf)
		finish(t, s)
		if !slices.Equal(seen, []int{3, 5}) {
			t.Errorf("%s: events seen %v", mode, seen)
		}
	}
}

func TestEndCutsTheRun(t *testing.T) {
	for mode, cfg := range modes() {
		cfg.End = at(20, 5)
		s := New(cfg)
		leaf := &script{events: []Key{at(5, 0), at(20, 4), at(20, 5), at(30, 0)}}
		sink := &script{}
		leaf.event = func(k Key, out *Outbox) { send(out, FirstSink, Key{k.At, k.Class + 1}) }
		s.AddControl("router", &script{periodic: []Key{at(20, 5)}})
		s.AddLeaf("leaf", leaf)
		s.AddSink("sink", sink)
		finish(t, s)
		if !slices.Equal(leaf.log, []Key{at(5, 0), at(20, 4)}) || !slices.Equal(sink.log, []Key{at(5, 1)}) {
			t.Errorf("%s: executed %v, sink %v", mode, leaf.log, sink.log)
		}
	}
}

func TestCancelledRunHasNoDigest(t *testing.T) {
	for mode, cfg := range modes() {
		ctx, cancel := context.WithCancel(context.Background())
		s := New(cfg)
		leaf := &script{events: []Key{at(1, 0)}}
		leaf.event = func(k Key, _ *Outbox) {
			leaf.events = append(leaf.events, Key{At: k.At + 1}) // for ever
			leaf.log = leaf.log[:0]
			if k.At == 5000 {
				cancel()
			}
		}
		s.AddLeaf("endless", leaf)
		s.AddLeaf("too", &script{events: []Key{at(1, 0)}})
		if err := s.Run(ctx); err != context.Canceled || s.Digest() != nil {
			t.Errorf("%s: error %v, digest %v", mode, err, s.Digest())
		}
		s = New(cfg)
		if err := s.Run(ctx); err != context.Canceled {
			t.Errorf("%s: cancelled before: %v", mode, err)
		}
	}
}

// An observation that is announced and has no event must not hold up the run, and
// an observation that never ends must not spin.
func TestObservationWithoutReading(t *testing.T) {
	s := New(Config{})
	passed := 0
	router := &script{events: []Key{at(500, 0)}}
	router.observe = func() Observation {
		passed++
		k := at(int64(passed)*100, 0)
		if passed > 4 {
			k = router.Next()
		}
		return Observation{At: k, Until: k.Next(), StateBefore: k, LeafLimit: k}
	}
	s.AddControl("router", router)
	s.AddLeaf("leaf", &script{events: []Key{at(50, 0), at(450, 0), at(600, 0)}})
	finish(t, s)

	s = New(Config{})
	s.AddControl("router", &script{events: []Key{at(500, 0)}, observe: func() Observation {
		return Observation{At: at(100, 0), Until: at(200, 0), LeafLimit: NeverKey}
	}})
	var trap *Trap
	if err := s.Run(context.Background()); !errors.As(err, &trap) || trap.Rule != ruleIdle {
		t.Error(err)
	}
}

// A process that stops itself goes on when the leaves have run, and a process that
// only stops is a deadlock.
func TestStop(t *testing.T) {
	s := New(Config{Notices: unanswered()})
	most := 0
	router := &script{}
	for i := range int64(1000) {
		router.events = append(router.events, at(10*i, 0))
	}
	router.event = func(k Key, out *Outbox) {
		send(out, FirstLeaf, Key{At: k.At + 1})
		if most = max(most, out.Undelivered()); out.Undelivered() >= 64 {
			out.Stop()
		}
	}
	s.AddControl("router", router)
	leaf := &script{}
	s.AddLeaf("leaf", leaf)
	finish(t, s)
	if most != 64 || len(leaf.log) != 1000 || s.Stats().Windows != 16 {
		t.Errorf("%d undelivered at most, %d delivered in %d windows", most, len(leaf.log), s.Stats().Windows)
	}

	s = New(Config{})
	s.AddControl("router", stubborn{&script{events: []Key{at(1, 0)}}})
	var dead *Deadlock
	if err := s.Run(context.Background()); !errors.As(err, &dead) {
		t.Error(err)
	}
}

type stubborn struct{ *script }

func (stubborn) Advance(_ Key, out *Outbox) { out.Stop() }

// The recording has every message, the msgpack library can read it, and it is
// equal on any number of workers.
func TestRecordingIsReadByTheLibrary(t *testing.T) {
	p := pholds(1)["live"]
	var one, three bytes.Buffer
	s := p.build(Config{Record: &one})
	finish(t, s)
	finish(t, p.build(Config{Record: &three, Workers: 3, InlineBelow: -1}))
	if !bytes.Equal(one.Bytes(), three.Bytes()) {
		t.Error("the recording depends on the workers")
	}
	d := msgpack.NewDecoder(&one)
	messages := uint64(0)
	for {
		v, err := d.DecodeInterface()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		messages += uint64(len(v.([]any)[1].([]any)[1].([]any)))
	}
	if want := s.Stats().Messages; messages != want {
		t.Errorf("%d messages recorded, %d executed", messages, want)
	}
	if err := p.build(Config{Record: broken{}}).Run(context.Background()); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("error %v", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestASimulationRunsOnce(t *testing.T) {
	s := New(Config{})
	finish(t, s)
	if s.Run(context.Background()) == nil {
		t.Error("ran twice")
	}
}

func TestProgressIsTold(t *testing.T) {
	calls, last := 0, uint64(0)
	p := pholds(1)["live"]
	p.arrivals = 3000
	s := p.build(Config{Progress: func(now vtime.Time, work uint64) {
		if work <= last {
			t.Errorf("work %d after %d", work, last)
		}
		calls, last = calls+1, work
	}})
	finish(t, s)
	if calls == 0 {
		t.Errorf("never, in %d messages", s.Stats().Messages)
	}
}

// Two passes name the first message that differs.
func TestFirstDifferenceFindsTheMessage(t *testing.T) {
	p := pholds(1)["no checks"]
	p.arrivals = 600
	other := p
	run := func(p phold, tr Trace, late bool) []ProcessTrace {
		s := p.build(Config{Workers: 2, Trace: tr})
		if late { // one draw of one leaf, late in the run
			l := s.loop.lookup(FirstLeaf + 4).process.(*pholdLeaf)
			s.loop.lookup(FirstLeaf + 4).process = &drawer{l}
		}
		finish(t, s)
		return s.Trace()
	}
	if d, ok := FirstDifference(run(p, Trace{Every: 64}, false), run(other, Trace{Every: 64}, false)); ok {
		t.Fatalf("equal runs differ: %v", d)
	}
	coarse, ok := FirstDifference(run(p, Trace{Every: 64}, false), run(other, Trace{Every: 64}, true))
	if !ok || coarse.To-coarse.From > 64 {
		t.Fatalf("coarse pass: %+v", coarse)
	}
	tr := Trace{Process: coarse.ID, From: coarse.From, To: coarse.To}
	fine, ok := FirstDifference(run(p, tr, false), run(other, tr, true))
	if !ok || fine.To != fine.From+1 || fine.ID != coarse.ID || fine.From < coarse.From || fine.To > coarse.To {
		t.Fatalf("fine pass: %+v in %+v", fine, coarse)
	}
	every := Trace{Every: 1}
	exact, _ := FirstDifference(run(p, every, false), run(other, every, true))
	if exact.ID == fine.ID && !reflect.DeepEqual(exact, fine) {
		t.Errorf("two passes say %v, one of everything %v", fine, exact)
	}
}

type drawer struct{ *pholdLeaf }

func (d *drawer) Receive(m *Message, out *Outbox) {
	if m.Stamp.At > 4000 && m.Stamp.At < 4500 {
		d.mix(1)
	}
	d.pholdLeaf.Receive(m, out)
}

// Actors must not stay in protoactor's registry when a run is over.
func TestActorsAreRetired(t *testing.T) {
	s := pholds(1)["growing"].build(Config{})
	pid := s.loop.lookup(FirstLeaf).pid
	finish(t, s)
	if _, found := system().ProcessRegistry.GetLocal(pid.Id); found {
		t.Error("a leaf is still registered")
	}
}

func TestWorkersParkAndWake(t *testing.T) {
	c := newWorkers(3, nil)
	c.spins, c.yields = 1, 1
	c.start()
	for c.parked.Load() < 2 { // workers without work park, or the test never ends
		time.Sleep(time.Millisecond)
	}
	s := New(Config{})
	s.AddLeaf("a", &ticker{next: NeverKey})
	s.AddLeaf("b", &ticker{next: NeverKey})
	list := []*node{s.loop.lookup(FirstLeaf), s.loop.lookup(FirstLeaf + 1)}
	for range 200 {
		c.runParallel(list, NeverKey, nil, false, 1<<20)
		time.Sleep(10 * time.Microsecond)
	}
	c.stop()
	if n := s.loop.lookup(FirstLeaf).fault; n != nil {
		t.Error(n)
	}
}
