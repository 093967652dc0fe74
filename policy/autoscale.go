package policy

import (
	"fmt"
	"math"
)

// maxCount is the largest number of replicas or per cent that a parameter of
// an autoscaler can be.
const maxCount = 1e6

var autoscaleTemplates = []template[Autoscale]{{
	Template: Template{Kind: AutoscaleKind, Name: "none", Help: "keeps the number of instances as it is (default)"},
	build:    func(values, Env) (Autoscale, error) { return noScaling{}, nil },
}, {
	Template: Template{Kind: AutoscaleKind, Name: "threshold", Help: "some replicas more when seats, KV blocks or the queue, or another signal, are above one value, fewer when all are below another",
		Parameters: thresholdParameters},
	build: newThreshold,
}, {
	Template: Template{Kind: AutoscaleKind, Name: "target-utilization", Help: "as many replicas as bring a signal to its target, like the HorizontalPodAutoscaler of Kubernetes and with its defaults",
		Parameters: targetUtilizationParameters},
	build: newTargetUtilization,
}, {
	Template: Template{Kind: AutoscaleKind, Name: "queue-depth", Help: "as many replicas as leave each with the target of waiting requests; fewer only while little of seats and KV blocks is in use",
		Parameters: queueDepthParameters},
	build: newQueueTarget,
}, {
	Template: Template{Kind: AutoscaleKind, Name: "oscillator", Help: "one replica more and one fewer in turn, at every evaluation (pathological, for tests)"},
	build:    func(values, Env) (Autoscale, error) { return &oscillator{}, nil },
}}

type noScaling struct{}

func (noScaling) Observes() Signals { return NoSignals }

func (noScaling) Evaluate(ctx *AutoscaleContext) ScaleDecision { return hold(ctx, NoReason) }

// oscillator adds and removes one replica in turn. At a bound one of the turns
// changes nothing.
type oscillator struct{ down bool }

func (*oscillator) Observes() Signals { return NoSignals }

func (o *oscillator) Evaluate(ctx *AutoscaleContext) ScaleDecision {
	step := int64(1)
	if o.down {
		step = -1
	}
	o.down = !o.down
	return toward(ctx, int64(ctx.Replicas)+step, OtherWay)
}

// hold returns the decision to keep the number of replicas.
func hold(ctx *AutoscaleContext, reason Reason) ScaleDecision {
	return ScaleDecision{Action: Hold, Target: ctx.Replicas, Reason: reason}
}

// toward returns the decision for n replicas within the bounds. Autoscalers apply
// the bounds themselves, because they remember their actions as carried out.
func toward(ctx *AutoscaleContext, n int64, reason Reason) ScaleDecision {
	return change(ctx, within(ctx, n), reason)
}

// change returns the decision for a number of replicas that is within the bounds.
func change(ctx *AutoscaleContext, target int32, reason Reason) ScaleDecision {
	d := ScaleDecision{Action: Hold, Target: target, Reason: reason}
	switch {
	case d.Target > ctx.Replicas:
		d.Action = ScaleUp
	case d.Target < ctx.Replicas:
		d.Action = ScaleDown
	}
	return d
}

// within returns n brought within the bounds, and at least 1: without any replica
// no signal of instances could ever ask for one.
func within(ctx *AutoscaleContext, n int64) int32 { return bounded(ctx, max(n, 1)) }

// bounded returns n brought within the bounds.
func bounded(ctx *AutoscaleContext, n int64) int32 {
	return int32(min(max(n, int64(ctx.Min)), int64(ctx.Max)))
}

// ceil returns x rounded up, as a number of replicas.
func ceil(x float64) int64 { return int64(min(math.Ceil(x), math.MaxInt32)) }

// whole reads a parameter that must be a whole number.
func whole(v values, name string) (int32, error) {
	x := v.number(name)
	if x != math.Trunc(x) {
		return 0, scaleError(name, "%g is not allowed, want a whole number", x)
	}
	return int32(x), nil
}

// scaleError returns an *Error about a parameter of an autoscaler.
func scaleError(name, format string, args ...any) error {
	return &Error{Field: string(AutoscaleKind) + ".params." + name, Problem: fmt.Sprintf(format, args...)}
}
