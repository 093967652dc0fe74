package engine

import (
	"math"

	"blis/vtime"
)

// Curve is how the penalty of a cold instance fades.
type Curve string

// Curves.
const (
	Linear      Curve = "linear"      // straight down to none
	Exponential Curve = "exponential" // halves every eighth of the time, straight in between
	StepDown    Curve = "step"        // all of it until the end
)

// Warmup is the time after its start in which an instance is slower, since
// kernels are not compiled, graphs not captured and allocator pools empty. The
// zero value is none.
type Warmup struct {
	From     vtime.Time
	Duration vtime.Duration
	Penalty  float64 // factor at From, at least 1
	Curve    Curve
}

// end is the time from which the instance is warm.
func (w *Warmup) end() vtime.Time { return w.From.Add(w.Duration) }

// factor is the factor on the length of a step whose batch is formed at now.
// Before From it is the factor at From.
func (w *Warmup) factor(now vtime.Time) float64 {
	if now >= w.end() {
		return 1
	}
	x := float64(max(0, now.Sub(w.From))) / float64(w.Duration)
	left := 1.0 // of the penalty
	switch w.Curve {
	case Linear:
		left = 1 - x
	case Exponential:
		halvings, part := math.Modf(8 * x)
		left = math.Ldexp(1-part/2, -int(halvings))
	}
	return 1 + float64((w.Penalty-1)*left)
}
