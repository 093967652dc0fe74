package policy

import (
	"math/rand/v2"
	"testing"

	"blis/vtime"
	"blis/workload"
)

func mustQuota(t *testing.T, env Env, settings ...Setting) Admission {
	t.Helper()
	p, err := NewAdmission("tenant-quota", settings, env)
	if err != nil {
		t.Fatal(err)
	}
	if p.Observes() != Active {
		t.Errorf("observes %v", p.Observes())
	}
	return p
}

// activeState returns a state with active requests by tenant.
func activeState(active ...int) *RouterState {
	st := &RouterState{Declared: Active}
	st.Track(Active)
	for tenant, n := range active {
		for range n {
			st.Arrive(workload.Label(tenant), 0, 0)
			st.Admit(workload.Label(tenant))
		}
	}
	return st
}

func TestTenantQuota(t *testing.T) {
	env := Env{Labels: named("anonymous", "alice", "bob")}
	admit := AdmissionDecision{Verdict: Admit}
	reject := AdmissionDecision{Verdict: Reject, Reason: OverQuota}
	later := AdmissionDecision{Verdict: Delay, Reason: OverQuota, Wait: 250_000}
	for _, c := range []struct {
		name     string
		settings []Setting
		active   []int // by tenant
		req      Request
		want     AdmissionDecision
	}{
		{"below", []Setting{{"max_active", "3"}}, []int{2}, Request{}, admit},
		{"at the quota", []Setting{{"max_active", "3"}}, []int{3}, Request{}, reject},
		{"above", []Setting{{"max_active", "3"}}, []int{4}, Request{}, reject},
		{"of others is not counted", []Setting{{"max_active", "3"}}, []int{2, 90}, Request{}, admit},
		{"a tenant that has sent nothing", []Setting{{"max_active", "3"}}, nil, Request{Identity: workload.Identity{Tags: workload.Tags{Tenant: 2}}}, admit},
		{"nobody", []Setting{{"max_active", "0"}}, nil, Request{}, reject},
		{"whatever they send", []Setting{{"max_active", "1e9"}}, []int{1000}, Request{Identity: workload.Identity{Input: 1 << 30}}, admit},
		{"default, below", nil, []int{99}, Request{}, admit},
		{"default, at the quota", nil, []int{100}, Request{}, reject},
		{"a tenant's own", []Setting{{"max_active", "1"}, {"tenants.alice", "5"}}, []int{0, 4}, Request{Identity: workload.Identity{Tags: workload.Tags{Tenant: 1}}}, admit},
		{"a tenant's own, at the quota", []Setting{{"max_active", "1"}, {"tenants.alice", "5"}}, []int{0, 5}, Request{Identity: workload.Identity{Tags: workload.Tags{Tenant: 1}}}, reject},
		{"a tenant's own, lower", []Setting{{"tenants.alice", "0"}}, nil, Request{Identity: workload.Identity{Tags: workload.Tags{Tenant: 1}}}, reject},
		{"not for the others", []Setting{{"max_active", "1"}, {"tenants.alice", "5"}}, []int{0, 0, 1}, Request{Identity: workload.Identity{Tags: workload.Tags{Tenant: 2}}}, reject},
		{"delay", []Setting{{"max_active", "1"}, {"delay", "250ms"}}, []int{1}, Request{}, later},
		{"no delay below", []Setting{{"max_active", "1"}, {"delay", "250ms"}}, []int{0}, Request{Delays: 1}, admit},
		{"the third and last", []Setting{{"max_active", "1"}, {"delay", "250ms"}}, []int{1}, Request{Delays: 2}, later},
		{"no fourth", []Setting{{"max_active", "1"}, {"delay", "250ms"}}, []int{1}, Request{Delays: 3}, reject},
		{"max_delays", []Setting{{"max_active", "1"}, {"delay", "250ms"}, {"max_delays", "1"}}, []int{1}, Request{Delays: 1}, reject},
		{"no delays", []Setting{{"max_active", "1"}, {"delay", "250ms"}, {"max_delays", "0"}}, []int{1}, Request{}, reject},
		{"a delay of nothing is none", []Setting{{"max_active", "1"}, {"delay", "0s"}, {"max_delays", "9"}}, []int{1}, Request{}, reject},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := mustQuota(t, env, c.settings...).Decide(&c.req, activeState(c.active...), 0); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
	t.Run("without names", func(t *testing.T) {
		p := mustQuota(t, Env{}, Setting{"max_active", "1"}, Setting{"tenants.alice", "5"})
		if got := p.Decide(&Request{}, activeState(1), 0); got != reject {
			t.Errorf("%+v, want %+v", got, reject)
		}
	})
}

// TestQuotaHoldsOverARun plays random traffic: no tenant ever has more than its
// quota, no request is rejected or delayed below it, and none is delayed more than
// maxDelays times.
func TestQuotaHoldsOverARun(t *testing.T) {
	quotas := []int{3, 0, 7, 3} // by tenant
	const delay, maxDelays = 40, 2
	verdicts := [3]int{}
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 13))
		p := mustQuota(t, Env{Labels: named("a", "b", "c", "d")}, Setting{"max_active", "3"}, Setting{"tenants.b", "0"}, Setting{"tenants.c", "7"}, Setting{"delay", "40us"}, Setting{"max_delays", "2"})
		st := activeState()
		due := map[vtime.Time][]Request{} // when it is decided again
		ends := map[vtime.Time][]workload.Label{}
		active := make([]int, len(quotas))
		for now := range vtime.Time(2000) {
			asks := due[now]
			if rng.IntN(3) == 0 {
				req := Request{Identity: workload.Identity{Tags: workload.Tags{Tenant: workload.Label(rng.IntN(len(quotas)))}}}
				st.Arrive(req.Tenant, 0, now)
				asks = append(asks, req)
			}
			for _, req := range asks {
				d := p.Decide(&req, st, now)
				verdicts[d.Verdict]++
				room := active[req.Tenant] < quotas[req.Tenant]
				if (d.Verdict == Admit) != room || (d.Verdict == Delay) != (!room && req.Delays < maxDelays) {
					t.Fatalf("seed %d at %v: %+v of %+v with %d active", seed, now, d, req, active[req.Tenant])
				}
				switch d.Verdict {
				case Admit:
					st.Admit(req.Tenant)
					active[req.Tenant]++
					end := now + 1 + vtime.Time(rng.IntN(100))
					ends[end] = append(ends[end], req.Tenant)
				case Delay:
					req.Delays++
					due[now+delay] = append(due[now+delay], req)
				}
			}
			for _, tenant := range ends[now] {
				active[tenant]--
				st.End(tenant, rng.IntN(2) == 0, now)
			}
		}
	}
	for v, n := range verdicts {
		if n < 1000 {
			t.Errorf("too little is tested: %d times verdict %d", n, v)
		}
	}
}
