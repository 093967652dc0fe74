package lookahead

import "blis/vtime"

// Stats counts what the kernel did in a run. No count is a result. The numbers of
// windows and turns depend on the lookahead, not on the number of workers.
type Stats struct {
	Windows      uint64 // of leaves
	Inline       uint64 // windows run inline, on the coordinator's goroutine
	Turns        uint64 // of leaves
	ControlTurns uint64
	SinkTurns    uint64
	Events       uint64 // local events, as far as processes call Outbox.Execute
	Messages     uint64 // executed
	Asked        uint64 // processes asked outside of turns whether they keep the run alive, or for their frames to sinks

	// The smallest distance in virtual time between a message and its cause,
	// per channel; vtime.Never where nothing was sent.
	ControlToLeaf, LeafToControl, ToSink vtime.Duration

	LeafWindowEvents   uint64 // Events of leaves
	LeafWindowMessages uint64 // Messages executed by leaves
}

// Add adds the counts of another simulation; distances become the smaller ones.
func (s *Stats) Add(o Stats) {
	if *s == (Stats{}) {
		*s = o
		return
	}
	for _, n := range []struct {
		to   *uint64
		from uint64
	}{
		{&s.Windows, o.Windows}, {&s.Inline, o.Inline}, {&s.Turns, o.Turns}, {&s.ControlTurns, o.ControlTurns}, {&s.SinkTurns, o.SinkTurns}, {&s.Events, o.Events},
		{&s.Messages, o.Messages}, {&s.Asked, o.Asked}, {&s.LeafWindowEvents, o.LeafWindowEvents}, {&s.LeafWindowMessages, o.LeafWindowMessages},
	} {
		*n.to += n.from
	}
	s.ControlToLeaf, s.LeafToControl, s.ToSink = min(s.ControlToLeaf, o.ControlToLeaf), min(s.LeafToControl, o.LeafToControl), min(s.ToSink, o.ToSink)
}

// per returns a/b, 0 if b is 0.
func per(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// EventsPerWindow returns the mean number of local events of leaves per window.
func (s Stats) EventsPerWindow() float64 { return per(s.LeafWindowEvents, s.Windows) }

// MessagesPerWindow returns the mean number of messages to leaves per window.
func (s Stats) MessagesPerWindow() float64 { return per(s.LeafWindowMessages, s.Windows) }

// TurnsPerWindow returns the mean number of leaves that have a turn in a window.
func (s Stats) TurnsPerWindow() float64 { return per(s.Turns, s.Windows) }

// InlineShare returns the share of windows run inline.
func (s Stats) InlineShare() float64 { return per(s.Inline, s.Windows) }

// Stats returns the counts. It must not be called during Run.
func (s *Simulation) Stats() Stats {
	t := s.loop.counts
	t.ControlToLeaf, t.LeafToControl, t.ToSink = vtime.Duration(vtime.Never), vtime.Duration(vtime.Never), vtime.Duration(vtime.Never)
	for _, n := range s.loop.all() {
		t.Events += n.out.events
		t.Messages += n.history.digest.messages
		if n.channel == toLeaf {
			t.LeafWindowEvents += n.out.events
			t.LeafWindowMessages += n.history.digest.messages
		}
		t.ControlToLeaf = min(t.ControlToLeaf, n.out.lookahead[toLeaf])
		t.ToSink = min(t.ToSink, n.out.lookahead[toSink])
		if n.channel == toLeaf {
			t.LeafToControl = min(t.LeafToControl, n.out.lookahead[toControl])
		}
	}
	return t
}
