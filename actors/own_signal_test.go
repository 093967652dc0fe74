package actors_test

import (
	"context"
	"testing"

	"blis/actors"
	"blis/bundle"
	"blis/policy"
	"blis/vtime"
)

// preempted is a signal as another module adds it.
var preempted = policy.RegisterSignal("preempted", func(s *policy.InstanceState) float64 { return float64(s.Preemptions) / 2 })

// calmest routes to the instance with the fewest preemptions so far.
type calmest struct {
	seen func(now vtime.Time, values []float64)
}

func (calmest) Observes() policy.Signals { return policy.SignalNamed("preempted") }

func (c calmest) Route(_ *policy.Request, _ float64, _ *policy.RouterState, view *policy.View, now vtime.Time) policy.RoutingDecision {
	target, values := -1, make([]float64, view.Len())
	for i := range view.Len() {
		if values[i] = view.Value(preempted, i); view.Routable(i) && (target < 0 || values[i] < values[target]) {
			target = i
		}
	}
	c.seen(now, values)
	return policy.RoutingDecision{Target: target}
}

// preempting is a run in which preemptions are frequent.
func preempting(t *testing.T, file string, seen func(vtime.Time, []float64)) actors.Config {
	t.Helper()
	cfg := actors.DefaultConfig()
	cfg.NumInstances, cfg.NumRequests, cfg.Rate, cfg.TotalKVBlocks = 3, 300, 60, 90
	cfg.PromptTokens, cfg.PromptTokensStdev, cfg.OutputTokens = 96, 48, 64
	b, err := bundle.Parse("own.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Policies = b
	cfg.Custom.Routing = func(policy.Env) policy.Routing { return calmest{seen} }
	return cfg
}

// TestOwnSignalIsSeenAtItsCadence: a signal of another module is 0 at first and
// rises, at every decision or at refreshes alone, as its bundle says.
func TestOwnSignalIsSeenAtItsCadence(t *testing.T) {
	for _, c := range []struct {
		name, file string
		every      vtime.Duration
	}{
		{"at once", "{}", 1},
		{"every 100 ms", "observability: {preempted: 100ms}", 100 * vtime.Millisecond},
		{"as all signals", "observability: {refresh: 70ms}", 70 * vtime.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			var last []float64
			var at vtime.Time
			changes, rises := map[vtime.Time]bool{}, 0.0
			cfg := preempting(t, c.file, func(now vtime.Time, values []float64) {
				for i := range last {
					if values[i] < last[i] {
						t.Fatalf("instance %d: %g at %v after %g at %v", i, values[i], now, last[i], at)
					}
					if values[i] > last[i] {
						rises += values[i] - last[i]
						refresh := (int64(now) - 1) / int64(c.every)
						if refresh == (int64(at)-1)/int64(c.every) {
							t.Fatalf("instance %d: %g at %v, %g at %v without a refresh between", i, last[i], at, values[i], now)
						}
						changes[vtime.Time(refresh)] = true
					}
				}
				last, at = values, now
			})
			if _, err := actors.Run(context.Background(), cfg); err != nil {
				t.Fatal(err)
			}
			if rises < 10 || len(changes) < 5 {
				t.Errorf("it rose by %g at %d times: the run shows nothing", rises, len(changes))
			}
		})
	}
}

// TestOwnSignalIsEqualOnAllExecutors: decisions that follow from it are the same.
func TestOwnSignalIsEqualOnAllExecutors(t *testing.T) {
	for _, file := range []string{"{}", "observability: {preempted: 30ms}", "observability: {preempted: on_demand}"} {
		for _, signals := range []string{"live", "per-step"} {
			cfg := preempting(t, file, func(vtime.Time, []float64) {})
			cfg.Signals = signals
			_, err := actors.Verify(context.Background(), cfg, actors.Executors(4), func(v actors.Verification) {
				if !v.Equal {
					t.Errorf("%s, %s: %s differs: %s", file, signals, v.Executor, v.Where)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
