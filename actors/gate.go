package actors

import (
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// gate is an admission policy with what it reads, and what it knows of requests. There is one for the
// run, or with admission scope deployment one for each service: it knows of the requests of its service
// alone.
type gate struct {
	policy policy.Admission
	reads  policy.Signals // what the policy observes
	state  *policy.RouterState
	stream *vtime.Stream // that the policy draws from; nil: the one of the front of the run
}

// openGates gives each service its gate. q are the policies of the pools.
func (r *router) openGates(q []policies, own bool) {
	for _, s := range r.fleet.services {
		p := &q[s.deployments[0].serving.index]
		s.gate = gate{p.admission, p.admission.Observes(), &r.state, p.gateStream}
		if own {
			s.gate.state = new(policy.RouterState)
			s.front.prepare(s.gate.state, policy.NoSignals, 0)
			s.gate.state.Track(s.gate.reads)
		}
	}
}

// tell tells those who know of a request for a model, which some deployment serves.
func (r *router) tell(model workload.Label, f func(*policy.RouterState)) {
	r.tellOf(r.fleet.serviceOf(model), f)
}

// tellOf is tell for a request that a service serves.
func (r *router) tellOf(s *service, f func(*policy.RouterState)) {
	f(&r.state)
	if own := s.gate.state; own != &r.state {
		f(own)
	}
}
