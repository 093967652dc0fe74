package policy

import "math"

// spread is the range of a count over the candidates, the routable instances. A
// score is linear between the two extremes, so when one of them moves every score
// changes.
//
// The number of candidates at each extreme is known, so a change costs nothing
// while another candidate is left there. When none is left all counts are
// scanned: all scores are about to be computed anyway.
type spread struct {
	counts        []int64 // by row, outside for those that are not routable; then the floor
	low, high     int64   // of the candidates
	atLow, atHigh int     // candidates at low and at high; 0: the extreme must be found
	scale         scale   // of the extremes at the last rescale
	count         func(s *Slot) int64
	floor         int64 // count of one more candidate, which never changes and is no instance; outside: there is none
}

// scale takes counts to scores from 1, at low, to 0, at high.
type scale struct {
	low, high int64
	breadth   float64 // high − low; anything when there is no candidate
}

// outside is no count, and less than any.
const outside = -1 << 62

// newSpread returns the spread of the counts of a scorer. One that measures from 0 has
// a floor of 0.
func newSpread(r *scorerRow) *spread {
	s := &spread{count: r.count, floor: outside}
	if r.fromZero {
		s.floor = 0
	}
	return s
}

// of returns the count of instance i, outside if that is not routable.
func (s *spread) of(view *View, i int) int64 {
	slot := &view.slots[i]
	if !slot.Routable {
		return outside
	}
	return s.count(slot)
}

// reset counts all instances.
func (s *spread) reset(view *View, instances []int32) {
	s.counts = resize(s.counts, len(instances)+1)
	s.counts[len(instances)] = s.floor
	for k, i := range instances {
		s.counts[k] = s.of(view, int(i))
	}
	s.atLow, s.atHigh = 0, 0
}

// update gives the instance in a row the count x.
func (s *spread) update(row int, x int64) {
	was := s.counts[row]
	if x == was {
		return
	}
	s.counts[row] = x
	if was == s.low {
		s.atLow--
	}
	if was == s.high {
		s.atHigh--
	}
	if x == outside {
		return
	}
	// While no candidate is at an extreme all others lie within, so a count
	// that does not is the extreme.
	if x < s.low {
		s.low, s.atLow = x, 0
	}
	if x > s.high {
		s.high, s.atHigh = x, 0
	}
	if x == s.low {
		s.atLow++
	}
	if x == s.high {
		s.atHigh++
	}
}

// rescale makes the scale fit the extremes and reports whether it changed.
func (s *spread) rescale() bool {
	if s.atLow == 0 || s.atHigh == 0 {
		s.scan()
	}
	if s.low == s.scale.low && s.high == s.scale.high {
		return false
	}
	s.scale = scale{low: s.low, high: s.high, breadth: float64(s.high - s.low)}
	return true
}

// scan finds the extremes and counts the candidates there. Without any candidate
// low is above high. No branch depends on the order of the counts, which the CPU
// cannot guess.
func (s *spread) scan() {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for _, x := range s.counts {
		if x != outside {
			low, high = min(low, x), max(high, x)
		}
	}
	atLow, atHigh := 0, 0
	for _, x := range s.counts {
		if x == low {
			atLow++
		}
		if x == high {
			atHigh++
		}
	}
	s.low, s.high, s.atLow, s.atHigh = low, high, atLow, atHigh
}

// share returns weight · (high − x)/(high − low), or weight when all counts are
// equal.
func (c *scale) share(weight float64, x int64) float64 {
	if c.breadth == 0 {
		return weight
	}
	return float64(weight * (float64(c.high-x) / c.breadth))
}
