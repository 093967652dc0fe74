package workload

import (
	"math"

	"blis/vtime"
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

// check adds what is wrong with l; name is its flag, least the smallest Min.
func (l Length) check(bad *faults, name string, least int32) {
	if l.Min < least {
		bad.add(name+"-min", l.Min, "want at least %d", least)
	}
	if l.Max < l.Min {
		bad.add(name+"-max", l.Max, "want at least %s-min %d", name, l.Min)
	}
	if !(l.Stdev >= 0) || math.IsInf(l.Stdev, 0) {
		bad.add(name+"-stdev", l.Stdev, "want 0 or more tokens")
	}
	if !(l.Mean >= float64(l.Min) && l.Mean <= float64(l.Max)) {
		bad.add(name, l.Mean, "want from %s-min %d to %s-max %d", name, l.Min, name, l.Max)
	}
}

// sample draws one length; a constant draws nothing.
func (l *Length) sample(draws *normals) int32 {
	v := l.Mean
	if l.Stdev > 0 {
		v += float64(l.Stdev * draws.normal())
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

// normals turns a uniform stream into standard normal and exponential draws,
// with the same bits on every machine (see exact.go; rand's own methods use
// package math in their tails).
type normals struct {
	stream *vtime.Stream
	spare  float64 // the second normal of the last pair
	full   bool    // whether spare is there
}

// normal draws by Marsaglia's polar method, which yields pairs.
func (n *normals) normal() float64 {
	if n.full {
		n.full = false
		return n.spare
	}
	for {
		u, v := float64(2*n.uniform())-1, float64(2*n.uniform())-1
		s := float64(u*u) + float64(v*v)
		if s >= 1 || s == 0 {
			continue
		}
		f := math.Sqrt(-2 * log(s) / s)
		n.spare, n.full = float64(v*f), true
		return float64(u * f)
	}
}

// exponential draws with mean 1 by inversion; it may be 0.
func (n *normals) exponential() float64 { return -log(1 - n.uniform()) }

// uniform draws from [0, 1). The conversion keeps the product inside rand's
// method, once inlined, out of a fused operation.
func (n *normals) uniform() float64 { return float64(n.stream.Float64()) }
