package actors

import (
	"blis/lookahead"
	"blis/policy"
	"blis/vtime"
)

// sight is what the router knows of the instances when it decides: readings
// off the board, and in-flight, which it counts itself. Which Keys bind whom
// follows from the signals that the policies of the run declare.
type sight struct {
	signals policy.Signals
	board   *board // nil: no signal is the instances' to tell
	// Which decisions read what the instances tell.
	atAdmission, atRouting bool
	view                   policy.View
	sent                   []int32 // per instance: requests delivered
	counted                bool    // in-flight is sent − ended as the instance shows it, not told by notices
	refresh                int64   // the last one taken over, −1: none

	// engines are read directly, in place of the board, by the strictest twin.
	engines []*instance
}

// observed are the signals that instances tell; with in-flight, which the
// router may count by what they tell, they are all that is known of instances.
const (
	observed        = policy.QueueDepth | policy.BatchSize | policy.KVUse
	instanceSignals = observed | policy.InFlight
)

// observation says what the next decisions read.
func (s *sight) observation(r *router) lookahead.Observation {
	if s.board == nil {
		return lookahead.Observation{At: lookahead.NeverKey}
	}
	at := r.nextReading()
	if at.IsNever() {
		return lookahead.Observation{At: lookahead.NeverKey}
	}
	if s.board.interval == 0 {
		return lookahead.Observation{At: at, Through: at.Next(), Need: at, Limit: at}
	}
	k := s.board.refreshBefore(at.At)
	o := lookahead.Observation{
		At:      at,
		Through: refreshKey(s.board.at(k + 1)).Next(),
		Limit:   refreshKey(s.board.at(k + 2)),
	}
	if k >= 0 {
		o.Need = refreshKey(s.board.at(k)).Next()
	}
	return o
}

func refreshKey(t vtime.Time) lookahead.Key { return lookahead.Key{At: t, Class: classRefresh} }

// look brings the view up to what a decision at now may see.
func (s *sight) look(now vtime.Time) {
	switch {
	case s.board == nil:
	case s.board.interval > 0:
		if k := s.board.refreshBefore(now); k > s.refresh && s.engines == nil {
			for i := range s.view.Len() {
				s.show(i, s.board.seen(i, k))
			}
			s.refresh = k
		}
	case s.engines != nil:
		for i, p := range s.engines {
			s.show(i, p.read())
		}
	default:
		s.board.news(s.show)
	}
}

// show enters a reading of instance i.
func (s *sight) show(i int, r reading) {
	inFlight := s.view.Slot(i).InFlight
	if s.counted {
		inFlight = s.sent[i] - int32(r.finished)
	}
	s.view.Show(i, r.queue, r.batch, inFlight, r.used)
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

// twinRefresh is the Key of the refresh that the next decision will see, when
// the strictest twin must take it off the engines itself.
func (s *sight) twinRefresh(r *router) lookahead.Key {
	if s.engines == nil || s.board == nil || s.board.interval == 0 {
		return lookahead.NeverKey
	}
	at := r.nextReading()
	if at.IsNever() {
		return lookahead.NeverKey
	}
	k := s.board.refreshBefore(at.At)
	if k <= s.refresh {
		return lookahead.NeverKey
	}
	return refreshKey(s.board.at(k))
}

// refreshTwin takes the readings of the refresh at now off the engines.
func (s *sight) refreshTwin(now vtime.Time) {
	for i, p := range s.engines {
		s.show(i, p.read())
	}
	s.refresh = int64(now) / int64(s.board.interval)
}
