package spec

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A specification may take a scenario and change what it gives itself, with the
// shares and class names of the public simulator's files.
func TestScenarioAsABase(t *testing.T) {
	const text = `
scenario: "unfair-tenants"
num_requests: 300
tenants:
  - {id: "low", rate_fraction: 0.9, slo_class: batch}
  - {id: "high", rate_fraction: 0.1, slo_class: realtime}
`
	c, notes := build(t, text)
	low, high := clientOf(t, &c, "api/low"), clientOf(t, &c, "api/high")
	if c.Requests != 300 || len(c.Clients) != 2 || low.Class != "batch" || high.Class != "critical" || math.Abs(low.Rate.At(0)/high.Rate.At(0)-9) > 1e-9 {
		t.Errorf("%+v", c)
	}
	if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "realtime is called critical") }) {
		t.Errorf("notes %q", notes)
	}
	same, _ := build(t, "scenario: unfair-tenants")
	whole, err := OpenScenario("unfair-tenants")
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := trafficOf(t, whole); !reflect.DeepEqual(same, want) {
		t.Errorf("a scenario alone is %+v, want %+v", same, want)
	}
	for _, x := range []struct{ change, want string }{
		{"aggregate_rate: 7", "7"},
		{"utilization: 0.5\nnum_requests: 5", "6.5"},
		{"clients: [{id: a, rate_fraction: 1, tenant_id: bulk, " + lengths + "}]\naggregate_rate: 7", "7"},
	} {
		c, _ := build(t, "scenario: unfair-tenants\n"+x.change)
		sum := 0.0
		for i := range c.Clients {
			sum += c.Clients[i].Rate.At(0)
		}
		if got := fmt.Sprintf("%.2g", sum); got != x.want {
			t.Errorf("%s: %s/s, want %s", x.change, got, x.want)
		}
	}
	for text, want := range map[string]string{
		"scenario: unfair-tenant": `w.yaml:1: scenario: unknown scenario "unfair-tenant", the nearest is "unfair-tenants" (there are: agentic-tools,`,
		"scenario: [a]":           "w.yaml:1: scenario: a list is not allowed, want the name of a built-in scenario",
		"scenario: sanity\ntenants: [{id: a, weight: 1, rate_fraction: 1}]": "w.yaml:2: tenants[0].rate_fraction: 1: given beside weight, which is the same; want one of them",
		"\nscenario: sanity\nload_profile: {type: constant}\nclients: 5":    "w.yaml:4: clients: 5 is not allowed, want a list of clients like",
	} {
		if _, err := Parse("w.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}
