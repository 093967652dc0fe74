package policy

import (
	"slices"

	"blis/vtime"
)

// powerOfTwo draws two different routable instances, every pair with equal
// probability, and takes the one with less effective load. Of equals it takes the
// one drawn first. A single routable instance is taken without a draw.
type powerOfTwo struct {
	draws    Draws
	routable routableSet
}

func newPowerOfTwo(_ values, env Env) (Routing, error) {
	return &powerOfTwo{draws: env.Draws}, nil
}

func (*powerOfTwo) Observes() Signals { return effectiveLoad }

func (p *powerOfTwo) Route(req *Request, _ float64, _ *RouterState, view *View, _ vtime.Time) RoutingDecision {
	p.routable.sync(view)
	routable := p.routable.list
	switch len(routable) {
	case 0:
		return noTarget
	case 1:
		return RoutingDecision{Target: int(routable[0]), Reason: LessOfTwo}
	}
	first := p.draws.IntN(req, 0, len(routable))
	second := p.draws.IntN(req, 1, len(routable)-1)
	if second >= first { // all but the first
		second++
	}
	target, other := int(routable[first]), int(routable[second])
	if view.Load(other) < view.Load(target) {
		target = other
	}
	return RoutingDecision{Target: target, Reason: LessOfTwo}
}

// routableSet follows a view and lists its routable instances in index order. A
// draw from the list must not depend on the order in which they became routable.
type routableSet struct {
	cursor changeCursor
	list   []int32
	listed []bool // by instance
}

// sync brings the list up to the view.
func (r *routableSet) sync(view *View) {
	change, all := r.cursor.sync(view)
	if all {
		r.reset(view)
		return
	}
	for ; change < view.changes; change++ {
		i := view.changed(change)
		if view.Routable(i) != r.listed[i] {
			r.toggle(int32(i))
		}
	}
}

// reset makes the list anew.
func (r *routableSet) reset(view *View) {
	for _, i := range r.list {
		r.listed[i] = false
	}
	r.list = r.list[:0]
	for len(r.listed) < view.Len() {
		r.listed = append(r.listed, false)
	}
	for _, i := range view.present {
		if view.Routable(int(i)) {
			r.listed[i] = true
			r.list = append(r.list, i)
		}
	}
}

// toggle adds instance i to the list, or removes it if it is there.
func (r *routableSet) toggle(i int32) {
	at, listed := slices.BinarySearch(r.list, i)
	if listed {
		r.list = slices.Delete(r.list, at, at+1)
	} else {
		r.list = slices.Insert(r.list, at, i)
	}
	r.listed[i] = !listed
}
