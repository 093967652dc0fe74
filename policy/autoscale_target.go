package policy

import "math"

// thousandths is the number of thousandths in 1. Kubernetes computes with whole
// thousandths of metrics and targets.
const thousandths = 1000

var targetUtilizationParameters = []Parameter{
	signalParameter("of each ready replica. load: three metrics with one target, batch, kv and queue / 5, the largest wins; batch: requests in its batch per seat; kv: share of its KV blocks in use; queue: its waiting requests; rate: requests per second that arrive at the cluster, per replica",
		loadSignal, batchSignal, kvSignal, queueSignal, rateSignal),
	{Name: "target", Type: Number, Default: "0.7", Min: 0.001, Max: 1e9, Help: "mean of the signal per replica to bring about; three decimals count"},
	toleranceParameter,
	downWindowParameter,
	{Name: "up_window", Type: Duration, Default: "0s", Max: math.MaxFloat64, Help: "goes up only to the lowest number of replicas desired within this time"},
	{Name: "up_percent", Type: Number, Default: "100", Min: 0, Max: maxCount, Help: "percentage of the replicas that may be added within a period"},
	{Name: "up_pods", Type: Number, Default: "4", Min: 0, Max: maxCount, Help: "number of replicas that may be added within a period, if that is more than up_percent"},
	{Name: "down_percent", Type: Number, Default: "100", Min: 0, Max: 100, Help: "percentage of the replicas that may be removed within a period"},
	{Name: "down_pods", Type: Number, Default: "0", Min: 0, Max: maxCount, Help: "number of replicas that may be removed within a period, if that is more than down_percent"},
	{Name: "period", Type: Duration, Default: "15s", Min: 1, Max: math.MaxFloat64, Help: "of the limits to what may be added and removed"},
}

// targetUtilization is the HorizontalPodAutoscaler of Kubernetes with metrics per
// pod, as its controller works (docs/autoscaling.md). Each metric of the signal
// gives a desired number of replicas, and the largest counts. The stabilizer
// compares it with the numbers desired lately, and two rates limit the change.
type targetUtilization struct {
	signal     scaleSignal
	target     int64 // in thousandths
	tolerance  tolerance
	stabilizer stabilizer
	changes    changes
	up, down   rate
	watch      watch
}

func newTargetUtilization(v values, _ Env) (Autoscale, error) {
	upPods, err := whole(v, "up_pods")
	if err != nil {
		return nil, err
	}
	downPods, err := whole(v, "down_pods")
	if err != nil {
		return nil, err
	}
	signal := newScaleSignal(v)
	if err := signal.shareOnly(v, "target"); err != nil {
		return nil, err
	}
	return &targetUtilization{
		signal:     signal,
		target:     int64(math.Round(float64(thousandths * v.number("target")))),
		tolerance:  tolerance(v.number("tolerance")),
		stabilizer: newStabilizer(v.duration("down_window"), v.duration("up_window")),
		changes:    changes{period: v.duration("period")},
		up:         rate{percent: v.number("up_percent"), pods: upPods},
		down:       rate{percent: v.number("down_percent"), pods: downPods},
	}, nil
}

func (t *targetUtilization) Observes() Signals { return scaleSignals[t.signal].observes }

func (t *targetUtilization) Evaluate(ctx *AutoscaleContext) ScaleDecision {
	t.stabilizer.begin(ctx)
	desired, reason := t.desired(ctx)
	if reason == NoReason {
		return hold(ctx, NoReason)
	}
	stabilized := t.stabilizer.stabilize(ctx, desired)
	if stabilized != desired {
		reason = Stabilized
	}
	target := t.limit(ctx, stabilized)
	if target != stabilized {
		reason = RateOfChange
	}
	d := toward(ctx, int64(target), reason)
	if d.Action != Hold {
		t.changes.add(ctx.Now, d.Target-ctx.Replicas)
	}
	return d
}

// desired returns the number of replicas that the signal asks for now: the largest
// number that one of its metrics asks for. The reason is NoReason when no metric
// can be measured. It is also NoReason when one metric cannot and the others ask
// for fewer replicas: that one might ask for more.
func (t *targetUtilization) desired(ctx *AutoscaleContext) (int32, Reason) {
	most, reason, missing := int64(0), NoReason, false
	for _, metric := range t.signal.parts() {
		n, why := t.desiredBy(metric, ctx)
		switch {
		case why == NoReason:
			missing = true
		case reason == NoReason || n > most:
			most, reason = n, why
		}
	}
	if reason == NoReason || missing && most < int64(ctx.Replicas) {
		return ctx.Replicas, NoReason
	}
	return within(ctx, most), reason
}

// desiredBy returns the number of replicas that one metric asks for, with NoReason
// when no replica has a value. As in Kubernetes, replicas without a value damp the
// change. Before it goes up, replicas that are not ready or have no value count as
// idle. Before it goes down, ready replicas without a value count as exactly at the
// target. If that turns the direction, nothing changes.
func (t *targetUtilization) desiredBy(metric scaleSignal, ctx *AutoscaleContext) (int64, Reason) {
	if metric == rateSignal {
		return t.desiredByRate(ctx)
	}
	m := metric.measure(ctx)
	if m.measured == 0 {
		return int64(ctx.Replicas), NoReason
	}
	first := t.ratio(m.sum, m.measured)
	t.watch.note(float64(m.sum/m.measured) / thousandths)
	sum, n := m.sum, m.measured
	switch {
	case first > 1:
		n += m.missing + m.coming
	case first < 1:
		sum, n = sum+m.missing*t.target, n+m.missing
	}
	ratio := t.ratio(sum, n)
	if t.tolerance.covers(ratio) || first > 1 && ratio < 1 {
		return int64(ctx.Replicas), WithinTolerance
	}
	return ceil(float64(ratio * float64(n))), t.toTarget(metric)
}

// toTarget returns the reason to follow a metric. For load it names the part.
func (t *targetUtilization) toTarget(metric scaleSignal) Reason {
	if t.signal != loadSignal {
		return ToTarget
	}
	switch metric {
	case batchSignal:
		return SeatsToTarget
	case kvSignal:
		return KVToTarget
	}
	return QueueToTarget
}

// desiredByRate does what desiredBy does for a metric of the cluster whose target is
// an average per replica. All replicas count, ready or not, as with external metrics
// of Kubernetes.
func (t *targetUtilization) desiredByRate(ctx *AutoscaleContext) (int64, Reason) {
	usage := int64(math.Round(float64(thousandths * ctx.State.Rate(ctx.Now))))
	t.watch.note(float64(usage) / float64(thousandths*int64(ctx.Replicas)))
	if t.tolerance.covers(float64(usage) / (float64(t.target) * float64(ctx.Replicas))) {
		return int64(ctx.Replicas), WithinTolerance
	}
	return ceil(float64(usage) / float64(t.target)), ToTarget
}

// Watched implements Watched.
func (t *targetUtilization) Watched() Watch {
	return t.watch.report(t.signal, t.tolerance.above(float64(t.target))/thousandths, true)
}

// measurement is the sum of a signal over the replicas, and their numbers.
type measurement struct {
	sum                       int64 // thousandths, each instance rounded up
	measured, missing, coming int64 // ready, ready without a value, not yet ready
}

func (s scaleSignal) measure(ctx *AutoscaleContext) (m measurement) {
	for _, k := range ctx.View.Present() {
		i := int(k)
		if coming(ctx.View, i) {
			m.coming++
		}
		if !ready(ctx.View, i) {
			continue
		}
		value, unit := s.of(ctx, i)
		if unit == 0 {
			m.missing++
			continue
		}
		m.sum += (thousandths*value + unit - 1) / unit
		m.measured++
	}
	return m
}

// ratio returns the mean over n replicas, in whole thousandths, divided by the
// target.
func (t *targetUtilization) ratio(sum, n int64) float64 { return float64(sum/n) / float64(t.target) }

// limit brings n replicas within the rates, which count from the number of replicas
// before the changes of the last period.
func (t *targetUtilization) limit(ctx *AutoscaleContext, n int32) int32 {
	before := int64(ctx.Replicas) - int64(t.changes.recent(ctx.Now))
	switch {
	case n > ctx.Replicas:
		most := max(t.up.most(before), int64(ctx.Replicas))
		return int32(min(int64(n), most))
	case n < ctx.Replicas:
		least := min(t.down.least(before), int64(ctx.Replicas))
		return int32(max(int64(n), least))
	}
	return n
}

// rate is the largest change of the number of replicas within a period: by percent or
// by pods, whichever is more. When both are 0 no change is allowed.
type rate struct {
	percent float64 // of the replicas at the start of the period
	pods    int32
}

// most returns the largest number of replicas after n. A part of a replica counts
// as one, or a small number would never grow.
func (r rate) most(n int64) int64 {
	return max(ceil(float64(float64(n)*(1+r.percent/100))), n+int64(r.pods))
}

// least returns the smallest number of replicas after n. A part of a replica counts
// as one that may go.
func (r rate) least(n int64) int64 {
	return min(int64(float64(n)*(1-r.percent/100)), n-int64(r.pods))
}
