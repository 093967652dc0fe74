package policy

import "math"

var (
	toleranceParameter = Parameter{Name: "tolerance", Type: Number, Default: "0.1", Min: 0, Max: 1,
		Help: "no change while observed / target is within 1 ± tolerance"}
	downWindowParameter = Parameter{Name: "down_window", Type: Duration, Default: "300s", Max: math.MaxFloat64,
		Help: "goes down only to the highest number of replicas desired within this time"}
)

var queueDepthParameters = []Parameter{
	{Name: "target", Type: Number, Default: "4", Min: 0.001, Max: 1e9, Help: "waiting requests per replica"},
	toleranceParameter,
	downWindowParameter,
}

// queueTarget wants one replica for each target waiting requests.
type queueTarget struct {
	target     float64
	tolerance  tolerance
	stabilizer stabilizer
}

func newQueueTarget(v values, _ Env) (Autoscale, error) {
	return &queueTarget{target: v.number("target"), tolerance: tolerance(v.number("tolerance")),
		stabilizer: newStabilizer(v.duration("down_window"), 0)}, nil
}

func (*queueTarget) Observes() Signals { return QueueDepth }

func (q *queueTarget) Evaluate(ctx *AutoscaleContext) ScaleDecision {
	q.stabilizer.begin(ctx)
	waiting, serving := int64(0), 0
	for _, k := range ctx.View.Present() {
		if i := int(k); ready(ctx.View, i) {
			waiting += ctx.View.QueueDepth(i)
			serving++
		}
	}
	if serving == 0 {
		return hold(ctx, NoReason)
	}
	desired, reason := within(ctx, ceil(float64(waiting)/q.target)), ToTarget
	if q.tolerance.covers(float64(waiting) / float64(q.target*float64(ctx.Replicas))) {
		desired, reason = ctx.Replicas, WithinTolerance
	}
	settled := q.stabilizer.settle(ctx, desired)
	if settled != desired {
		reason = Stabilized
	}
	return toward(ctx, int64(settled), reason)
}

// tolerance is how far a ratio may be from 1 without calling for a change.
type tolerance float64

func (t tolerance) covers(ratio float64) bool { return ratio >= 1-float64(t) && ratio <= 1+float64(t) }
