package actors

import (
	"math"
	"strings"
	"testing"
)

// Row 28 of what new users ran into: the rate of a trace is given like any other.
func TestRateOfATrace(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Trace, cfg.Rate = "../testdata/traces/blis.csv", 12
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got := *r.Report.OfferedPerSecond; math.Abs(got-12) > 0.01 {
		t.Errorf("offered %v/s, want 12", got)
	}
	again, err := Run(t.Context(), r.Config)
	if err != nil || again.Digest != r.Digest {
		t.Errorf("the effective configuration does not repeat the run: %v", err)
	}
	cfg.TraceSpeedup = 2
	if _, err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "want one of them") {
		t.Errorf("both rate and speed-up: %v", err)
	}
}

// Targets without a class are those of every class that has none of its own.
func TestTargetsOfEveryClass(t *testing.T) {
	attained := func(targets string) map[string]float64 {
		cfg := DefaultConfig()
		cfg.Scenario, cfg.NumRequests, cfg.SLOTargets, cfg.MaxNumSeqs = "mixed-slo", 600, targets, 24
		r, err := Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		list := map[string]float64{}
		for _, class := range r.Report.PerClass {
			if class.SLOAttainment != nil {
				list[class.Name] = *class.SLOAttainment
			}
		}
		return list
	}
	each := attained("critical:ttft=60ms;standard:ttft=60ms;batch:ttft=1s")
	every := attained("ttft=60ms;batch:ttft=1s")
	if len(each) != 3 || len(every) != 3 || each["critical"] == 1 {
		t.Fatalf("%v, %v", each, every)
	}
	for class, share := range each {
		if every[class] != share {
			t.Errorf("%s: %v by name, %v without", class, share, every[class])
		}
	}
}
