package policy

import (
	"math"

	"blis/vtime"
)

var thresholdParameters = []Parameter{
	signalParameter("over all ready replicas: batch, requests in batches per seat; kv, share of KV blocks in use; queue, waiting requests per replica; attainment, share of the last completions that met their targets",
		batchSignal, kvSignal, queueSignal, attainmentSignal),
	{Name: "up", Type: Number, Default: "0.8", Min: 0, Max: math.MaxFloat64, Help: "more replicas when the signal is above; with attainment, when it is below"},
	{Name: "down", Type: Number, Default: "0.3", Min: 0, Max: math.MaxFloat64, Help: "fewer replicas when the signal is below; with attainment, when it is above, and then to be given larger than up"},
	{Name: "step", Type: Number, Default: "1", Min: 1, Max: maxCount, Help: "how many more or fewer at a time"},
	{Name: "cooldown", Type: Duration, Default: "60s", Max: math.MaxFloat64, Help: "after an action none for so long, in either direction"},
}

// threshold adds step replicas on one side of a band and removes step on the
// other.
type threshold struct {
	signal        scaleSignal
	high, low     float64 // ends of the band, which belong to it
	onHigh, onLow int64   // replicas to add above it and below it
	cooldown      vtime.Duration
	cooled        vtime.Time // when the cooldown ends
}

func newThreshold(v values, _ Env) (Autoscale, error) {
	step, err := whole(v, "step")
	if err != nil {
		return nil, err
	}
	t := &threshold{signal: newScaleSignal(v), high: v.number("up"), low: v.number("down"),
		onHigh: int64(step), onLow: -int64(step), cooldown: v.duration("cooldown")}
	for _, name := range []string{"up", "down"} {
		if err := t.signal.shareOnly(v, name); err != nil {
			return nil, err
		}
	}
	// Little attainment calls for more, where little of anything else calls
	// for less.
	if t.signal == attainmentSignal {
		t.high, t.low, t.onHigh, t.onLow = t.low, t.high, t.onLow, t.onHigh
		if t.high <= t.low {
			return nil, scaleError("down", "%g is not above up, %g: with signal attainment replicas are added below up and removed above down, want for example up: 0.9, down: 0.99", t.high, t.low)
		}
	}
	if t.low >= t.high {
		return nil, scaleError("down", "%g is not below up, %g: replicas would be added and removed at one value of the signal", t.low, t.high)
	}
	return t, nil
}

func (t *threshold) Observes() Signals { return scaleSignals[t.signal].observes }

func (t *threshold) Evaluate(ctx *AutoscaleContext) ScaleDecision {
	d := t.wish(ctx)
	if d.Action == Hold {
		return d
	}
	if ctx.Now < t.cooled {
		return hold(ctx, InCooldown)
	}
	t.cooled = ctx.Now.Add(t.cooldown)
	return d
}

// wish is the decision if there were no cooldown.
func (t *threshold) wish(ctx *AutoscaleContext) ScaleDecision {
	value, known := t.signal.mean(ctx)
	switch {
	case known && value > t.high:
		return toward(ctx, int64(ctx.Replicas)+t.onHigh, AboveThreshold)
	case known && value < t.low:
		return toward(ctx, int64(ctx.Replicas)+t.onLow, BelowThreshold)
	}
	return hold(ctx, NoReason)
}
