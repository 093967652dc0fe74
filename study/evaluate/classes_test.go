package evaluate

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"blis/actors"
	"blis/bundle"
	"blis/vtime"
)

// groups is a suite with measures of a class and of a tenant: shop chats in sessions, office sends reports.
const groups = `schema: blis.suite/v1
measures: {completed_share: 1, "critical:p99_ttft": 2, "tenant/office:mean_e2e": 1, "critical:completed_share": 0, "batch:completed_share": 0, "tenant/office:slo_attainment": 0, "nobody:p50_ttft": 0}
settings: {num-instances: 2, slo-targets: "ttft=500ms"}
scenarios:
  - name: mixed
    seeds: [1, 2]
    workload:
      version: "2"
      aggregate_rate: 30
      num_requests: 120
      clients:
        - id: shop
          tenant_id: shop
          slo_class: critical
          rate_fraction: 0.5
          input_distribution: {type: constant, params: {value: 100}}
          output_distribution: {type: constant, params: {value: 20}}
          request_types: [{type: chat, rounds: {type: constant, params: {value: 4}}, think_time: {type: constant, params: {value: 1s}}, context: accumulate}]
        - {id: office, tenant_id: office, slo_class: batch, rate_fraction: 0.5, input_distribution: {type: exponential, params: {mean: 900}}, output_distribution: {type: constant, params: {value: 60}}}
`

// Measures of a class and of a tenant are those of their requests alone, computed by hand here.
func TestMeasuresOfClassesAndTenants(t *testing.T) {
	s := parse(t, groups)
	r := reference(t, s, Options{})
	var ttft []float64
	total, reports, met := 0.0, 0.0, 0.0
	for _, seed := range []uint64{1, 2} {
		c := s.Scenarios[0]
		cfg, err := c.run(c.settings.Policies, seed, Options{})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Row = func(row *actors.Row) {
			first, _ := row.TTFT()
			last, _ := row.E2E()
			if row.ClassName() == "critical" {
				ttft = append(ttft, float64(first))
			}
			if row.TenantName() == "office" {
				reports++
				total += float64(last)
				if first <= 500*vtime.Millisecond {
					met++
				}
			}
		}
		if _, err := actors.Run(context.Background(), cfg); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(ttft)
	rank, part := 99*(len(ttft)-1)/100, float64(99*(len(ttft)-1)%100)/100
	want := map[string]float64{
		"critical:p99_ttft":            ttft[rank] + part*(ttft[rank+1]-ttft[rank]),
		"tenant/office:mean_e2e":       total / reports,
		"tenant/office:slo_attainment": met / reports,
		"critical:completed_share":     1,
	}
	for name, x := range want { // any order
		if got := float64(r.Scenarios[0].Values[name]); math.Abs(got-x) > 1e-6*x {
			t.Errorf("%s is %v, want %v", name, got, x)
		}
	}
	a := evaluate(t, s, r, yaml("routing: {type: always-busiest}"), Options{})
	if x := a.Metrics["critical:p99_ttft_ms"]; x == nil || a.Objectives["critical:p99_ttft"] >= 0.5 || a.Objectives["tenant/office:mean_e2e"] >= 0.5 || len(a.Objectives) != 4 {
		t.Errorf("%s", text(t, a))
	}
	if a.Unmeasured["nobody:p50_ttft_ms"] != "scenario mixed: no request has it" || !strings.Contains(a.Feedback, "critical:p99_ttft ") {
		t.Errorf("%v\n%s", a.Unmeasured, a.Feedback)
	}
	failed := s.Failed(yaml(""), Options{}, Fault{Kind: CrashFault})
	if x := failed.Metrics["critical:p99_ttft_ms"]; x == nil || *x != Worst || *failed.Metrics["tenant/office:slo_attainment"] != 0 {
		t.Errorf("%s", text(t, failed))
	}
}

// Requests that never come because one of their session was refused are lost for their class and tenant, and for no other.
func TestUnsentRequestsAreOfTheirClass(t *testing.T) {
	s := parse(t, groups)
	r := reference(t, s, Options{})
	a := evaluate(t, s, r, yaml("admission: {type: game-half}"), Options{})
	chat, report, all := *a.Metrics["critical:completed_share"], *a.Metrics["batch:completed_share"], *a.Metrics["completed_share"]
	if !(chat < 0.45 && report > 0.35 && report < 0.65 && chat < all && all < report) {
		t.Errorf("%.3f of chat, %.3f of report, %.3f of all complete where half are refused", chat, report, all)
	}
	if a.Metrics["tenant/office:mean_e2e_ms"] != nil || a.Unmeasured["tenant/office:mean_e2e_ms"] != "scenario mixed: infinite: some of these requests did not complete" {
		t.Errorf("%v", a.Unmeasured)
	}
	half := yaml("admission: {type: game-half}")
	p, fault := half.read(s, s.Scenarios, 0)
	if fault != nil {
		t.Fatal(fault)
	}
	figures, err := play(context.Background(), s.Scenarios, func(c *Scenario) bundle.Bundle { return p.with(c) }, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	requests := int64(0)
	for _, k := range figures[0].Classes {
		requests += k.Requests
	}
	if requests != figures[0].Requests {
		t.Errorf("%d requests of classes, %d of all", requests, figures[0].Requests)
	}
}

func TestBadMeasuresOfClasses(t *testing.T) {
	for old, c := range map[string][2]string{ // any order: each by itself
		`"critical:p99_ttft": 2`:            {`"criticall:p99_ttft": 2`, `suite.yaml:5: scenarios[0]: measure criticall:p99_ttft: no request is of class "criticall", the nearest is "critical" (there are: batch, critical)`},
		`"tenant/office:mean_e2e"`:          {`"tenant/offices:mean_e2e"`, `measure tenant/offices:mean_e2e: no request is of tenant "offices", the nearest is "office" (there are: office, shop)`},
		`"critical:completed_share": 0`:     {`"critical:goodput": 0`, "suite.yaml:2: measures.critical:goodput: goodput is of whole runs, not of single requests: want it of all, or one of slo_attainment, mean_ttft"},
		`"nobody:p50_ttft": 0`:              {`":p50_ttft": 0`, "suite.yaml:2: measures.:p50_ttft: names no class and no tenant"},
		`"nobody:p50_ttft"`:                 {`"tenant/:p50_ttft"`, "names no class and no tenant"},
		`"nobody:p50_ttft": `:               {`"nobody:p50_tft": `, `unknown measure "p50_tft"`},
		`"tenant/office:slo_attainment": 0`: {`tenant/office:slo_attainment: 0`, `"slo_attainment: 0": want a measure with its weight, one of a class in quotes, like "batch:p99_ttft": 1`},
		`"batch:completed_share": `:         {`"batch: completed_share": `, `unknown measure " completed_share"`},
	} {
		if _, err := Parse("suite.yaml", []byte(edited(t, groups, old, c[0]))); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v\nwant %q", c[0], err, c[1])
		}
	}
	// Who counts all requests of one class alone may still refuse those of others.
	s := parse(t, edited(t, groups, "{completed_share: 1, ", `{"critical:slo_attainment": 1, `))
	if a := evaluate(t, s, reference(t, s, Options{}), yaml(""), Options{}); len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], "a policy may win by refusing work") {
		t.Errorf("warnings %q", a.Warnings)
	}
}
