package actors

import (
	"blis/engine"
	"blis/setup"
	"blis/vtime"
)

// actuation is how a scale decision is carried out.
type actuation struct {
	Provisioning   setup.RandomDuration // until there is a machine
	Load           setup.RandomDuration // until the model is loaded there
	Warmup         engine.Warmup        // steps take longer at first; From is set for each instance
	WarmupRoutable bool                 // requests go to instances that are warming
	Drain          string               // wait, immediate or redirect
	DrainTimeout   vtime.Duration       // requests that remain after it are aborted; 0: never

	blocks int64 // KV blocks of an instance
}

// newWarmup is the warm-up of a new instance, without its start.
func newWarmup(c *setup.Config) engine.Warmup {
	return engine.Warmup{Duration: c.WarmupDuration, Penalty: c.WarmupPenalty, Curve: engine.Curve(c.WarmupCurve)}
}
