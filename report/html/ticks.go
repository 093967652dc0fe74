package html

import (
	"math"
	"strconv"
)

// axis maps values to percent of the width or the height of a chart.
type axis struct {
	low, high float64
	log       bool
}

// newAxis is an axis over the finite ones of values, with some room at both ends.
func newAxis(values []float64) axis {
	a := axis{math.Inf(1), math.Inf(-1), false}
	for _, x := range values {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			a.low, a.high = min(a.low, x), max(a.high, x)
		}
	}
	switch {
	case a.low > a.high:
		return axis{0, 1, false}
	case a.low == a.high:
		room := max(math.Abs(a.low)/10, 1e-9)
		return axis{a.low - room, a.high + room, false}
	}
	room := (a.high - a.low) / 20
	low := a.low - room
	if a.low >= 0 && (low < 0 || a.low < (a.high-a.low)/3) {
		low = 0
	}
	return axis{low, a.high + room, false}
}

// newLogAxis is a logarithmic axis; linear where a value is not positive.
func newLogAxis(values []float64) axis {
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range values {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			low, high = min(low, x), max(high, x)
		}
	}
	if low > high || low <= 0 {
		return newAxis(values)
	}
	return axis{low / 1.1, high * 1.1, true}
}

// at is the place of a value in percent from the low end.
func (a axis) at(x float64) float64 {
	low, high := a.low, a.high
	if a.log {
		x, low, high = math.Log(x), math.Log(low), math.Log(high)
	}
	return math.Round(min(100, max(0, 100*(x-low)/(high-low)))*100) / 100
}

// ticks are about n round values within the axis.
func (a axis) ticks(n int) (list []float64) {
	if a.log && a.high/a.low > 4 {
		return a.logTicks(n)
	}
	step := roundStep((a.high - a.low) / float64(n))
	for k := math.Ceil(a.low/step - 1e-9); k*step <= a.high+step*1e-9 && len(list) < 50; k++ {
		list = append(list, k*step+0) // never −0
	}
	return list
}

func (a axis) logTicks(n int) (list []float64) {
	for _, factors := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		list = nil
		for e := math.Floor(math.Log10(a.low)); e <= math.Ceil(math.Log10(a.high)); e++ {
			for _, f := range factors {
				if x := f * math.Pow(10, e); x >= a.low && x <= a.high {
					list = append(list, x)
				}
			}
		}
		if len(list) <= n+2 {
			break
		}
	}
	return list
}

// roundStep is the next of 1, 2, 5 times a power of ten that is at least x.
func roundStep(x float64) float64 {
	if !(x > 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= x*(1-1e-9) {
			return f * power
		}
	}
	return 10 * power
}

// tickText is a tick with no more decimals than the step between ticks needs.
func tickText(x float64, ticks []float64) string {
	decimals := 0
	for _, t := range ticks {
		for d := decimals; d <= 6; d++ {
			if math.Abs(t*math.Pow(10, float64(d))-math.Round(t*math.Pow(10, float64(d)))) < 1e-6 {
				decimals = d
				break
			}
		}
	}
	if x >= 1e6 && math.Mod(x, 1e5) == 0 {
		return trimmed(fixed(x/1e6, 1)) + thin + "M"
	}
	return trimmed(fixed(x, decimals))
}

// pc is a place in percent as an attribute has it.
func pc(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) + "%" }
