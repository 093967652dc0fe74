package lookahead

import (
	"context"
	"errors"
	"testing"
)

// preparing is a control process that counts how often it could work ahead,
// and fails at the time failAt, from 1.
type preparing struct {
	*script
	times, failAt int
}

func (p *preparing) Prepare() {
	if p.times++; p.times == p.failAt {
		panic("cannot read on")
	}
}

// prepared is a router that observes nothing and keeps two leaves busy.
func prepared(workers, failAt int) (*Simulation, *preparing) {
	s := New(Config{Workers: workers, InlineBelow: -1, Notices: unanswered()})
	p := &preparing{script: &script{}, failAt: failAt}
	for i := range int64(100) {
		p.events = append(p.events, at(10*i, 0))
	}
	p.event = func(k Key, out *Outbox) {
		send(out, FirstLeaf, Key{At: k.At + 1})
		send(out, FirstLeaf+1, Key{At: k.At + 1})
		out.Stop()
	}
	s.AddControl("router", p)
	s.AddLeaf("one", &script{})
	s.AddLeaf("two", &script{})
	return s, p
}

// A control process works ahead during windows that workers share, and only then.
func TestPrepareDuringSharedWindows(t *testing.T) {
	s, p := prepared(2, 0)
	finish(t, s)
	if stats := s.Stats(); p.times == 0 || uint64(p.times) != stats.Windows-stats.Inline {
		t.Errorf("prepared %d times, want once in each of the %d − %d windows that were shared", p.times, stats.Windows, stats.Inline)
	}
	s, p = prepared(1, 0)
	finish(t, s)
	if p.times != 0 {
		t.Errorf("one worker prepared %d times, want never", p.times)
	}
}

// A panic while working ahead is the fault of the process that does.
func TestPrepareFails(t *testing.T) {
	s, _ := prepared(2, 2)
	var fault *Fault
	if err := s.Run(context.Background()); !errors.As(err, &fault) || fault.Process != "router" || fault.Value != "cannot read on" {
		t.Errorf("error %v, want the fault of the router", err)
	}
}
