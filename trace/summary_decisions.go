package trace

import (
	"errors"

	"blis/vtime"
)

// Verdicts and actions as records have them.
const (
	admit, reject, delay = "admit", "reject", "delay"
	hold, up, down       = "hold", "up", "down"
)

// flight is what a summary keeps of a request until its outcome.
type flight struct {
	delays, routings int32
	last             decision // the routing that counts
}

// counted is a number and the first examples.
type counted struct {
	n        int64
	examples examples
}

// group is a class or a tenant.
type group struct {
	asked, ended, completed, judged, met, rejected int64
	series                                         series // of asked
	late                                           [len(targetNames)]counted
	latencies                                      [len(targetNames)]histogram // of classes alone
	ttft                                           span
}

// targetNames are the latencies that may have a target.
var targetNames = [...]string{"ttft", "tpot", "e2e"}

// routedSums are of routing decisions.
type routedSums struct {
	n, nowhere, forced int64
	redirects          counted
	nowhereExamples    examples
}

// streak is the current and the longest run of equal decisions.
type streak struct {
	current, longest run
}

type run struct {
	key      int
	n        int64
	from, to vtime.Time
}

// extend continues the current run of equal decisions, or begins a new one.
func (s *streak) extend(key int, at vtime.Time) {
	if s.current.n == 0 || s.current.key != key {
		s.current = run{key: key, from: at}
	}
	s.current.n++
	s.current.to = at
	if s.current.n > s.longest.n {
		s.longest = s.current
	}
}

const (
	sameInstance = iota // streaks of Summary
	allRejected
)

// flight returns the flight of a request; isNew says that there was none.
func (s *Summary) flight(request int64) (f *flight, isNew bool) {
	f = s.flights[request]
	if f == nil {
		f = &flight{}
		s.flights[request] = f
		return f, true
	}
	return f, false
}

func (s *Summary) addAdmission(r *Admission) error {
	if r.Request < 0 {
		return wrong("request", "%d, want a number from 0", r.Request)
	}
	about := example{at: r.At, request: r.Request, tenant: r.Tenant, class: r.Class, instance: -1}
	_, known := s.flights[r.Request]
	switch r.Verdict {
	case admit:
		s.flight(r.Request)
		s.streaks[allRejected].current.n = 0
	case reject:
		s.bins[s.time.bin(r.At)].rejected++
		s.streaks[allRejected].extend(0, r.At)
	case delay:
		if r.Delay == nil || *r.Delay < 0 {
			return wrong("delay_us", "a delay without a length, want a number from 0")
		}
		f, _ := s.flight(r.Request)
		f.delays++
		s.delays.add(int64(*r.Delay))
		about.value = float64(*r.Delay)
	default:
		return wrong("verdict", "%q, want admit, reject or delay", r.Verdict)
	}
	if !known {
		s.asked(r)
	}
	s.admissions.at(verdict{r.Verdict, r.Reason}).add(about, s.options.Examples)
	return nil
}

// asked counts a request at its first decision.
func (s *Summary) asked(r *Admission) {
	i := s.time.bin(r.At)
	s.bins[i].asked++
	for _, g := range [...]*group{s.classes.at(r.Class), s.tenants.at(r.Tenant)} {
		g.asked++
		g.series[i]++
	}
}

func (c *counted) add(x example, most int) {
	c.n++
	c.examples.add(x, most)
}

func (s *Summary) addPriority(r *Priority) error {
	if !finite(r.Priority) {
		return wrong("priority", "%v is not finite", r.Priority)
	}
	s.priorities.at(r.Class).add(r.Priority)
	return nil
}

func (s *Summary) addRouting(r *Routing) error {
	if err := checkRouting(r); err != nil {
		return err
	}
	about := example{at: r.At, request: r.Request, tenant: r.Tenant, class: r.Class, instance: -1}
	s.routed.n++
	if r.Forced {
		s.routed.forced++
	}
	f, _ := s.flight(r.Request)
	if f.routings++; f.routings > 1 {
		s.routed.redirects.add(about, s.options.Examples)
		s.bins[s.time.bin(r.At)].moved++
	}
	if r.Target == nil {
		s.routed.nowhere++
		s.routed.nowhereExamples.add(about, s.options.Examples)
	} else {
		about.instance = *r.Target
		s.bins[s.time.bin(r.At)].routed++
		s.streaks[sameInstance].extend(*r.Target, r.At)
		i := s.instances.at(*r.Target)
		i.routed++
		i.input += int64(r.Input)
		i.series[s.time.bin(r.At)]++
	}
	s.routings.at(r.Reason).add(about, s.options.Examples)
	f.last = decisionOf(r, s.regrets.mayKeep(r))
	return nil
}

func checkRouting(r *Routing) error {
	switch {
	case r.Request < 0:
		return wrong("request", "%d, want a number from 0", r.Request)
	case r.Target != nil && *r.Target < 0:
		return wrong("target", "%d, want the index of an instance, or null", *r.Target)
	case r.Input < 0:
		return wrong("input_tokens", "%d, want a number from 0", r.Input)
	case r.Regret != nil && *r.Regret < 0:
		return wrong("regret", "%v, want a number from 0", *r.Regret)
	case !r.finite():
		return errors.New("a score or a priority is not finite")
	}
	return nil
}
