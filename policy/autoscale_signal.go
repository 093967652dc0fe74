package policy

import "math"

// scaleSignal is what an autoscaler measures of the ready instances.
type scaleSignal uint8

const (
	loadSignal scaleSignal = iota // the largest of loadParts
	batchSignal
	kvSignal
	queueSignal
	attainmentSignal
	rateSignal  // of the cluster, not of single instances
	backlogPart // of load: waiting requests as a share of fullQueue
)

// fullQueue is the number of waiting requests that counts as a full queue, as in
// saturation-shed.
const fullQueue = 5

var scaleSignals = [...]struct {
	name     string
	observes Signals
}{
	loadSignal:       {"load", BatchSize | KVUse | QueueDepth},
	batchSignal:      {"batch", BatchSize},
	kvSignal:         {"kv", KVUse},
	queueSignal:      {"queue", QueueDepth},
	attainmentSignal: {"attainment", RecentLatency},
	rateSignal:       {"rate", Rates},
	backlogPart:      {"queue", QueueDepth},
}

// loadParts are the resources of load. Of equal ones the first is named.
var loadParts = []scaleSignal{batchSignal, kvSignal, backlogPart}

// parts returns the signals to measure: the parts of load, else the signal itself.
func (s scaleSignal) parts() []scaleSignal {
	if s == loadSignal {
		return loadParts
	}
	return []scaleSignal{s}
}

// signalParameter returns the parameter that chooses among signals. The first is
// the default.
func signalParameter(help string, signals ...scaleSignal) Parameter {
	p := Parameter{Name: "signal", Type: Choice, Default: scaleSignals[signals[0]].name, Help: help}
	for _, s := range signals {
		p.Choices = append(p.Choices, scaleSignals[s].name)
	}
	return p
}

// newScaleSignal reads the parameter signal.
func newScaleSignal(v values) scaleSignal { return scaleSignalOf(v.choice("signal")) }

// scaleSignalOf returns the signal of that name, which must exist.
func scaleSignalOf(name string) scaleSignal {
	s := loadSignal
	for scaleSignals[s].name != name {
		s++
	}
	return s
}

// shareOnly refuses a value above 1 for a signal that is a share, such as 80 for
// 80 %: the signal would never reach it.
func (s scaleSignal) shareOnly(v values, name string) error {
	if x := v.number(name); s != queueSignal && s != rateSignal && x > 1 {
		return scaleError(name, "%g is not allowed with signal %s, want a share of at most 1", x, scaleSignals[s].name)
	}
	return nil
}

// of returns the signal at instance i as a fraction. Denominator 0 means that it
// cannot be measured. It is not for load, which has parts.
func (s scaleSignal) of(ctx *AutoscaleContext, i int) (numerator, denominator int64) {
	switch s {
	case batchSignal:
		return ctx.View.BatchSize(i), int64(ctx.MaxNumSeqs)
	case kvSignal:
		return ctx.View.UsedBlocks(i), ctx.View.TotalBlocks(i)
	case attainmentSignal:
		share, judged := ctx.View.RecentAttainment(i)
		return int64(math.Round(float64(share * float64(judged)))), judged
	case backlogPart:
		return ctx.View.QueueDepth(i), fullQueue
	}
	return ctx.View.QueueDepth(i), 1
}

// mean returns the mean of the signal over the ready instances, and whether it can
// be measured. The sums are whole numbers: a mean of exactly 0.8 does not pass the
// threshold 0.8 by a rounding error.
func (s scaleSignal) mean(ctx *AutoscaleContext) (value float64, known bool) {
	sum, of := s.sums(ctx)
	return mean(sum, of), of > 0
}

// sums returns the numerator and the denominator of the mean.
func (s scaleSignal) sums(ctx *AutoscaleContext) (sum, of int64) {
	for _, k := range ctx.View.Present() {
		if i := int(k); ready(ctx.View, i) {
			numerator, denominator := s.of(ctx, i)
			sum, of = sum+numerator, of+denominator
		}
	}
	return sum, of
}

// highest returns the largest mean among the parts of the signal, and its part, the
// first of equal ones. known: any part could be measured; complete: all could.
func (s scaleSignal) highest(ctx *AutoscaleContext) (value float64, part scaleSignal, known, complete bool) {
	complete = true
	for _, p := range s.parts() {
		x, ok := p.mean(ctx)
		if ok && (!known || x > value) {
			value, part = x, p
		}
		known, complete = known || ok, complete && ok
	}
	return value, part, known, complete
}

// ready reports whether instance i gets requests, as a readiness probe would. An
// instance that warms up without requests is not ready: its idleness says nothing
// about the load.
func ready(v *View, i int) bool {
	phase := v.Phase(i)
	return (phase == Serving || phase == Warming) && v.Routable(i)
}

// coming reports whether instance i is a replica that is not ready yet.
func coming(v *View, i int) bool {
	phase := v.Phase(i)
	return phase != Draining && phase != Gone && !ready(v, i)
}

// watch is the range of values of a signal in a run.
type watch struct {
	known           bool
	lowest, highest float64
}

// note enters a value of the signal, or of one of its parts.
func (w *watch) note(value float64) {
	if !w.known {
		w.known, w.lowest, w.highest = true, value, value
	}
	w.lowest, w.highest = min(w.lowest, value), max(w.highest, value)
}

// report says how near the signal came to a limit, from below (up) or from above.
func (w *watch) report(signal scaleSignal, limit float64, up bool) Watch {
	r := Watch{Signal: scaleSignals[signal].name, Limit: limit, Known: w.known}
	if up {
		r.Nearest, r.Passed = w.highest, w.known && w.highest > limit
		return r
	}
	r.Nearest, r.Passed = w.lowest, w.known && w.lowest < limit
	return r
}
