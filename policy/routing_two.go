package policy

import (
	"slices"

	"blis/vtime"
)

const powerOfTwoName = "power-of-two"

// powerOfTwo draws two different routable instances, every pair as likely as
// any other, and takes the one with less effective load, of equals the one
// drawn first. A single one is taken without a draw.
type powerOfTwo struct {
	draws  Draws
	roster roster
}

func newPowerOfTwo(_ values, env Env) (Routing, error) {
	return &powerOfTwo{draws: env.Draws}, nil
}

func (*powerOfTwo) Observes() Signals { return effectiveLoad }

func (p *powerOfTwo) Route(req *Request, _ float64, _ *RouterState, view *View, _ vtime.Time) RoutingDecision {
	p.roster.follow(view)
	routable := p.roster.routable
	switch len(routable) {
	case 0:
		return nowhere
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

// roster is the routable instances of a view that it follows. They stand in
// index order: a draw from them must not hang on the order in which they
// became routable, or were noted to be.
type roster struct {
	follower follower
	routable []int32
	listed   []bool // by instance
}

// follow brings the roster up to the view.
func (r *roster) follow(view *View) {
	change, anew := r.follower.catchUp(view)
	if anew {
		r.begin(view)
		return
	}
	for ; change < view.changes; change++ {
		i := view.changed(change)
		if view.Routable(i) != r.listed[i] {
			r.flip(int32(i))
		}
	}
}

// begin takes in all instances.
func (r *roster) begin(view *View) {
	for _, i := range r.routable {
		r.listed[i] = false
	}
	r.routable = r.routable[:0]
	for len(r.listed) < view.Len() {
		r.listed = append(r.listed, false)
	}
	for _, i := range view.present {
		if view.Routable(int(i)) {
			r.listed[i] = true
			r.routable = append(r.routable, i)
		}
	}
}

// flip lists an instance that is not, or strikes it off.
func (r *roster) flip(i int32) {
	at, listed := slices.BinarySearch(r.routable, i)
	if listed {
		r.routable = slices.Delete(r.routable, at, at+1)
	} else {
		r.routable = slices.Insert(r.routable, at, i)
	}
	r.listed[i] = !listed
}
