package lookahead

// runTurns runs the window's turns: those of leaves up to h, of sinks up to
// their own horizons, and that of a control process that streams. They are
// shared if that is worth while. Asking every process for its work costs some
// percent of a window, so nobody is asked where turns like the last ones are
// worth sharing and many enough to even out, or would have to be several times
// as long.
func (s *Simulation) runTurns(h Key) {
	turns, c := len(s.turns), s.crew
	expected := float64(s.usualWork * float64(turns))
	switch {
	case len(c.stocks) == 1 || turns < 2 && s.beside == nil:
		s.runAlone(h)
	case turns >= manyTurns*len(c.stocks) && (s.beside != nil || expected >= float64(s.config.InlineBelow)):
		c.share(s.turns, h, s.beside, false, int(expected))
	case s.beside == nil && float64(longerTurns*expected) < float64(s.config.InlineBelow):
		s.runAlone(h)
	default:
		work := s.ask(h)
		if s.beside == nil && work < s.config.InlineBelow {
			s.runAlone(h)
			break
		}
		c.share(s.turns, h, s.beside, true, work)
	}
	work := 0
	for w := range c.stocks {
		stock := &c.stocks[w]
		s.undelivered -= int64(stock.executed)
		work += stock.work
		stock.executed, stock.work = 0, 0
	}
	s.learn(float64(work) / float64(turns))
}

const (
	// manyTurns is how many turns per worker even out by themselves.
	manyTurns = 16
	// longerTurns is how many times longer than usual the turns of a window
	// may be without being noticed at once.
	longerTurns = 2
)

// learn takes a window's work per turn into the running mean of them.
func (s *Simulation) learn(work float64) { s.usualWork += (work - s.usualWork) / 8 }

// ask asks everyone for the work expected of him, and returns the sum.
func (s *Simulation) ask(h Key) int {
	work := 0
	for _, n := range s.turns {
		s.asked = n
		n.work = n.expect(n.turnUntil(h))
		work += n.work
	}
	return work
}

// runAlone runs the turns on the coordinator.
func (s *Simulation) runAlone(h Key) {
	s.counts.Inline++
	for _, n := range s.turns {
		n.take(n.turnUntil(h), &s.crew.stocks[0])
	}
	if n := s.beside; n != nil {
		n.takeBeside(n.horizon, &s.crew.stocks[0])
	}
}

// turnUntil is the horizon of a turn in a window of leaves up to h.
func (n *node) turnUntil(h Key) Key {
	if n.id >= FirstSink {
		return n.horizon
	}
	return h
}
