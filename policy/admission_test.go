package policy

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"blis/vtime"
	"blis/workload"
)

func mustAdmit(t *testing.T, name string, settings ...Setting) Admission {
	t.Helper()
	p, err := NewAdmission(name, settings, Env{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Observes() != NoSignals {
		t.Errorf("%s observes %v", name, p.Observes())
	}
	return p
}

// named are labels of classes and tenants with these names.
func named(names ...string) *workload.Labels {
	var labels workload.Labels
	for _, name := range names {
		labels.Classes.Label(name)
		labels.Tenants.Label(name)
	}
	return &labels
}

func TestAdmissionOfEverythingAndNothing(t *testing.T) {
	req := Request{Identity: workload.Identity{Input: 1 << 30}}
	if d := mustAdmit(t, "always-admit").Decide(&req, &state, 0); d != (AdmissionDecision{Verdict: Admit}) {
		t.Errorf("always-admit: %+v", d)
	}
	if d := mustAdmit(t, "reject-all").Decide(&req, &state, 0); d != (AdmissionDecision{Verdict: Reject, Reason: RejectAll}) {
		t.Errorf("reject-all: %+v", d)
	}
}

func TestTokenBucket(t *testing.T) {
	type ask struct {
		at     vtime.Time
		tokens int32
		tenant workload.Label
		admit  bool
	}
	bucket := []Setting{{"capacity", "100"}, {"refill_rate", "1000"}} // a token per ms
	tenants := append([]Setting{{"per_tenant", "true"}}, bucket...)
	for _, c := range []struct {
		name     string
		settings []Setting
		asks     []ask
	}{
		{"starts full, exactly enough is enough", bucket, []ask{{0, 100, 0, true}, {0, 1, 0, false}}},
		{"starts full also when the first request comes late", bucket, []ask{{5_000_000, 100, 0, true}}},
		{"more than the capacity is never admitted", bucket, []ask{{0, 101, 0, false}, {9_000_000, 101, 0, false}}},
		{"a rejected request costs nothing", bucket, []ask{{0, 60, 0, true}, {0, 50, 0, false}, {0, 40, 0, true}}},
		{"refills by elapsed time", bucket, []ask{{0, 100, 0, true}, {9_999, 10, 0, false}, {10_000, 10, 0, true}, {10_000, 1, 0, false}}},
		{"refills no higher than the capacity", bucket, []ask{{0, 100, 0, true}, {1_000_000, 100, 0, true}, {1_000_000, 1, 0, false}}},
		{"inflow before a rejection is kept", bucket, []ask{{0, 100, 0, true}, {5_000, 10, 0, false}, {10_000, 10, 0, true}}},
		{"parts of a token add up", bucket, []ask{{0, 100, 0, true}, {500, 1, 0, false}, {1_000, 1, 0, true}}},
		{"no refill", []Setting{{"capacity", "5"}, {"refill_rate", "0"}}, []ask{{0, 5, 0, true}, {1 << 40, 1, 0, false}}},
		{"one bucket for all tenants", bucket, []ask{{0, 100, 3, true}, {0, 1, 1, false}}},
		{"a bucket for each tenant", tenants, []ask{{0, 100, 3, true}, {0, 1, 3, false}, {0, 100, 1, true}, {7_000, 100, 9, true}, {10_000, 10, 3, true}, {10_000, 1, 3, false}}},
		{"defaults", nil, []ask{{0, 10_000, 0, true}, {999, 1, 0, false}, {1_000, 1, 0, true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustAdmit(t, "token-bucket", c.settings...)
			for i, a := range c.asks {
				want := AdmissionDecision{Verdict: Admit}
				if !a.admit {
					want = AdmissionDecision{Verdict: Reject, Reason: InsufficientTokens}
				}
				if got := p.Decide(&Request{Identity: workload.Identity{Tags: workload.Tags{Tenant: a.tenant}, Input: a.tokens}}, &state, a.at); got != want {
					t.Errorf("request %d: %+v, want %+v", i, got, want)
				}
			}
		})
	}
}

// TestTokenBucketRejectsAsThePublicSimulator replays a fixed trace; its flags
// are capacity 4,000 and 8,000 tokens/s.
func TestTokenBucketRejectsAsThePublicSimulator(t *testing.T) {
	const folder = "../../shared/reference/conformance/token_bucket/"
	requests, expected := columns(t, folder+"requests.csv"), columns(t, folder+"expected.csv")
	p := mustAdmit(t, "token-bucket", Setting{"capacity", "4000"}, Setting{"refill_rate", "8000"})
	rejected := 0
	for i, state := range expected["state"] {
		at, err := strconv.ParseInt(requests["arrival_us"][i], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		input, err := strconv.Atoi(requests["input_tokens"][i])
		if err != nil {
			t.Fatal(err)
		}
		d := p.Decide(&Request{Identity: workload.Identity{Input: int32(input)}}, &RouterState{}, vtime.Time(at))
		if (d.Verdict == Reject) != (state == "rejected") {
			t.Errorf("request %d: %+v, but there it is %s", i, d, state)
		}
		if state == "rejected" {
			rejected++
		}
	}
	if rejected == 0 {
		t.Error("the trace rejects nothing")
	}
}

// columns reads a CSV file by column; the test is skipped when it is absent.
func columns(t *testing.T, path string) map[string][]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Skip("reference data is absent")
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string][]string{}
	for i, name := range rows[0] {
		for _, row := range rows[1:] {
			byName[name] = append(byName[name], row[i])
		}
	}
	return byName
}

func TestNoneHoldsTheNumberOfReplicas(t *testing.T) {
	p, err := NewAutoscale("none", nil, Env{})
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Evaluate(&AutoscaleContext{Replicas: 3, Min: 1, Max: 8}); d != (ScaleDecision{Action: Hold, Target: 3}) || p.Observes() != NoSignals {
		t.Errorf("%+v", d)
	}
}

// TestDecisionsAllocateNothing once the state of every tenant has its size.
func TestDecisionsAllocateNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	labels := named("", "sheddable")
	env := Env{Labels: labels, TTFTTarget: func(_, _ workload.Label) vtime.Duration { return 5 }}
	view := randomView(rng, 100)
	st := RouterState{View: view}
	st.Track(Active | Rates)
	req := Request{Identity: workload.Identity{Tags: workload.Tags{Tenant: 1, Class: 1}, Input: 1}, Terms: workload.Terms{Deadline: vtime.Never}}
	now, sum := vtime.Time(0), 0.0
	for _, template := range Templates() {
		var decide func()
		switch template.Kind {
		case AdmissionKind:
			p, err := NewAdmission(template.Name, nil, env)
			if err != nil {
				t.Fatal(err)
			}
			decide = func() {
				st.Declared, view.Declared = p.Observes(), p.Observes()
				p.Decide(&req, &st, now)
			}
		case PriorityKind:
			p, err := NewPriority(template.Name, nil, env)
			if err != nil {
				t.Fatal(err)
			}
			decide = func() { sum += p.Score(&req, &st, now) }
		default:
			continue
		}
		step := func() {
			now += 1000
			disturbView(rng, view, view.Len())
			st.Arrive(req.Tenant, req.Class, now)
			st.Admit(req.Tenant)
			decide()
			st.End(req.Tenant, true, now)
		}
		for range 20_000 { // as long as events stay in the window, twice
			step()
		}
		if allocations := testing.AllocsPerRun(1000, step); allocations != 0 {
			t.Errorf("%s: %v allocations per request", template.Name, allocations)
		}
	}
}

func TestReasonsAndSignalsHaveNames(t *testing.T) {
	for r := range reasons {
		if (r.String() == "") != (r == NoReason) {
			t.Errorf("reason %d is called %q", r, r)
		}
	}
	for want, s := range map[string]Signals{"nothing": NoSignals, "KV use": KVUse, "in-flight, queue depth, batch size": effectiveLoad} {
		if fmt.Sprint(s) != want {
			t.Errorf("%v, want %s", s, want)
		}
	}
}
