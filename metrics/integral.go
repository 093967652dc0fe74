package metrics

import (
	"fmt"
	"math/bits"

	"blis/vtime"
)

// leastShift makes the narrowest bins of an Integral some ms wide: about a
// step. With narrower ones a run would widen them many times in its first
// steps, for nothing that a reader could use.
const leastShift = 10

// Integral is ∫ level dt over time, from 0, at the ends of bins. The width of bins
// is a power of two µs, at least 1,024: the smallest width at which seriesBins bins
// cover the time so far. Between two changes of the level the integral grows
// evenly, so values at the ends of bins are exact, and it costs something only when
// a bin ends. The zero value begins at time 0.
type Integral struct {
	due   vtime.Time // the end of the first bin that is not known
	shift int        // bins are 2^shift µs wide
	known int        // bins whose end is known
	ends  [seriesBins]int64
}

// Due reports whether a bin has ended at or before now whose end is not known yet:
// then Pass must be called. It is cheap, and called at every change of the level.
func (s *Integral) Due(now vtime.Time) bool { return now >= s.due }

// Pass computes the integral at the ends of bins up to now. The integral was sum at
// since, and the level has not changed from since until now.
func (s *Integral) Pass(sum int64, since, now vtime.Time, level int64) {
	s.fit(now)
	for last := int(now >> s.shift); s.known < last; s.known++ {
		s.ends[s.known] = sum + int64(s.end(s.known).Sub(since))*level
	}
	s.due = s.end(s.known)
}

// end is when bin i ends.
func (s *Integral) end(i int) vtime.Time {
	if vtime.Time(i) >= vtime.Never>>s.shift {
		return vtime.Never
	}
	return vtime.Time(i+1) << s.shift
}

// fit widens the bins until now is in one of them.
func (s *Integral) fit(now vtime.Time) {
	for shift := shiftAt(now); s.shift < shift; s.shift++ {
		s.known /= 2
		for i := range s.known {
			s.ends[i] = s.ends[2*i+1]
		}
	}
}

// shiftAt is how wide bins are at now.
func shiftAt(now vtime.Time) int {
	return max(leastShift, bits.Len64(uint64(now))-bits.Len(seriesBins-1))
}

// within is the growth of the integral in bin i. total is its value at the end of
// the run, which may be within the last bin.
func (s *Integral) within(i int, total int64) int64 {
	at := func(i int) int64 {
		switch {
		case i < 0:
			return 0
		case i < s.known:
			return s.ends[i]
		}
		return total
	}
	return at(i) - at(i-1)
}

// Life is the time in which an instance existed, and its used KV blocks over that
// time. Gone is vtime.Never if it existed to the end. An instance with Ready at or
// after Gone never existed.
type Life struct {
	Ready, Gone vtime.Time
	Blocks      *Integral // of used blocks, passed up to Run.End
}

// KVUse is how full the KV caches of all instances together were over time, in
// bins of equal width from 0. The last one ends with the run.
type KVUse struct {
	BinMicros   int64      `json:"bin_us"`
	BlockMicros []int64    `json:"block_us"` // ∫ used blocks dt in the bin
	Share       []*float64 `json:"share"`    // of the blocks that there were, mean over the bin; null while there was no instance
}

// kvUse reports the lives; nil when they are not given.
func (c *collection) kvUse() (*KVUse, error) {
	if c.Lives == nil {
		return nil, nil
	}
	if len(c.Lives) != len(c.Counters) {
		return nil, fmt.Errorf("%d instances with %d lives", len(c.Counters), len(c.Lives))
	}
	shift, bins := shiftAt(c.End), 0
	if c.End > 0 {
		bins = int((c.End-1)>>shift) + 1
	}
	use := &KVUse{BinMicros: 1 << shift, BlockMicros: make([]int64, bins), Share: make([]*float64, bins)}
	capacity := make([]sum128, bins) // block·µs
	for i := range c.Lives {
		course := c.Lives[i].Blocks
		if course.shift != shift || course.known != int(c.End>>shift) {
			return nil, fmt.Errorf("KV use of instance %d is known for %d bins of 2^%d µs: the run ended at %s", i, course.known, course.shift, c.End)
		}
		for bin := range bins {
			use.BlockMicros[bin] += course.within(bin, c.Counters[i].BlockMicros)
			capacity[bin].addProduct(c.Counters[i].TotalBlocks, c.Lives[i].within(vtime.Time(bin)<<shift, min(c.End, course.end(bin))))
		}
	}
	var err error
	for bin := range bins {
		var used sum128
		used.add(use.BlockMicros[bin])
		if err == nil && (use.BlockMicros[bin] < 0 || capacity[bin].less(used)) {
			err = fmt.Errorf("KV blocks in use from %d µs on: %d block·µs in %d µs, of %.0f that there were",
				int64(bin)<<shift, use.BlockMicros[bin], use.BinMicros, capacity[bin].float())
		}
		use.Share[bin] = ratio(used.float(), capacity[bin].float())
	}
	return use, err
}

// within is the time in µs between from and to in which the instance existed.
func (l *Life) within(from, to vtime.Time) int64 {
	return max(0, int64(min(l.Gone, to)-max(l.Ready, from)))
}
