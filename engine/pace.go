package engine

import (
	"fmt"
	"math"

	"blis/latency"
	"blis/vtime"
)

// pace is how long steps take.
type pace struct {
	model   latency.Model
	minStep vtime.Duration // no step is shorter
	warmup  Warmup
	warm    vtime.Time // the end of the warm-up
	slow    float64    // factor on the length of steps while the server is slow; else 0 or 1
}

func newPace(cfg *Config) pace {
	return pace{model: cfg.Model, minStep: minStep(cfg.Model), warmup: cfg.Warmup, warm: cfg.Warmup.end()}
}

// duration returns the length of a step that is formed at now, at least 1 µs.
func (p *pace) duration(q *latency.Batch, now vtime.Time) vtime.Duration {
	step := p.model.Step(q)
	if now < p.warm {
		step = float64(step * p.warmup.factor(now))
	}
	if p.slow > 1 {
		step = float64(step * p.slow)
	}
	d, err := vtime.Truncate(step)
	if err != nil {
		panic(fmt.Sprintf("engine: the latency model gives NaN for the step %+v", *q))
	}
	return max(1, d)
}

// minStep returns the minimum step duration of m, at least 1 µs.
func minStep(m latency.Model) vtime.Duration {
	f, ok := m.(latency.Floor)
	if !ok {
		return 1
	}
	step, err := vtime.Truncate(f.MinStep())
	if err != nil {
		return 1
	}
	return max(1, min(step, longestFloor))
}

// longestFloor keeps products of a floor and a number of steps within int64.
const longestFloor = 1 << 30

// MinQueueing returns the least time between delivery and queued for a prompt of
// input tokens.
func MinQueueing(m latency.Model, input int32) vtime.Duration {
	f, ok := m.(latency.Floor)
	if !ok {
		return 0
	}
	queueing, err := vtime.Truncate(f.MinQueueing(int64(input)))
	if err != nil {
		return 0
	}
	return max(0, queueing)
}

// minSteps returns the minimum duration of n steps.
func (p *pace) minSteps(n int64) vtime.Duration { return vtime.Duration(n) * p.minStep }

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

// end returns the time from which the instance is warm.
func (w *Warmup) end() vtime.Time { return w.From.Add(w.Duration) }

// factor returns the factor on the length of a step whose batch is formed at now.
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
