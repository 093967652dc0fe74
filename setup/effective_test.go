package setup

import (
	"encoding/json"
	"testing"
)

// Effective is the slow Resolve without what a user is told.
func TestEffectiveIsTheConfigurationOfThePlan(t *testing.T) {
	change := map[string]func(*Config){
		"defaults":       func(*Config) {},
		"pinned":         func(c *Config) { c.LatencyModel, c.Coefficients = "physics", "h100" },
		"given rate":     func(c *Config) { c.Rate = 3 },
		"closed loop":    func(c *Config) { c.Concurrency = 8 },
		"weighted":       func(c *Config) { c.RoutingPolicy = "weighted" },
		"autoscaled":     func(c *Config) { c.AutoscalePolicy, c.SLOTargets = "threshold", "ttft=1s" },
		"scenario":       func(c *Config) { c.Scenario = "multi-turn-chat" },
		"roofline at 70": func(c *Config) { c.Model, c.TP, c.LatencyModel = "Llama-3.1-70B", 4, "roofline" },
		"blocks given":   func(c *Config) { c.NumGPUBlocksOverride = 100 },
		"blackbox":       func(c *Config) { c.AlphaCoeffs, c.BetaCoeffs = []float64{1, 2, 3}, []float64{4000, 5, 6} },
		"does not fit":   func(c *Config) { c.Model = "Llama-3.1-70B" },
		"bad rate":       func(c *Config) { c.Rate = -1 },
		"bad policy":     func(c *Config) { c.RoutingPolicy = "nothing" },
		"bad forced":     func(c *Config) { c.ForceRouting = "x" },
	}
	for name, set := range change {
		c := DefaultConfig()
		set(&c)
		plan, slowErr := Resolve(c)
		got, err := Effective(c)
		if (err == nil) != (slowErr == nil) || err != nil && err.Error() != slowErr.Error() {
			t.Errorf("%s: error %v, Resolve has %v", name, err, slowErr)
		}
		if err != nil {
			continue
		}
		if got, want := text(t, &got), text(t, &plan.Config); got != want {
			t.Errorf("%s:\n%s\nResolve has\n%s", name, got, want)
		}
		if blocks, err := KVBlocks(c); err != nil || blocks != plan.Config.TotalKVBlocks {
			t.Errorf("%s: %d KV blocks, %v; Resolve has %d", name, blocks, err, plan.Config.TotalKVBlocks)
		}
	}
}

func text(t *testing.T, c *Config) string {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func BenchmarkEffective(b *testing.B) {
	c := DefaultConfig()
	c.LatencyModel, c.Coefficients, c.Rate = "physics", "h100", 40
	for b.Loop() {
		if _, err := Effective(c); err != nil {
			b.Fatal(err)
		}
	}
}
