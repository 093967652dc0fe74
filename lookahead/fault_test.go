package lookahead

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// Each broken rule stops the run with both stamps.
func TestTraps(t *testing.T) {
	const leaf = FirstLeaf
	for name, c := range map[string]struct {
		router, leaf *script
		rule, says   string
	}{
		"below the horizon": {
			// The router promised nothing before 100 and sends at 50.
			router: &script{events: []Key{at(40, 0)}, promise: at(100, 0), event: func(k Key, out *Outbox) { send(out, leaf, at(50, 0)) }},
			leaf:   &script{events: []Key{at(10, 0), at(60, 0)}, promise: at(20, 0), event: func(Key, *Outbox) {}},
			rule:   ruleHorizon, says: "50µs/0 source 0 seq 0] against [100µs/0 source 2",
		},
		"broken leaf promise": {
			router: &script{events: []Key{at(500, 0)}, event: func(Key, *Outbox) {}},
			leaf:   &script{events: []Key{at(600, 0)}, promise: at(1000, 0), event: func(k Key, out *Outbox) { send(out, 0, at(610, 0)) }},
			rule:   rulePromise, says: "610µs/0 source 2 seq 0] against [1000µs/0 source 2",
		},
		"not later than its cause": {
			leaf: &script{events: []Key{at(10, 3)}, event: func(k Key, out *Outbox) { send(out, 0, k) }},
			rule: ruleCause, says: "10µs/3 source 2 seq 0] against [10µs/3",
		},
		"not later than its message": {
			router: &script{events: []Key{at(5, 0)}, event: func(k Key, out *Outbox) { send(out, leaf, at(7, 3)) }},
			leaf:   &script{receive: func(m *Message, out *Outbox) { send(out, 0, m.Stamp.Key()) }},
			rule:   ruleCause, says: "7µs/3",
		},
		"never": {
			leaf: &script{events: []Key{at(10, 3)}, event: func(k Key, out *Outbox) { send(out, 0, NeverKey) }},
			rule: ruleCause, says: "never",
		},
		"time goes back": {
			leaf: &script{events: []Key{at(10, 3), at(9, 0)}},
			rule: ruleBackward, says: "10µs/3 source 2 seq 0] against [9µs/0",
		},
		"leaf to leaf": {
			leaf: &script{events: []Key{at(10, 3)}, event: func(k Key, out *Outbox) { send(out, leaf+1, at(20, 0)) }},
			rule: ruleRoute, says: "10",
		},
		"to nobody": {
			leaf: &script{events: []Key{at(10, 3)}, event: func(k Key, out *Outbox) { send(out, 1, at(20, 0)) }},
			rule: ruleRoute, says: "source 1",
		},
		"a field too few": {
			leaf: &script{events: []Key{at(10, 3)}, event: func(k Key, out *Outbox) { out.Begin(0, at(20, 0), 1, 1); out.End() }},
			rule: ruleFields, says: "20µs",
		},
		"no end": {
			leaf: &script{events: []Key{at(10, 3)}, event: func(k Key, out *Outbox) { out.Begin(0, at(20, 0), 1, 0) }},
			rule: ruleFields, says: "20µs",
		},
		"a field too many read": {
			router: &script{receive: func(m *Message, _ *Outbox) { m.Body.Int() }},
			leaf:   &script{events: []Key{at(10, 3)}, event: func(k Key, out *Outbox) { send(out, 0, at(20, 0)) }},
			rule:   ruleBody, says: "20µs",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Config{})
			if c.router == nil {
				c.router = &script{}
			}
			s.AddControl("router", c.router)
			s.AddLeaf("leaf", c.leaf)
			s.AddLeaf("other", &script{})
			err := s.Run(context.Background())
			var trap *Trap
			var fault *Fault
			if !errors.As(err, &fault) || !errors.As(err, &trap) || !strings.HasPrefix(trap.Rule, c.rule) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("error %v; want %q with %q", err, c.rule, c.says)
			}
			if s.Digest() != nil {
				t.Error("a failed run has a digest")
			}
		})
	}
}

// A stamp can only come twice, or too late, by a bug of the kernel.
func TestMailboxTrapsMessagesWithoutOrder(t *testing.T) {
	for name, c := range map[string]struct {
		last Stamp
		rule string
	}{
		"twice":    {Stamp{At: 5, Class: 1, Source: 0, Seq: 7}, ruleOrder},
		"too late": {Stamp{At: 6, Class: 1, Source: 0, Seq: 7}, ruleBackward},
	} {
		s := New(Config{})
		s.AddControl("router", &script{})
		s.AddLeaf("leaf", &script{})
		n := s.loop.lookup(FirstLeaf)
		n.history.last = c.last
		f := &frame{}
		f.start(0)
		f.begin(Stamp{At: 5, Class: 1, Source: 0, Seq: 7}, 0, 0)
		if err := f.finish(&sorter{}); err != nil {
			t.Fatal(err)
		}
		n.mailbox.PostUserMessage(f)
		n.mailbox.absorb()
		var trap *Trap
		if err := s.Run(context.Background()); !errors.As(err, &trap) || trap.Rule != c.rule {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPanicBecomesAFault(t *testing.T) {
	for mode, cfg := range modes() {
		s := New(cfg)
		router := &script{events: []Key{at(1, 0), at(2, 0)}, event: func(k Key, out *Outbox) { send(out, FirstLeaf+1, Key{At: k.At + 30}) }}
		s.AddControl("router", router)
		s.AddLeaf("calm", &script{events: []Key{at(31, 0), at(32, 0)}})
		leaf := &script{receive: func(m *Message, _ *Outbox) {
			if m.Stamp.At == 32 {
				panic("boom")
			}
		}}
		s.AddLeaf("bad", leaf)
		var fault *Fault
		if err := s.Run(context.Background()); !errors.As(err, &fault) {
			t.Fatalf("%s: %v", mode, err)
		}
		want := Stamp{At: 32, Source: 0, Seq: 2}
		if fault.Process != "bad" || fault.ID != 3 || fault.At != at(32, 0) || fault.Last != want || fault.Value != "boom" || !bytes.Contains(fault.Stack, []byte("fault_test.go")) {
			t.Errorf("%s: %v\n%s", mode, fault, fault.Stack)
		}
	}
}

// A panic where the coordinator asks for state is that process's fault too.
func TestPanicInAnAnswerBecomesAFault(t *testing.T) {
	s := New(Config{Workers: 2})
	router := &script{events: []Key{at(1, 0)}}
	router.observe = func() Observation {
		if len(router.log) > 0 {
			panic("boom")
		}
		return Observation{At: NeverKey}
	}
	s.AddControl("router", router)
	var fault *Fault
	if err := s.Run(context.Background()); !errors.As(err, &fault) || fault.Process != "router" || fault.Value != "boom" {
		t.Error(err)
	}
}

func TestDeadlockNamesWhoWaitsForWhat(t *testing.T) {
	s := New(Config{Workers: 2})
	router := &script{events: []Key{at(10, 2)}}
	// Leaves are held at 10 and are to have passed 20.
	router.observe = func() Observation {
		return Observation{At: at(10, 2), Until: at(10, 3), StateBefore: at(20, 0), LeafLimit: at(10, 2)}
	}
	s.AddControl("router", router)
	s.AddLeaf("early", &script{events: []Key{at(5, 0)}})
	s.AddLeaf("late", &script{events: []Key{at(15, 0)}})
	var dead *Deadlock
	err := s.Run(context.Background())
	if !errors.As(err, &dead) || len(dead.Blocked) != 2 {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"router" (0) at 10µs/2 waits for an observation of "late", which is at 15µs/0 and must reach 20µs/0`,
		`"late" (3) at 15µs/0 waits for "router" to observe at 10µs/2, before 10µs/2`,
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}
