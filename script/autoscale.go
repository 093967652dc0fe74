package script

import (
	"math"

	"go.starlark.net/starlark"

	"blis/policy"
)

// autoscale is a program's scale.
type autoscale struct {
	decider
	ctx   scaleContext
	asked policy.Request // what draws are about: its number is that of the evaluation
}

func newAutoscale(p *program, env policy.Env, maxSteps uint64) (policy.Autoscale, error) {
	d, err := newDecider(policy.AutoscaleKind, "scale", scaleDraws, p, env, maxSteps)
	if err != nil {
		return nil, err
	}
	return &autoscale{decider: d}, d.noHints(policy.AutoscaleKind)
}

// Evaluate implements policy.Autoscale.
func (a *autoscale) Evaluate(ctx *policy.AutoscaleContext) policy.ScaleDecision {
	a.begin()
	a.now = now{at: ctx.Now, view: ctx.View, router: ctx.State}
	a.draws.about(&a.asked)
	a.asked.ID++
	a.all.begin(inService)
	a.ctx.now = ctx
	a.args = [2]starlark.Value{&a.ctx, a.all}
	answer := a.call(a.function, a.args[:a.given])
	if answer == starlark.None {
		return policy.ScaleDecision{Action: policy.Hold, Target: ctx.Replicas, Reason: policy.ByPolicy}
	}
	x := a.number(answer)
	if x != math.Trunc(x) {
		a.fail(ValueError, "returns %v: want a whole number of replicas, like ceil(…), or None", x)
	}
	wanted := int32(min(max(x, float64(ctx.Min)), float64(ctx.Max)))
	d := policy.ScaleDecision{Action: policy.Hold, Target: wanted, Reason: policy.ByPolicy}
	switch {
	case wanted > ctx.Replicas:
		d.Action = policy.ScaleUp
	case wanted < ctx.Replicas:
		d.Action = policy.ScaleDown
	}
	return d
}

// scaleContext is the argument ctx.
type scaleContext struct{ now *policy.AutoscaleContext }

var scaleAttributes attributes[*scaleContext]

func init() {
	of := func(help string, f func(c *policy.AutoscaleContext) starlark.Value) attribute[*scaleContext] {
		return attribute[*scaleContext]{help: help, value: func(x *scaleContext) starlark.Value { return f(x.now) }}
	}
	scaleAttributes = attributes[*scaleContext]{
		"now":          of("the present, in seconds of virtual time", func(c *policy.AutoscaleContext) starlark.Value { return seconds(c.Now) }),
		"interval":     of("seconds between evaluations", func(c *policy.AutoscaleContext) starlark.Value { return number(c.Interval.Seconds()) }),
		"replicas":     of("replicas that there are or will be: what to return to keep them", func(c *policy.AutoscaleContext) starlark.Value { return count(int64(c.Replicas)) }),
		"ready":        of("replicas in service: entries of i", func(c *policy.AutoscaleContext) starlark.Value { return count(int64(c.Ready)) }),
		"min":          of("least number of replicas", func(c *policy.AutoscaleContext) starlark.Value { return count(int64(c.Min)) }),
		"max":          of("largest number of replicas", func(c *policy.AutoscaleContext) starlark.Value { return count(int64(c.Max)) }),
		"at_gateway":   of("requests that wait at the gateway, 0 without --flow-control", func(c *policy.AutoscaleContext) starlark.Value { return count(c.AtGateway) }),
		"max_num_seqs": of("max_num_seqs of every instance", func(c *policy.AutoscaleContext) starlark.Value { return count(int64(c.MaxNumSeqs)) }),
		"since_last_scale": of("seconds since the number changed last, None before", func(c *policy.AutoscaleContext) starlark.Value {
			if ago, ever := c.SinceLastScale(); ever {
				return number(ago.Seconds())
			}
			return starlark.None
		}),
	}
}

// Attr implements starlark.HasAttrs.
func (x *scaleContext) Attr(name string) (starlark.Value, error) {
	a, ok := scaleAttributes[name]
	if !ok {
		return nil, noAttribute("ctx", name, x.AttrNames())
	}
	return a.value(x), nil
}

// AttrNames implements starlark.HasAttrs.
func (x *scaleContext) AttrNames() []string { return scaleAttributes.names() }

func (x *scaleContext) String() string        { return "<context>" }
func (x *scaleContext) Type() string          { return "context" }
func (x *scaleContext) Freeze()               {}
func (x *scaleContext) Truth() starlark.Bool  { return true }
func (x *scaleContext) Hash() (uint32, error) { return 0, typeMistake("ctx cannot be a key") }
