package actors

import (
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// policies are the objects of a run.
type policies struct {
	admission policy.Admission
	priority  policy.Priority
	routing   policy.Routing
	autoscale policy.Autoscale
	trigger   *policy.Trigger     // of the autoscaler's evaluations
	stream    *vtime.Stream       // that the policies draw from
	prefixes  *policy.PrefixIndex // nil: no policy observes expected hits
}

// makePolicies builds the policies that a run shares; scheduler builds one
// per instance.
func makePolicies(p *plan) (q policies, err error) {
	b, custom := &p.config.Policies, &p.config.Custom
	env := policyEnv(p)
	q.stream, env.Prefixes = env.Stream, newPrefixes(&p.config)
	if q.admission, err = policy.NewAdmission(b.Admission.Type, b.Admission.Params, env); err != nil {
		return q, located(b, err)
	}
	if q.priority, err = policy.NewPriority(b.Priority.Type, b.Priority.Params, env); err != nil {
		return q, located(b, err)
	}
	if q.routing, err = policy.NewRouting(b.Routing.Type, b.Routing.Params, env); err != nil {
		return q, located(b, err)
	}
	if q.autoscale, err = policy.NewAutoscale(b.Autoscale.Type, b.Autoscale.Params, env); err != nil {
		return q, located(b, err)
	}
	if q.trigger, err = policy.ParseTrigger(p.config.AutoscaleTrigger); err != nil {
		return q, inputErrorf("--autoscale-trigger: %v", err)
	}
	if custom.Admission != nil {
		q.admission = custom.Admission(env)
	}
	if custom.Priority != nil {
		q.priority = custom.Priority(env)
	}
	if custom.Routing != nil {
		q.routing = custom.Routing(env)
	}
	if custom.Autoscale != nil {
		q.autoscale = custom.Autoscale(env)
	}
	if q.observes()&policy.Prefixes != 0 {
		q.prefixes = env.Prefixes
	}
	return q, nil
}

// observes are the signals that the policies read together.
func (q *policies) observes() policy.Signals {
	return q.admission.Observes() | q.priority.Observes() | q.routing.Observes() | q.scaling()
}

// scaling are the signals that evaluations of the autoscaler read.
func (q *policies) scaling() policy.Signals { return q.autoscale.Observes() | q.trigger.Observes() }

// located is an error in the choice of a policy, with its place in the bundle file.
func located(b *policy.Bundle, err error) error { return &InputError{b.Locate(err).Error()} }

func policyEnv(p *plan) policy.Env {
	return policy.Env{
		BlockSize: p.config.BlockSizeInTokens, Instances: p.mostReplicas(),
		Draws: policy.NewDraws(p.config.Seed), Stream: vtime.NewStream(p.config.Seed, "router"), Labels: p.source.Labels(), TTFTTarget: ttftTarget(p),
	}
}

// ttftTarget returns the TTFT target of a class; nil when no class has one.
func ttftTarget(p *plan) func(workload.Label) vtime.Duration {
	if len(p.targets) == 0 {
		return nil
	}
	classes := &p.source.Labels().Classes
	return func(class workload.Label) vtime.Duration {
		name, usual := "", vtime.Duration(0)
		if int(class) < classes.Len() {
			name = classes.Name(class)
		}
		for _, t := range p.targets {
			switch t.Class {
			case name:
				return t.TTFT
			case "":
				usual = t.TTFT
			}
		}
		return usual
	}
}

func newScheduler(p *plan) (policy.Scheduler, error) {
	env := policyEnv(p)
	if p.config.Custom.Scheduler != nil {
		return p.config.Custom.Scheduler(env), nil
	}
	b := &p.config.Policies
	s, err := policy.NewScheduler(b.Scheduler.Type, b.Scheduler.Params, env)
	if err != nil {
		return nil, located(b, err)
	}
	return s, nil
}
