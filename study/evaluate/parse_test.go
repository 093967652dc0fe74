package evaluate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"blis/setup"
)

func TestBadSuites(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"another schema", "blis.suite/v1", "blis.sweep/v1", `suite.yaml:1: schema: "blis.sweep/v1": want blis.suite/v1`},
		{"an unknown field", "measures:", "measure:", `suite.yaml:2: measure: unknown field "measure", the nearest is "measures"`},
		{"an unknown measure", "p99_ttft: 1", "p99_tft: 1", `suite.yaml:2: measures.p99_tft: unknown measure "p99_tft"`},
		{"another name of a measure", "p99_ttft: 1", "jain_index: 1", "suite.yaml:2: measures.jain_index: another name of jain: want that"},
		{"a measure by which refusing work pays", "cache_hit_rate: 0", "cache_hit_rate: 1", "suite.yaml:2: measures.cache_hit_rate: leaves out requests that did not complete"},
		{"a negative weight", "p99_ttft: 1", "p99_ttft: -1", "suite.yaml:2: measures.p99_ttft: -1: want a weight from 1e-6 to 1e6, or 0"},
		{"no weight", "{slo_attainment: 2, p99_ttft: 1, cache_hit_rate: 0}", "{cache_hit_rate: 0}", "suite.yaml:5: scenarios[0]: no measure has a weight"},
		{"an infinite weight", "weight: 3", "weight: .inf", "suite.yaml:10: scenarios[1].weight: .inf: want a weight"},
		{"a scenario of weight 0", "weight: 3", "weight: 0", "suite.yaml:10: scenarios[1].weight: 0: want a weight from 1e-6 to 1e6"},
		{"no name", "name: a\n    smoke: true", "smoke: true", "suite.yaml:5: scenarios[0]: has no name"},
		{"a name that is no id", "name: a", "name: a b", `suite.yaml:5: scenarios[0].name: "a b": want 1 to 64 letters`},
		{"a name twice", "name: b", "name: a", "suite.yaml:9: scenarios[1].name: another scenario is called a too"},
		{"one seed", "seeds: [1, 2]", "seeds: [1]", "suite.yaml:7: scenarios[0].seeds: want a list of 2 to 16 seeds"},
		{"a seed twice", "seeds: [1, 2]", "seeds: [1, 1]", "suite.yaml:7: scenarios[0].seeds[1]: 1 is given twice"},
		{"a bad seed", "seeds: [1, 2]", "seeds: [1, -2]", "suite.yaml:7: scenarios[0].seeds[1]: -2: want a whole number from 0"},
		{"no seeds", "    seeds: [1, 2]\n", "", "suite.yaml:5: scenarios[0]: has no seeds"},
		{"held-out seeds that are scored", "seeds: [5, 6]", "seeds: [5, 2]", "scenarios: held is held out and has seed 2, as a has"},
		{"smoke and held out", "smoke: true", "smoke: true\n    held_out: true", "a is smoke and held_out"},
		{"an unknown setting", "num-instances: 2", "num-instance: 2", `suite.yaml:3: settings.num-instance: unknown setting "num-instance"`},
		{"a setting of another type", "num-requests: 60", "num-requests: many", `suite.yaml:8: scenarios[0].settings.num-requests: "many": want a whole number`},
		{"a setting out of range", "num-requests: 60", "num-requests: -1", "suite.yaml:5: scenarios[0]: "},
		{"a policy among settings", "num-instances: 2", "routing-policy: weighted", "suite.yaml:3: settings.routing-policy: not a setting of a scenario: policies are those"},
		{"policies among settings", "num-instances: 2", "policies: {}", "suite.yaml:3: settings.policies: not a setting"},
		{"a field of policies", "num-instances: 2", "routing.type: weighted", "suite.yaml:3: settings.routing.type: not a setting"},
		{"a seed among settings", "num-instances: 2", "seed: 3", "suite.yaml:3: settings.seed: not a setting of a scenario: want seeds"},
		{"a file of a specification", "{type: constant, params: {value: 300}}", "{type: empirical, file: /etc/hosts}", "suite.yaml:9: scenarios[1]: the workload names the file /etc/hosts: a suite stands alone"},
		{"a trace of a specification", "rate_fraction: 1", "arrival: {process: trace, file: /etc/hosts}", "suite.yaml:9: scenarios[1]: the workload names the file /etc/hosts: a suite stands alone"},
		{"a file", "num-instances: 2", "trace: a.csv", "suite.yaml:3: settings.trace: names a file"},
		{"a file of deployments", "num-instances: 2", "deployments: /etc/hosts", "a suite stands alone"},
		{"a window", "num-instances: 2", "measure-from: 5s", "suite.yaml:3: settings.measure-from: not a setting of a scenario: all requests count"},
		{"a fitness", "num-instances: 2", "fitness-weights: goodput:1", "not a setting of a scenario: want measures"},
		{"a bad specification", "aggregate_rate: 40", "aggregate_rates: 40", `suite.yaml:14: aggregate_rates: unknown field`},
		{"a value of a specification", "params: {value: 300}", "params: {value: none}", "suite.yaml:17: "},
		{"two workloads", "    workload:", "    settings: {scenario: sanity}\n    workload:", "has a workload and the setting scenario"},
		{"a workload that is a path", "workload:\n      version: \"2\"\n      aggregate_rate: 40\n      num_requests: 60\n      clients:\n        - {id: x, rate_fraction: 1, slo_class: batch, input_distribution: {type: constant, params: {value: 300}}, output_distribution: {type: constant, params: {value: 20}}}", "workload: w.yaml", "suite.yaml:12: scenarios[1].workload: \"w.yaml\": want a mapping, as docs/workloads.md"},
		{"bad failures", "    workload:", "    failures: {failures: [{crsh: instance-0, at: 3s}]}\n    workload:", "suite.yaml (failures):12: failures[0].crsh: unknown field"},
		{"failures that are a path", "    workload:", "    failures: a.yaml\n    workload:", "suite.yaml:12: scenarios[1].failures: \"a.yaml\": want a mapping, as docs/failures.md describes"},
		{"a file of failures", "num-instances: 2", "failures: a.yaml", "suite.yaml:3: settings.failures: names a file"},
		{"a bad baseline", "measures:", "baseline: {routing: {type: weigted}}\nmeasures:", `suite.yaml:2: routing.type: unknown routing policy "weigted"`},
	} {
		_, err := Parse("suite.yaml", []byte(edited(t, tiny, c.old, c.new)))
		var input *setup.InputError
		if err == nil || !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %q", c.name, err, c.want)
		}
	}
	for text, want := range map[string]string{"": "empty: want a suite", "[1]": "want a mapping", "schema: blis.suite/v1\nscenarios: [~]": "suite.yaml:2: scenarios[0]: null: want a scenario", "schema: blis.suite/v1\nscenarios: []": "0 scenarios", "{": "suite.yaml:1",
		strings.NewReplacer("smoke: true", "held_out: true", "weight: 3", "held_out: true").Replace(tiny): "all are held out"} { // any order
		if _, err := Parse("suite.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestSuiteWithoutAllRequestsIsWarnedOf(t *testing.T) {
	s := parse(t, edited(t, tiny, "slo_attainment: 2, ", ""))
	a := evaluate(t, s, reference(t, s, Options{}), yaml(""), Options{})
	if len(a.Warnings) != 2 || !strings.Contains(a.Warnings[0], "scenario a weighs none of goodput, slo_attainment, completed_share of all requests: a policy may win by refusing work") {
		t.Errorf("warnings %q", a.Warnings)
	}
	s, r := standard()
	if a := evaluate(t, s, r, yaml(""), Options{}); len(a.Warnings) != 0 {
		t.Errorf("warnings of the default suite: %q", a.Warnings)
	}
}

func TestSettingsWithoutEffectAreWarnedOf(t *testing.T) {
	text := edited(t, tiny, "rate: 30}", "rate: 30, prefix-tokens: 20, mttr: 5s, kv-event-delay: 5ms, max-replicas: 9}")
	s := parse(t, edited(t, text, "rate: 35}", "rate: 35, mttr: 5s}"))
	a := evaluate(t, s, reference(t, s, Options{}), yaml(""), Options{})
	if len(a.Warnings) != 1 || !strings.HasPrefix(a.Warnings[0], "scenario a: mttr has no effect: ") {
		t.Errorf("warnings %q, want one about mttr of scenario a", a.Warnings)
	}
}

// A scenario may have failures of instances; they count in the results and in the ids.
func TestFailuresOfInstances(t *testing.T) {
	text := edited(t, tiny, "    settings: {num-requests: 60, rate: 30}", "    measures: {p99_ttft: 0, completed_share: 0}\n    failures: {failures: [{crash: instance-0, at: 500ms, for: 60s}]}\n    settings: {num-requests: 60, rate: 30}")
	s, other := parse(t, text), parse(t, edited(t, text, "at: 500ms", "at: 501ms"))
	r := reference(t, s, Options{})
	if f := r.Scenarios[0]; f.Lost == 0 || float64(f.Values["completed_share"]) >= 1 {
		t.Errorf("%d requests are lost where an instance crashes", f.Lost)
	}
	a, b := evaluate(t, s, r, yaml(""), Options{}), evaluate(t, other, reference(t, other, Options{}), yaml(""), Options{})
	if a.Outputs.Workload != b.Outputs.Workload || a.Outputs.Cluster == b.Outputs.Cluster {
		t.Errorf("other failures: %+v\n%+v", a.Outputs, b.Outputs)
	}
}

// Measures and settings of a scenario come in place of those of the suite, each by itself.
func TestScenarioOverridesSuite(t *testing.T) {
	text := edited(t, tiny, "smoke: true", "smoke: true\n    measures: {p99_ttft: 5, jain: 0}")
	s := parse(t, edited(t, text, "num-requests: 60, rate: 30", "num-requests: 60, rate: 30, num-instances: 3"))
	a := s.Scenarios[0]
	var got []string
	for i := range a.Measures {
		got = append(got, a.Measures[i].metric())
	}
	if !slices.Equal(got, []string{"slo_attainment", "p99_ttft_ms", "cache_hit_rate", "jain"}) || a.Measures[1].Weight != 5 || s.Scenarios[1].Measures[1].Weight != 1 {
		t.Errorf("measures %v of %v", got, a.Measures)
	}
	if a.settings.NumInstances != 3 || s.Scenarios[1].settings.NumInstances != 2 {
		t.Errorf("%d and %d instances", a.settings.NumInstances, s.Scenarios[1].settings.NumInstances)
	}
}

func TestShippedSuites(t *testing.T) {
	if !slices.Contains(Names(), Default) {
		t.Fatalf("suites %v have no %s", Names(), Default)
	}
	for _, name := range Names() {
		s, err := Shipped(name)
		if err != nil {
			t.Fatal(err)
		}
		held, smoke := 0, 0
		for _, c := range s.Scenarios {
			if c.HeldOut {
				held++
			}
			if c.Smoke {
				smoke++
			}
		}
		if s.Name != name || s.About == "" || held < 2 || smoke == 0 || len(s.Scenarios)-held < 3 {
			t.Errorf("%s: %q, %d scenarios, %d held out, %d smoke", s.Name, s.About, len(s.Scenarios), held, smoke)
		}
	}
	if _, err := Shipped("standrad"); err == nil || !strings.Contains(err.Error(), `no suite is called "standrad", the nearest is "standard"`) {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(tiny)
	for _, name := range Names() {
		f.Add(string(Text(name)))
	}
	f.Add("schema: blis.suite/v1\nmeasures: {goodput: 1}\nsettings: {slo-targets: ttft=1s}\nscenarios: [{name: a, seeds: [1, 2], settings: {concurrency: 3, scenario: sanity}}]")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("suite.yaml", []byte(text))
		var input *setup.InputError
		if err != nil && (!errors.As(err, &input) || strings.ContainsAny(err.Error(), "\n\r")) {
			t.Fatalf("%T %q: want an *setup.InputError of one line", err, err)
		}
		if err == nil && s.chosenCount() == 0 {
			t.Fatal("a suite without a scored scenario")
		}
	})
}

// chosenCount is how many scenarios are scored.
func (s *Suite) chosenCount() int {
	list, err := s.chosen(Options{}, false)
	if err != nil {
		return 0
	}
	return len(list)
}
