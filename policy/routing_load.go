package policy

import "blis/vtime"

// ranking follows a view and knows which of its instances have the smallest
// effective load, or the largest.
type ranking struct {
	tie     tieBreak
	busiest bool // the largest load is the best, else the smallest
	rows    denseIndex
	loads   maxTree // by row
}

// sync brings the loads up to the view.
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

// key returns the key of an instance in loads.
func (r *ranking) key(s *Slot) uint64 {
	switch {
	case !s.Routable:
		return 0
	case r.busiest:
		return descending(s.load())
	}
	return ascending(s.load())
}

// choose returns one of the best instances, −1 when none is routable.
func (r *ranking) choose(req *Request) int {
	return r.rows.instance(r.tie.choose(req, &r.loads))
}

// byLoad chooses the best of the ranking: least-loaded and always-busiest.
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
