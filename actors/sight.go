package actors

import (
	"blis/lookahead"
	"blis/policy"
	"blis/vtime"
)

// sight is what the router knows of the instances when it decides: readings
// off the boards, and in-flight, which it counts itself. Which Keys bind whom
// follows from the signals that the policies of the run declare, and from how
// fresh these are.
type sight struct {
	signals policy.Signals
	boards
	// Which decisions read what the instances tell.
	atAdmission, atRouting bool

	view    policy.View
	sent    []int32 // per instance: requests delivered
	refresh int64   // the last one of the board taken over, −1: none

	// engines are read directly, in place of the boards, by the strictest twin;
	// at refreshes too, if it knows of each before it comes. It does not where
	// decisions can come that follow from no request on its way: scale checks,
	// and requests given back.
	engines  []*instance
	foreseen bool
}

// Signals that instances tell: those of the board, unless they are to be of
// another cadence; and those that always have a feed. With in-flight, which
// the router may count by what they tell, they are all that is known of
// instances.
const (
	loadSignals     = policy.QueueDepth | policy.BatchSize | policy.KVUse
	slowSignals     = policy.HitRate | policy.RecentLatency | policy.EstimatedWait
	observed        = loadSignals | slowSignals
	instanceSignals = observed | policy.InFlight
)

// observation says what the next decisions read.
func (s *sight) observation(r *router) lookahead.Observation {
	if s.board == nil && s.feeds == nil {
		return lookahead.Observation{At: lookahead.NeverKey}
	}
	at := r.nextReading()
	if at.IsNever() {
		return lookahead.Observation{At: lookahead.NeverKey}
	}
	o := lookahead.Observation{At: at, Until: lookahead.NeverKey, LeafLimit: lookahead.NeverKey}
	for _, f := range s.feeds {
		f.board.bound(&o)
	}
	if s.board != nil {
		s.board.bound(&o)
	}
	return o
}

// look brings the view up to what a decision at now may see.
func (s *sight) look(now vtime.Time) {
	for _, f := range s.feeds {
		f.look(s, now)
	}
	switch b := s.board; {
	case b == nil:
	case b.cadence != immediate:
		if k := b.before(now); k > s.refresh && !s.takesRefreshes() {
			for _, i := range s.view.Present() {
				s.show(int(i), b.seen(int(i), k))
			}
			s.refresh = k
		}
	case s.engines != nil:
		s.readEngines()
	default:
		b.news(s.show)
	}
}

// takesRefreshes reports whether readings of refreshes are taken off the engines
// when these come.
func (s *sight) takesRefreshes() bool { return s.engines != nil && s.foreseen }

// readEngines is look for the strictest twin.
func (s *sight) readEngines() {
	for i, p := range s.engines {
		s.show(i, p.read())
	}
}

// show enters a reading of instance i. Nothing is shown of one that is gone: what
// there is to read of it depends on who reads.
func (s *sight) show(i int, r reading) {
	slot := s.view.Slot(i)
	if slot.Phase == policy.Gone {
		return
	}
	inFlight := slot.InFlight
	if s.counted {
		inFlight = s.sent[i] - int32(r.finished)
	}
	if s.apart != policy.NoSignals {
		r = s.without(r, slot)
	}
	s.view.Show(i, r.queue, r.batch, inFlight, r.used)
}

// without is a reading but for what feeds carry, which stays as it is shown.
func (s *sight) without(r reading, shown policy.Slot) reading {
	if s.apart&policy.QueueDepth != 0 {
		r.queue = shown.Queue
	}
	if s.apart&policy.BatchSize != 0 {
		r.batch = shown.Batch
	}
	if s.apart&policy.KVUse != 0 {
		r.used = shown.Used
	}
	return r
}

// grow makes room for a further instance, of which nothing is known yet.
func (s *sight) grow() {
	s.sent = append(s.sent, 0)
	if s.board != nil {
		s.board.grow()
	}
	for _, f := range s.feeds {
		f.board.grow()
	}
}

// routed counts a request that was just routed to instance i.
func (s *sight) routed(i int) {
	if s.signals&policy.InFlight != 0 {
		s.view.AddInFlight(i, 1)
		s.sent[i]++
	}
}

// ended counts a request that is known to have ended.
func (s *sight) ended(i int) { s.view.AddInFlight(i, -1) }

// twinRefresh is the Key of the first refresh that the next decision will see,
// when the strictest twin must take it off the engines itself.
func (s *sight) twinRefresh(r *router) lookahead.Key {
	k := lookahead.NeverKey
	if !s.takesRefreshes() || s.board == nil && s.feeds == nil {
		return k
	}
	at := r.nextReading()
	if at.IsNever() {
		return k
	}
	if s.board != nil {
		k = unseen(s.board.cadence, s.refresh, at.At)
	}
	for _, f := range s.feeds {
		k = earlier(k, unseen(f.board.cadence, f.refresh, at.At))
	}
	return k
}

// unseen is the Key of the last refresh before a decision at now, Never if it
// was taken over already.
func unseen(c cadence, seen int64, now vtime.Time) lookahead.Key {
	if c == immediate || c.before(now) <= seen {
		return lookahead.NeverKey
	}
	return c.key(c.before(now))
}

// refreshTwin takes the readings of the refresh at now off the engines.
func (s *sight) refreshTwin(now vtime.Time) {
	if b := s.board; b != nil && b.cadence.due(s.refresh, now) {
		s.readEngines()
		s.refresh = b.cadence.after(now)
	}
	for _, f := range s.feeds {
		if c := f.board.cadence; c.due(f.refresh, now) {
			f.readEngines(s)
			f.refresh = c.after(now)
		}
	}
}
