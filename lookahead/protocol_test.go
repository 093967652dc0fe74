package lookahead

import (
	"slices"
	"testing"
)

// Small scenarios, each of which one rule of the protocol keeps in order.

// Mail from one control process waits at the other; leaves must not run past
// what it will cause.
func TestLeavesWaitForMailBetweenControlProcesses(t *testing.T) {
	for mode, cfg := range modes() {
		s := New(cfg)
		router := &script{receive: func(m *Message, out *Outbox) { send(out, FirstLeaf, at(51, 0)) }}
		scaler := &script{events: []Key{at(10, 0)}, event: func(_ Key, out *Outbox) { send(out, 0, at(50, 0)) }}
		leaf := &script{events: []Key{at(20, 0), at(40, 0), at(60, 0)}}
		s.AddControl("router", router)
		s.AddControl("scaler", scaler)
		s.AddLeaf("leaf", leaf)
		finish(t, s)
		if want := []Key{at(20, 0), at(40, 0), at(51, 0), at(60, 0)}; !slices.Equal(leaf.log, want) {
			t.Errorf("%s: leaf executed %v, want %v", mode, leaf.log, want)
		}
	}
}

// A notice waits at a control process that stopped itself before it; leaves
// must not run past what it will cause.
func TestLeavesWaitForANoticeThatWaits(t *testing.T) {
	for mode, cfg := range modes() {
		cfg.Notices[0].React = func(k Key) Key { return Key{At: k.At + 1} }
		s := New(cfg)
		router := &script{events: []Key{at(10, 0), at(100, 0)}}
		router.event = func(k Key, out *Outbox) {
			if k.At == 10 {
				out.Stop()
			}
		}
		router.receive = func(m *Message, out *Outbox) { send(out, FirstLeaf+1, at(51, 0)) }
		early := &script{events: []Key{at(5, 0)}, event: func(_ Key, out *Outbox) { send(out, 0, at(50, 0)) }}
		late := &script{events: []Key{at(20, 0), at(60, 0)}, promise: at(1000, 0)}
		s.AddControl("router", router)
		s.AddLeaf("early", early)
		s.AddLeaf("late", late)
		finish(t, s)
		if want := []Key{at(20, 0), at(51, 0), at(60, 0)}; !slices.Equal(late.log, want) {
			t.Errorf("%s: leaf executed %v, want %v", mode, late.log, want)
		}
	}
}

// A leaf may send notices to the control process that added it, which must not run
// ahead of them.
func TestControlWaitsForTheLeafItAdds(t *testing.T) {
	for mode, cfg := range modes() {
		s := New(cfg)
		router := &script{events: []Key{at(10, 0), at(100, 0), at(200, 0)}}
		router.event = func(k Key, _ *Outbox) {
			if k.At == 10 {
				s.AddLeaf("new", &script{events: []Key{at(50, 0)}, event: func(_ Key, out *Outbox) { send(out, 0, at(60, 0)) }})
			}
		}
		s.AddControl("router", router)
		finish(t, s)
		if want := []Key{at(10, 0), at(60, 0), at(100, 0), at(200, 0)}; !slices.Equal(router.log, want) {
			t.Errorf("%s: router executed %v, want %v", mode, router.log, want)
		}
		if d := s.Digest(); len(d) != 2 || d[1].ID != FirstLeaf || d[1].Name != "new" {
			t.Errorf("%s: digests %v", mode, d)
		}
	}
}

// A sink must not read past what a periodic event may still send to it.
func TestSinkWaitsForAPeriodicEvent(t *testing.T) {
	for mode, cfg := range modes() {
		s := New(cfg)
		scaler := &script{periodic: []Key{at(20, 9)}, event: func(_ Key, out *Outbox) { send(out, FirstSink, at(21, 0)) }}
		leaf := &script{events: []Key{at(5, 0), at(45, 0)}, event: func(k Key, out *Outbox) {
			if k.At == 5 {
				send(out, FirstSink, at(40, 0))
			}
		}}
		sink := &script{}
		s.AddControl("scaler", scaler)
		s.AddLeaf("leaf", leaf)
		s.AddSink("sink", sink)
		finish(t, s)
		if want := []Key{at(21, 0), at(40, 0)}; !slices.Equal(sink.log, want) {
			t.Errorf("%s: sink executed %v, want %v", mode, sink.log, want)
		}
	}
}

// A message at a horizon waits for the next window, whatever its sender.
func TestMessagesActBeforeLocalEventsAtTheirKey(t *testing.T) {
	for mode, cfg := range modes() {
		s := New(cfg)
		router := &script{events: []Key{at(10, 0), at(30, 3)}, event: func(k Key, out *Outbox) {
			if k.At == 10 {
				send(out, FirstLeaf, at(30, 3))
			}
		}}
		order := []string{}
		leaf := &script{events: []Key{at(30, 2), at(30, 3), at(30, 4)}}
		leaf.event = func(k Key, _ *Outbox) { order = append(order, k.String()) }
		leaf.receive = func(m *Message, _ *Outbox) { order = append(order, "mail "+m.Stamp.Key().String()) }
		s.AddControl("router", router)
		s.AddLeaf("leaf", leaf)
		finish(t, s)
		if want := []string{"30µs/2", "mail 30µs/3", "30µs/3", "30µs/4"}; !slices.Equal(order, want) {
			t.Errorf("%s: %v, want %v", mode, order, want)
		}
	}
}

func TestStampsAreComparedFieldByField(t *testing.T) {
	ascending := []Stamp{{1, 9, 9, 9}, {2, 1, 9, 9}, {2, 2, 1, 9}, {2, 2, 2, 1}, {2, 2, 2, 2}}
	for i, a := range ascending {
		for j, b := range ascending {
			if a.Less(b) != (i < j) {
				t.Errorf("[%v] before [%v]: %v", a, b, a.Less(b))
			}
		}
	}
}
