package actors

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"blis/metrics"
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
func (p *plan) makePolicies() (q policies, err error) {
	b, custom := &p.config.Policies, &p.config.Custom
	env := p.policyEnv()
	q.stream, env.Prefixes = env.Stream, p.newPrefixes()
	if q.admission, err = policy.NewAdmission(b.Admission.Type, b.Admission.Params, env); err != nil {
		return q, p.located(err)
	}
	if q.priority, err = policy.NewPriority(b.Priority.Type, b.Priority.Params, env); err != nil {
		return q, p.located(err)
	}
	if q.routing, err = policy.NewRouting(b.Routing.Type, b.Routing.Params, env); err != nil {
		return q, p.located(err)
	}
	if q.autoscale, err = policy.NewAutoscale(b.Autoscale.Type, b.Autoscale.Params, env); err != nil {
		return q, p.located(err)
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
func (p *plan) located(err error) error { return &InputError{p.config.Policies.Locate(err).Error()} }

func (p *plan) policyEnv() policy.Env {
	return policy.Env{
		BlockSize: p.config.BlockSizeInTokens, Instances: p.mostReplicas(),
		Draws: policy.NewDraws(p.config.Seed), Stream: vtime.NewStream(p.config.Seed, "router"), Labels: p.source.Labels(), TTFTTarget: p.ttftTarget(),
	}
}

// ttftTarget returns the TTFT target of a class; nil when no class has one.
func (p *plan) ttftTarget() func(workload.Label) vtime.Duration {
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

func (p *plan) scheduler() (policy.Scheduler, error) {
	env := p.policyEnv()
	if p.config.Custom.Scheduler != nil {
		return p.config.Custom.Scheduler(env), nil
	}
	b := &p.config.Policies
	s, err := policy.NewScheduler(b.Scheduler.Type, b.Scheduler.Params, env)
	if err != nil {
		return nil, p.located(err)
	}
	return s, nil
}

// resolvePolicies makes settings and bundle agree. A setting that is not at its
// default changes the bundle; a setting at its default takes the bundle's value.
func (p *plan) resolvePolicies() error {
	c := &p.config
	usual := reflect.ValueOf(DefaultConfig())
	err := eachShortcut(reflect.ValueOf(c).Elem(), func(s shortcut, f reflect.Value) error {
		if text := Text(f.Interface()); text != Text(usual.FieldByIndex(s.index).Interface()) {
			return c.SetPolicy(s.flag, text)
		}
		if given := c.Policies.Get(s.path); given != "" {
			return setText(f, given)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.Policies, err = c.Policies.Complete(); err != nil {
		return p.located(err)
	}
	if c.SLOTargets != "" {
		if p.targets, err = metrics.ParseTargets(c.SLOTargets); err != nil {
			return &InputError{"--slo-targets: " + err.Error()}
		}
	}
	p.describePolicies()
	return p.resolveFreshness()
}

// completeBundle enters derived values and defaults into the bundle. Without an
// autoscaler it leaves actuation out.
func (p *plan) completeBundle() error {
	c := &p.config
	if a := &c.Policies.Autoscale; a.Type == "none" {
		*a = policy.AutoscaleSelection{Selection: a.Selection}
	}
	return eachShortcut(reflect.ValueOf(c).Elem(), func(s shortcut, f reflect.Value) error {
		switch {
		case s.isType():
			f.SetString(c.Policies.Get(s.path))
			return nil
		case s.isParameter(), s.isScaling() && c.AutoscalePolicy == "none":
			return nil
		}
		return c.Policies.Set(s.path, Text(f.Interface()))
	})
}

// SetPolicy changes the bundle as the flag of that name and text does: another
// type drops the parameters of the one before. Flags that change no policy are
// an error of the caller's; others of the user's are an *InputError.
func (c *Config) SetPolicy(flag, text string) error {
	path, ok := PolicyPath(flag)
	if !ok {
		return fmt.Errorf("actors: no policy depends on --%s", flag)
	}
	var err error
	switch {
	case path == scorers && text == "":
	case path == scorers:
		err = c.setScorers(text)
	case path == "scheduler.type" && text == "priority": // vLLM's name for it
		err = c.Policies.Set(path, "priority-fcfs")
	default:
		err = c.Policies.Set(path, text)
	}
	if err != nil {
		return inputErrorf("--%s: %v", flag, err)
	}
	return nil
}

// setScorers makes the scorers of weighted those of the text, in that order.
func (c *Config) setScorers(text string) error {
	settings, err := policy.ParseScorers(text)
	if err != nil {
		return err
	}
	kept := c.Policies.Routing.Params
	c.Policies.Routing.Params = nil
	for _, s := range kept {
		if s.Name == "tie" {
			c.Policies.Routing.Params = append(c.Policies.Routing.Params, s)
		}
	}
	for i, s := range settings {
		for _, earlier := range settings[:i] {
			if earlier.Name == s.Name {
				return fmt.Errorf("%s is given twice", s.Name)
			}
		}
		if err := c.Policies.Set("routing.params."+s.Name, s.Value); err != nil {
			return err
		}
	}
	return nil
}

// describePolicies names the policies of the run.
func (p *plan) describePolicies() {
	c := &p.config
	b := &c.Policies
	routing := b.Routing.Type
	if routing == "weighted" {
		routing += " (" + strings.Join(weights(&b.Routing), ",") + ")"
	}
	if c.SnapshotRefreshInterval > 0 {
		routing += fmt.Sprintf(", signals every %v, in-flight %s", c.SnapshotRefreshInterval, c.InFlight)
	}
	if c.PrefixIndex == indexEvents {
		routing += ", prefix index by events"
		if c.KVEventDelay > 0 {
			routing += fmt.Sprintf(" after %v", c.KVEventDelay)
		}
	}
	p.setup.Policies = fmt.Sprintf("admission %s, priority %s, routing %s, scheduler %s, autoscale %s",
		b.Admission.Type, b.Priority.Type, routing, b.Scheduler.Type, b.Autoscale.Type)
}

// weights lists the scorers of a complete selection of weighted.
func weights(s *policy.Selection) []string {
	var list []string
	for _, p := range s.Params {
		if p.Name != "tie" {
			list = append(list, p.Name+":"+p.Value)
		}
	}
	return list
}

// resolveFreshness reads the cadences of single signals from the bundle.
func (p *plan) resolveFreshness() error {
	o := &p.config.Policies.Observability
	p.fresh = map[policy.Signals]cadence{}
	for _, of := range []struct {
		signal policy.Signals
		text   string
	}{
		{policy.QueueDepth, o.QueueDepth}, {policy.BatchSize, o.BatchSize}, {policy.KVUse, o.KVUtilization},
		{policy.HitRate, o.CacheHitRate}, {policy.RecentLatency, o.RecentLatency}, {policy.EstimatedWait, o.EstimatedWait},
	} {
		switch of.text {
		case "":
		case policy.Immediate:
			p.fresh[of.signal] = immediate
		case policy.OnDemand:
			p.fresh[of.signal] = onDemand
		default:
			d, err := vtime.ParseDuration(of.text)
			if err != nil {
				return inputErrorf("observability: %v", err)
			}
			p.fresh[of.signal] = cadence(d)
		}
	}
	return nil
}

// Text is the value of a setting as its flag reads it.
func Text(value any) string {
	switch x := value.(type) {
	case fmt.Stringer:
		return x.String()
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return fmt.Sprint(value)
}
