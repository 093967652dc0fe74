package lookahead

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// asking is a script with promises for notices of kinds from 1 on.
type asking struct {
	*script
	promises func(NoticeKind) Key
}

func (l asking) PromiseOf(k NoticeKind) Key { return l.promises(k) }

// sendNotice sends an empty notice.
func sendNotice(out *Outbox, to ProcessID, at Key, kind NoticeKind) {
	out.BeginNotice(to, at, kind, 0, 0)
	out.End()
}

// answering is a server that answers after a delay.
func answering(delay int64) *script {
	s := &script{promise: NeverKey}
	s.receive = func(m *Message, out *Outbox) {
		send(out, ProcessID(m.Stamp.Source), at(int64(m.Stamp.At)+delay, 4))
	}
	return s
}

// later is Notice.React of a server that answers after a delay.
func later(delay int64) func(Key) Key {
	return func(k Key) Key { return at(int64(k.At)+delay, 4) }
}

// A kind of notice that nobody is about to send does not shorten windows, however
// early its effect would be.
func TestWindowsAreAsLongAsTheKindsThatAreSentAllow(t *testing.T) {
	const events, gap = 1000, 10
	run := func(second func(next Key) Key) Stats {
		cfg := Config{Workers: 2, InlineBelow: -1}
		cfg.Notices[1].React = later(1000)
		cfg.Notices[2] = Notice{React: later(1), Reply: func(Key) Key { return NeverKey }}
		s := New(cfg)
		s.AddControl("router", &script{})
		slow := s.AddControl("slow", answering(1000), 1)
		s.AddControl("fast", answering(1), 2)
		for i := range int64(8) {
			leaf := &script{promise: NeverKey}
			for n := range int64(events) {
				leaf.events = append(leaf.events, at(n*gap+i, 6))
			}
			leaf.event = func(k Key, out *Outbox) { sendNotice(out, slow, at(int64(k.At)+1, 8), 1) }
			s.AddLeaf(fmt.Sprintf("leaf/%d", i), asking{leaf, func(k NoticeKind) Key {
				switch {
				case leaf.Next().IsNever():
					return NeverKey
				case k == 2:
					return second(leaf.Next())
				}
				return at(int64(leaf.Next().At)+1, 8)
			}})
		}
		finish(t, s)
		return s.Stats()
	}
	for name, c := range map[string]struct {
		second      func(Key) Key
		least, most uint64
	}{
		"never sent":  {func(Key) Key { return NeverKey }, 5, 100},
		"far":         {func(Key) Key { return at(1_000_000, 8) }, 5, 100},
		"always near": {func(next Key) Key { return next.Next() }, events, 1 << 62},
	} {
		if got := run(c.second); got.Windows < c.least || got.Windows > c.most || got.Messages != 2*8*events {
			t.Errorf("%s: %d windows for %d messages; want %d to %d", name, got.Windows, got.Messages, c.least, c.most)
		}
	}
}

// What a notice of a foreign kind causes at a leaf comes back as a notice: the
// router must not run past that, also if it has just added the leaf.
func TestControlWaitsForAnswersToOthers(t *testing.T) {
	for mode, cfg := range modes() {
		for _, adds := range []bool{false, true} {
			cfg.Notices = [NoticeKinds]Notice{1: {React: later(5)}}
			s := New(cfg)
			const server = ProcessID(1)
			router := &script{events: []Key{at(10, 0), at(100, 0)}, promise: NeverKey}
			router.event = func(k Key, _ *Outbox) {
				if adds && k.At == 10 {
					s.AddLeaf("asker", asker(server))
				}
			}
			s.AddControl("router", router)
			s.AddControl("server", answering(5), 1)
			if !adds {
				s.AddLeaf("asker", asker(server))
			}
			finish(t, s)
			if want := []Key{at(10, 0), at(30, 8), at(100, 0)}; !slices.Equal(router.log, want) {
				t.Errorf("%s, router adds the leaf: %v: router executed %v, want %v", mode, adds, router.log, want)
			}
		}
	}
}

// asker is a leaf that asks a server at 20, by a notice of kind 1, and sends the
// router a notice when it has the answer.
func asker(server ProcessID) asking {
	leaf := &script{events: []Key{at(20, 6)}, promise: NeverKey}
	leaf.event = func(k Key, out *Outbox) { sendNotice(out, server, at(21, 8), 1) }
	leaf.receive = func(_ *Message, out *Outbox) { send(out, 0, at(30, 8)) }
	return asking{leaf, func(NoticeKind) Key {
		if len(leaf.events) > 0 {
			return at(21, 8)
		}
		return NeverKey
	}}
}

// stableAsking is an asking leaf of which only what messages change is read.
type stableAsking struct{ asking }

func (stableAsking) StableUntil() Key { return NeverKey }

// An observation sees answers to notices that the observer does not get, if it is
// announced from the start or made by a message.
func TestObservationAfterAnAnswerToOthers(t *testing.T) {
	for mode, cfg := range modes() {
		for _, byMessage := range []bool{false, true} {
			cfg.Notices = unanswered()
			cfg.Notices[1].React = later(5)
			s := New(cfg)
			server := ProcessID(1)
			leaf, answers, seen := asker(server), 0, -1
			leaf.receive = func(*Message, *Outbox) { answers++ }
			router := &script{promise: NeverKey}
			router.observe = func() Observation {
				k := router.Next()
				return Observation{At: k, Until: k.Next(), StateBefore: k, LeafLimit: k}
			}
			router.event = func(Key, *Outbox) { seen = answers }
			router.receive = func(*Message, *Outbox) { router.events = []Key{at(50, 2)} }
			s.AddControl("router", router)
			s.AddControl("server", answering(5), 1)
			clock := &script{}
			if byMessage {
				clock.events, clock.event = []Key{at(10, 0)}, func(_ Key, out *Outbox) { send(out, 0, at(40, 0)) }
			} else {
				router.events = []Key{at(50, 2)}
			}
			s.AddControl("clock", clock)
			s.AddLeaf("asker", stableAsking{leaf})
			if finish(t, s); seen != 1 {
				t.Errorf("%s, made by a message: %v: %d answers seen, want 1", mode, byMessage, seen)
			}
		}
	}
}

// Notices and messages that would come unexpected stop the run.
func TestTrapsOfNotices(t *testing.T) {
	const router, server = ProcessID(0), ProcessID(1)
	never := func(NoticeKind) Key { return NeverKey }
	notice := func(to ProcessID, kind NoticeKind) *script {
		return &script{events: []Key{at(10, 0)}, promise: NeverKey, event: func(_ Key, out *Outbox) { sendNotice(out, to, at(20, 8), kind) }}
	}
	for name, c := range map[string]struct {
		leaf   func() Process
		server func(Key, *Outbox)
		rule   string
	}{
		"kind 0 before its promise":   {leaf: func() Process { return notice(router, 0) }, rule: rulePromise},
		"kind 1 before its promise":   {leaf: func() Process { return asking{notice(server, 1), func(NoticeKind) Key { return at(30, 8) }} }, rule: rulePromise},
		"kind 1 promised never":       {leaf: func() Process { return asking{notice(server, 1), never} }, rule: rulePromise},
		"kind 1 without a promise":    {leaf: func() Process { return notice(server, 1) }, rule: rulePromise},
		"a kind that is not received": {leaf: func() Process { return asking{notice(router, 1), func(NoticeKind) Key { return at(20, 8) }} }, rule: ruleKind},
		"kind 0 that is not received": {leaf: func() Process {
			return &script{events: []Key{at(10, 0)}, event: func(_ Key, out *Outbox) { send(out, server, at(20, 8)) }}
		}, rule: ruleKind},
		"a kind that nobody receives":     {leaf: func() Process { return asking{notice(server, 7), never} }, rule: ruleKind},
		"a kind that does not exist":      {leaf: func() Process { return asking{notice(server, 200), never} }, rule: ruleKind},
		"to a peer that is not held back": {leaf: func() Process { return &script{} }, server: func(_ Key, out *Outbox) { send(out, router, at(9, 0)) }, rule: rulePeer},
	} {
		for mode, cfg := range modes() {
			s := New(cfg)
			s.AddControl("router", &script{})
			clock := &script{event: c.server}
			if c.server != nil {
				clock.events = []Key{at(5, 0)}
			}
			s.AddControl("server", clock, 1)
			s.AddLeaf("leaf", c.leaf())
			var trap *Trap
			if err := s.Run(context.Background()); !errors.As(err, &trap) || trap.Rule != c.rule {
				t.Errorf("%s, %s: error %v, want %q", name, mode, err, c.rule)
			}
		}
	}
}
