package policy

import "math"

// spread is where the counts of the candidates lie: a score is linear between
// the extremes, so when one of those moves every score does.
//
// How many candidates stand at an extreme is known, so that a change costs
// nothing while another is left there. When none is, all are looked at: they
// are about to be scored anew anyway.
type spread struct {
	counts        []int64 // by seat, outside for those that are not routable; then the floor
	low, high     int64   // of the candidates
	atLow, atHigh int     // how many stand there; 0: the extreme is to be found
	scale         scale   // from the extremes as of settle
}

// scale takes counts to scores between 1, at low, and 0, at high.
type scale struct {
	low, high int64
	breadth   float64 // high − low; anything when there is no candidate
}

// outside is no count, and less than any.
const outside = -1 << 62

// count is what a spread compares.
func count(kind scorerKind, s *Slot) int64 {
	switch {
	case !s.Routable:
		return outside
	case kind == queueDepth:
		return s.load()
	case kind == activeRequests:
		return int64(s.InFlight)
	}
	return int64(s.Queue)
}

// floor is the count of one more candidate that never changes and is no
// instance: with a floor of 0 a score is measured from 0 and not from the
// smallest count.
func floor(kind scorerKind) int64 {
	if kind == activeRequests {
		return 0
	}
	return outside
}

// begin counts all instances.
func (s *spread) begin(kind scorerKind, slots []Slot, taken []int32) {
	s.counts = resize(s.counts, len(taken)+1)
	s.counts[len(taken)] = floor(kind)
	for k, i := range taken {
		s.counts[k] = count(kind, &slots[i])
	}
	s.atLow, s.atHigh = 0, 0
}

// enter counts the instance in a seat.
func (s *spread) enter(seat int, x int64) {
	was := s.counts[seat]
	if x == was {
		return
	}
	s.counts[seat] = x
	if was == s.low {
		s.atLow--
	}
	if was == s.high {
		s.atHigh--
	}
	if x == outside {
		return
	}
	// With nobody at an extreme all others lie within, so a count that does
	// not is the extreme.
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

// settle makes the scale that of the extremes as they are and reports whether
// it was another.
func (s *spread) settle() bool {
	if s.atLow == 0 || s.atHigh == 0 {
		s.survey()
	}
	if s.low == s.scale.low && s.high == s.scale.high {
		return false
	}
	s.scale = scale{low: s.low, high: s.high, breadth: float64(s.high - s.low)}
	return true
}

// survey finds the extremes and who stands there; without any candidate, low
// is above high. No branch of it hangs on the order of the counts, which
// cannot be guessed.
func (s *spread) survey() {
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

// share is weight · (high − x)/(high − low), or weight when all are equal.
func (c *scale) share(weight float64, x int64) float64 {
	if c.breadth == 0 {
		return weight
	}
	return float64(weight * (float64(c.high-x) / c.breadth))
}
