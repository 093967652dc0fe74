package draw

import (
	"math"

	"blis/workload"
)

// Length is the distribution of a number of tokens: gaussian with the given
// mean and standard deviation, rounded to the nearest whole number (halves
// up), then clamped to [Min, Max]. Stdev 0 is the constant Mean. Clamping
// puts the weight of each tail on its bound, as the flags of the common
// benchmark clients do; it does not draw again.
type Length struct {
	Mean, Stdev float64 // tokens; Mean from Min to Max, Stdev from 0
	Min, Max    int32   // tokens
}

// Exactly is the constant length n.
func Exactly(n int32) Length { return Length{Mean: float64(n), Min: n, Max: n} }

// Check adds what is wrong with l; name is its flag, least the smallest Min.
func (l Length) Check(bad *workload.Faults, name string, least int32) {
	if l.Min < least {
		bad.Add(name+"-min", l.Min, "want at least %d", least)
	}
	if l.Max < l.Min {
		bad.Add(name+"-max", l.Max, "want at least %s-min %d", name, l.Min)
	}
	if !(l.Stdev >= 0) || math.IsInf(l.Stdev, 0) {
		bad.Add(name+"-stdev", l.Stdev, "want 0 or more tokens")
	}
	if !(l.Mean >= float64(l.Min) && l.Mean <= float64(l.Max)) {
		bad.Add(name, l.Mean, "want from %s-min %d to %s-max %d", name, l.Min, name, l.Max)
	}
}

// Sample draws one length; a constant draws nothing.
func (l *Length) Sample(draws *Variates) int32 {
	v := l.Mean
	if l.Stdev > 0 {
		v += float64(l.Stdev * draws.Normal())
	}
	v = math.Floor(v + 0.5)
	if v < float64(l.Min) {
		return l.Min
	}
	if v > float64(l.Max) {
		return l.Max
	}
	return int32(v)
}
