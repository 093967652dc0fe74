package setup

import "blis/policy"

// Chance says what the seeds of a run decide. Where they decide nothing all runs of
// a configuration are the same, so one is enough.
type Chance struct {
	// Traffic: another workload seed is other traffic. False for a trace that
	// has its own arrivals.
	Traffic bool
	// Decisions: another seed may be other decisions under the same traffic.
	// A policy draws, or a lognormal load time is drawn.
	Decisions bool
}

// chanceOf is what the seeds decide in a plan whose policies are complete. Custom
// policies may draw; a custom source does not depend on the seeds.
func chanceOf(p *Plan) Chance {
	c := &p.Config
	fixed, replayed := p.Source.(interface{ Paced() bool })
	chance := Chance{Traffic: c.Custom.Source == nil && !(replayed && !fixed.Paced())}
	b, custom := &c.Policies, &c.Custom
	chance.Decisions = custom.Admission != nil || custom.Priority != nil || custom.Routing != nil || custom.Autoscale != nil || custom.Scheduler != nil ||
		b.Draws(policy.AdmissionKind) || b.Draws(policy.PriorityKind) || b.Draws(policy.SchedulerKind) ||
		p.Pool.Scaling != nil && (b.Draws(policy.AutoscaleKind) || c.ProvisioningDelay.CV > 0 || c.ModelLoadTime.CV > 0) ||
		(p.Pool.Scaling != nil || p.Pool.Instances > 1) && b.Draws(policy.RoutingKind)
	return chance
}
