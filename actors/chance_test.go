package actors

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"blis/policy"
	"blis/setup"
)

// What Chance says of decisions is so: without it no seed changes a run of a
// trace, with it some seed does. Every routing policy is tried as it comes and
// with each value of its choices, and so is a lognormal load time.
func TestSeedsChangeWhatChanceSays(t *testing.T) {
	trace := func() Config {
		cfg := DefaultConfig()
		cfg.Trace, cfg.SkipBadRows = "../examples/compare/documents.csv", false
		cfg.TraceLimit, cfg.TotalKVBlocks = 150, 2000
		return cfg
	}
	check := func(name string, cfg Config) setup.Chance {
		t.Helper()
		results := map[string]bool{}
		var chance setup.Chance
		for seed := range uint64(6) {
			cfg.Seed = seed
			r, err := Run(t.Context(), cfg)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			chance = r.Setup.Chance
			text, err := json.Marshal(r.Report) // digests fold the states of random streams, drawn from or not
			if err != nil {
				t.Fatal(err)
			}
			results[string(text)] = true
		}
		if chance.Traffic || chance.Decisions != (len(results) > 1) {
			t.Errorf("%s: %+v, and six seeds give %d results", name, chance, len(results))
		}
		return chance
	}
	drawing := 0
	for _, template := range policy.Templates() {
		if template.Kind != policy.RoutingKind {
			continue
		}
		cases := []string{""}
		for _, p := range template.Parameters {
			for _, choice := range p.Choices {
				cases = append(cases, p.Name+"="+choice)
			}
		}
		for _, set := range cases {
			cfg := trace()
			err := cfg.Policies.Set("routing.type", template.Name)
			if isProgram(&template) && err == nil {
				program := map[string]string{"starlark": "def route(req, i): return -i.queue", "tree": "0 - queue"}
				err = cfg.Policies.Set("routing.params.source", program[template.Name])
			}
			if name, value, given := strings.Cut(set, "="); err == nil && given {
				err = cfg.Policies.Set("routing.params."+name, value)
			}
			if err != nil {
				t.Fatal(err)
			}
			if check(template.Name+" "+set, cfg).Decisions {
				drawing++
			}
		}
	}
	if drawing < 3 {
		t.Errorf("%d routing policies draw: the test shows little", drawing)
	}
	one := trace()
	one.RoutingPolicy, one.NumInstances = "least-loaded", 1
	check("a single instance", one)
	for _, cv := range [][2]float64{{0, 0}, {0, 0.5}, {0.5, 0}} {
		cfg := trace()
		cfg.AutoscalePolicy, cfg.NumInstances, cfg.MaxReplicas = "oscillator", 2, 4
		cfg.AutoscaleInterval, cfg.ProvisioningDelay, cfg.ModelLoadTime = 200_000, setup.RandomDuration{Mean: 100_000, CV: cv[0]}, setup.RandomDuration{Mean: 100_000, CV: cv[1]}
		check(fmt.Sprintf("provisioning and load times with coefficients of variation of %v", cv), cfg)
	}
}

// Generated traffic has a seed, a trace none.
func TestTrafficThatSeedsMake(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		want   bool
	}{
		"synthetic":       {func(*Config) {}, true},
		"a scenario":      {func(c *Config) { c.Scenario = "multi-turn-chat" }, true},
		"a trace":         {func(c *Config) { c.Trace = "../testdata/traces/azure.csv" }, false},
		"lengths at rate": {func(c *Config) { c.Trace, c.Rate = "../testdata/traces/lengths.csv", 5 }, true},
		"ServeGen":        {func(c *Config) { c.Trace, c.TraceLimit = "../testdata/servegen", 10 }, true},
	} {
		cfg := DefaultConfig()
		c.change(&cfg)
		_, facts, err := Check(cfg)
		if err != nil || facts.Chance.Traffic != c.want {
			t.Errorf("%s: %+v, %v", name, facts.Chance, err)
		}
	}
}
