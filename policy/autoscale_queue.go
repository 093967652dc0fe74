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
	{Name: "low", Type: Number, Default: "0.3", Min: 0.001, Max: 1, Help: "goes down only as far as seats and KV blocks in use would stay below this share of the replicas that are left; three decimals count"},
	downWindowParameter,
	{Name: "source", Type: Choice, Default: fromBoth, Choices: []string{fromBoth, fromInstances, fromGateway}, Quiet: true,
		Help: "whose waiting requests count: those of instances, of the gateway, or both; without flow control there are none at the gateway"},
}

// Whose waiting requests count.
const (
	fromBoth      = "both"
	fromInstances = "instances"
	fromGateway   = "gateway"
)

// queue-depth removes at most one in mostRemoved replicas at a time, and one at
// least: the use of seats and KV blocks grows faster than the load on each replica
// that is left.
const mostRemoved = 5

// queueTarget wants one replica for each target waiting requests. An empty queue
// alone is no reason to remove replicas: one with a full batch and no waiting
// request is busy, not idle.
type queueTarget struct {
	target     float64
	source     string
	tolerance  tolerance
	low        float64 // in thousandths, a whole number
	stabilizer stabilizer
	watch      watch
}

func newQueueTarget(v values, _ Env) (Autoscale, error) {
	return &queueTarget{target: v.number("target"), source: v.choice("source"), tolerance: tolerance(v.number("tolerance")), low: math.Round(float64(thousandths * v.number("low"))),
		stabilizer: newStabilizer(v.duration("down_window"), 0)}, nil
}

func (*queueTarget) Observes() Signals { return QueueDepth | BatchSize | KVUse }

func (q *queueTarget) Evaluate(ctx *AutoscaleContext) ScaleDecision {
	q.stabilizer.begin(ctx)
	waiting, serving := int64(0), int64(0)
	for _, k := range ctx.View.Present() {
		if i := int(k); ready(ctx.View, i) {
			waiting += ctx.View.QueueDepth(i)
			serving++
		}
	}
	switch q.source {
	case fromBoth:
		waiting += ctx.AtGateway
	case fromGateway:
		waiting = ctx.AtGateway
	}
	if serving == 0 {
		return q.fromNone(ctx)
	}
	desired, reason := q.within(ctx, ceil(float64(waiting)/q.target)), ToTarget
	if q.tolerance.covers(float64(waiting) / float64(q.target*float64(ctx.Replicas))) {
		desired, reason = ctx.Replicas, WithinTolerance
	}
	if desired < ctx.Replicas {
		desired, reason = q.down(ctx, serving, desired)
	}
	q.watch.note(float64(waiting) / float64(ctx.Replicas))
	stabilized := q.stabilizer.stabilize(ctx, desired)
	if stabilized != desired {
		reason = Stabilized
	}
	return change(ctx, stabilized, reason)
}

// within returns n brought within the bounds. Who sees the gateway may go down to no replica: it will see who waits there.
func (q *queueTarget) within(ctx *AutoscaleContext, n int64) int32 {
	if q.source == fromInstances {
		return within(ctx, n)
	}
	return bounded(ctx, n)
}

// fromNone decides while no instance is ready: whoever waits at the gateway wants some, and those that start stay.
func (q *queueTarget) fromNone(ctx *AutoscaleContext) ScaleDecision {
	desired := q.within(ctx, ceil(float64(ctx.AtGateway)/q.target))
	if q.source == fromInstances || desired <= ctx.Replicas {
		return hold(ctx, NoReason)
	}
	return change(ctx, q.stabilizer.stabilize(ctx, desired), ToTarget)
}

// down returns the number of replicas to go down to, desired at the lowest: the
// shares of seats and of KV blocks in use must stay below low. serving is the
// number of ready replicas.
func (q *queueTarget) down(ctx *AutoscaleContext, serving int64, desired int32) (int32, Reason) {
	reason := ToTarget
	if least := ctx.Replicas - max(1, ctx.Replicas/mostRemoved); desired < least {
		desired, reason = least, RateOfChange
	}
	for _, s := range [...]scaleSignal{batchSignal, kvSignal} {
		sum, of := s.sums(ctx)
		if of == 0 {
			return ctx.Replicas, InUse
		}
		if least := q.within(ctx, ceil(float64(thousandths*serving)*float64(sum)/(float64(of)*q.low))); desired < least {
			desired, reason = min(least, ctx.Replicas), InUse
		}
	}
	return desired, reason
}

// Watched implements Watched.
func (q *queueTarget) Watched() Watch {
	return q.watch.report(queueSignal, q.tolerance.above(q.target), true)
}

// tolerance is the distance of a ratio from 1 up to which nothing is changed.
type tolerance float64

// above returns the largest value within the tolerance of a target.
func (t tolerance) above(target float64) float64 { return target + float64(target*float64(t)) }

func (t tolerance) covers(ratio float64) bool { return ratio >= 1-float64(t) && ratio <= 1+float64(t) }
