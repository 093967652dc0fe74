package policy

import (
	"fmt"
	"math/bits"

	"blis/prefixindex"
	"blis/vtime"
	"blis/workload"
)

// RouterState is what the router knows when it decides about a request: its own
// past, its tenants, and the instances. The router writes it; policies read it.
//
// A request counts as arrived from its arrival on, the present
// one included, and as active from its admission until the router knows that it
// ended.
type RouterState struct {
	Arrived  int64
	Admitted int64
	Rejected int64 // by admission

	// View is the instances as they are known at this decision. A policy reads
	// what it observes.
	View *View
	// Prefixes is what instances are expected to have cached of the present
	// request; nil unless the policies of the run observe Prefixes.
	Prefixes *prefixindex.Index
	// Declared is the Observes of the policy that reads next; see View.Declared.
	Declared Signals

	tracked     Signals // of Active and Rates: what the router keeps
	all         account
	tenants     []account // by label
	none        account   // zero: the account of a tenant that sent nothing
	completions recent
	classes     []*endings // by label; nil: none ended
}

// RateWindow is the time over which rates are taken.
const RateWindow = 10 * vtime.Second

// burstFactor is the multiple of its mean rate above which a tenant bursts.
const burstFactor = 3

// account counts the requests of one tenant, or of all.
type account struct {
	requests, active int64
	first            vtime.Time     // arrival of the first request
	class            workload.Label // of the last request
	arrivals         recent
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
	s.all.active--
	s.tenants[tenant].active--
	if completed {
		s.completions.add(now)
	}
}

// Expected returns the tokens of the present prompt that instance i is expected to
// have cached: whole blocks from the start.
func (s *RouterState) Expected(i int) int32 {
	s.check(Prefixes)
	if s.Prefixes == nil {
		return 0
	}
	return s.Prefixes.Expected(i)
}

// Tenants returns a number above the labels of all tenants that sent a request.
// Other tenants below it may have sent nothing. It is 0 unless the policies of the
// run observe Active or Rates.
func (s *RouterState) Tenants() int {
	if checkReads && s.Declared&(Active|Rates) == 0 {
		s.check(Active | Rates) // it would be 0 but for other policies
	}
	return len(s.tenants)
}

// ActiveOf returns the number of active requests of a tenant.
func (s *RouterState) ActiveOf(tenant workload.Label) int64 {
	s.check(Active)
	return s.tenant(tenant).active
}

// RequestsOf returns the number of requests of a tenant that arrived.
func (s *RouterState) RequestsOf(tenant workload.Label) int64 {
	s.check(Rates)
	return s.tenant(tenant).requests
}

// ClassOf returns the SLO class of the tenant's last request.
func (s *RouterState) ClassOf(tenant workload.Label) workload.Label {
	s.check(Rates)
	return s.tenant(tenant).class
}

// RateOf returns a tenant's arrivals per second over the last RateWindow. The
// divisor is the whole window from the start of the run on.
func (s *RouterState) RateOf(tenant workload.Label, now vtime.Time) float64 {
	s.check(Rates)
	return s.tenant(tenant).arrivals.perSecond(now)
}

// Burst reports whether a tenant's rate is above three times its mean rate since
// its first request. It is false for the first three RateWindows: even all
// requests in one window would not be enough.
func (s *RouterState) Burst(tenant workload.Label, now vtime.Time) bool {
	s.check(Rates)
	return s.burst(tenant, now)
}

func (s *RouterState) burst(tenant workload.Label, now vtime.Time) bool {
	// count/RateWindow > burstFactor·requests/life, without rounding: equal rates
	// are no burst.
	t := s.tenant(tenant)
	high, low := bits.Mul64(uint64(t.arrivals.count(now)), uint64(now.Sub(t.first)))
	highMean, lowMean := bits.Mul64(uint64(t.requests), uint64(burstFactor*RateWindow))
	return high > highMean || high == highMean && low > lowMean
}

// Active returns the number of active requests of all tenants.
func (s *RouterState) Active() int64 {
	s.check(Active)
	return s.all.active
}

// Rate returns arrivals per second over the last RateWindow.
func (s *RouterState) Rate(now vtime.Time) float64 {
	s.check(Rates)
	return s.all.arrivals.perSecond(now)
}

// Throughput returns completions per second over the last RateWindow.
func (s *RouterState) Throughput(now vtime.Time) float64 {
	s.check(Active)
	return s.completions.perSecond(now)
}

// Numbers calls f with the numbers of those signals that are not of single instances
// as they are at now. Each name is of the whole cluster, and of is −1, or of the tenant
// or SLO class with label of. It is for the owner, and docs/recordings.md says what the
// numbers are.
func (s *RouterState) Numbers(signals Signals, now vtime.Time, f func(of int, name string, numbers ...float64)) {
	if signals&Active != 0 {
		f(-1, "active_requests", float64(s.all.active), float64(s.completions.count(now)))
	}
	if signals&Rates != 0 {
		f(-1, "arrival_rates", float64(s.all.arrivals.count(now)))
	}
	for i := range s.tenants {
		t, label := &s.tenants[i], workload.Label(i)
		if signals&Active != 0 {
			f(i, "tenant_active_requests", float64(t.active))
		}
		if signals&Rates != 0 {
			burst := 0.0
			if s.burst(label, now) {
				burst = 1
			}
			f(i, "tenant_arrival_rates", float64(t.arrivals.count(now)), float64(t.requests), float64(t.class), burst)
		}
	}
	if signals&ClassLatency == 0 {
		return
	}
	for i, ended := range s.classes {
		if ended != nil {
			c := s.class(workload.Label(i))
			f(i, "latency_by_class", float64(c.Ended), float64(c.Judged), float64(c.Attained), c.TTFT, float64(c.TTFTs), c.TPOT, float64(c.TPOTs), c.E2E, float64(c.E2Es))
		}
	}
}

// Kept is what a RouterState keeps of all requests and of those of one tenant.
type Kept struct {
	Tracked              Signals // of Active and Rates: which of the others are kept
	Active, TenantActive int64
	Rate, TenantRate     float64 // arrivals per second over the last RateWindow
	TenantRequests       int64
	TenantBurst          bool
}

// Kept returns what is kept as of now. It is for the owner: a policy declares what it reads.
func (s *RouterState) Kept(tenant workload.Label, now vtime.Time) Kept {
	k := Kept{Tracked: s.tracked}
	t := s.tenant(tenant)
	if k.Tracked&Active != 0 {
		k.Active, k.TenantActive = s.all.active, t.active
	}
	if k.Tracked&Rates != 0 {
		k.Rate, k.TenantRate = s.all.arrivals.perSecond(now), t.arrivals.perSecond(now)
		k.TenantRequests, k.TenantBurst = t.requests, s.burst(tenant, now)
	}
	return k
}

// tenant returns the account of a tenant, an empty one if it sent nothing.
func (s *RouterState) tenant(l workload.Label) *account {
	if int(l) >= len(s.tenants) {
		return &s.none
	}
	return &s.tenants[l]
}

// check panics in a debug build when a policy reads what it did not declare: the
// router does not keep that.
func (s *RouterState) check(signals Signals) {
	if undeclared := signals &^ s.Declared; checkReads && undeclared != 0 {
		panic(fmt.Sprintf("policy: read of %v by a policy that observes %v", undeclared, s.Declared))
	}
}

// recent is a ring of the times of events not older than RateWindow.
type recent struct {
	times       []vtime.Time // its length is a power of two
	first, next int          // numbers of the oldest event and of the next one
}

// at returns the entry of event number i.
func (r *recent) at(i int) *vtime.Time { return &r.times[i&(len(r.times)-1)] }

// add enters an event. Times do not decrease.
func (r *recent) add(now vtime.Time) {
	r.forget(now)
	if r.next-r.first == len(r.times) {
		grown := recent{times: make([]vtime.Time, max(16, 2*len(r.times)))}
		for i := r.first; i < r.next; i++ {
			*grown.at(i) = *r.at(i)
		}
		r.times = grown.times
	}
	*r.at(r.next) = now
	r.next++
}

// forget drops events at or before now − RateWindow.
func (r *recent) forget(now vtime.Time) {
	for r.first < r.next && now.Sub(*r.at(r.first)) >= RateWindow {
		r.first++
	}
}

// count returns the number of events in (now − RateWindow, now].
func (r *recent) count(now vtime.Time) int {
	r.forget(now)
	return r.next - r.first
}

// perSecond returns count divided by RateWindow.
func (r *recent) perSecond(now vtime.Time) float64 {
	return float64(r.count(now)) / RateWindow.Seconds()
}
