package actors

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"

	"blis/policy"
	"blis/trace"
)

// TestNothingIsAllocatedPerRequest compares runs of n and 2n requests: what a
// further request allocates once a run is warm, without a trace and with one.
func TestNothingIsAllocatedPerRequest(t *testing.T) {
	const n = 6000
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, routing := range []string{"round-robin", "least-loaded", "weighted", "round-robin with hints"} {
		for _, level := range []trace.Level{trace.None, trace.Decisions} {
			mallocs := func(requests int64) int64 {
				name, hints := strings.CutSuffix(routing, " with hints")
				cfg := benchmark(name).Config
				if hints {
					cfg.Custom.Priority = func(env policy.Env) policy.Priority {
						return fixedHints{mustMake(policy.NewPriority("constant", nil, env)), []float64{1, 0.25}}
					}
				}
				cfg.NumRequests, cfg.Workers = requests, 1
				if level != trace.None {
					cfg.Tracing = Tracing{Level: level, Consumer: trace.NewWriter(io.Discard, trace.JSONLines), Counterfactual: 2}
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if _, err := Run(context.Background(), cfg); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				return int64(after.Mallocs - before.Mallocs)
			}
			mallocs(n) // what the process sets up once
			per := float64(mallocs(2*n)-mallocs(n)) / n
			t.Logf("%s, trace level %v: %.3f", routing, level, per)
			if per > 0.1 {
				t.Errorf("%s, trace level %v: %.2f allocations per request, want none", routing, level, per)
			}
		}
	}
}
