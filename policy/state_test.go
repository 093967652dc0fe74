package policy

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"blis/vtime"
	"blis/workload"
)

const second = vtime.Time(vtime.Second)

// stateTwin keeps every event and counts anew at each question.
type stateTwin struct{ events []stateEvent }

type stateEvent struct {
	at            vtime.Time
	tenant, class workload.Label
	kind          byte // 'r' request, 'a' admitted, 'e' ended, 'c' completed
}

// count is how many events of the kinds a tenant had, or all had (−1), in
// (from, now].
func (s *stateTwin) count(kinds string, tenant int, from vtime.Time) (n int64) {
	for _, e := range s.events {
		for _, kind := range kinds {
			if byte(kind) == e.kind && (tenant < 0 || tenant == int(e.tenant)) && e.at > from {
				n++
			}
		}
	}
	return n
}

func (s *stateTwin) rate(kind string, tenant int, now vtime.Time) float64 {
	return float64(s.count(kind, tenant, now-10*second)) / 10
}

func (s *stateTwin) active(tenant int) int64 {
	return s.count("a", tenant, -1) - s.count("ec", tenant, -1)
}

// requests are the first and the last of a tenant.
func (s *stateTwin) requests(tenant int) (first, last *stateEvent) {
	for i := range s.events {
		if e := &s.events[i]; e.kind == 'r' && int(e.tenant) == tenant {
			if first == nil {
				first = e
			}
			last = e
		}
	}
	return first, last
}

// burst compares in fractions: recent/10 s > 3·requests/life.
func (s *stateTwin) burst(tenant int, now vtime.Time) bool {
	first, _ := s.requests(tenant)
	if first == nil || now == first.at {
		return false
	}
	recent := big.NewRat(s.count("r", tenant, now-10*second), int64(10*second))
	mean := big.NewRat(s.count("r", tenant, -1), int64(now-first.at))
	return recent.Cmp(mean.Mul(mean, big.NewRat(3, 1))) > 0
}

// TestStateEqualsNaiveState plays random traffic with pauses and bursts, and
// asks everything of every tenant now and then.
func TestStateEqualsNaiveState(t *testing.T) {
	const tenants = 5 // the last sends nothing
	var asked, bursts, forgotten int
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 16))
		st := RouterState{Declared: Active | Rates}
		st.Track(Active | Rates | InFlight)
		var twin stateTwin
		var open []workload.Label // tenants of active requests
		now := vtime.Time(rng.IntN(2)) * second
		for range 400 {
			switch rng.IntN(20) {
			case 0:
				now += 10 * second // what was is exactly at the end of the window
			case 1:
				now += vtime.Time(rng.Int64N(int64(70 * second)))
			case 2, 3, 4, 5: // at once
			default:
				now += vtime.Time(rng.Int64N(int64(second)))
			}
			for range 1 + rng.IntN(3)*rng.IntN(10) {
				tenant := workload.Label(rng.IntN(tenants-1) * rng.IntN(2))
				if n := len(open); n > 0 && rng.IntN(2) == 0 {
					i := rng.IntN(n)
					ended, completed := open[i], rng.IntN(4) != 0
					open = append(open[:i], open[i+1:]...)
					st.End(ended, completed, now)
					twin.events = append(twin.events, stateEvent{now, ended, 0, map[bool]byte{false: 'e', true: 'c'}[completed]})
					continue
				}
				class := workload.Label(rng.IntN(3))
				st.Arrive(tenant, class, now)
				twin.events = append(twin.events, stateEvent{now, tenant, class, 'r'})
				if rng.IntN(3) != 0 {
					st.Admit(tenant)
					open = append(open, tenant)
					twin.events = append(twin.events, stateEvent{now, tenant, class, 'a'})
				}
			}
			if rng.IntN(5) != 0 {
				continue
			}
			asked++
			if st.all.arrivals.first > 0 {
				forgotten++
			}
			if a, r := st.Active(), twin.active(-1); a != r {
				t.Fatalf("seed %d at %v: %d active, want %d", seed, now, a, r)
			}
			if got, want := st.Rate(now), twin.rate("r", -1, now); got != want {
				t.Fatalf("seed %d at %v: rate %v, want %v", seed, now, got, want)
			}
			if got, want := st.Throughput(now), twin.rate("c", -1, now); got != want {
				t.Fatalf("seed %d at %v: throughput %v, want %v", seed, now, got, want)
			}
			if st.Arrived != twin.count("r", -1, -1) || st.Admitted != twin.count("a", -1, -1) {
				t.Fatalf("seed %d at %v: %d arrived, %d admitted", seed, now, st.Arrived, st.Admitted)
			}
			for tenant := range tenants {
				label, class := workload.Label(tenant), workload.Label(0)
				if _, last := twin.requests(tenant); last != nil {
					class = last.class
					if st.Tenants() <= tenant {
						t.Fatalf("seed %d at %v: %d tenants, but %d sent something", seed, now, st.Tenants(), tenant)
					}
				}
				got := []any{st.ActiveOf(label), st.RequestsOf(label), st.ClassOf(label), st.RateOf(label, now), st.Burst(label, now)}
				want := []any{twin.active(tenant), twin.count("r", tenant, -1), class, twin.rate("r", tenant, now), twin.burst(tenant, now)}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("seed %d at %v, tenant %d: %v, want %v", seed, now, tenant, got, want)
					}
				}
				if st.Burst(label, now) {
					bursts++
				}
			}
			if st.Tenants() > tenants-1 {
				t.Fatalf("seed %d: %d tenants", seed, st.Tenants())
			}
		}
	}
	if asked < 3000 || bursts < 1000 || forgotten < 1000 {
		t.Errorf("too little is tested: asked %d times, %d bursts, %d times something was forgotten", asked, bursts, forgotten)
	}
}

func TestBurstBoundaries(t *testing.T) {
	for _, c := range []struct {
		name          string
		early, recent int        // requests at 0 and at late
		late          vtime.Time // also when it is asked
		want          bool
	}{
		{"three times the mean exactly is none", 1, 1, 60 * second, false},
		{"a little above", 1, 1, 60*second + 1, true},
		{"a little below", 1, 1, 60*second - 1, false},
		{"many in the first window", 1, 1000, 10 * second, false},
		{"many before three windows have passed", 1, 100_000, 30 * second, false},
		{"and after", 1, 100_000, 31 * second, true},
		{"at the first request", 0, 1, 90 * second, false},
		{"three times the mean exactly, where floats round", 8, 75, 33_200_000, false},
		{"above that", 8, 75, 33_200_001, true},
		{"after three hundred thousand years", 1, 1, vtime.Never - 1, true},
		{"after half of that", 1, 4, 1 << 62, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := RouterState{Declared: Rates}
			st.Track(Rates)
			for range c.early {
				st.Arrive(3, 0, 0)
			}
			for range c.recent {
				st.Arrive(3, 0, c.late)
			}
			if got := st.Burst(3, c.late); got != c.want {
				t.Errorf("burst %v, want %v", got, c.want)
			}
			if st.Burst(2, c.late) || st.Burst(9, c.late) {
				t.Error("a tenant that sent nothing is in a burst")
			}
		})
	}
}

// TestStateKeepsWhatIsObserved and nothing else: a run whose policies read none
// of it pays nothing.
func TestStateKeepsWhatIsObserved(t *testing.T) {
	for _, c := range []struct {
		signals                   Signals
		tenants                   int
		active, arrivals, endings int
	}{
		{NoSignals, 0, 0, 0, 0},
		{QueueDepth | InFlight, 0, 0, 0, 0},
		{Active, 3, 1, 0, 1},
		{Rates | KVUse, 3, 0, 2, 0},
		{Active | Rates, 3, 1, 2, 1},
	} {
		st := RouterState{}
		st.Track(c.signals)
		for range 2 {
			st.Arrive(2, 0, 5)
			st.Admit(2)
		}
		st.End(2, true, 6)
		if st.Arrived != 2 || st.Admitted != 2 {
			t.Errorf("%v: %d arrived, %d admitted", c.signals, st.Arrived, st.Admitted)
		}
		if len(st.tenants) != c.tenants || int(st.all.active) != c.active || st.all.arrivals.next != c.arrivals || st.completions.next != c.endings {
			t.Errorf("%v: kept %+v", c.signals, st)
		}
	}
}

func TestUndeclaredReadOfTheStatePanicsInDebugBuilds(t *testing.T) {
	if !checkReads {
		t.Skip("needs -tags debug")
	}
	st := RouterState{}
	st.Track(Active | Rates)
	st.Arrive(0, 0, 0)
	for _, c := range []struct {
		name  string
		needs Signals
		read  func()
	}{
		{"ActiveOf", Active, func() { st.ActiveOf(0) }},
		{"Active", Active, func() { st.Active() }},
		{"Throughput", Active, func() { st.Throughput(0) }},
		{"RequestsOf", Rates, func() { st.RequestsOf(0) }},
		{"ClassOf", Rates, func() { st.ClassOf(0) }},
		{"RateOf", Rates, func() { st.RateOf(0, 0) }},
		{"Burst", Rates, func() { st.Burst(0, 0) }},
		{"Rate", Rates, func() { st.Rate(0) }},
		{"Tenants", Active, func() { st.Tenants() }},
		{"Tenants", Rates, func() { st.Tenants() }},
	} {
		st.Declared = QueueDepth | BatchSize | InFlight | KVUse
		if c.name != "Tenants" {
			st.Declared = (Active | Rates) &^ c.needs
		}
		if !panics(c.read) {
			t.Errorf("%s: no panic", c.name)
		}
		if st.Declared = c.needs; panics(c.read) {
			t.Errorf("%s: panics though declared", c.name)
		}
	}
}

func TestStateAllocatesNothing(t *testing.T) {
	st := RouterState{Declared: Active | Rates}
	st.Track(Active | Rates)
	now, tenant := vtime.Time(0), workload.Label(0)
	step := func() {
		now, tenant = now+10_000, (tenant+1)%20
		st.Arrive(tenant, 0, now)
		st.Admit(tenant)
		st.RateOf(tenant, now)
		st.Burst(tenant, now)
		st.End(tenant, true, now)
	}
	for range 3000 { // three windows
		step()
	}
	if allocations := testing.AllocsPerRun(1000, step); allocations != 0 {
		t.Errorf("%v allocations per request", allocations)
	}
	if a, c := len(st.all.arrivals.times), len(st.completions.times); a != 1024 || c != 1024 {
		t.Errorf("room for %d arrivals and %d completions, though 1000 are in a window", a, c)
	}
}

// TestKeptIsWhatPoliciesRead: the owner is told the numbers that the accessors return, of what is
// tracked alone.
func TestKeptIsWhatPoliciesRead(t *testing.T) {
	const seed = 3
	for _, tracked := range []Signals{NoSignals, Active, Rates, Active | Rates} {
		rng := rand.New(rand.NewPCG(seed, 1))
		st := RouterState{Declared: Active | Rates}
		st.Track(tracked)
		now := vtime.Time(0)
		for i := range 400 {
			now += vtime.Time(rng.IntN(200_000))
			tenant := workload.Label(rng.IntN(3))
			st.Arrive(tenant, 0, now)
			st.Admit(tenant)
			if rng.IntN(2) == 0 && tracked&Active != 0 && st.ActiveOf(tenant) > 0 {
				st.End(tenant, true, now)
			}
			k, want := st.Kept(tenant, now), Kept{Tracked: tracked}
			if tracked&Active != 0 {
				want.Active, want.TenantActive = st.Active(), st.ActiveOf(tenant)
			}
			if tracked&Rates != 0 {
				want.Rate, want.TenantRate, want.TenantRequests, want.TenantBurst = st.Rate(now), st.RateOf(tenant, now), st.RequestsOf(tenant), st.Burst(tenant, now)
			}
			if k != want {
				t.Fatalf("seed %d, %v, request %d: %+v, want %+v", seed, tracked, i, k, want)
			}
		}
	}
}
