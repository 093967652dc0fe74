package policy

import "math"

// scaleSignal is what an autoscaler measures of the ready instances.
type scaleSignal uint8

const (
	loadSignal scaleSignal = iota // its parts together, whichever binds
	batchSignal
	kvSignal
	queueSignal
	attainmentSignal
	rateSignal  // of the cluster, not of single instances
	backlogPart // of load: waiting requests as a share of fullQueue
)

// fullQueue is how many waiting requests count as a full queue: the threshold
// of saturation-shed.
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

// loadParts are the resources of load, in the order in which equals are named.
var loadParts = []scaleSignal{batchSignal, kvSignal, backlogPart}

// parts are the signals that are measured one by one: itself, if it is no
// more.
func (s scaleSignal) parts() []scaleSignal {
	if s == loadSignal {
		return loadParts
	}
	return []scaleSignal{s}
}

// signalParameter is the choice among signals, the first of which is the default.
func signalParameter(help string, signals ...scaleSignal) Parameter {
	p := Parameter{Name: "signal", Type: Choice, Default: scaleSignals[signals[0]].name, Help: help}
	for _, s := range signals {
		p.Choices = append(p.Choices, scaleSignals[s].name)
	}
	return p
}

// newScaleSignal reads the parameter.
func newScaleSignal(v values) scaleSignal { return scaleSignalOf(v.choice("signal")) }

// scaleSignalOf is the signal of a name that there is.
func scaleSignalOf(name string) scaleSignal {
	s := loadSignal
	for scaleSignals[s].name != name {
		s++
	}
	return s
}

// shareOnly refuses a value that the signal, being a share, cannot reach: who
// means 80 % and writes 80 would never see it scale.
func (s scaleSignal) shareOnly(v values, name string) error {
	if x := v.number(name); s != queueSignal && s != rateSignal && x > 1 {
		return scaleError(name, "%g is not allowed with signal %s, want a share of at most 1", x, scaleSignals[s].name)
	}
	return nil
}

// of is the signal at instance i as a fraction. A denominator of 0 says that
// there is nothing to measure it by. It is not for load, which has parts.
func (s scaleSignal) of(ctx *AutoscaleContext, i int) (numerator, denominator int64) {
	switch s {
	case batchSignal:
		return ctx.View.BatchSize(i), int64(ctx.MaxSeqs)
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

// mean is the signal over all ready instances, and whether there is any. The
// sums are of whole numbers: a mean that should be 0.8 is, and does not pass a
// threshold of 0.8 by an error of rounding.
func (s scaleSignal) mean(ctx *AutoscaleContext) (value float64, known bool) {
	sum, of := s.sums(ctx)
	return mean(sum, of), of > 0
}

// sums are the sums of what the mean is made of.
func (s scaleSignal) sums(ctx *AutoscaleContext) (sum, of int64) {
	for _, k := range ctx.View.Present() {
		if i := int(k); ready(ctx.View, i) {
			numerator, denominator := s.of(ctx, i)
			sum, of = sum+numerator, of+denominator
		}
	}
	return sum, of
}

// highest is the largest mean among the parts of the signal, which part that
// is, whether any could be measured, and whether all could. Of equal parts it
// is the first.
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

// ready reports whether instance i is one that requests are sent to: what a
// readiness probe would say. One that warms up without requests is not, its
// idleness tells nothing of the load.
func ready(v *View, i int) bool {
	phase := v.Phase(i)
	return (phase == Serving || phase == Warming) && v.Routable(i)
}

// coming reports whether instance i is a replica that is not ready yet.
func coming(v *View, i int) bool {
	phase := v.Phase(i)
	return phase != Draining && phase != Gone && !ready(v, i)
}
