package actors

import (
	"slices"

	"blis/metrics"
	"blis/policy"
	"blis/prefixindex"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
)

// policies are those of a pool, with the ones that all pools share.
type policies struct {
	admission policy.Admission
	priority  policy.Priority
	hints     []string // that the priority policy gives
	routing   policy.Routing
	autoscale policy.Autoscale
	trigger   *policy.Trigger    // of the autoscaler's evaluations
	stream    *vtime.Stream      // that the policies draw from
	prefixes  *prefixindex.Index // nil: no policy observes expected hits

	gateStream *vtime.Stream // that the admission policy draws from, where each service has one of its own; else nil

	aside   bool           // admission and priority policies do not look at the pool
	gateway policy.Signals // that the gateway reads of the pool
	decider policy.Signals // that the choice whether to disaggregate a request reads of the pool
}

// makePolicies builds the policies of each pool; scheduler builds one per instance.
func makePolicies(p *setup.Plan) (list []policies, err error) {
	var envs []policy.Env
	for i := range p.Deployments {
		d := &p.Deployments[i]
		for _, of := range d.Pools() {
			var q policies
			q.gateway = gatewaySignals(p)
			env := policyEnv(p, of, d.PoolName(of))
			q.stream, env.Prefixes = env.Stream, newPrefixes(of)
			if d.PD != nil {
				q.aside = (of == d.Prefill) != d.PD.AtHandOver
				if of == d.Serving && d.PD.Decider == setup.DecidePrefixThreshold {
					q.decider = policy.Prefixes
				}
			}
			list, envs = append(list, q), append(envs, env)
		}
	}
	var shared policies
	if err := makeShared(p, envs[slices.IndexFunc(list, func(q policies) bool { return !q.aside })], &shared); err != nil {
		return nil, err
	}
	apart, err := makeGates(p, list, envs)
	if err != nil {
		return nil, err
	}
	for i := range list {
		q := &list[i]
		q.admission, q.priority, q.hints, envs[i].Hints = shared.admission, shared.priority, shared.hints, shared.hints
		if g := apart[i]; g != nil {
			q.admission, q.gateStream = g.policy, g.stream
		}
		if err := makePoolPolicies(p, p.Pools[i], envs[i], q); err != nil {
			return nil, err
		}
	}
	led := leaders(p)
	for i := range list {
		q, l := &list[i], &list[led[i]]
		if l.decider |= q.decider; q != l {
			q.routing, q.stream = l.routing, l.stream
		}
	}
	for i := range list {
		q := &list[i]
		if q.decider = list[led[i]].decider; q.observes()&policy.Prefixes != 0 {
			q.prefixes = envs[led[i]].Prefixes
		}
	}
	return list, checkServices(p, list)
}

// ownGate is an admission policy of a service, and the stream that it draws from.
type ownGate struct {
	policy policy.Admission
	stream *vtime.Stream
}

// makeGates makes the admission policies of services, by pool, if each has one of its own: as the one of
// the first pool that is not aside, with streams named by the first deployment.
func makeGates(p *setup.Plan, q []policies, envs []policy.Env) ([]*ownGate, error) {
	list := make([]*ownGate, len(q))
	if !setup.AdmissionApart(p) {
		return list, nil
	}
	services, _ := servicesOf(p)
	for _, service := range services {
		var pools []int
		for _, i := range service {
			for _, s := range p.Deployments[i].Pools() {
				pools = append(pools, slices.Index(p.Pools, s))
			}
		}
		name := "admission/" + p.Deployments[service[0]].ID
		env := envs[pools[slices.IndexFunc(pools, func(k int) bool { return !q[k].aside })]]
		env.Draws, env.Stream = policy.NewDraws(vtime.NewStream(p.Config.Seed, "draws/"+name).Uint64()), vtime.NewStream(p.Config.Seed, name)
		a, err := makeAdmission(p, env)
		if err != nil {
			return nil, err
		}
		for _, k := range pools {
			list[k] = &ownGate{a, env.Stream}
		}
	}
	return list, nil
}

// makeAdmission makes the admission policy.
func makeAdmission(p *setup.Plan, env policy.Env) (policy.Admission, error) {
	if custom := p.Config.Custom.Admission; custom != nil {
		return custom(env), nil
	}
	b := &p.Config.Policies.Admission
	a, err := policy.NewAdmission(b.Type, b.Params, env)
	if err != nil {
		return nil, p.Locate(err)
	}
	return a, nil
}

// makeShared makes the policies that all pools share.
func makeShared(p *setup.Plan, env policy.Env, q *policies) (err error) {
	b, custom := &p.Config.Policies, &p.Config.Custom
	if q.admission, err = makeAdmission(p, env); err != nil {
		return err
	}
	if q.priority, err = policy.NewPriority(b.Priority.Type, b.Priority.Params, env); err != nil {
		return p.Locate(err)
	}
	if custom.Priority != nil {
		q.priority = custom.Priority(env)
	}
	if q.hints, err = policy.HintNames(q.priority); err != nil {
		return inputErrorf("the priority policy: %v", err)
	}
	return nil
}

// makePoolPolicies makes the policies of a pool alone.
func makePoolPolicies(p *setup.Plan, of *setup.Pool, env policy.Env, q *policies) (err error) {
	custom := &p.Config.Custom
	if q.routing, err = policy.NewRouting(of.Routing.Type, of.Routing.Params, env); err != nil {
		return p.Locate(err)
	}
	scaling, trigger := p.Config.Policies.Autoscale.Selection, p.Config.AutoscaleTrigger // nothing, where nothing scales
	if of.Scaling != nil {
		scaling, trigger = of.Scaling.Policy, of.Scaling.Trigger
	}
	if q.autoscale, err = policy.NewAutoscale(scaling.Type, scaling.Params, env); err != nil {
		return p.Locate(err)
	}
	if q.trigger, err = policy.ParseTrigger(trigger); err != nil {
		return inputErrorf("--autoscale-trigger: %v", err)
	}
	if custom.Routing != nil {
		q.routing = custom.Routing(env)
	}
	if custom.Autoscale != nil {
		q.autoscale = custom.Autoscale(env)
	}
	return nil
}

// observes are the signals of the pool that policies read together.
func (q *policies) observes() policy.Signals { return q.routed() | q.scaling() }

// atRouting are the signals that routing decisions read.
func (q *policies) atRouting() policy.Signals {
	s := q.routing.Observes() | q.decider
	if !q.aside {
		s |= q.priority.Observes()
	}
	return s
}

// asked are the signals of the pool that admission and priority policies read.
func (q *policies) asked() policy.Signals {
	if q.aside {
		return policy.NoSignals
	}
	return q.admission.Observes() | q.priority.Observes()
}

// routed are the signals that decisions of the router read.
func (q *policies) routed() policy.Signals {
	return q.asked() | q.routing.Observes() | q.decider | q.gateway
}

// scaling are the signals that evaluations of the autoscaler read.
func (q *policies) scaling() policy.Signals { return q.autoscale.Observes() | q.trigger.Observes() }

// readByAll are the signals that decisions of the router, and evaluations of autoscalers, read.
func readByAll(q []policies) (routed, scaling policy.Signals) {
	for i := range q {
		routed |= q[i].routed()
		scaling |= q[i].scaling()
	}
	return routed, scaling
}

// policyEnv is what policies of a pool are made with. Those of a named pool draw from a stream of
// their own.
func policyEnv(p *setup.Plan, of *setup.Pool, name string) policy.Env {
	seed, stream := p.Config.Seed, "router"
	if name != "" {
		stream += "/" + name
		seed = vtime.NewStream(seed, "draws/"+name).Uint64()
	}
	return policy.Env{
		BlockSize: of.BlockSize, Instances: of.MaxInstances(),
		Draws: policy.NewDraws(seed), Stream: vtime.NewStream(p.Config.Seed, stream), Labels: p.Source.Labels(), TTFTTarget: ttftTarget(p),
	}
}

// ttftTarget returns the TTFT target of a request by its labels: that of its tenant if the
// tenant has targets, else that of its class; nil when nobody has targets.
func ttftTarget(p *setup.Plan) func(class, tenant workload.Label) vtime.Duration {
	if len(p.Targets) == 0 {
		return nil
	}
	labels := p.Source.Labels()
	return func(class, tenant workload.Label) vtime.Duration {
		found := [3]*metrics.ClassTargets{} // of the tenant, of the class, of every class
		of, by := nameAt(&labels.Classes, class), nameAt(&labels.Tenants, tenant)
		for i := range p.Targets {
			switch t := &p.Targets[i]; {
			case t.Tenant != "" && t.Tenant == by:
				found[0] = t
			case t.Tenant == "" && t.Class != "" && t.Class == of:
				found[1] = t
			case t.Tenant == "" && t.Class == "":
				found[2] = t
			}
		}
		for _, t := range found {
			if t != nil {
				return t.TTFT
			}
		}
		return 0
	}
}

// nameAt returns the name of a label, empty for one without.
func nameAt(names *workload.Names, label workload.Label) string {
	if int(label) >= names.Len() {
		return ""
	}
	return names.Name(label)
}

// newScheduler makes the scheduler of an instance of a pool; hints are those that the priority policy gives.
func newScheduler(p *setup.Plan, of *setup.Pool, hints []string) (policy.Scheduler, error) {
	env := policyEnv(p, of, "")
	env.Hints = hints
	if p.Config.Custom.Scheduler != nil {
		return p.Config.Custom.Scheduler(env), nil
	}
	s, err := policy.NewScheduler(of.Scheduler.Type, of.Scheduler.Params, env)
	if err != nil {
		return nil, p.Locate(err)
	}
	return s, nil
}
