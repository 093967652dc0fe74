package draw

import (
	"fmt"
	"math"

	"blis/vtime"
	"blis/workload"
)

// Process names an arrival process: the distribution of the gaps between
// arrivals, all of which have the mean 1/rate.
type Process string

// The arrival processes. CV is the coefficient of variation of the gaps,
// standard deviation / mean.
const (
	Poisson  Process = "poisson"  // exponential gaps, CV 1
	Constant Process = "constant" // equal gaps, CV 0
	Gamma    Process = "gamma"    // CV given: below 1 smoother than Poisson, above 1 burstier
	Weibull  Process = "weibull"  // CV given; heavier tail than Gamma above 1
)

// Law is how the gaps between arrivals are distributed, apart from their mean.
type Law struct {
	Process Process
	CV      float64 // Gamma, Weibull: coefficient of variation, from MinCV to MaxCV
}

// MinCV and MaxCV are the range of CV, wide enough for any measured traffic; in it the shapes
// below are well-conditioned.
const MinCV, MaxCV = 0.001, 100

// Arrivals yields the instants of one arrival process. The first arrival is
// one gap after time 0.
//
// No gap is rounded by itself, which would bias the rate by up to a
// microsecond per request: the instant is kept as whole microseconds and a
// fraction of one, gaps are added to the fraction, and what is handed out is
// the whole part. So the n-th arrival is the truncated sum of n gaps, times
// never go back, and nothing drifts however long the run. Constant arrivals
// are computed from their number, n·10⁶/rate truncated, and carry nothing.
type Arrivals struct {
	process Process
	rate    float64 // requests per second
	scale   float64 // µs by which a standard gap is multiplied
	shape   float64 // gamma: its shape; weibull: 1/shape
	draws   Variates

	number   int64 // arrivals handed out
	whole    int64 // µs
	fraction float64
}

// NewArrivals expects a checked law and curve.
func NewArrivals(law Law, c *Curve, stream *vtime.Stream) Arrivals {
	process, rate, cv := law.Process, c.Pieces[0].From, law.CV
	a := Arrivals{process: process, rate: rate, scale: 1e6 / rate, draws: NewVariates(stream)}
	switch process {
	case Gamma: // CV = 1/√shape, mean = shape · scale
		a.shape = 1 / float64(cv*cv)
		a.scale = float64(a.scale * float64(cv*cv))
	case Weibull: // mean = scale · Γ(1 + 1/shape)
		a.shape = weibullInverseShape(cv)
		a.scale /= Exp(LogGamma(1 + a.shape))
	}
	return a
}

// Next returns the next arrival. It reports false when none is to come, as the
// rate is 0 for ever, and an error past the end of virtual time.
func (a *Arrivals) Next() (at vtime.Time, more bool, err error) {
	a.number++
	if a.process == Constant {
		us := float64(a.number) * 1e6 / a.rate
		if us > float64(workload.Latest) {
			return 0, false, a.past()
		}
		return vtime.Time(us), true, nil
	}
	sum := a.fraction + a.gap()
	if !(sum < float64(workload.Latest-vtime.Time(a.whole))) {
		return 0, false, a.past()
	}
	step := int64(sum)
	a.whole += step
	a.fraction = sum - float64(step)
	return vtime.Time(a.whole), true, nil
}

// Fold returns a hash of the state of the draws.
func (a *Arrivals) Fold() uint64 { return a.draws.Fold() }

func (a *Arrivals) past() error {
	return fmt.Errorf("rate: %v: request %d would arrive after the end of virtual time, 2⁶² µs; want a higher rate or fewer requests", a.rate, a.number)
}

// gap draws one gap in µs.
func (a *Arrivals) gap() float64 {
	switch a.process {
	case Gamma:
		return float64(a.scale * a.gamma(a.shape))
	case Weibull:
		e := a.draws.Exponential()
		if e == 0 {
			return 0
		}
		return float64(a.scale * Exp(float64(a.shape*Log(e))))
	}
	return float64(a.scale * a.draws.Exponential())
}

// gamma draws from the gamma distribution of the given shape and scale 1, by
// Marsaglia and Tsang, "A simple method for generating gamma variables"
// (2000), with their boost for shapes below 1.
func (a *Arrivals) gamma(shape float64) float64 {
	boost := 1.0
	if shape < 1 {
		boost = Exp(-a.draws.Exponential() / shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := a.draws.Normal()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(v * v * v)
		u, y := 1-a.draws.Uniform(), float64(x*x)
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

// Window is the index of the window of the last arrival; −1 without windows.
func (a *Arrivals) Window() int { return -1 }
