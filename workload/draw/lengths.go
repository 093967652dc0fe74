package draw

import (
	"math"

	"blis/vtime"
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

// Sample draws one delay; a constant draws nothing.
func (d *Delay) Sample(v *Variates) vtime.Duration {
	x := d.Dist.Sample(v)
	if x < float64(d.Min) {
		return d.Min
	}
	if x > float64(d.Max) {
		return d.Max
	}
	return vtime.Duration(x)
}

// Least is the shortest delay that there can be.
func (d *Delay) Least() vtime.Duration { return d.Min }
