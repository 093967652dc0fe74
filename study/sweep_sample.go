package study

import (
	"encoding/json"
	"math"
	"strconv"

	"blis/setup"
	"blis/vtime"
)

// combinations yields the values of combination k, one of all that the sample has.
type combinations struct {
	axes  []Axis
	count int64
	lhs   [][]int32 // of each axis: the slice of each point; nil: no Latin hypercube
	draws []uint64  // of each axis: seed of its draws; nil: a grid
	n     int       // points of a sample
}

// newCombinations prepares the sample of a sweep that was checked.
func newCombinations(s *Sweep) (*combinations, error) {
	c := &combinations{axes: s.Axes, count: 1, n: s.Sample.Points}
	if s.Sample.Method == Grid {
		for i := range s.Axes {
			c.count *= int64(len(s.Axes[i].Values))
			if c.count > mostCombinations {
				return nil, sweepFault("axes", "more than %d combinations: want fewer values, or sample with method random or lhs", int64(mostCombinations))
			}
		}
		return c, nil
	}
	c.count = int64(s.Sample.Points)
	for i := range s.Axes {
		stream := vtime.NewStream(s.Sample.Seed, "sweep/"+s.Axes[i].Name)
		if s.Sample.Method == LHS {
			c.lhs = append(c.lhs, permutation(c.n, stream))
		}
		c.draws = append(c.draws, stream.Uint64())
	}
	return c, nil
}

// permutation is a random order of 0 to n−1 (Fisher and Yates).
func permutation(n int, s *vtime.Stream) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
	}
	for i := n - 1; i > 0; i-- {
		j := s.IntN(i + 1)
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// values appends the value of combination k on each axis.
func (c *combinations) values(list []AxisValue, k int64) []AxisValue {
	if c.draws == nil {
		at := len(list)
		list = append(list, make([]AxisValue, len(c.axes))...)
		for i := len(c.axes) - 1; i >= 0; i-- {
			n := int64(len(c.axes[i].Values))
			list[at+i] = c.axes[i].Values[k%n]
			k /= n
		}
		return list
	}
	for i := range c.axes {
		u := unit(c.draws[i], uint64(k))
		if c.lhs != nil {
			u = (float64(c.lhs[i][k]) + u) / float64(c.n)
		}
		list = append(list, c.axes[i].at(u))
	}
	return list
}

// unit is draw k of a seed: a number from 0 to below 1. Draws are independent of each
// other's order, so that points need not be kept (SplitMix64: Steele, Lea and Flood,
// "Fast splittable pseudorandom number generators", OOPSLA 2014).
func unit(seed, k uint64) float64 {
	z := seed + (k+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}

// at is the value at a share of the axis, from 0 to below 1.
func (a *Axis) at(u float64) AxisValue {
	if a.Range == nil {
		return a.Values[min(int(float64(u*float64(len(a.Values)))), len(a.Values)-1)]
	}
	text := a.Range.text(a.Range.at(u))
	return AxisValue{Value: json.RawMessage(text), Assign: []setup.Assignment{{Name: a.Name, Text: text}}}
}

// at is the number at a share of the range.
func (r *Range) at(u float64) float64 {
	from, to := r.From, r.To
	if r.Whole && !r.Log { // each number has the same share, the ends too
		return math.Min(math.Floor(from+float64(u*(to-from+1))), to)
	}
	x := from + float64(u*(to-from))
	if r.Log {
		x = float64(from * math.Exp(float64(u*math.Log(to/from))))
	}
	if r.Whole {
		x = math.Round(x)
	}
	return math.Min(math.Max(x, from), to)
}

// text is a number as a setting has it. Six digits are enough for a sample, and on every
// machine the same: those of exp and log may differ in the last.
func (r *Range) text(x float64) string {
	if r.Whole {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	if x == r.From || x == r.To {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strconv.FormatFloat(math.Min(math.Max(rounded, r.From), r.To), 'g', -1, 64)
}
