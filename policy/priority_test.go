package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/vtime"
	"blis/workload"
)

func mustPrioritise(t *testing.T, name string, env Env, settings ...Setting) Priority {
	t.Helper()
	p, err := NewPriority(name, settings, env)
	if err != nil {
		t.Fatal(err)
	}
	if p.Observes() != NoSignals {
		t.Errorf("%s observes %v", name, p.Observes())
	}
	return p
}

func TestPrioritiesByName(t *testing.T) {
	labels := named("", "sheddable", "critical", "standard", "batch", "background", "realtime", "interactive", "gold")
	for _, c := range []struct {
		name     string
		policy   string
		settings []Setting
		want     []float64 // by class or tenant
	}{
		{"constant", "constant", nil, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{"defaults", "slo-based", nil, []float64{50, 0, 100, 50, 10, 1, 100, 50, 50}},
		{"set by either name", "slo-based", []Setting{{"realtime", "7"}, {"standard", "-3.5"}}, []float64{50, 0, 7, -3.5, 10, 1, 7, -3.5, 50}},
		{"default is for other classes and none", "slo-based", []Setting{{"default", "9"}}, []float64{9, 0, 100, 50, 10, 1, 100, 50, 9}},
		{"inverted", "inverted-slo", nil, []float64{-50, 0, -100, -50, -10, -1, -100, -50, -50}},
		{"inverted, set by either name", "inverted-slo", []Setting{{"realtime", "7"}, {"standard", "-3.5"}}, []float64{-50, 0, -7, 3.5, -10, -1, -7, 3.5, -50}},
		{"no tenant is named", "tenant-priority", nil, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{"tenants", "tenant-priority", []Setting{{"tenants.gold", "1e9"}, {"tenants.batch", "-1e9"}, {"tenants.nobody", "3"}}, []float64{0, 0, 0, 0, -1e9, 0, 0, 0, 1e9}},
		{"default is for other tenants and none", "tenant-priority", []Setting{{"tenants.gold", "0"}, {"default", "2.5"}}, []float64{2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustPrioritise(t, c.policy, Env{Labels: labels}, c.settings...)
			for _, label := range []workload.Label{8, 0, 1, 2, 3, 4, 5, 6, 7} { // the last first: labels are learnt in any order
				req := Request{Identity: workload.Identity{Tags: workload.Tags{Class: label}}}
				if c.policy == "tenant-priority" {
					req = Request{Identity: workload.Identity{Tags: workload.Tags{Tenant: label}}}
				}
				if got := p.Score(&req, &state, 0); got != c.want[label] || math.Signbit(got) != math.Signbit(c.want[label]) {
					t.Errorf("%q: %v, want %v", labels.Classes.Name(label), got, c.want[label])
				}
			}
		})
	}
}

func TestNamesAreLearntDuringTheRun(t *testing.T) {
	for _, c := range []struct {
		name string
		want [2]float64 // before and after label 0 gets a name
	}{
		{"slo-based", [2]float64{50, 0}},
		{"inverted-slo", [2]float64{-50, 0}},
		{"tenant-priority", [2]float64{5, 8}},
	} {
		var labels workload.Labels
		var settings []Setting
		if c.name == "tenant-priority" {
			settings = []Setting{{"default", "5"}, {"tenants.sheddable", "8"}}
		}
		p := mustPrioritise(t, c.name, Env{Labels: &labels}, settings...)
		for i, want := range c.want {
			if got := p.Score(&Request{}, &state, 0); got != want {
				t.Errorf("%s: score %v, want %v, with %d names", c.name, got, want, i)
			}
			labels.Classes.Label("sheddable")
			labels.Tenants.Label("sheddable")
		}
		if got := mustPrioritise(t, c.name, Env{}, settings...).Score(&Request{Identity: workload.Identity{Tags: workload.Tags{Class: 3, Tenant: 3}}}, &state, 0); got != c.want[0] {
			t.Errorf("%s: score %v, want %v, without labels", c.name, got, c.want[0])
		}
	}
}

func TestDeadlineAware(t *testing.T) {
	targets := func(class, _ workload.Label) vtime.Duration { return []vtime.Duration{0, 200_000}[class] }
	none := []Setting(nil)
	for _, c := range []struct {
		name     string
		target   func(class, tenant workload.Label) vtime.Duration
		settings []Setting
		req      Request
		want     float64
	}{
		{"the deadline", targets, none, Request{Identity: workload.Identity{Tags: workload.Tags{Class: 1}, Arrival: 5}, Terms: workload.Terms{Deadline: 70}}, -70},
		{"the deadline, though the first token is due before", targets, none, Request{Identity: workload.Identity{Tags: workload.Tags{Class: 1}, Arrival: 5}, Terms: workload.Terms{Deadline: 900_000}}, -900_000},
		{"the deadline, however far", targets, none, Request{Identity: workload.Identity{Arrival: 5}, Terms: workload.Terms{Deadline: 60_000_000}}, -60_000_000},
		{"the target of the class", targets, none, Request{Identity: workload.Identity{Tags: workload.Tags{Class: 1}, Arrival: 5}, Terms: workload.Terms{Deadline: vtime.Never}}, -200_005},
		{"a class without a target", targets, none, Request{Identity: workload.Identity{Arrival: 5}, Terms: workload.Terms{Deadline: vtime.Never}}, -10_000_005},
		{"no class has a target", nil, none, Request{Identity: workload.Identity{Tags: workload.Tags{Class: 1}, Arrival: 5}, Terms: workload.Terms{Deadline: vtime.Never}}, -10_000_005},
		{"default_target", nil, []Setting{{"default_target", "1.5ms"}}, Request{Identity: workload.Identity{Arrival: 5}, Terms: workload.Terms{Deadline: vtime.Never}}, -1505},
		{"default_target 0 is arrival order", nil, []Setting{{"default_target", "0"}}, Request{Identity: workload.Identity{Arrival: 5}, Terms: workload.Terms{Deadline: vtime.Never}}, -5},
		{"at the beginning of time", nil, []Setting{{"default_target", "0"}}, Request{Terms: workload.Terms{Deadline: vtime.Never}}, 0},
		{"a deadline of 0", nil, none, Request{Terms: workload.Terms{Deadline: 0}}, 0},
		{"at the end of time", targets, none, Request{Identity: workload.Identity{Tags: workload.Tags{Class: 1}, Arrival: vtime.Never - 1}, Terms: workload.Terms{Deadline: vtime.Never}}, -math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustPrioritise(t, "deadline-aware", Env{TTFTTarget: c.target}, c.settings...)
			for _, now := range []vtime.Time{0, c.req.Arrival, 1 << 60} { // whenever it is computed
				if got := p.Score(&c.req, &state, now); got != c.want || math.Signbit(got) != (c.want < 0) {
					t.Errorf("at %v: %v, want %v", now, got, c.want)
				}
			}
		})
	}
}

// TestEarliestDeadlineIsServedFirst sorts random requests by score, and by the
// integers behind it.
func TestEarliestDeadlineIsServedFirst(t *testing.T) {
	targets := []vtime.Duration{0, 1, 300, 2_000_000}
	p := mustPrioritise(t, "deadline-aware", Env{TTFTTarget: func(class, _ workload.Label) vtime.Duration { return targets[class] }})
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 11))
		type scored struct {
			due   vtime.Time
			score float64
		}
		var list []scored
		for range 200 {
			req := Request{Identity: workload.Identity{Tags: workload.Tags{Class: workload.Label(rng.IntN(4))}, Arrival: vtime.Time(rng.Int64N(1 << (1 + rng.IntN(50))))}, Terms: workload.Terms{Deadline: vtime.Never}}
			due := req.Arrival.Add(targets[req.Class])
			if req.Class == 0 {
				due = req.Arrival + 10_000_000
			}
			if rng.IntN(2) == 0 {
				req.Deadline = req.Arrival + vtime.Time(rng.IntN(3_000_000))
				due = req.Deadline
			}
			list = append(list, scored{due, p.Score(&req, &state, vtime.Time(rng.Int64N(1<<50)))})
		}
		slices.SortFunc(list, func(a, b scored) int { return int(a.due - b.due) })
		for i := range list[1:] {
			if a, b := list[i], list[i+1]; (a.due < b.due) != (a.score > b.score) {
				t.Fatalf("seed %d: due at %v scores %v, due at %v scores %v", seed, a.due, a.score, b.due, b.score)
			}
		}
	}
}
