package actors

import (
	"context"
	"strings"
	"testing"

	"blis/policy"
	"blis/trace"
)

// An instance with a waiting request is left out by max_queue 0: the trace says so, and it is no
// candidate.
func TestTraceOfFilters(t *testing.T) {
	cfg, k := small(t), &kept{}
	cfg.MaxNumSeqs = 1
	cfg.Policies.Routing.Params = append(cfg.Policies.Routing.Params, policy.Setting{Name: "max_queue", Value: "0"})
	cfg.ForceRouting = "0=0,1=0,2=1"
	cfg.Tracing = Tracing{Level: trace.Decisions, Consumer: k, Counterfactual: 2}
	if _, err := Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	routings := k.of("routing")
	for i, want := range []string{`"filtered_out":[]`, `"filtered_out":[]`, `"filtered_out":[0]`, `"filtered_out":[0]`} {
		if !strings.Contains(routings[i], want) {
			t.Errorf("request %d: %s\nwant %s", i, routings[i], want)
		}
		if left := strings.Contains(want, "[0]"); left == strings.Contains(routings[i], `{"instance":0,"score"`) {
			t.Errorf("request %d: %s\nwant instance 0 among the candidates only if it is not left out", i, routings[i])
		}
	}
	if last := routings[3]; !strings.Contains(last, `"target":1,`) {
		t.Errorf("the last request is routed so: %s, want it on instance 1", last)
	}
}
