package policy

import (
	"fmt"

	"blis/vtime"
	"blis/workload"
)

// RouterState is what the router knows when it decides about a request: of its
// own past, of its tenants, and of the instances. The router owns it; policies
// read.
//
// A request counts as arrived from its arrival on, the one in question
// included, and as active from its admission until the router knows that it
// ended.
type RouterState struct {
	Arrived  int64
	Admitted int64
	Rejected int64 // by admission

	// View is the instances as they are known at this decision. A policy reads
	// of it what it observes.
	View *View
	// Declared is the Observes of the policy that reads next; see View.Declared.
	Declared Signals

	tracked Signals // of Active and Rates: what the router keeps
	all     account
	tenants []account // by label
	none    account   // of a tenant that sent nothing
}

// RateWindow is how far back rates look.
const RateWindow = 10 * vtime.Second

// burstFactor is how many times its mean rate a tenant in a burst sends.
const burstFactor = 3

// account is what is kept of the requests of one tenant, or of all.
type account struct {
	requests, active int64
	first            vtime.Time // arrival
	class            workload.Label
	arrivals         recent
	completions      recent
}

// Track says which of Active and Rates the policies of a run observe. Nothing
// else is kept.
func (s *RouterState) Track(signals Signals) { s.tracked = signals & (Active | Rates) }

// Arrive counts a request.
func (s *RouterState) Arrive(tenant, class workload.Label, now vtime.Time) {
	s.Arrived++
	if s.tracked == NoSignals {
		return
	}
	for int(tenant) >= len(s.tenants) {
		s.tenants = append(s.tenants, account{})
	}
	for _, t := range [...]*account{&s.all, &s.tenants[tenant]} {
		if t.requests == 0 {
			t.first = now
		}
		t.requests++
		t.class = class
		if s.tracked&Rates != 0 {
			t.arrivals.add(now)
		}
	}
}

// Admit counts an admission.
func (s *RouterState) Admit(tenant workload.Label) {
	s.Admitted++
	if s.tracked&Active != 0 {
		s.all.active++
		s.tenants[tenant].active++
	}
}

// End counts the end of an admitted request.
func (s *RouterState) End(tenant workload.Label, completed bool, now vtime.Time) {
	if s.tracked&Active == 0 {
		return
	}
	for _, t := range [...]*account{&s.all, &s.tenants[tenant]} {
		t.active--
		if completed {
			t.completions.add(now)
		}
	}
}

// Tenants is the number of tenants seen: their labels are below it. A tenant
// below it may have sent nothing. 0 unless the policies observe Active or Rates.
func (s *RouterState) Tenants() int {
	return len(s.tenants)
}

// ActiveOf is the number of active requests of a tenant.
func (s *RouterState) ActiveOf(tenant workload.Label) int64 {
	s.check(Active)
	return s.tenant(tenant).active
}

// RequestsOf is the number of requests of a tenant that arrived.
func (s *RouterState) RequestsOf(tenant workload.Label) int64 {
	s.check(Rates)
	return s.tenant(tenant).requests
}

// ClassOf is the SLO class of the tenant's last request.
func (s *RouterState) ClassOf(tenant workload.Label) workload.Label {
	s.check(Rates)
	return s.tenant(tenant).class
}

// RateOf is a tenant's arrivals per second over the last RateWindow.
func (s *RouterState) RateOf(tenant workload.Label, now vtime.Time) float64 {
	s.check(Rates)
	return s.tenant(tenant).arrivals.perSecond(now)
}

// Burst reports whether a tenant's rate is above three times its mean since
// its first request. In its first RateWindow a tenant is in none: there is no
// mean yet to compare with.
func (s *RouterState) Burst(tenant workload.Label, now vtime.Time) bool {
	s.check(Rates)
	t := s.tenant(tenant)
	life := now.Sub(t.first)
	return life > RateWindow && t.arrivals.perSecond(now) > float64(burstFactor*float64(t.requests)/life.Seconds())
}

// Active is the number of active requests in all.
func (s *RouterState) Active() int64 {
	s.check(Active)
	return s.all.active
}

// Rate is arrivals per second over the last RateWindow.
func (s *RouterState) Rate(now vtime.Time) float64 {
	s.check(Rates)
	return s.all.arrivals.perSecond(now)
}

// Throughput is completions per second over the last RateWindow.
func (s *RouterState) Throughput(now vtime.Time) float64 {
	s.check(Active)
	return s.all.completions.perSecond(now)
}

// tenant is the account of a tenant, empty if it sent nothing.
func (s *RouterState) tenant(l workload.Label) *account {
	if int(l) >= len(s.tenants) {
		return &s.none
	}
	return &s.tenants[l]
}

// check panics in a debug build when a policy reads what it did not declare:
// nobody has kept it.
func (s *RouterState) check(signals Signals) {
	if undeclared := signals &^ s.Declared; checkReads && undeclared != 0 {
		panic(fmt.Sprintf("policy: read of %v by a policy that observes %v", undeclared, s.Declared))
	}
}

// recent is the times of events not older than RateWindow, in a ring.
type recent struct {
	times       []vtime.Time // a power of two
	first, next int          // numbers of the oldest and of the one to come
}

// add enters an event. Times do not decrease.
func (r *recent) add(now vtime.Time) {
	r.forget(now)
	if n := len(r.times); r.next-r.first == n {
		grown := make([]vtime.Time, max(16, 2*n))
		for i := r.first; i < r.next; i++ {
			grown[i%len(grown)] = r.times[i%n]
		}
		r.times = grown
	}
	r.times[r.next%len(r.times)] = now
	r.next++
}

// forget drops events at or before now − RateWindow.
func (r *recent) forget(now vtime.Time) {
	for r.first < r.next && now.Sub(r.times[r.first%len(r.times)]) >= RateWindow {
		r.first++
	}
}

// perSecond is the events in (now − RateWindow, now] over RateWindow.
func (r *recent) perSecond(now vtime.Time) float64 {
	r.forget(now)
	return float64(r.next-r.first) / RateWindow.Seconds()
}
