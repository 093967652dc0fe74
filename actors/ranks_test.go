package actors

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"blis/internal/testsize"
	"blis/policy"
	"blis/setup"
	"blis/trace"
	"blis/vtime"
)

// ranked is one instance of two data-parallel ranks. A step takes 1,000 µs, 10 per prefill token and 20
// per decode token.
func ranked(model, lb string) Config {
	c := plain()
	c.Model, c.BetaCoeffs = model, []float64{1000, 10, 20}
	c.DataParallelSize, c.DataParallelLB = 2, lb
	return c
}

const denseModel, expertModel = "Llama-3.1-8B-Instruct", "qwen/qwen3-30b-a3b"

// Dense ranks that are endpoints of their own are instances: not one bit of a row or of the report is
// another.
func TestDenseRanksOfTheirOwnAreInstances(t *testing.T) {
	first := rand.Uint64N(1 << 40)
	for seed := first; seed < first+uint64(testsize.Of(40, 80, 120)); seed++ {
		x := drawTrial(seed)
		c := &x.Config
		c.NumInstances, c.ForceRouting = 2*(1+c.NumInstances%3), ""
		c.AutoscalePolicy, x.NoisyAutoscaler, c.MinReplicas, c.MaxReplicas = "none", 0, 1, 0
		if seed%3 == 0 && !c.HasCPUTier() {
			newDice(seed, 0x70756c6c).drawDisaggregation(x)
			c.PrefillReplicas, c.DecodeReplicas = 2, 4
		}
		instances := mustPlay(t, x)
		c.DataParallelSize, c.DataParallelLB = 2, "external"
		if c.Architecture == setup.PD {
			c.PrefillReplicas, c.DecodeReplicas = 1, 2
		} else {
			c.NumInstances /= 2
		}
		ranks := mustPlay(t, x)
		if c.Architecture == setup.PD { // which says how many ranks an instance of a pool has
			instances.report, ranks.report = nil, nil
		}
		instances.rest, ranks.rest, instances.digest, ranks.digest = "", "", "", ""
		if what := ranks.difference(instances); what != "" {
			t.Fatalf("seed %d: %s\n%s", seed, what, x.describe())
		}
	}
}

// The worked example of docs/data-parallel.md: step 1 of both ranks takes 1,100 µs, the dummies behind it
// 1,020. The second request finds step 2 in flight, which ends at 2,120, and is in step 3. The front end
// has not heard that rank 0 is done, and takes rank 1.
func TestRanksOfAnMoEModelStepTogether(t *testing.T) {
	for _, lb := range []string{"internal", "external"} {
		s := serve(t, ranked(expertModel, lb), request(0, 10, 1), request(2000, 20, 1))
		wantFates(t, s, completed(0, 1100, 1100, 1), completed(2120, 3320, 3320, 1))
		if s.rows[0].Instance != 0 || s.rows[1].Instance != 1 || s.End != 3320 {
			t.Errorf("%s: ranks %d and %d, end %v", lb, s.rows[0].Instance, s.rows[1].Instance, s.End)
		}
		u := s.Report.DataParallel.Overall
		if u.Ranks != 2 || u.Tokens != 10+1+20+1 || u.MaxTokens != 30 || *u.Imbalance != 60.0/32 {
			t.Errorf("%s: %+v", lb, u)
		}
		want := []string{"instance-0-rank-0", "instance-0-rank-1"}
		if lb == "external" {
			want = []string{"instance-0", "instance-1"}
		}
		if !slices.Equal(s.Names.Instances, want) {
			t.Errorf("%s: %v, want %v", lb, s.Names.Instances, want)
		}
	}
}

// At most 31 steps of dummies follow the last request.
func TestRanksPauseAfterTheLastRequest(t *testing.T) {
	for steps := int32(1); steps < 70; steps += 3 {
		c := ranked(expertModel, "internal")
		c.Horizon = vtime.Second
		s := serve(t, c, request(0, 10, steps), request(990_000, 10, 1)) // the last one begins anew
		u := s.Report.DataParallel.Overall
		before := (int64(steps) + 31) / 32 * 32
		if got := u.GroupSteps; got < before+1 || got > before+11 {
			t.Errorf("%d steps with a request: %d in all, want %d and those from 990 ms to 1 s", steps, got, before)
		}
		if u.DummySteps < u.GroupSteps || u.WaitMicros < 80 {
			t.Errorf("%d steps with a request: %+v", steps, u)
		}
	}
}

// Dense ranks behind one endpoint step on their own: one does not wait for the other.
func TestDenseRanksStepAlone(t *testing.T) {
	s := serve(t, ranked(denseModel, "internal"), request(0, 10, 1), request(100, 20, 1))
	wantFates(t, s, completed(0, 1100, 1100, 1), completed(100, 1300, 1300, 1))
	if s.Report.DataParallel != nil {
		t.Errorf("%+v", s.Report.DataParallel)
	}
}

// What an endpoint shows is the sum over its ranks; an autoscaler sees the sum over an instance.
func TestEndpointsShowSums(t *testing.T) {
	for lb, want := range map[string]string{"internal": "routes 1 of 128 blocks", "external": "routes 2 of 64 blocks"} {
		c := ranked(denseModel, lb)
		got := ""
		c.Custom.Routing = func(policy.Env) policy.Routing {
			return routeSeen{func(v *policy.View) {
				got = "routes " + string(rune('0'+v.Len())) + " of " + vtime.Time(v.Slot(0).Total).String()
			}}
		}
		serve(t, c, request(0, 10, 1))
		if got = strings.ReplaceAll(got, "µs", " blocks"); got != want {
			t.Errorf("%s: %s, want %s", lb, got, want)
		}
	}
}

// routeSeen lets a function look at the instances, and takes the first one.
type routeSeen struct{ look func(*policy.View) }

func (routeSeen) Observes() policy.Signals { return policy.KVUse }

func (r routeSeen) Route(_ *policy.Request, _ float64, _ *policy.RouterState, v *policy.View, _ vtime.Time) policy.RoutingDecision {
	r.look(v)
	return policy.RoutingDecision{Target: 0}
}

// An instance costs its GPUs: those of all ranks.
func TestRanksCostTheirGPUs(t *testing.T) {
	c := ranked(denseModel, "external")
	c.GPUHourPrice, c.DataParallelSize = 2, 4
	s := serve(t, c, request(0, 10, 1), request(3_600_000_000-1100, 10, 1))
	if hours := s.ReplicaHours(); hours != 1 || *s.Cost() != 8 {
		t.Errorf("%v replica-hours for %v", hours, *s.Cost())
	}
}

// A crash takes all ranks of the instance down.
func TestRanksFailTogether(t *testing.T) {
	c := withFailures(ranked(denseModel, "external"), "failures:\n  - {crash: instance-0, at: 500us, for: 1ms}\n")
	s := serve(t, c, request(0, 10, 3), request(100, 20, 3))
	if s.Failures.CutOff != 2 || s.Failures.Instances[0].Crashes != 1 || !slices.Equal(s.Names.Servers, []string{"instance-0..1"}) {
		t.Errorf("%+v, %v", s.Failures, s.Names.Servers)
	}
}

// TestTracesOfRanks: a trace of instances with ranks changes nothing, and is the same on every executor.
func TestTracesOfRanks(t *testing.T) {
	cases, first := budget(t, testsize.Of(10, 20, 40))
	met := map[string]int64{}
	for seed := first; seed < first+uint64(cases); seed++ {
		x := drawRanked(seed)
		tracing := Tracing{Level: trace.Level(1 + seed%2), Counterfactual: int(seed/2) % 3}
		if err := x.compareTraces(seed, tracing, met); err != nil {
			t.Fatalf("seed %d, level %v, k %d: %v\n%s", seed, tracing.Level, tracing.Counterfactual, err, x.describe())
		}
	}
}

// A change of phase of an instance leaves what each of its endpoints shows as it is.
func TestPhasesLeaveSignalsOfEndpoints(t *testing.T) {
	p := &setup.Pool{}
	p.Ranks.Ranks, p.Ranks.Local = 2, 1
	s := &endpoints{plan: p}
	of := &server{pool: &pool{plan: p, endpoints: s}}
	for i := range 2 {
		at := &place{server: of, index: i}
		s.seat(at)
		of.places = append(of.places, at)
		s.cluster.view.Add(policy.Slot{Routable: true, InFlight: int32(3 + i), Total: 7})
	}
	slot := of.shown()
	slot.Phase, slot.Routable = policy.Draining, false
	of.set(slot)
	for i := range 2 {
		if got := s.cluster.view.Slot(i); got.InFlight != int32(3+i) || got.Phase != policy.Draining || got.Routable {
			t.Errorf("endpoint %d: %+v", i, got)
		}
	}
	of.gone()
	for i := range 2 {
		if got := s.cluster.view.Slot(i); got.InFlight != 0 || got.Phase != policy.Gone {
			t.Errorf("endpoint %d of one that is gone: %+v", i, got)
		}
	}
}

// instance-N is what results call it: an instance has the numbers of its endpoints.
func TestRanksFailByTheNumbersOfResults(t *testing.T) {
	for _, x := range []struct{ lb, target, want string }{
		{"external", "instance-0", "instance-0..1"}, {"external", "instance-1", "instance-0..1"}, {"external", "instance-2", "instance-2..3"}, {"external", "instance-5", "instance-4..5"},
		{"external", "instance-6", "there are instance-0 to instance-5"}, {"internal", "instance-1", "instance-1"}, {"internal", "instance-3", "there are instance-0 to instance-2"},
	} {
		c := ranked(denseModel, x.lb)
		c.NumInstances = 3
		c = withFailures(c, "failures: [{crash: "+x.target+", at: 500us, for: 1ms}]")
		if _, err := setup.Resolve(c.Config); err != nil {
			if !strings.Contains(err.Error(), x.want) {
				t.Errorf("%s, %s: %v, want %s", x.lb, x.target, err, x.want)
			}
			continue
		}
		s := serve(t, c, request(0, 10, 3))
		got := ""
		for i, of := range s.Failures.Instances {
			if of.Crashes > 0 {
				got += s.Names.Servers[i]
			}
		}
		if got != x.want {
			t.Errorf("%s, %s: %s crashed, want %s", x.lb, x.target, got, x.want)
		}
	}
}
