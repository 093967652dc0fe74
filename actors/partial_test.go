package actors

import (
	"context"
	"errors"
	"testing"

	"blis/metrics"
	"blis/workload"
)

// A run that is cancelled, wherever it stands, gives a result with balanced
// books and a row for every request that arrived.
func TestCancelledRunIsPartial(t *testing.T) {
	for _, routing := range []string{"round-robin", "least-loaded"} {
		for _, x := range Executors(2) {
			for _, after := range []int64{0, 1, 700} {
				ctx, cancel := context.WithCancel(context.Background())
				cfg := DefaultConfig()
				cfg.NumRequests, cfg.RoutingPolicy, cfg.Execution = 50_000, routing, x.Execution
				rows, states := int64(0), [metrics.States]int64{}
				cfg.Row = func(r *Row) {
					if r.ID != rows {
						t.Fatalf("row %d is that of request %d", rows, r.ID)
					}
					rows++
					states[r.State]++
				}
				if after == 0 {
					cancel()
				}
				cfg.Custom.Source = &countdown{Source: mustSource(t, cfg), left: after, stop: cancel}
				result, err := Run(ctx, cfg)
				cancel()
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("%s, %s, after %d: error %v", routing, x.Name, after, err)
				}
				if !result.Partial || result.Digest != "" {
					t.Errorf("partial %v with digest %q", result.Partial, result.Digest)
				}
				if n := result.Report.Injected; rows != n || states != [metrics.States]int64(result.Report.Overall.States) {
					t.Errorf("%s, %s, after %d: %d rows of states %v, %d injected, states %v", routing, x.Name, after, rows, states, n, result.Report.Overall.States)
				}
			}
		}
	}
}

// countdown cancels a run when it has been pulled a given number of times.
type countdown struct {
	workload.Source
	left int64
	stop func()
}

func (c *countdown) Pull(r *workload.Request) (bool, error) {
	if c.left--; c.left == 0 {
		c.stop()
	}
	return c.Source.Pull(r)
}

func mustSource(t *testing.T, cfg Config) workload.Source {
	p, err := resolve(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p.Source
}

// A run that is cancelled ends where it stood, not at its horizon: rates and
// shares of time are of what was simulated.
func TestCancelledRunDoesNotReachItsHorizon(t *testing.T) {
	for _, x := range Executors(2) {
		ctx, cancel := context.WithCancel(context.Background())
		cfg := DefaultConfig()
		cfg.NumRequests, cfg.Rate, cfg.Execution = 50_000, 100, x.Execution
		cfg.Horizon = 1_000_000_000_000
		cfg.Custom.Source = &countdown{Source: mustSource(t, cfg), left: 700, stop: cancel}
		result, err := Run(ctx, cfg)
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: error %v", x.Name, err)
		}
		if result.Began > result.End || result.End > 1_000_000_000 { // equal when no instance had a turn yet
			t.Errorf("%s: from %v to %v; want an end within the 500 s in which requests come", x.Name, result.Began, result.End)
		}
	}
}
