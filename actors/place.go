package actors

import (
	"blis/lookahead"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// place is an instance as its pool knows it, and those who route to it.
type place struct {
	pool     *pool
	slot     int // in the pool
	instance int // in the run
	seat     int // among the endpoints
}

// set enters what is known of an instance in the view, and publishes it.
func (p *place) set(s policy.Slot) {
	p.pool.endpoints.cluster.view.Set(p.seat, s)
	p.pool.published.set(p.slot, s)
}

// shown is what the view shows of an instance.
func (p *place) shown() policy.Slot { return p.pool.endpoints.cluster.view.Slot(p.seat) }

// send counts a request that is on its way to the instance.
func (p *place) send() {
	s := p.pool
	s.endpoints.cluster.routed(p.seat)
	s.published.send(p.slot)
	if s.replicas != nil {
		s.replicas.list[p.slot].held++
	}
}

// takeBack counts a request that was on its way to the instance and, as is known at now, does not come.
func (p *place) takeBack(now vtime.Time) {
	p.pool.endpoints.cluster.takeBack(p.seat)
	p.pool.published.leave(p.slot)
	p.requestLeft(now)
}

// left counts a request no longer in flight to the instance, as a notice says.
func (p *place) left() {
	if !p.pool.endpoints.cluster.inFlightFromLoad {
		p.pool.endpoints.cluster.ended(p.seat)
	}
	p.pool.published.leave(p.slot)
}

// requestLeft notes that the instance has a request less, of those that it has to end before it can go.
func (p *place) requestLeft(now vtime.Time) {
	if b := p.pool.replicas; b != nil && b.ended(p.slot, now) && b.pool.Scaling.Drain == setup.DrainRedirect {
		b.handingBack-- // it had been told to return its requests
	}
}

// process returns the process of the instance.
func (p *place) process() lookahead.ProcessID {
	return lookahead.FirstLeaf + lookahead.ProcessID(p.instance)
}
