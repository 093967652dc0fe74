package lookahead

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// streaming is a control process that sends a message in each of n events and
// streams, and a leaf.
func streaming(cfg Config, n int64, most int) (s *Simulation, router, leaf *script) {
	cfg.Notices = unanswered()
	s = New(cfg)
	router, leaf = &script{}, &script{}
	for i := range n {
		router.events = append(router.events, at(10*i, 0))
	}
	router.event = func(k Key, out *Outbox) {
		send(out, FirstLeaf, Key{At: k.At + 1})
		out.Stream(most)
	}
	s.AddControl("router", router)
	s.AddLeaf("leaf", leaf)
	return s, router, leaf
}

// A process that streams makes the leaves wait once, for few messages. From then on
// its turns overlap the windows, and no more messages are undelivered than it
// allows.
func TestStreamOverlapsWindows(t *testing.T) {
	for _, workers := range []int{1, 3} {
		s, router, leaf := streaming(Config{Workers: workers, InlineBelow: -1}, 1000, 64)
		send, serial, most := router.event, 0, 0
		router.event = func(k Key, out *Outbox) {
			if send(k, out); !out.overlapped {
				serial++
			}
			most = max(most, out.Undelivered())
		}
		finish(t, s)
		// 4 alone; then 4 + 12, 12 + 36, 36 + 28, 28 + 36, … are under way, and
		// the last 28 or 36 take a window without it.
		stats := s.Stats()
		if serial != 4 || most != 64 || len(leaf.log) != 1000 || stats.Windows != 33 || stats.ControlTurns != 33 {
			t.Errorf("%d workers: %d events while the leaf waited, %d undelivered at most, %d delivered, %d windows, %d turns of the router",
				workers, serial, most, len(leaf.log), stats.Windows, stats.ControlTurns)
		}
	}
}

// A leaf cannot be added while others run.
func TestStreamingProcessMayNotAddLeaves(t *testing.T) {
	s, router, _ := streaming(Config{}, 100, 64)
	send := router.event
	router.event = func(k Key, out *Outbox) {
		if send(k, out); k.At == 500 {
			s.AddLeaf("late", &script{})
		}
	}
	var fault *Fault
	if err := s.Run(context.Background()); !errors.As(err, &fault) || !strings.Contains(fmt.Sprint(fault.Value), `"router" adds a leaf while it streams`) {
		t.Error(err)
	}
}
