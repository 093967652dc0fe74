package actors

import (
	"context"
	"strings"
	"testing"

	"blis/bundle"
	"blis/policy"
	_ "blis/script"
	"blis/trace"
)

// An instance with a waiting request is left out by max_queue 0, and by a program: the trace says so, and it is no
// candidate.
func TestTraceOfFilters(t *testing.T) {
	program := "def filter(req, i):\n    return equal(i.queue, 0)\ndef route(req, i):\n    return 0 - (i.queue + i.running + i.in_flight)"
	for _, routing := range []bundle.Selection{
		{Type: "least-loaded", Params: []policy.Setting{{Name: "tie", Value: "lowest"}, {Name: "max_queue", Value: "0"}}},
		{Type: "starlark", Params: []policy.Setting{{Name: "tie", Value: "lowest"}, {Name: "source", Value: program}}},
	} {
		cfg, k := small(t), &kept{}
		cfg.MaxNumSeqs = 1
		cfg.Policies.Routing = routing
		cfg.ForceRouting = "0=0,1=0,2=1"
		cfg.Tracing = Tracing{Level: trace.Decisions, Consumer: k, Counterfactual: 2}
		if _, err := Run(context.Background(), cfg); err != nil {
			t.Fatal(err)
		}
		routings := k.of("routing")
		for i, want := range []string{`"filtered_out":[]`, `"filtered_out":[]`, `"filtered_out":[0]`, `"filtered_out":[0]`} {
			if !strings.Contains(routings[i], want) {
				t.Errorf("%s, request %d: %s\nwant %s", routing.Type, i, routings[i], want)
			}
			if left := strings.Contains(want, "[0]"); left == strings.Contains(routings[i], `{"instance":0,"score"`) {
				t.Errorf("%s, request %d: %s\nwant instance 0 among the candidates only if it is not left out", routing.Type, i, routings[i])
			}
		}
		if last := routings[3]; !strings.Contains(last, `"target":1,`) {
			t.Errorf("%s: the last request is routed so: %s, want it on instance 1", routing.Type, last)
		}
	}
}
