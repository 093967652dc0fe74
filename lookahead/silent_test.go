package lookahead

import (
	"context"
	"errors"
	"reflect"
	"testing"
)

// chatter is a run in which a router and leaves inform a sink of what they do, if
// silent also in silent messages. It returns the digests and the number of
// messages that the sink received.
func chatter(t *testing.T, cfg Config, silent bool) ([]ProcessDigest, int) {
	t.Helper()
	s := New(cfg)
	heard := 0
	tell := func(out *Outbox, k Key) {
		if silent {
			out.Begin(FirstSink, k, Silent|7, 2)
			out.Int(int64(k.At))
			out.Bytes([]byte("more"))
			out.End()
		}
		send(out, FirstSink, k)
	}
	router := &script{events: []Key{at(1, 0), at(20, 0), at(40, 0)}, event: func(k Key, out *Outbox) {
		tell(out, Key{At: k.At, Class: 1})
		send(out, FirstLeaf+1, Key{At: k.At + 3})
	}}
	s.AddControl("router", router)
	for _, name := range []string{"a", "b"} {
		leaf := &script{events: []Key{at(2, 0), at(23, 0), at(30, 0)}, event: func(k Key, out *Outbox) { tell(out, Key{At: k.At, Class: 5}) }}
		leaf.receive = func(m *Message, out *Outbox) { tell(out, Key{At: m.Stamp.At, Class: 8}) }
		s.AddLeaf(name, leaf)
	}
	s.AddSink("sink", &script{receive: func(*Message, *Outbox) { heard++ }})
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s.Digest(), heard
}

// Silent messages are heard, and no digest shows them.
func TestSilentMessagesAreInNoDigest(t *testing.T) {
	for mode, cfg := range modes() {
		without, heard := chatter(t, cfg, false)
		with, withSilent := chatter(t, cfg, true)
		if heard == 0 || withSilent != 2*heard {
			t.Errorf("%s: %d messages heard, with silent ones %d", mode, heard, withSilent)
		}
		if !reflect.DeepEqual(with, without) {
			t.Errorf("%s: digests %+v, without silent messages %+v", mode, with, without)
		}
	}
}

func TestSilentMessagesAreForSinks(t *testing.T) {
	for mode, cfg := range modes() {
		s := New(cfg)
		s.AddControl("router", &script{events: []Key{at(1, 0)}, event: func(_ Key, out *Outbox) {
			out.Begin(FirstLeaf, at(2, 0), Silent, 0)
			out.End()
		}})
		s.AddLeaf("leaf", &script{})
		var trap *Trap
		if err := s.Run(context.Background()); !errors.As(err, &trap) || trap.Rule != ruleSilent {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// A run that is cancelled while a sink reads, with more to read, is no deadlock.
func TestRunCancelledInASinkIsNoDeadlock(t *testing.T) {
	for mode, cfg := range modes() {
		s := New(cfg)
		s.AddControl("router", &script{})
		s.AddLeaf("leaf", &script{events: []Key{at(1, 0)}, event: func(_ Key, out *Outbox) {
			send(out, FirstSink, at(2, 0))
			send(out, FirstSink, at(3, 0))
		}})
		s.AddSink("sink", &script{receive: func(*Message, *Outbox) { s.loop.halted.Store(true) }})
		if err := s.Run(context.Background()); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		waiting := 0
		if err := s.Undelivered(func(ProcessID, *Message) { waiting++ }); err != nil || waiting != 1 {
			t.Errorf("%s: %d messages undelivered, error %v", mode, waiting, err)
		}
	}
}
