package spec

import (
	"cmp"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// This file alone turns a specification into arrival processes, rate curves and
// distributions of package draw.

// built names a distribution that has been made: one of the specification times a
// factor.
type built struct {
	of     *distribution
	factor float64
}

// maxValues is how many values all tables of empirical distributions may have
// together.
const maxValues = 20_000_000

// draws makes distributions of package draw, each once.
type draws struct {
	*faults
	spec   *Spec                           // names the files
	files  map[*distribution]*distribution // those with their files read
	scaled map[built]*distribution         // distributions times a factor
	built  map[built]draw.Distribution     // by scaled distribution
	values int                             // of all their tables
}

func newDraws(f *faults, s *Spec) *draws {
	return &draws{faults: f, spec: s, files: map[*distribution]*distribution{}, scaled: map[built]*distribution{}, built: map[built]draw.Distribution{}}
}

// distribution is d as package draw has it, made once.
func (w *draws) distribution(d *distribution) draw.Distribution {
	d = w.loaded(d)
	key := built{cmp.Or(d.origin, d), d.factor}
	out, known := w.built[key]
	if known || !w.ok() {
		return out
	}
	if w.values += len(d.values); d.family == "zipf" {
		w.values += int(d.params[1])
	}
	if w.values > maxValues {
		w.fail(d.place, "all distributions together have more than %d values, want less", maxValues)
		return out
	}
	out, err := w.make(d)
	if err != nil {
		w.fail(d.place, "%s: %v", d.family, err)
	}
	w.built[key] = out
	return out
}

// make makes it. Parameters were checked when they were read, but for what
// only all of them together show.
func (w *draws) make(d *distribution) (draw.Distribution, error) {
	p := d.params
	switch d.family {
	case "constant":
		return draw.NewFixed(p[0])
	case "gaussian":
		return draw.NewGaussian(p[0], p[1])
	case "exponential":
		return draw.NewExponential(p[0])
	case "lognormal":
		if d.form == 0 {
			return draw.NewLognormal(p[0], p[1])
		}
		return draw.NewLognormalMean(p[0], p[1])
	case "pareto_lognormal":
		return draw.NewParetoLognormal(p[0], p[1], p[2], p[3], p[4])
	case "uniform":
		return uniform(d)
	case "zipf": // in package draw it begins at 0
		return draw.NewEmpirical(zipfTable(p[0], int(p[1])))
	}
	return draw.NewEmpirical(d.values, d.weights)
}

// uniform gives all whole numbers of tokens the same chance.
func uniform(d *distribution) (draw.Distribution, error) {
	half := 0.5
	if d.measure.duration {
		half = 0
	}
	return draw.NewUniform(d.min.value-half, d.max.value+half)
}

// mean is the expected value of d, as if its bounds cut nothing off.
func (w *draws) mean(d *distribution) float64 {
	out := w.distribution(d)
	return out.Mean()
}

// process is the arrival process at the rate given, per second.
func (b *builder) process(a *arrival, tune *tuning, rate float64) draw.ArrivalProcess {
	switch {
	case tune.burst > 0:
		return draw.ArrivalProcess{Kind: draw.Burst, Size: tune.burst}
	case tune.cv > 0:
		return draw.ArrivalProcess{Kind: draw.Gamma, CV: tune.cv}
	}
	process := draw.ArrivalProcess{Kind: draw.Poisson}
	switch a.process {
	case constantGap:
		process.Kind = draw.Constant
	case gamma, weibull:
		process.Kind, process.CV, process.Shape = draw.ProcessKind(a.process), a.cv.value, a.shape.value
		switch {
		case a.shape.set: // cv may stand beside it
			process.CV = 0
		case !a.cv.set:
			process.CV = 1
		}
	case bursty, pareto:
		if a.alpha.set {
			process.Kind, process.Alpha = draw.Pareto, a.alpha.value
		}
	case periodic:
		process.Kind, process.Jitter = draw.Periodic, a.jitter.value
	case adversarial:
		process.Kind, process.Size = draw.Burst, a.burst(b, rate)
	}
	var bad workload.Faults
	if process.Check(&bad, ""); bad.Err("") != nil {
		b.fail(a.place, "%v", bad.Err(""))
	}
	return process
}

// vary is the rate c, varied by spikes or waves around it.
func vary(rate float64, s *spikes, w *waves) draw.RateCurve {
	shape := draw.Flat(1)
	switch {
	case s != nil:
		shape = draw.Spikes(s.every, s.length, s.first, s.factor)
	case w != nil:
		shape = draw.Sinusoid(w.period, w.ratio, w.peak)
	}
	return shape.Scale(rate)
}

// curve is the rate curve of a client whose own rate is rate per second.
func (c *client) curve(inherited *profile, rate float64) draw.RateCurve {
	p := &c.pattern
	switch {
	case p.waves != nil: // around the mean that makes rate the highest
		r := p.waves.ratio
		return vary(float64(rate*((r+1)/float64(2*r))), nil, p.waves)
	case p.drain:
		var pieces []draw.Piece
		if p.start > 0 {
			pieces = append(pieces, draw.Piece{Length: p.start, From: rate, To: rate})
		}
		return draw.RateCurve{Pieces: append(pieces, draw.Piece{Length: p.ramp, From: rate})}
	case c.arrival.shapesRate():
		return vary(rate, c.arrival.spikes, c.arrival.waves)
	case c.profile != nil:
		return c.profile.curve(rate)
	case p.spike != nil:
		return draw.Flat(rate)
	}
	return inherited.curve(rate)
}

// pick is which of count prefixes a request has: number k, from 0, with a
// chance that falls as (k+1)^−skew.
func (w *draws) pick(at place, skew float64, count int64) draw.Length {
	d, err := draw.NewZipf(skew, int(count))
	if err != nil {
		w.fail(at, "%v", err)
	}
	return draw.Length{Dist: d, Min: 0, Max: int32(count - 1)}
}

// always is the window from the beginning to the end of time.
var always = window{end: vtime.Never}
