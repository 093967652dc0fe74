package actors

import (
	"strconv"

	"blis/lookahead"
	"blis/policy"
	"blis/prefixindex"
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

	nodes     []setup.Node // by rank; nil: GPUs are unlimited
	released  bool         // its GPUs were given back
	takenAway bool         // it was told to stop
}

// place is an endpoint as those know it who route to it. Unless its server has several it is the
// server.
type place struct {
	*server
	index    int // among the endpoints of its server
	endpoint int // among the endpoints of the run
	instance int // number of its first rank in the run: what traces call it
	seat     int // among the endpoints
}

// set enters what is known of the server in the view, for each endpoint, and publishes it. s is what is
// shown of the first one; signals of the others stay.
func (p *server) set(s policy.Slot) {
	view := &p.pool.endpoints.cluster.view
	view.Set(p.places[0].seat, s)
	for _, at := range p.places[1:] {
		other := view.Slot(at.seat)
		other.Routable, other.Phase = s.Routable, s.Phase
		view.Set(at.seat, other)
	}
	s.Total *= int64(len(p.places))
	p.pool.published.set(p.slot, s)
}

// shown is what the view shows of the server: of its first endpoint, which has the phase of all.
func (p *server) shown() policy.Slot {
	return p.pool.endpoints.cluster.view.Slot(p.places[0].seat)
}

// isGone reports whether the server has nothing to do any more, and will not have.
func (p *server) isGone() bool { return p.shown().Phase == policy.Gone }

// process returns the process of the server.
func (p *server) process() lookahead.ProcessID {
	return lookahead.FirstLeaf + lookahead.ProcessID(p.number)
}

// forgetPrefixes makes the router, and its trace, expect nothing in the prefix caches of the server, if
// they expect anything in any.
func (p *server) forgetPrefixes() {
	for _, index := range [...]*prefixindex.Index{p.pool.endpoints.prefixes, p.pool.endpoints.holdings} {
		for _, at := range p.places {
			if index != nil {
				index.Clear(at.seat)
			}
		}
	}
}

// name is the name of a rank, by its number in the run: that of its endpoint, and which rank it is if there
// are several behind that.
func (f *fleet) name(rank int) string {
	at := f.ranks[rank]
	return rankName(at.endpoint, rank-at.first, at.pool.plan)
}

// rankName is the name of rank k of an instance, which is behind an endpoint.
func rankName(endpoint, k int, of *setup.Pool) string {
	if of.Ranks.Local == 1 {
		return instanceName(endpoint)
	}
	return instanceName(endpoint) + "-rank-" + strconv.Itoa(k)
}

// name is the name of the server as a whole: that of its endpoint, or of its first and its last one.
func (p *server) name() string {
	return serverName(p.endpoints())
}

// endpoints returns the numbers of the first and the last endpoint of the server in the run.
func (p *server) endpoints() (first, last int) {
	return p.places[0].endpoint, p.places[len(p.places)-1].endpoint
}

func serverName(first, last int) string {
	if first == last {
		return instanceName(first)
	}
	return instanceName(first) + ".." + strconv.Itoa(last)
}

// gone takes the endpoints of the server, which is gone, out of the view.
func (p *server) gone() {
	none := policy.Slot{Phase: policy.Gone, Total: p.shown().Total}
	p.set(none)
	s := p.pool.endpoints
	for _, at := range p.places {
		s.cluster.view.Set(at.seat, none)
		s.cluster.view.ShowSignals(at.seat, new(policy.InstanceState), ^policy.NoSignals)
		for _, index := range [...]*prefixindex.Index{s.prefixes, s.holdings} {
			if index != nil {
				index.Drop(at.seat)
			}
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
