package lookahead

import (
	"slices"
	"testing"
)

// A message that a process sends before it observes its receiver is part of
// what it observes, in one turn or in several.
func TestObservationAfterOwnMessage(t *testing.T) {
	for _, c := range []struct {
		name           string
		effectAt, read Key
		want           int
	}{
		{"received by then", Key{At: 20}, at(50, 1), 1},
		{"received in the instant before", Key{At: 50}, at(50, 1), 1},
		{"not to be seen by then", at(50, 1), at(50, 1), 0},
	} {
		for run := range 6 {
			workers, others := 1+run%2, run/2 // others: control processes added before
			s := New(Config{Workers: workers, InlineBelow: -1, Notices: unanswered()})
			leaf := &script{}
			router, seen := &script{events: []Key{at(10, 2), c.read}}, -1
			router.observe = func() Observation {
				if len(router.events) == 0 {
					return Observation{At: NeverKey}
				}
				return Observation{At: c.read, Until: c.read.Next(), StateBefore: c.read, LeafLimit: c.read}
			}
			router.event = func(k Key, out *Outbox) {
				if k == c.read {
					seen = len(leaf.log)
					return
				}
				out.BeginWithEffectAt(FirstLeaf, c.effectAt, c.effectAt, 0, 0)
				out.End()
			}
			for range others {
				s.AddControl("other", &script{})
			}
			s.AddControl("router", router)
			s.AddLeaf("leaf", leaf)
			if finish(t, s); seen != c.want {
				t.Errorf("%s, %d workers, %d other control processes: saw %d messages received, want %d", c.name, workers, others, seen, c.want)
			}
		}
	}
}

// What one control process sends is part of what every other one observes, in
// whatever order they were added, and two that observe wait for each other.
func TestObservationAfterAnotherProcessesMessage(t *testing.T) {
	for mode, cfg := range modes() {
		for observers := range 4 {
			cfg.Notices = unanswered()
			s := New(cfg)
			leaf := &script{events: []Key{at(15, 0), at(45, 0), at(70, 0)}}
			var seen []int
			addObserver := func() {
				p := &script{events: []Key{at(20, 2), at(50, 2)}, promise: NeverKey}
				p.observe = func() Observation {
					k := p.Next()
					return Observation{At: k, Until: k.Next(), StateBefore: k, LeafLimit: k}
				}
				p.event = func(Key, *Outbox) { seen = append(seen, len(leaf.log)) }
				s.AddControl("observer", p)
			}
			for range observers {
				addObserver()
			}
			s.AddControl("router", &script{events: []Key{at(10, 2), at(20, 1), at(20, 2), at(48, 0)}, event: func(k Key, out *Outbox) {
				send(out, FirstLeaf, k.Next())
			}})
			for range 3 - observers {
				addObserver()
			}
			s.AddLeaf("leaf", leaf)
			finish(t, s)
			// Before 20µs/2: the messages of 10µs/3 and the event at 15µs. Before
			// 50µs/2: those of 20µs/2, 20µs/3 and 48µs/1 and the event at 45µs too.
			if want := []int{2, 2, 2, 6, 6, 6}; !slices.Equal(seen, want) {
				t.Errorf("%s, %d observers before the router: they see %v, want %v", mode, observers, seen, want)
			}
		}
	}
}

// A leaf that a control process adds is part of what it observes later in the same turn.
func TestObservationOfAnAddedLeaf(t *testing.T) {
	for mode, cfg := range modes() {
		for _, byMessage := range []bool{false, true} {
			cfg.Notices = unanswered()
			s := New(cfg)
			leaf, seen := &script{events: []Key{at(20, 6)}, promise: NeverKey}, -1
			router := &script{events: []Key{at(10, 2)}, promise: NeverKey}
			router.observe = func() Observation {
				k := NeverKey
				if n := len(router.events); n > 0 && router.events[n-1].At == 50 {
					k = router.events[n-1]
				}
				return Observation{At: k, Until: k.Next(), StateBefore: k, LeafLimit: k}
			}
			router.event = func(k Key, _ *Outbox) {
				if k.At == 10 {
					s.AddLeaf("new", leaf)
				} else {
					seen = len(leaf.log)
				}
			}
			router.receive = func(*Message, *Outbox) { router.events = []Key{at(50, 2)} }
			s.AddControl("router", router)
			clock := &script{promise: NeverKey}
			if byMessage {
				clock.events, clock.event = []Key{at(5, 0)}, func(_ Key, out *Outbox) { send(out, 0, at(40, 0)) }
			} else {
				router.events = append(router.events, at(50, 2))
			}
			s.AddControl("clock", clock)
			if finish(t, s); seen != 1 {
				t.Errorf("%s, observation made by a message: %v: it sees %d events of the leaf, want 1", mode, byMessage, seen)
			}
		}
	}
}
