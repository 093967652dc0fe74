package policy

import "blis/vtime"

// ranking is a tournament over the effective loads of the instances of a view
// that it follows.
type ranking struct {
	tie     tieBreak
	busiest bool // the greatest load wins, else the least
	seating seating
	loads   tournament // by seat
}

// follow brings the loads up to those of the view.
func (r *ranking) follow(view *View) []Slot {
	slots := view.read(effectiveLoad)
	change, anew := r.seating.catchUp(view)
	if !anew {
		for ; change < view.changes; change++ {
			i := view.changed(change)
			if k := r.seating.seat(i); k >= 0 {
				r.loads.set(k, r.strength(&slots[i]))
			}
		}
		return slots
	}
	r.loads.reset(len(r.seating.taken), !r.tie.lowest)
	players := r.loads.players()
	for k, i := range r.seating.taken {
		players[k] = r.strength(&slots[i])
	}
	r.loads.survey()
	return slots
}

// strength is that of an instance in the tournament.
func (r *ranking) strength(s *Slot) uint64 {
	switch {
	case !s.Routable:
		return 0
	case r.busiest:
		return heaviness(s.load())
	}
	return lightness(s.load())
}

// choose is one of the winners, −1 when no instance is routable.
func (r *ranking) choose(req *Request) int {
	return r.seating.instance(r.tie.choose(req, &r.loads))
}

// byLoad takes the winner of the ranking: least-loaded and always-busiest.
type byLoad struct {
	ranking
	reason Reason
}

func (*byLoad) Observes() Signals { return effectiveLoad }

func (p *byLoad) Route(req *Request, _ float64, _ *RouterState, view *View, _ vtime.Time) RoutingDecision {
	p.follow(view)
	target := p.choose(req)
	if target < 0 {
		return nowhere
	}
	return RoutingDecision{Target: target, Reason: p.reason}
}
