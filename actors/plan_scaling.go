package actors

import (
	"fmt"

	"blis/engine"
	"blis/lookahead"
	"blis/policy"
	"blis/vtime"
)

// scales reports whether the number of instances can change.
func (p *plan) scales() bool {
	c := &p.config
	return (c.AutoscalePolicy != "none" || c.Custom.Autoscale != nil) && c.AutoscaleInterval > 0
}

// mostReplicas is the largest number of instances that serve at a time.
func (p *plan) mostReplicas() int {
	if p.scales() {
		return p.config.MaxReplicas
	}
	return p.config.NumInstances
}

// warmup is the warm-up of a new instance, without its start.
func (p *plan) warmup() engine.Warmup {
	c := &p.config
	return engine.Warmup{Duration: c.WarmupDuration, Penalty: c.WarmupPenalty, Curve: engine.Curve(c.WarmupCurve)}
}

// derivedMaxReplicas is the default of max-replicas.
func derivedMaxReplicas(instances int) int { return min(2*instances, 1<<20) }

// resolveScaling derives and checks the bounds on the number of instances.
func (p *plan) resolveScaling() error {
	c := &p.config
	if c.MaxReplicas == 0 {
		c.MaxReplicas = derivedMaxReplicas(c.NumInstances)
	}
	if c.AutoscalePolicy != "none" && c.AutoscaleInterval == 0 {
		return &InputError{p.wrong("autoscale-interval", 0, "more with --autoscale-policy "+c.AutoscalePolicy)}
	}
	if !p.scales() {
		return nil
	}
	if c.Policies.Get("autoscale.params.signal") == "attainment" && c.SLOTargets == "" {
		p.note("the autoscaler looks at the attainment of targets, and there are none: it holds; see --slo-targets")
	}
	if t, err := policy.ParseTrigger(c.AutoscaleTrigger); err == nil && t.Judges() && c.SLOTargets == "" {
		p.note("the trigger of the autoscaler looks at the attainment of targets, and there are none: that condition never holds; see --slo-targets")
	}
	if get := c.Policies.Get; get("autoscale.params.signal") == "rate" && get("autoscale.params.target") == "0.7" {
		p.note("target-utilization aims at 0.7 requests per second per replica: that is its default, meant for shares; see autoscale.params.target")
	}
	switch {
	case c.MinReplicas < 1 || c.MinReplicas > c.MaxReplicas:
		return &InputError{p.wrong("min-replicas", c.MinReplicas, fmt.Sprintf("from 1 to --max-replicas %d", c.MaxReplicas))}
	case c.NumInstances < c.MinReplicas || c.NumInstances > c.MaxReplicas:
		return inputErrorf("--num-instances is %d: want from --min-replicas %d to --max-replicas %d", c.NumInstances, c.MinReplicas, c.MaxReplicas)
	}
	return nil
}

// newAutoscaler makes the actor that asks the policy.
func (p *plan) newAutoscaler(q *policies, r *router) *autoscaler {
	c := &p.config
	a := &autoscaler{policy: q.autoscale, next: vtime.Never, router: r}
	switch {
	case !p.scales():
	case q.trigger.Conditional():
		a.trigger, a.minGap = q.trigger, c.AutoscaleInterval
		r.trigger.interval = min(c.AutoscaleInterval, lookInterval)
	case c.AutoscaleTrigger == policy.EventTrigger:
		r.trigger.interval = c.AutoscaleInterval
	default:
		a.interval, a.next = c.AutoscaleInterval, vtime.Time(c.AutoscaleInterval)
	}
	a.context = policy.AutoscaleContext{
		Interval: c.AutoscaleInterval, Min: int32(c.MinReplicas), Max: int32(c.MaxReplicas), MaxSeqs: c.MaxNumSeqs,
		View: &r.cluster.view, State: &r.state,
	}
	return a
}

// addReplicas adds the instances that the run begins with, and the book of the
// instances where their number can change.
func (c *cluster) addReplicas() error {
	cfg := &c.plan.config
	b := &replicas{
		actuation: actuation{
			Provisioning: cfg.ProvisioningDelay, Load: cfg.ModelLoadTime, Warmup: c.plan.warmup(), WarmupRoutable: cfg.WarmupRoutable,
			Drain: cfg.DrainPolicy, DrainTimeout: cfg.DrainTimeout, blocks: cfg.TotalKVBlocks,
		},
		provisionTimes: vtime.NewStream(cfg.Seed, "provisioning"), loadTimes: vtime.NewStream(cfg.Seed, "replicas"),
		view: &c.router.cluster.view, prefixes: c.router.prefixes,
	}
	b.begin(cfg.NumInstances)
	for i := range cfg.NumInstances {
		if err := c.add(i, 0); err != nil {
			return err
		}
	}
	if !c.plan.scales() {
		return nil
	}
	b.spawn = func(i int, ready vtime.Time) {
		c.release()
		c.router.cluster.grow()
		if err := c.add(i, ready); err != nil {
			panic(err) // the first ones could be made
		}
	}
	c.router.replicas, c.router.migrated = b, map[int32]migratedRequest{}
	return nil
}

// release frees the memory of instances that are gone and have no step in flight: a
// run may have thousands of them. It is called in turns of the router in which no
// instance runs.
func (c *cluster) release() {
	b := c.router.replicas
	kept := b.departed[:0]
	for _, i := range b.departed {
		if !c.instances[i].release() {
			kept = append(kept, i)
		}
	}
	b.departed = kept
}

// react is the Key of the earliest event that a notice at k can cause: a request
// that an instance returns is routed again, the autoscaler is asked, or a request
// follows from an answer.
func (c *cluster) react(k lookahead.Key) lookahead.Key {
	asked := c.router.trigger.reaction(k.At)
	if l := c.router.loop; l != nil {
		asked = earlier(asked, l.react(k))
	}
	if b := c.router.replicas; b == nil || b.handingBack == 0 {
		return asked
	}
	return earlier(asked, lookahead.Key{At: k.At.Add(1).Add(c.plan.config.RoutingLatency), Class: vtime.ClassDelivery})
}

// life is the span in which instance i was ready in a run that ended at end.
func (c *cluster) life(i int, end vtime.Time) (ready, gone vtime.Time) {
	if c.router.replicas == nil {
		return 0, end
	}
	r := &c.router.replicas.list[i]
	return r.ready, min(r.gone, end)
}
