package spec

import (
	"fmt"
	"math"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
	"blis/yamldoc"
)

// The arrival processes of a specification: the processes of package draw, the
// same with a varying rate, and given times.
const (
	poisson     = "poisson"
	constantGap = "constant"
	gamma       = "gamma"
	weibull     = "weibull"
	bursty      = "bursty"
	pareto      = "pareto"
	periodic    = "periodic"
	diurnal     = "diurnal"
	traced      = "trace"
	adversarial = "adversarial"
)

// processFields are the fields of each process besides process itself.
var processFields = []struct {
	name   string
	fields []string
}{
	{poisson, nil},
	{constantGap, nil},
	{gamma, []string{"cv", "shape", "scale"}},
	{weibull, []string{"cv", "shape", "scale"}},
	{bursty, []string{"factor", "every", "duration", "first", "alpha"}},
	{pareto, []string{"alpha"}},
	{periodic, []string{"jitter"}},
	{diurnal, []string{"period", "peak_to_trough", "peak_at"}},
	{traced, []string{"file", "times_us"}},
	{adversarial, []string{"every", "size"}},
}

// arrival is the arrival process of a client, as a specification gives it.
type arrival struct {
	place
	set     bool
	process string
	cv      given[float64] // gamma, weibull
	shape   given[float64]
	scale   given[float64] // µs
	alpha   given[float64] // pareto
	jitter  given[float64] // periodic; share of the gap
	spikes  *spikes        // bursty
	waves   *waves         // diurnal
	file    given[string]  // trace
	times   []vtime.Time   // trace
	every   given[vtime.Duration]
	size    given[int64] // adversarial
}

// spikes multiply a rate by a factor, again and again.
type spikes struct {
	every, length, first vtime.Duration
	factor               float64
}

// waves are a rate that rises and falls as a sinusoid.
type waves struct {
	period, peak vtime.Duration
	ratio        float64 // peak to trough
}

// arrival reads an arrival process; without one, arrivals are Poisson.
func (o *object) arrival(name string) arrival {
	v, at := o.get(name)
	a := arrival{place: at, process: poisson, set: v != nil}
	if v == nil {
		return a
	}
	known, processes := []string{"process"}, []string(nil)
	for _, p := range processFields {
		processes = append(processes, p.name)
		known = append(known, p.fields...)
	}
	in := o.object(v, at, unique(known))
	kind := in.choice("process", processes...)
	if !kind.set {
		o.fail(kind.place, "not given, want one of %s", fmt.Sprint(processes))
		return a
	}
	a.process = kind.value
	a.checkFields(&in)
	a.read(&in)
	return a
}

func unique(list []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			out = append(out, s)
		}
		seen[s] = true
	}
	return out
}

// checkFields refuses fields that this process does not use.
func (a *arrival) checkFields(o *object) {
	for _, m := range o.members {
		if m.Name == "process" || m.Value.Kind == yamldoc.Null {
			continue
		}
		var with []string
		ok := false
		for _, p := range processFields {
			for _, f := range p.fields {
				if f == m.Name {
					with = append(with, p.name)
					ok = ok || p.name == a.process
				}
			}
		}
		// The public simulator's files carry a cv that its Poisson does not use.
		if !ok && m.Name != "cv" && len(with) > 0 {
			o.fail(o.Within(m.Name, m.Line), "%s: want it with process %s only, not with %s", m.Value.Describe(), orList(with), a.process)
		}
	}
}

func orList(words []string) string {
	text := words[0]
	for i, w := range words[1:] {
		if i == len(words)-2 {
			text += " or " + w
		} else {
			text += ", " + w
		}
	}
	return text
}

const maxBurst = 1_000_000 // requests at one instant

func (a *arrival) read(o *object) {
	a.cv = o.number("cv", draw.MinCV, draw.MaxCV, fmt.Sprintf("from %v to %v", draw.MinCV, draw.MaxCV))
	if a.process == weibull {
		a.shape = o.number("shape", 0.1, 1e4, "a number from 0.1 to 10000")
	} else {
		a.shape = o.number("shape", 1e-4, 1e6, "a number from 0.0001 to 1e6")
	}
	a.scale = o.number("scale", positive, float64(workload.Latest), "microseconds above 0")
	a.alpha = o.number("alpha", 1.001, 1000, "a number from 1.001 to 1000: at 1 or below gaps have no mean")
	a.jitter = o.number("jitter", 0, 1, "a share of the gap, from 0 to 1")
	a.size = o.whole("size", 1, maxBurst, fmt.Sprintf("requests in a burst, from 1 to %d", maxBurst))
	a.every = o.longDuration("every")
	a.file = o.path("file", "the path of a trace")
	a.times = readTimes(o)
	if a.cv.set && a.shape.set && !a.scale.set { // the public simulator's files may have all three
		o.fail(a.shape.place, "%v: given beside cv, want one of them", a.shape.value)
	}
	switch a.process {
	case bursty:
		a.readBursty(o)
	case pareto:
		if !a.alpha.set {
			o.fail(a.alpha.place, "not given, want the shape of the Pareto distribution of gaps, like 1.5")
		}
	case diurnal:
		a.waves = readWaves(o)
	case traced:
		if a.file.set == o.has("times_us") {
			o.fail(a.place, "process trace: want one of file and times_us")
		}
	case adversarial:
		if !a.every.set && !a.size.set {
			o.fail(a.place, "process adversarial: want every, size or both")
		}
	}
}

func (a *arrival) readBursty(o *object) {
	spiky := o.has("factor") || o.has("every") || o.has("duration") || o.has("first")
	if spiky == a.alpha.set {
		o.fail(a.place, "process bursty: want either factor, every and duration, or alpha")
		return
	}
	if spiky {
		a.spikes = readSpikes(o)
	}
}

// readSpikes reads {every, duration, factor, first}.
func readSpikes(o *object) *spikes {
	every, length, factor := o.longDuration("every"), o.longDuration("duration"), o.number("factor", 0, 1e6, "a factor from 0 to 1e6")
	first := o.duration("first")
	for _, g := range []struct {
		place
		set bool
	}{{every.place, every.set}, {length.place, length.set}, {factor.place, factor.set}} {
		if !g.set {
			o.fail(g.place, "not given, want every, duration and factor of the spikes")
		}
	}
	if length.value > every.value {
		o.fail(length.place, "%v: want at most every %v", length.value, every.value)
	}
	s := &spikes{every: every.value, length: length.value, first: first.or(every.value - length.value), factor: factor.value}
	if first.set && s.first > s.every-s.length {
		o.fail(first.place, "%v: want at most every minus duration, %v", s.first, s.every-s.length)
	}
	return s
}

// readWaves reads {period, peak_to_trough, peak_at}.
func readWaves(o *object) *waves {
	period := o.longDuration("period")
	ratio := o.number("peak_to_trough", 1, 1e6, "a ratio from 1 to 1e6")
	if !ratio.set {
		o.fail(ratio.place, "not given, want the ratio of the highest rate to the lowest, like 10")
	}
	w := &waves{period: period.or(24 * vtime.Hour), ratio: ratio.value}
	at := o.duration("peak_at")
	w.peak = at.or(w.period / 2)
	if w.peak > w.period {
		o.fail(at.place, "%v: want at most period %v", w.peak, w.period)
	}
	return w
}

// readTimes reads arrivals in µs, in order.
func readTimes(o *object) []vtime.Time {
	items, at := o.items("times_us", "arrivals in microseconds, in order")
	var times []vtime.Time
	for i, v := range items {
		here := at.Item(i, v.Line)
		t := vtime.Time(o.parseDuration(v, here))
		if i > 0 && t < times[i-1] {
			o.fail(here, "%d: want at least the %d before it", int64(t), int64(times[i-1]))
		}
		times = append(times, t)
	}
	if o.has("times_us") && len(times) == 0 {
		o.fail(at, "an empty list, want arrivals in microseconds")
	}
	return times
}

// shapesRate reports whether the process defines how the rate varies.
func (a *arrival) shapesRate() bool { return a.spikes != nil || a.waves != nil }

// gap is the mean gap from shape and scale, in µs, 0 if they are not given.
func (a *arrival) gap() float64 {
	if !a.shape.set || !a.scale.set {
		return 0
	}
	if a.process == weibull { // scale · Γ(1 + 1/shape)
		return float64(a.scale.value * draw.Exp(draw.LogGamma(1+1/a.shape.value)))
	}
	return float64(a.shape.value * a.scale.value)
}

// ownRate is the rate that the process defines, per second, 0 if it defines
// none.
func (a *arrival) ownRate() float64 {
	switch {
	case a.gap() > 0:
		return 1e6 / a.gap()
	case a.process == adversarial && a.every.set && a.size.set:
		return float64(a.size.value) / a.every.value.Seconds()
	}
	return 0
}

// burst is the number of requests of a burst at the rate given.
func (a *arrival) burst(b *builder, rate float64) int32 {
	if !a.every.set {
		return int32(a.size.value)
	}
	n := float64(rate * a.every.value.Seconds())
	if a.size.set {
		if math.Abs(n-float64(a.size.value)) > 0.5 {
			b.fail(a.size.place, "%d: want %.0f, which is the rate %v/s times every %v; or leave one of them out", a.size.value, n, rate, a.every.value)
		}
		return int32(a.size.value)
	}
	n = math.Floor(n + 0.5)
	if n < 1 || n > maxBurst {
		b.fail(a.every.place, "%v: a burst would have %v requests at the rate %v/s, want from 1 to %d", a.every.value, n, rate, maxBurst)
		return 1
	}
	return int32(n)
}
