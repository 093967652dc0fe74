package draw

import (
	"fmt"
	"strings"

	"blis/suggest"
	"blis/workload"
)

// ProcessKind names a kind of arrival process: a family of distributions of the
// gaps between arrivals, all of which have the mean 1/rate.
type ProcessKind string

// The arrival processes; the empty string is Poisson too. CV is the
// coefficient of variation of the gaps, standard deviation / mean.
const (
	Poisson  ProcessKind = "poisson"  // exponential gaps, CV 1
	Constant ProcessKind = "constant" // equal gaps, CV 0
	Gamma    ProcessKind = "gamma"    // CV or shape given: CV below 1 smoother than Poisson, above 1 burstier
	Weibull  ProcessKind = "weibull"  // CV or shape given; heavier tail than Gamma above 1
	Pareto   ProcessKind = "pareto"   // classic Pareto gaps of Alpha from (Alpha−1)/Alpha of the mean: a power law, no two arrivals closer than that
	Periodic ProcessKind = "periodic" // equal gaps, each arrival off its place by up to half the Jitter
	Burst    ProcessKind = "burst"    // Size arrivals at one instant, every Size mean gaps
)

var processes = []string{string(Poisson), string(Constant), string(Gamma), string(Weibull), string(Pareto), string(Periodic), string(Burst)}

// ArrivalProcess is the distribution of the gaps between arrivals, apart from
// their mean. A parameter that the kind does not use is 0.
type ArrivalProcess struct {
	Kind   ProcessKind
	CV     float64 // Gamma, Weibull: coefficient of variation, from MinCV to MaxCV; 0: Shape says it
	Shape  float64 // Gamma, Weibull: shape of the distribution instead of CV; 0: CV says it
	Alpha  float64 // Pareto: exponent of the tail, above 1; variance is finite above 2
	Jitter float64 // Periodic: width in mean gaps of the uniform distance from the place, from 0 to 1
	Size   int32   // Burst: arrivals at one instant, from 1
}

// MinCV and MaxCV are the range of CV, wide enough for any measured traffic;
// in it the shapes are well-conditioned.
const MinCV, MaxCV = 0.001, 100

// Shapes of Gamma and Weibull, about what the range of CV comes to.
const (
	minGammaShape, maxGammaShape     = 1e-4, 1e6
	minWeibullShape, maxWeibullShape = 0.1, 1e4
)

// Check adds to bad what is wrong with the process. Its fields are named
// process, cv, shape, alpha, jitter and size, after prefix.
func (l ArrivalProcess) Check(bad *workload.Faults, prefix string) {
	switch l.Kind {
	case "", Poisson, Constant:
	case Gamma:
		l.checkSpread(bad, prefix, minGammaShape, maxGammaShape)
	case Weibull:
		l.checkSpread(bad, prefix, minWeibullShape, maxWeibullShape)
	case Pareto:
		if !(l.Alpha > 1 && l.Alpha <= maxAlpha) {
			bad.Add(prefix+"alpha", l.Alpha, "want above 1 (there is no mean gap else), at most %v", float64(maxAlpha))
		}
	case Periodic:
		within(bad, prefix+"jitter", l.Jitter, 0, 1)
	case Burst:
		if l.Size < 1 {
			bad.Add(prefix+"size", l.Size, "want at least 1")
		}
	default:
		bad.Add(prefix+"process", fmt.Sprintf("%q", string(l.Kind)), "there is none of that name%s: want %s or %s", suggest.Hint(string(l.Kind), processes),
			strings.Join(processes[:len(processes)-1], ", "), processes[len(processes)-1])
		return
	}
	l.checkIdle(bad, prefix)
}

// checkSpread wants one of CV and Shape.
func (l ArrivalProcess) checkSpread(bad *workload.Faults, prefix string, low, high float64) {
	switch {
	case l.CV != 0 && l.Shape != 0:
		bad.Add(prefix+"shape", l.Shape, "want one of cv and shape, not both")
	case l.Shape != 0:
		within(bad, prefix+"shape", l.Shape, low, high)
	case !(l.CV >= MinCV && l.CV <= MaxCV):
		bad.Add(prefix+"cv", l.CV, "want from %v to %v, or a shape instead", MinCV, MaxCV)
	}
}

// checkIdle adds the given parameters that the kind does not use.
func (l ArrivalProcess) checkIdle(bad *workload.Faults, prefix string) {
	idle := func(given bool, name string, value any, users ...ProcessKind) {
		words := make([]string, len(users))
		for i, p := range users {
			if p == l.Kind {
				return
			}
			words[i] = string(p)
		}
		if given {
			name, process := prefix+name, l.Kind
			if process == "" {
				process = Poisson
			}
			bad.Add(name, value, "want it with process %s only, not with %s", strings.Join(words, " or "), process)
		}
	}
	idle(l.CV != 0, "cv", l.CV, Gamma, Weibull)
	idle(l.Shape != 0, "shape", l.Shape, Gamma, Weibull)
	idle(l.Alpha != 0, "alpha", l.Alpha, Pareto)
	idle(l.Jitter != 0, "jitter", l.Jitter, Periodic)
	idle(l.Size != 0, "size", l.Size, Burst)
}
