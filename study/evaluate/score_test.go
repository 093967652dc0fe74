package evaluate

import (
	"maps"
	"math"
	"slices"
	"testing"

	"blis/metrics"
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
