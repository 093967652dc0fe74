package draw

import (
	"math"

	"blis/vtime"
)

// gapBelow is the probability of a gap shorter than x times the mean gap.
func (l ArrivalProcess) gapBelow(x float64) float64 {
	if x <= 0 {
		return 0
	}
	g := newGaps(l, 1)
	switch l.Kind {
	case Constant:
		return step(x > 1)
	case Gamma:
		return gammaBelow(g.shape, x/g.scale)
	case Weibull:
		return 1 - Exp(-Exp(Log(x/g.scale)/g.shape))
	case Pareto:
		if x <= g.scale {
			return 0
		}
		return 1 - Exp(Log(g.scale/x)/g.shape)
	case Periodic: // the difference of two places that are both off by up to half the jitter
		if g.shape == 0 {
			return step(x > 1)
		}
		d := min(max((x-1)/g.shape, -1), 1)
		if d < 0 {
			return float64((1 + d) * (1 + d) / 2)
		}
		return 1 - float64((1-d)*(1-d)/2)
	case Burst: // all but one of the gaps of a burst are none
		size := float64(g.size)
		return (size - 1 + step(x > size)) / size
	}
	return 1 - Exp(-x)
}

func step(up bool) float64 {
	if up {
		return 1
	}
	return 0
}

// gammaBelow is the chance that a gamma variable of the given shape and scale 1 is
// below x: the series of the incomplete gamma function.
func gammaBelow(shape, x float64) float64 {
	if x > shape+float64(40*math.Sqrt(shape))+60 { // less than 10⁻¹⁵ is left
		return 1
	}
	sum, term := 1.0, 1.0
	for n := shape + 1; term > float64(sum*0x1p-53); n++ {
		term = float64(term * (x / n))
		sum += term
	}
	return min(1, float64(sum*Exp(float64(shape*Log(x))-x-LogGamma(shape+1))))
}

// usualCycle is the longest cycle of a rate whose peaks are bursts, and not times
// of the day.
const usualCycle = 3_600_000_000

// meanRate is the rate by which a gap counts as short: the mean over a short
// cycle. For other curves cyclic is false, and it is the rate at the time.
func (c *RateCurve) meanRate() (mean float64, cyclic bool) {
	if length := c.length(); c.Repeat && length <= usualCycle {
		return c.cycle() / length.Seconds(), true
	}
	return 0, false
}

// Bursts tells which arrivals of a process are in a burst: those that come less
// than half the mean gap after the one before. The mean is that over a cycle of the
// curve of up to an hour, so that arrivals in its spikes are in bursts; else that
// at the rate of the time.
type Bursts struct {
	curve    *RateCurve
	meanRate float64 // arrivals per second of the pieces, by which gaps are measured
	cyclic   bool
	shares   []float64 // of the arrivals that are in a burst, by window
}

// NewBursts expects the checked process and rate curve of the arrivals.
func NewBursts(process ArrivalProcess, c *RateCurve) Bursts {
	b := Bursts{curve: c, shares: make([]float64, max(1, len(c.Windows)))}
	b.meanRate, b.cyclic = c.meanRate()
	for i := range b.shares {
		if b.shares[i] = b.share(process); i < len(c.Windows) && c.Windows[i].Process != nil {
			b.shares[i] = b.share(*c.Windows[i].Process)
		}
	}
	return b
}

// share is the share of the arrivals of a process that are in a burst. Gaps
// from one piece into the next count as gaps within a piece.
func (b *Bursts) share(process ArrivalProcess) float64 {
	if !b.cyclic {
		return process.gapBelow(0.5)
	}
	const parts = 8 // of a piece whose rate changes
	in, all := 0.0, 0.0
	for _, p := range b.curve.Pieces {
		for k := range parts {
			rate := p.From + float64((p.To-p.From)*((float64(k)+0.5)/parts))
			weight := float64(rate * p.Length.Seconds())
			in += float64(weight * process.gapBelow(0.5*rate/b.meanRate))
			all += weight
		}
	}
	return in / all
}

// In reports whether the arrival at a time, in a window (−1 without windows), is in
// a burst, when the one before came at before; and which part of arrivals are.
func (b *Bursts) In(window int, before, at vtime.Time) (in bool, share float64) {
	rate := b.meanRate
	if !b.cyclic {
		rate = b.curve.rate(at)
	}
	if window >= 0 && len(b.curve.Windows) > 0 {
		rate = float64(rate * b.curve.Windows[window].Factor)
	}
	return float64(at.Sub(before).Seconds()*rate) < 0.5, b.shares[max(window, 0)]
}
