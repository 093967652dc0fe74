package setup

import (
	"blis/bundle"
)

// Chance says what the seeds of a run decide. Where they decide nothing all runs of
// a configuration are the same, so one is enough.
type Chance struct {
	// Traffic: another workload seed is other traffic. False for a trace that
	// has its own arrivals.
	Traffic bool
	// Decisions: another seed may be other decisions under the same traffic.
	// Routing draws among instances, or a lognormal load time is drawn.
	Decisions bool
}

// chanceOf is what the seeds decide in a plan whose policies are complete. Custom
// policies may draw; a custom source does not depend on the seeds.
func chanceOf(p *Plan) Chance {
	c := &p.Config
	fixed, replayed := p.Source.(interface{ Paced() bool })
	chance := Chance{Traffic: c.Custom.Source == nil && !(replayed && !fixed.Paced())}
	chance.Decisions = c.Custom.Admission != nil || c.Custom.Priority != nil || c.Custom.Routing != nil || c.Custom.Autoscale != nil || c.Custom.Scheduler != nil ||
		p.Scales() && (c.ProvisioningDelay.CV > 0 || c.ModelLoadTime.CV > 0) ||
		(p.Scales() || c.NumInstances > 1) && routingDraws(&c.Policies)
	return chance
}

// routingDraws reports whether the routing policy draws among instances.
func routingDraws(b *bundle.Bundle) bool {
	return b.Routing.Type == "power-of-two" || b.Get("routing.params.tie") == "random"
}
