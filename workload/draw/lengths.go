package draw

import (
	"math"

	"blis/vtime"
	"blis/workload"
)

// Length is the distribution of a number of tokens: a draw rounded to the
// nearest whole number (halves up), then clamped to [Min, Max]. Clamping puts
// the weight of each tail on its bound, as the common benchmark clients do; it
// does not draw again.
type Length struct {
	Dist     Distribution // tokens
	Min, Max int32        // tokens
}

// Exactly is the constant length n.
func Exactly(n int32) Length { return Length{Dist: Fixed(float64(n)), Min: n, Max: n} }

// Sample draws one length; a constant draws nothing.
func (l *Length) Sample(v *Variates) int32 {
	x := math.Floor(l.Dist.Sample(v) + 0.5)
	if x < float64(l.Min) {
		return l.Min
	}
	if x > float64(l.Max) {
		return l.Max
	}
	return int32(x)
}

// Delay is the distribution of a duration: a draw in µs, truncated, then
// clamped to [Min, Max]. The zero value is always 0.
type Delay struct {
	Dist     Distribution // µs
	Min, Max vtime.Duration
}

// Always is the constant delay d.
func Always(d vtime.Duration) Delay { return Delay{Dist: Fixed(float64(d)), Min: d, Max: d} }

// NewDelay is the delay of distribution dist, in µs, clamped to [min, max];
// 0 ≤ min ≤ max. Min of the result is the minimum that it can be: the minimum of
// dist, if that is above min.
func NewDelay(dist Distribution, min, max vtime.Duration) (Delay, error) {
	var bad workload.Faults
	if min < 0 {
		bad.Add("min", min, "want 0 or more")
	}
	if max < min {
		bad.Add("max", max, "want at least min %v", min)
	}
	d := Delay{Dist: dist, Min: min, Max: max}
	d.Min = d.Least()
	return d, bad.Err("")
}

// Sample draws one delay; a constant draws nothing.
func (d *Delay) Sample(v *Variates) vtime.Duration { return d.clamp(d.Dist.Sample(v)) }

// Least is the shortest that a delay can be, from Min or from what Dist can
// draw. Nothing that waits for such a delay happens sooner.
func (d *Delay) Least() vtime.Duration {
	least, _ := d.Dist.Bounds()
	return d.clamp(least)
}

func (d *Delay) clamp(us float64) vtime.Duration {
	if us < float64(d.Min) {
		return d.Min
	}
	if us >= float64(d.Max) { // which may be above Max itself, and no Duration
		return d.Max
	}
	return vtime.Duration(us)
}
