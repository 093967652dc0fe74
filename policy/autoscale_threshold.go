package policy

import (
	"math"

	"blis/vtime"
)

var thresholdParameters = []Parameter{
	signalParameter("mean over the ready replicas. load: the largest of batch, kv and queue / 5; batch: requests in batches per seat; kv: share of KV blocks in use; queue: waiting requests; attainment: share of the last completions that met their targets",
		loadSignal, batchSignal, kvSignal, queueSignal, attainmentSignal),
	{Name: "up", Type: Number, Default: "0.8", Min: 0, Max: math.MaxFloat64, Help: "more replicas when the signal is above; with attainment, when it is below"},
	{Name: "down", Type: Number, Default: "0.3", Min: 0, Max: math.MaxFloat64, Help: "fewer replicas when the signal is below, all parts of load; with attainment, when it is above, and then to be given larger than up"},
	{Name: "step", Type: Number, Default: "1", Min: 1, Max: maxCount, Help: "how many more or fewer at a time"},
	{Name: "sustained", Type: Duration, Default: "0s", Max: math.MaxFloat64, Help: "acts only when the signal was beyond the same threshold at every evaluation of so long a time"},
	{Name: "cooldown", Type: Duration, Default: "60s", Max: math.MaxFloat64, Help: "after an action none for so long, in either direction"},
}

// threshold adds step replicas when its signal is on one side of a band, and removes
// step replicas on the other.
type threshold struct {
	signal        scaleSignal
	high, low     float64 // ends of the band, inclusive; low < high
	onHigh, onLow int64   // replicas to add above high and below low, negative: to remove
	cooldown      vtime.Duration
	cooled        vtime.Time // end of the present cooldown
	sustained     vtime.Duration
	beyond        streak
	watch         watch
}

func newThreshold(v values, _ Env) (Autoscale, error) {
	step, err := whole(v, "step")
	if err != nil {
		return nil, err
	}
	t := &threshold{signal: newScaleSignal(v), high: v.number("up"), low: v.number("down"),
		onHigh: int64(step), onLow: -int64(step), cooldown: v.duration("cooldown"), sustained: v.duration("sustained")}
	for _, name := range []string{"up", "down"} {
		if err := t.signal.shareOnly(v, name); err != nil {
			return nil, err
		}
	}
	// Low attainment asks for more replicas; low values of all other signals ask
	// for fewer.
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
	since := t.beyond.note(ctx.Now, d.Reason)
	switch {
	case d.Action == Hold:
		return d
	case ctx.Now.Sub(since) < t.sustained:
		return hold(ctx, NotSustained)
	case ctx.Now < t.cooled:
		return hold(ctx, InCooldown)
	}
	t.cooled = ctx.Now.Add(t.cooldown)
	return d
}

// wish returns the decision without cooldown and sustained. While a part of load
// cannot be measured no replica is removed: that part might be the highest.
func (t *threshold) wish(ctx *AutoscaleContext) ScaleDecision {
	value, part, known, complete := t.signal.highest(ctx)
	if known {
		t.watch.note(value)
	}
	switch {
	case known && value > t.high:
		return toward(ctx, int64(ctx.Replicas)+t.onHigh, t.above(part))
	case complete && value < t.low:
		return toward(ctx, int64(ctx.Replicas)+t.onLow, BelowThreshold)
	}
	return hold(ctx, NoReason)
}

// above returns the reason to act on a signal that is too high. For load it names
// the part.
func (t *threshold) above(part scaleSignal) Reason {
	if t.signal != loadSignal {
		return AboveThreshold
	}
	switch part {
	case batchSignal:
		return SeatsAbove
	case kvSignal:
		return KVAbove
	}
	return QueueAbove
}

// Watched implements Watched.
func (t *threshold) Watched() Watch {
	if t.signal == attainmentSignal { // which asks for more when it is low
		return t.watch.report(t.signal, t.low, false)
	}
	return t.watch.report(t.signal, t.high, true)
}

// streak is a sequence of evaluations at which a signal was on the same side of the
// band.
type streak struct {
	side  Reason // NoReason: within the band, or unknown
	since vtime.Time
}

// note enters an evaluation and returns the time since which the side has been the
// same. All parts of load above the band are the same side.
func (s *streak) note(now vtime.Time, reason Reason) vtime.Time {
	side := reason
	if side == SeatsAbove || side == KVAbove || side == QueueAbove {
		side = AboveThreshold
	}
	if side != s.side {
		s.side, s.since = side, now
	}
	return s.since
}
