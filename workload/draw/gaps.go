package draw

import "math"

// gaps draws the gaps of one arrival process.
type gaps struct {
	process ProcessKind
	scale   float64 // by which a standard gap is multiplied; of Constant, Periodic and Burst the mean gap
	shape   float64 // gamma: its shape; weibull, pareto: 1/shape; periodic: jitter
	size    int32   // of a burst
	off     float64 // periodic: how far the last arrival was off its place, in mean gaps
}

// newGaps expects a checked process.
func newGaps(process ArrivalProcess, mean float64) gaps {
	g := gaps{process: process.Kind, scale: mean, size: 1}
	cv := process.CV
	switch process.Kind {
	case Gamma: // CV = 1/√shape, mean = shape · scale
		if g.shape = process.Shape; g.shape == 0 {
			g.shape = 1 / float64(cv*cv)
			g.scale = float64(g.scale * float64(cv*cv))
		} else {
			g.scale /= g.shape
		}
	case Weibull: // mean = scale · Γ(1 + 1/shape)
		if g.shape = 1 / process.Shape; process.Shape == 0 {
			g.shape = weibullInverseShape(cv)
		}
		g.scale /= Exp(LogGamma(1 + g.shape))
	case Pareto: // mean = least · alpha/(alpha − 1)
		g.shape = 1 / process.Alpha
		g.scale = float64(g.scale * (process.Alpha - 1) / process.Alpha)
	case Periodic:
		g.shape = process.Jitter
	case Burst:
		g.size = process.Size
	}
	return g
}

// draw draws one gap, for a burst the one before it. It is finite and not
// negative.
func (g *gaps) draw(v *Variates) float64 {
	switch g.process {
	case Constant:
		return g.scale
	case Gamma:
		return float64(g.scale * gamma(g.shape, v))
	case Weibull:
		e := v.Exponential()
		if e == 0 {
			return 0
		}
		return float64(g.scale * Exp(float64(g.shape*Log(e))))
	case Pareto:
		return float64(g.scale * Exp(float64(g.shape*v.Exponential())))
	case Periodic:
		last := g.off
		return float64(g.scale * max(0, 1+(g.jitter(v)-last)))
	case Burst:
		return float64(g.scale * float64(g.size))
	}
	return float64(g.scale * v.Exponential())
}

// jitter draws how far an arrival is off its place, and keeps it.
func (g *gaps) jitter(v *Variates) float64 {
	if g.shape > 0 {
		g.off = float64(g.shape * (v.Uniform() - 0.5))
	}
	return g.off
}

// gamma draws from the gamma distribution of the given shape and scale 1, by
// Marsaglia and Tsang, "A simple method for generating gamma variables"
// (2000), with their boost for shapes below 1.
func gamma(shape float64, draws *Variates) float64 {
	boost := 1.0
	if shape < 1 {
		boost = Exp(-draws.Exponential() / shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := draws.Normal()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(v * v * v)
		u, y := 1-draws.Uniform(), float64(x*x)
		// The first test is a cheap lower bound of the second.
		if u < 1-float64(0.0331*float64(y*y)) || Log(u) < float64(y/2)+float64(d*(1-v+Log(v))) {
			return float64(d * v * boost)
		}
	}
}

// weibullInverseShape solves CV² = Γ(1+2z)/Γ(1+z)² − 1 for z = 1/shape by
// bisection: the right side grows with z.
func weibullInverseShape(cv float64) float64 {
	target := Log(1 + float64(cv*cv))
	low, high := 0.0, 16.0 // CV(16) is far above MaxCV
	for range 64 {
		z := float64((low + high) / 2)
		if LogGamma(1+float64(2*z))-float64(2*LogGamma(1+z)) < target {
			low = z
		} else {
			high = z
		}
	}
	return (low + high) / 2
}
