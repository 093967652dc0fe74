package traffic

import (
	"math"

	"blis/workload"
	"blis/workload/draw"
)

// Normal is a number of tokens as the workload flags of a run give it:
// gaussian, rounded and clamped (see draw.Length). Stdev 0 is the constant Mean.
type Normal struct {
	Mean, Stdev float64 // tokens; Mean from Min to Max, Stdev from 0
	Min, Max    int32   // tokens
}

// Exactly is the constant length n.
func Exactly(n int32) Normal { return Normal{Mean: float64(n), Min: n, Max: n} }

// length is the distribution.
func (l Normal) length() draw.Length {
	return draw.Length{Dist: draw.Gaussian(l.Mean, l.Stdev), Min: l.Min, Max: l.Max}
}

// check adds what is wrong with l; name is its flag, least the smallest Min.
func (l Normal) check(bad *workload.Faults, name string, least int32) {
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
