package actors

import (
	"blis/policy"
	"blis/prefixindex"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
)

// policies are the objects of a run.
type policies struct {
	admission policy.Admission
	priority  policy.Priority
	routing   policy.Routing
	autoscale policy.Autoscale
	trigger   *policy.Trigger    // of the autoscaler's evaluations
	stream    *vtime.Stream      // that the policies draw from
	prefixes  *prefixindex.Index // nil: no policy observes expected hits
}

// makePolicies builds the policies that a run shares; scheduler builds one
// per instance.
func makePolicies(p *setup.Plan) (q policies, err error) {
	b, custom := &p.Config.Policies, &p.Config.Custom
	env := policyEnv(p)
	q.stream, env.Prefixes = env.Stream, newPrefixes(p.Pools[0])
	if q.admission, err = policy.NewAdmission(b.Admission.Type, b.Admission.Params, env); err != nil {
		return q, p.Locate(err)
	}
	if q.priority, err = policy.NewPriority(b.Priority.Type, b.Priority.Params, env); err != nil {
		return q, p.Locate(err)
	}
	if q.routing, err = policy.NewRouting(p.Pools[0].Routing.Type, p.Pools[0].Routing.Params, env); err != nil {
		return q, p.Locate(err)
	}
	scaling := b.Autoscale.Selection // none, where nothing scales
	if p.Pools[0].Scaling != nil {
		scaling = p.Pools[0].Scaling.Policy
	}
	if q.autoscale, err = policy.NewAutoscale(scaling.Type, scaling.Params, env); err != nil {
		return q, p.Locate(err)
	}
	if q.trigger, err = policy.ParseTrigger(p.Config.AutoscaleTrigger); err != nil {
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
func (q *policies) observes() policy.Signals { return q.routed() | q.scaling() }

// routed are the signals that decisions of the router read.
func (q *policies) routed() policy.Signals {
	return q.admission.Observes() | q.priority.Observes() | q.routing.Observes()
}

// scaling are the signals that evaluations of the autoscaler read.
func (q *policies) scaling() policy.Signals { return q.autoscale.Observes() | q.trigger.Observes() }

func policyEnv(p *setup.Plan) policy.Env {
	return policy.Env{
		BlockSize: p.Pools[0].BlockSize, Instances: p.Pools[0].MaxInstances(),
		Draws: policy.NewDraws(p.Config.Seed), Stream: vtime.NewStream(p.Config.Seed, "router"), Labels: p.Source.Labels(), TTFTTarget: ttftTarget(p),
	}
}

// ttftTarget returns the TTFT target of a class; nil when no class has one.
func ttftTarget(p *setup.Plan) func(workload.Label) vtime.Duration {
	if len(p.Targets) == 0 {
		return nil
	}
	classes := &p.Source.Labels().Classes
	return func(class workload.Label) vtime.Duration {
		name, usual := "", vtime.Duration(0)
		if int(class) < classes.Len() {
			name = classes.Name(class)
		}
		for _, t := range p.Targets {
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

func newScheduler(p *setup.Plan) (policy.Scheduler, error) {
	env := policyEnv(p)
	if p.Config.Custom.Scheduler != nil {
		return p.Config.Custom.Scheduler(env), nil
	}
	s, err := policy.NewScheduler(p.Pools[0].Scheduler.Type, p.Pools[0].Scheduler.Params, env)
	if err != nil {
		return nil, p.Locate(err)
	}
	return s, nil
}
