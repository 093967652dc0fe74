package servegen

import (
	"fmt"
	"math"

	"blis/workload/draw"
)

// Notes are what a user should know of the data: what was left out, and where
// the numbers of a file contradict each other. Each is one line.
type Notes []string

// tolerance is how far two numbers of a file that say the same may differ.
const tolerance = 0.01

// facts counts what notes say.
type facts struct {
	clients, windows, silent, outside int
	idle                              int // clients without traffic
	unequal                           spread
	gamma, weibull, poisson           spread // CV by the shape, over the CV of the column
	scale                             spread // mean gap by shape and scale, times the rate
	clamped                           int    // windows with a CV beyond what can be drawn
	used                              string
	reasons                           bool
}

// spread counts ratios that are away from 1, and the range of those.
type spread struct {
	all, away   int
	least, most float64
	first       string // where
}

func (s *spread) add(ratio float64, file string, line int) {
	s.all++
	if ratio >= 1-tolerance && ratio <= 1+tolerance {
		return
	}
	if s.away == 0 {
		s.least, s.most, s.first = ratio, ratio, fmt.Sprintf("%s:%d", file, line)
	}
	s.away++
	s.least, s.most = min(s.least, ratio), max(s.most, ratio)
}

// consider takes note of how far a window agrees with itself.
func (f *facts) consider(w *window, file string) {
	f.windows++
	if w.process == draw.Poisson {
		f.poisson.add(w.cv, file, w.line)
		return
	}
	of := &f.gamma
	if w.process == draw.Weibull {
		of = &f.weibull
	}
	if w.cv > draw.MaxCV && f.used == "cv" {
		f.clamped++
	}
	of.add(variation(w.process, w.shape)/w.cv, file, w.line)
	f.scale.add(float64(mean(w.process, w.shape, w.scale)*w.rate), file, w.line)
}

func (f *facts) notes() Notes {
	n := Notes{fmt.Sprintf("read: %d clients with %d windows; left out: windows without traffic: %d", f.clients, f.windows, f.silent)}
	add := func(count int, format string, args ...any) {
		if count > 0 {
			n = append(n, fmt.Sprintf(format, args...))
		}
	}
	add(f.outside, "left out: windows with traffic that are not wholly inside the span: %d", f.outside)
	add(f.idle, "left out: clients without traffic: %d", f.idle)
	for _, s := range []struct {
		*spread
		family string
	}{{&f.gamma, "Gamma"}, {&f.weibull, "Weibull"}} {
		add(s.away, "%s: in %d of %d windows param1 gives gaps another CV than the column cv, %.3g to %.3g times as large, first in %s: %s is used", s.family, s.away, s.all, s.least, s.most, s.first, f.used)
	}
	add(f.poisson.away, "no family: in %d of %d windows the column cv is not 1, %.3g to %.3g, first in %s: arrivals are Poisson", f.poisson.away, f.poisson.all, f.poisson.least, f.poisson.most, f.poisson.first)
	add(f.clamped, "windows whose column cv is above %v, which is used: %d", draw.MaxCV, f.clamped)
	add(f.scale.away, "in %d of %d windows param1 and param2 give another mean gap than 1/rate, %.3g to %.3g times as long, first in %s: the rate is used", f.scale.away, f.scale.all, f.scale.least, f.scale.most, f.scale.first)
	add(f.unequal.away, "windows of unequal width, %.3g to %.3g times the usual one, first in %s: each lasts to the start of the next", f.unequal.least, f.unequal.most, f.unequal.first)
	if f.reasons {
		n = append(n, ratioKey+" was not used: output_tokens count the reasoning")
	}
	return n
}

// variation is the coefficient of variation of gaps with a shape: 1/√k of the
// gamma distribution, √(Γ(1+2/k)/Γ(1+1/k)² − 1) of Weibull's. It is NaN where
// it cannot be computed.
func variation(process draw.ProcessKind, shape float64) float64 {
	if process == draw.Gamma {
		return 1 / math.Sqrt(shape)
	}
	second, first := draw.LogGamma(1+2/shape), draw.LogGamma(1+1/shape)
	return math.Sqrt(draw.Exp(second-float64(2*first)) - 1)
}

// mean is the mean gap in s for a shape and a scale: k·θ of the gamma
// distribution, λ·Γ(1+1/k) of Weibull's.
func mean(process draw.ProcessKind, shape, scale float64) float64 {
	if process == draw.Gamma {
		return float64(shape * scale)
	}
	return float64(scale * draw.Exp(draw.LogGamma(1+1/shape)))
}
