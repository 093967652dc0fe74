package actors

import (
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// How full the instances are.

// candidates calls f for each endpoint of the stage that may be given requests.
func (s *stage) candidates(f func(e *endpoints, seat int)) {
	for _, e := range s.of {
		for _, i := range e.cluster.view.Present() {
			role := e.places[i].pool.role
			if (role == s.role || role == setup.Monolithic) && e.cluster.view.Routable(int(i)) {
				f(e, int(i))
			}
		}
	}
}

// ready reports whether some endpoint of the stage may be given requests.
func (s *stage) ready() (some bool) {
	s.candidates(func(*endpoints, int) { some = true })
	return some
}

// ready reports whether each stage has an endpoint that may be given requests.
func (f *flowControl) ready() bool {
	for i := range f.stages {
		if !f.stages[i].ready() {
			return false
		}
	}
	return true
}

// inFlight reports whether some instance has requests that will end: those that the router counts, or that wait. KV
// that is in use by none of these need not be released.
func (f *flowControl) inFlight() (some bool) {
	for i := range f.stages {
		f.stages[i].candidates(func(e *endpoints, seat int) {
			s := e.cluster.view.Slot(seat)
			some = some || s.InFlight > 0 || s.Queue > 0
		})
	}
	return some
}

// saturation is how full the instances are that a request needs, as a decision at now sees them: of the
// fullest stage. With the detector never it is 0 even where no instance is ready.
func (f *flowControl) saturation(now vtime.Time) float64 {
	worst := 0.0
	if f.plan.Detector.Kind == setup.DetectNever {
		return worst
	}
	for i := range f.stages {
		worst = max(worst, f.saturationOf(&f.stages[i], now))
	}
	return worst
}

// saturationOf is how full the instances of a stage are; 1 without any.
func (f *flowControl) saturationOf(s *stage, now vtime.Time) float64 {
	for _, e := range s.of {
		if e.cluster.readsAtGateway { // else nobody has waited for what instances publish
			e.cluster.update(now)
		}
	}
	d := &f.plan.Detector
	n, flying, sum := int64(0), int64(0), 0.0
	s.candidates(func(e *endpoints, seat int) {
		n++
		switch x := e.cluster.view.Slot(seat); d.Kind {
		case setup.DetectConcurrency, setup.DetectTotal:
			flying += int64(x.InFlight)
		case setup.DetectUtilization:
			sum += max(float64(x.Queue)/d.QueueDepth, float64(x.Used)/float64(x.Total)/d.KV)
		}
	})
	if d.Credit {
		flying += f.credit
	}
	switch {
	case n == 0:
		return 1
	case d.Kind == setup.DetectConcurrency:
		return float64(flying) / float64(n*d.Limit)
	case d.Kind == setup.DetectTotal:
		return float64(flying) / float64(d.Limit)
	case d.Kind == setup.DetectUtilization:
		return sum / float64(n)
	}
	return 0
}

// gatewaySignals are the signals of a pool that the gateway reads.
func gatewaySignals(p *setup.Plan) policy.Signals {
	if p.Gateway == nil {
		return policy.NoSignals
	}
	s := detectorSignals(&p.Gateway.Detector)
	if p.Gateway.Evict {
		s |= policy.InFlight // a request's share of the saturation
	}
	return s
}
