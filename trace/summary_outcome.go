package trace

import (
	"strings"

	"blis/metrics"
	"blis/vtime"
)

// hitSums compare what a router expected to be cached with what was. Tokens
// are the sums of the differences.
type hitSums struct {
	n, equal             int64
	short, shortTokens   int64 // fewer were found than expected
	over, overTokens     int64
	shortest             examples
	expected, found      int64 // tokens, of all that are compared
	preempted, evictions int64 // requests that were preempted, and how often in all
	repeated             int64 // requests preempted more than once
}

// traits are how many requests, all of which met their targets or none, had
// something in common.
type traits struct {
	n, completed                                   int64
	preempted, redirected, delayed, regretted, few int64
	scored, compared                               int64 // that regret and hits are known of
	wait                                           span
}

func (s *Summary) addOutcome(r *Outcome) error {
	if err := checkOutcome(r); err != nil {
		return err
	}
	f := s.flights[r.Request]
	delete(s.flights, r.Request)
	b := &s.bins[s.time.bin(r.At)]
	b.ended++
	about := example{at: r.At, request: r.Request, tenant: r.Tenant, class: r.Class, instance: -1}
	if r.Instance != nil {
		about.instance = *r.Instance
		s.served(r, f)
	}
	s.ends.at(verdict{r.State, r.Reason}).add(about, s.options.Examples)
	s.attained(r, b)
	s.inGroups(r, about)
	s.hit(r, about)
	if r.SLOMet != nil {
		which := &s.met
		if !*r.SLOMet {
			which = &s.missed
		}
		which.add(r, f)
	}
	if f != nil && f.routings > 0 {
		f.last.ending = endingOf(r)
		s.regrets.add(f.last, &s.time)
	}
	return nil
}

func checkOutcome(r *Outcome) error {
	if _, ok := stateOf(r.State); !ok {
		return wrong("state", "%q, want %s", r.State, strings.Join(stateNames(), ", "))
	}
	if r.Instance != nil && *r.Instance < 0 {
		return wrong("instance", "%d, want an index, or null", *r.Instance)
	}
	for i, d := range [...]*vtime.Duration{r.TTFT, r.TPOT, r.E2E, r.QueueWait} {
		if d != nil && *d < 0 {
			return wrong([...]string{"ttft_us", "tpot_us", "e2e_us", "queue_wait_us"}[i], "%d, want a number from 0, or null", *d)
		}
	}
	return nil
}

// stateOf returns the state of package metrics with this name.
func stateOf(name string) (metrics.State, bool) {
	for s := range metrics.State(metrics.States) {
		if s.String() == name {
			return s, true
		}
	}
	return 0, false
}

func stateNames() (list []string) {
	for s := range metrics.State(metrics.States) {
		list = append(list, s.String())
	}
	return list
}

// served counts r for the instance that it was last with.
func (s *Summary) served(r *Outcome, f *flight) {
	i := s.instances.at(*r.Instance)
	i.ended++
	if r.SLOMet != nil {
		i.judged++
		if *r.SLOMet {
			i.met++
		}
	}
	if r.ActualHit != nil && f != nil && f.routings > 0 {
		i.hit += int64(*r.ActualHit)
		i.hitInput += int64(f.last.input)
	}
}

func (s *Summary) attained(r *Outcome, b *bin) {
	if r.SLOMet == nil {
		return
	}
	b.judged++
	if *r.SLOMet {
		b.met++
	}
}

// inGroups counts r for its class and its tenant.
func (s *Summary) inGroups(r *Outcome, about example) {
	class, tenant := s.classes.at(r.Class), s.tenants.at(r.Tenant)
	latencies := [...]*vtime.Duration{r.TTFT, r.TPOT, r.E2E}
	for _, g := range [...]*group{class, tenant} {
		g.ended++
		switch r.State {
		case completed:
			g.completed++
		case metrics.Rejected.String():
			g.rejected++
		}
		if r.SLOMet != nil {
			g.judged++
			if *r.SLOMet {
				g.met++
			}
		}
	}
	if r.TTFT != nil {
		class.ttft.add(int64(*r.TTFT))
		tenant.ttft.add(int64(*r.TTFT))
	}
	target := s.targetOf(r.Class)
	for i, bound := range [...]*vtime.Duration{target.TTFT, target.TPOT, target.E2E} {
		if latencies[i] == nil {
			continue
		}
		class.latencies[i].add(float64(*latencies[i]))
		if bound != nil && *latencies[i] > *bound {
			about.value = float64(*latencies[i])
			class.late[i].add(about, s.options.Examples)
			tenant.late[i].n++
		}
	}
}

// hit compares the prefix hit that was expected with what was found.
func (s *Summary) hit(r *Outcome, about example) {
	h := &s.hits
	if r.Preempted > 0 {
		h.preempted++
		h.evictions += int64(r.Preempted)
		if r.Preempted > 1 {
			h.repeated++
		}
	}
	if r.Expected == nil || r.ActualHit == nil {
		return
	}
	h.n++
	h.expected += int64(*r.Expected)
	h.found += int64(*r.ActualHit)
	switch short := int64(*r.Expected) - int64(*r.ActualHit); {
	case short > 0:
		h.short++
		h.shortTokens += short
		about.value = float64(short)
		h.shortest.add(about, s.options.Examples)
	case short < 0:
		h.over++
		h.overTokens -= short
	default:
		h.equal++
	}
}

func (t *traits) add(r *Outcome, f *flight) {
	t.n++
	count := func(n *int64, is bool) {
		if is {
			*n++
		}
	}
	count(&t.completed, r.State == completed)
	count(&t.preempted, r.Preempted > 0)
	if r.Expected != nil && r.ActualHit != nil {
		t.compared++
		count(&t.few, *r.ActualHit < *r.Expected)
	}
	if r.QueueWait != nil {
		t.wait.add(int64(*r.QueueWait))
	}
	if f == nil {
		return
	}
	count(&t.delayed, f.delays > 0)
	count(&t.redirected, f.routings > 1)
	if regret := f.last.regret; regret != nil && !f.last.forced && f.last.target >= 0 {
		t.scored++
		count(&t.regretted, *regret > 0)
	}
}

func endingOf(r *Outcome) *Ending {
	return &Ending{
		State: r.State, Instance: copied(r.Instance), TTFT: micros(r.TTFT), E2E: micros(r.E2E),
		QueueWait: micros(r.QueueWait), ActualHit: copied(r.ActualHit), Preempted: r.Preempted, SLOMet: copied(r.SLOMet),
	}
}

// micros is a duration as a number in JSON.
func micros(d *vtime.Duration) *int64 {
	if d == nil {
		return nil
	}
	us := int64(*d)
	return &us
}
