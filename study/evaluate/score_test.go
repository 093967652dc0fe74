package evaluate

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"blis/actors"
	"blis/metrics"
	"blis/vtime"
)

func TestBaselineScoresHalf(t *testing.T) {
	s, r := standard()
	for _, c := range []Candidate{yaml("routing: {type: least-loaded}"), yaml("# as the baseline\nrouting: {type: least-loaded, params: {tie: random}}\nmetadata: {author: me}")} {
		a := evaluate(t, s, r, c, Options{HeldOut: true})
		if a.Score != 0.5 || a.HeldOut.Score != 0.5 {
			t.Errorf("%s: %v, held out %v, want exactly 0.5", c.Text, a.Score, a.HeldOut.Score)
		}
		for name, u := range a.Objectives { // any order
			if u != 0.5 {
				t.Errorf("%s is %v, want exactly 0.5", name, u)
			}
		}
	}
}

func TestScoreOfAMeasure(t *testing.T) {
	lower, higher := Weighted{}, Weighted{}
	var err error
	if lower.Measure, err = metrics.FindMeasure("p99_ttft"); err != nil {
		t.Fatal(err)
	}
	if higher.Measure, err = metrics.FindMeasure("slo_attainment"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		w           *Weighted
		x, baseline float64
		want        float64
	}{
		{&lower, 300e3, 100e3, 0.25}, {&lower, 100e3, 100e3, 0.5}, {&lower, 100e3, 300e3, 0.75},
		{&lower, 0, 0, 0.5}, {&lower, 10, 500, 0.5}, {&lower, 3000, 0, 0.25}, // below a millisecond nothing is told apart
		{&lower, math.Inf(1), 100e3, 1e-6}, {&lower, math.NaN(), 100e3, 1e-6}, {&lower, 1e300, 1e3, 1e-6}, {&lower, 0, 1e30, 1 - 1e-6},
		{&higher, 0.9, 0.3, 0.75}, {&higher, 0.3, 0.9, 0.25}, {&higher, 0, 0, 0.5}, {&higher, 0, 1, 0.001 / 1.001}, {&higher, math.NaN(), 0.5, 1e-6},
	} {
		if got := c.w.score(c.x, c.baseline); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s %v against %v: %v, want %v", c.w.Name, c.x, c.baseline, got, c.want)
		}
	}
}

// Requests of a session that are never sent, because an earlier one was refused, count as lost.
func TestUnsentRequestsAreLost(t *testing.T) {
	sessions := `schema: blis.suite/v1
measures: {completed_share: 1, p90_ttft: 1}
settings: {num-instances: 2}
scenarios:
  - name: chat
    seeds: [1, 2]
    workload:
      version: "2"
      aggregate_rate: 20
      num_requests: 100
      clients:
        - id: chat
          rate_fraction: 1
          input_distribution: {type: constant, params: {value: 100}}
          output_distribution: {type: constant, params: {value: 20}}
          request_types: [{type: chat, rounds: {type: constant, params: {value: 4}}, think_time: {type: constant, params: {value: 1s}}, context: accumulate}]
`
	s := parse(t, sessions)
	r := reference(t, s, Options{})
	if r.Scenarios[0].Lost != 0 {
		t.Fatalf("the baseline lost %d requests", r.Scenarios[0].Lost)
	}
	a := evaluate(t, s, r, yaml("admission: {type: game-half}"), Options{})
	if share := *a.Metrics["completed_share"]; share > 0.45 {
		t.Errorf("%.3f of the requests complete where half of those that come are refused, and what follows from them never comes", share)
	}
}

// The mean over scenarios goes by their weights.
func TestScenarioWeights(t *testing.T) {
	s := parse(t, tiny)
	a := evaluate(t, s, reference(t, s, Options{}), yaml("routing: {type: always-busiest}"), Options{})
	x, y := a.PerScenario[0], a.PerScenario[1]
	if want := (x.Score + 3*y.Score) / 4; math.Abs(a.Score-want) > 1e-15 || a.Objectives[minScenario] != min(x.Score, y.Score) || x.Score == y.Score {
		t.Errorf("score %v of %v and %v, want %v", a.Score, x.Score, y.Score, want)
	}
	if want := (*x.Metrics["p99_ttft_ms"] + 3**y.Metrics["p99_ttft_ms"]) / 4; math.Abs(*a.Metrics["p99_ttft_ms"]-want) > 1e-9 {
		t.Errorf("p99_ttft_ms %v, want %v", *a.Metrics["p99_ttft_ms"], want)
	}
	if names := slices.Sorted(maps.Keys(a.Objectives)); !slices.Equal(names, []string{"min_scenario", "p99_ttft", "slo_attainment"}) {
		t.Errorf("objectives %v", names)
	}
}

// What is infinite in one scenario has no mean over scenarios.
func TestUnmeasuredInOneScenario(t *testing.T) {
	s := parse(t, tiny)
	a := evaluate(t, s, reference(t, s, Options{}), yaml("admission: {type: game-no-batch}"), Options{})
	if x := a.PerScenario[0].Metrics["p99_ttft_ms"]; x == nil {
		t.Errorf("scenario a: %s", text(t, a.PerScenario[0]))
	}
	if a.Metrics["p99_ttft_ms"] != nil || a.PerScenario[1].Metrics["p99_ttft_ms"] != nil || a.Unmeasured["p99_ttft_ms"] != "scenario b: infinite: 120 of 120 requests did not complete" {
		t.Errorf("%s", text(t, a))
	}
}

// Figures of classes are of the runs of all seeds, as those of the scenario.
func TestClassesAddUp(t *testing.T) {
	_, r := standard()
	for i := range r.Scenarios {
		f := &r.Scenarios[i]
		requests, attained, lost := int64(0), 0.0, int64(0)
		for _, k := range f.Classes {
			requests, lost = requests+k.Requests, lost+k.Lost
			attained += float64(k.Attainment) * float64(k.Requests)
		}
		if requests != 1000 || f.Requests != 1000 || lost != f.Lost || math.Abs(attained/1000-float64(f.Values["slo_attainment"])) > 1e-9 {
			t.Errorf("%s: %d requests of classes, %d of all; attainment %v and %v", f.Scenario, requests, f.Requests, attained/1000, f.Values["slo_attainment"])
		}
	}
}

func TestNumbersThroughJSON(t *testing.T) {
	for _, x := range []float64{0, 0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -2, math.Inf(1), math.NaN()} {
		coded, err := exact(x).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var again exact
		if err := again.UnmarshalJSON(coded); err != nil || float64(again) != x && !(math.IsNaN(x) && math.IsNaN(float64(again))) {
			t.Errorf("%v is %s and then %v: %v", x, coded, again, err)
		}
	}
}

func TestBaselineMustHaveValues(t *testing.T) {
	for c, want := range map[string]string{ // any order
		"baseline: {admission: {type: reject-all}}\n":                    "scenario a: p99_ttft of the baseline is infinite (120 of 120 requests did not complete): want a baseline",
		"baseline: {admission: {type: always-admit}}\n":                  "",
		"baseline: {admission: {type: game-half}}\nabout: a\n":           "scenario a: p99_ttft of the baseline is infinite (60 of 120",
		"about: nothing that scales has an attainment without targets\n": "",
	} {
		s := parse(t, edited(t, tiny, "measures:", c+"measures:"))
		if _, err := s.Reference(context.Background(), Options{}); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", c, err, want)
		}
	}
	none := parse(t, edited(t, tiny, `, slo-targets: "ttft=200ms"`, ""))
	if _, err := none.Reference(context.Background(), Options{}); err == nil || !strings.Contains(err.Error(), "scenario a: slo_attainment of the baseline is not measured") {
		t.Errorf("no targets: %v", err)
	}
}

// What belongs to the cluster of a scenario holds for every candidate.
func TestClusterIsThatOfTheScenario(t *testing.T) {
	stale := edited(t, tiny, "num-instances: 2", "num-instances: 2, snapshot-refresh-interval: 2s, provisioning-delay: 1ms, model-load-time: 10ms, max-replicas: 4")
	s := parse(t, edited(t, stale, "measures:", "baseline: {routing: {type: least-loaded}, autoscale: {type: threshold}}\nmeasures:"))
	r := reference(t, s, Options{})
	a := evaluate(t, s, r, yaml("{routing: {type: least-loaded}, autoscale: {type: threshold}, observability: {refresh: 2s}}"), Options{})
	b := evaluate(t, s, r, yaml("{routing: {type: least-loaded}, autoscale: {type: threshold}}"), Options{})
	if a.Score != 0.5 || b.Score != 0.5 || a.Outputs.Policy != b.Outputs.Policy {
		t.Errorf("scores %v and %v, want those of the baseline; policies %s and %s, want the same", a.Score, b.Score, a.Outputs.Policy, b.Outputs.Policy)
	}
	if c := evaluate(t, s, r, yaml("{routing: {type: least-loaded}, autoscale: {type: oscillator, interval: 100ms}}"), Options{}); c.Score == 0.5 || !c.OK {
		t.Errorf("the autoscaler of a candidate has no effect: %v %v", c.Score, c.Error)
	}
}

// The figures of a scenario are those that its runs, made by hand, give by the definitions.
func TestFiguresAreThoseOfRuns(t *testing.T) {
	f := reference(t, parse(t, tiny), Options{}).Scenarios[0]
	var ttft []float64
	rates, late := 0.0, 0
	for _, seed := range []uint64{1, 2} {
		cfg := actors.DefaultConfig()
		cfg.NumInstances, cfg.NumRequests, cfg.Rate, cfg.SLOTargets, cfg.Seed = 2, 60, 30, "ttft=200ms", seed
		cfg.Row = func(r *actors.Row) {
			d, _ := r.TTFT()
			ttft = append(ttft, float64(d))
			if d > 200*vtime.Millisecond {
				late++
			}
		}
		r, err := actors.Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		rates += *r.Report.Overall.CacheHitRate / 2
	}
	slices.Sort(ttft)
	p99 := ttft[117] + 0.81*(ttft[118]-ttft[117])                                                                                   // rank 0.99 · 119
	for name, want := range map[string]float64{"p99_ttft": p99, "slo_attainment": 1 - float64(late)/120, "cache_hit_rate": rates} { // any order
		if got := float64(f.Values[name]); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}
