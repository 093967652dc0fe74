package policy

import "blis/vtime"

// ranking is a maxTree over the effective loads of the instances of a view
// that it follows.
type ranking struct {
	tie     tieBreak
	busiest bool // the greatest load wins, else the least
	rows    denseIndex
	loads   maxTree // by row
}

// sync brings the loads up to those of the view.
func (r *ranking) sync(view *View) []Slot {
	slots := view.read(effectiveLoad)
	change, all := r.rows.sync(view)
	if !all {
		for ; change < view.changes; change++ {
			i := view.changed(change)
			if k := r.rows.row(i); k >= 0 {
				r.loads.set(k, r.key(&slots[i]))
			}
		}
		return slots
	}
	r.loads.reset(len(r.rows.instances), !r.tie.lowest)
	leaves := r.loads.leaves()
	for k, i := range r.rows.instances {
		leaves[k] = r.key(&slots[i])
	}
	r.loads.rebuild()
	return slots
}

// key is that of an instance in the maxTree.
func (r *ranking) key(s *Slot) uint64 {
	switch {
	case !s.Routable:
		return 0
	case r.busiest:
		return descending(s.load())
	}
	return ascending(s.load())
}

// choose is one of the winners, −1 when no instance is routable.
func (r *ranking) choose(req *Request) int {
	return r.rows.instance(r.tie.choose(req, &r.loads))
}

// byLoad takes the winner of the ranking: least-loaded and always-busiest.
type byLoad struct {
	ranking
	reason Reason
}

func (*byLoad) Observes() Signals { return effectiveLoad }

func (p *byLoad) Route(req *Request, _ float64, _ *RouterState, view *View, _ vtime.Time) RoutingDecision {
	p.sync(view)
	target := p.choose(req)
	if target < 0 {
		return noTarget
	}
	return RoutingDecision{Target: target, Reason: p.reason}
}
