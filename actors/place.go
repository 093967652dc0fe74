package actors

import (
	"blis/lookahead"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// server is an instance as its pool knows it: what scales, drains and fails as one. It has one
// endpoint, or with data-parallel ranks several; and one rank, or several.
type server struct {
	pool   *pool
	slot   int      // in the pool
	number int      // among the servers of the run: its process
	first  int      // number of its first rank in the run
	places []*place // its endpoints

	nodes    []setup.Node // by rank; nil: GPUs are unlimited
	released bool         // its GPUs were given back
}

// place is an endpoint as those know it who route to it. Unless its server has several it is the
// server.
type place struct {
	*server
	index    int // among the endpoints of its server
	instance int // in the run
	seat     int // among the endpoints
}

// set enters what is known of the server in the view, for each endpoint, and publishes it.
func (p *server) set(s policy.Slot) {
	for _, at := range p.places {
		p.pool.endpoints.cluster.view.Set(at.seat, s)
	}
	s.Total *= int64(len(p.places))
	p.pool.published.set(p.slot, s)
}

// shown is what the view shows of the server: of its first endpoint, which has the phase of all.
func (p *server) shown() policy.Slot {
	return p.pool.endpoints.cluster.view.Slot(p.places[0].seat)
}

// process returns the process of the server.
func (p *server) process() lookahead.ProcessID {
	return lookahead.FirstLeaf + lookahead.ProcessID(p.number)
}

// forgetPrefixes makes the router expect nothing in the prefix caches of the server, if it expects
// anything in any.
func (p *server) forgetPrefixes() {
	if index := p.pool.endpoints.prefixes; index != nil {
		for _, at := range p.places {
			index.Clear(at.seat)
		}
	}
}

// gone takes the endpoints of the server, which is gone, out of the view.
func (p *server) gone() {
	p.set(policy.Slot{Phase: policy.Gone, Total: p.shown().Total})
	s := p.pool.endpoints
	for _, at := range p.places {
		s.cluster.view.ShowSignals(at.seat, new(policy.InstanceState), ^policy.NoSignals)
		if s.prefixes != nil {
			s.prefixes.Drop(at.seat)
		}
	}
}

// send counts a request that is on its way to the endpoint.
func (p *place) send() {
	s := p.pool
	s.endpoints.cluster.routed(p.seat)
	s.published.send(p.slot)
	if s.replicas != nil {
		s.replicas.list[p.slot].held++
	}
}

// takeBack counts a request that was on its way to the endpoint and, as is known at now, does not come.
func (p *place) takeBack(now vtime.Time) {
	p.pool.endpoints.cluster.takeBack(p.seat)
	p.pool.published.leave(p.slot)
	p.requestLeft(now)
}

// left counts a request no longer in flight to the endpoint, as a notice says.
func (p *place) left() {
	if !p.pool.endpoints.cluster.inFlightFromLoad {
		p.pool.endpoints.cluster.ended(p.seat)
	}
	p.pool.published.leave(p.slot)
}

// requestLeft notes that the server has a request less, of those that it has to end before it can go.
func (p *server) requestLeft(now vtime.Time) {
	if b := p.pool.replicas; b != nil && b.ended(p.slot, now) && b.pool.Scaling.Drain == setup.DrainRedirect {
		b.handingBack-- // it had been told to return its requests
	}
}
