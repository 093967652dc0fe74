package metrics

import (
	"math/bits"

	"blis/vtime"
)

// seriesBins is how many bins a series has at most.
const seriesBins = 128

// series counts arrivals and final states over time, from 0, in bins whose
// width is a power of two µs: the smallest one at which the latest event fits
// the bins. So it depends on the events alone, not on their order or on how
// they were spread over recorders. It covers all requests, measured or not.
type series struct {
	shift             int // bins are 2^shift µs wide
	arrivals, departs [seriesBins]int64
}

func (s *series) arrive(t vtime.Time) { s.arrivals[s.bin(t)]++ }
func (s *series) depart(t vtime.Time) { s.departs[s.bin(t)]++ }

// bin is the bin of t, once they are wide enough. t must not be negative.
func (s *series) bin(t vtime.Time) int {
	if t>>s.shift >= seriesBins {
		s.widen(bits.Len64(uint64(t)) - bits.Len(seriesBins-1))
	}
	return int(t >> s.shift)
}

// widen joins bins until they are 2^shift µs wide.
func (s *series) widen(shift int) {
	for ; s.shift < shift; s.shift++ {
		for i := range seriesBins / 2 {
			s.arrivals[i] = s.arrivals[2*i] + s.arrivals[2*i+1]
			s.departs[i] = s.departs[2*i] + s.departs[2*i+1]
		}
		clear(s.arrivals[seriesBins/2:])
		clear(s.departs[seriesBins/2:])
	}
}

// merge adds o.
func (s *series) merge(o *series) {
	other := *o
	s.widen(other.shift)
	other.widen(s.shift)
	for i := range seriesBins {
		s.arrivals[i] += other.arrivals[i]
		s.departs[i] += other.departs[i]
	}
}

// fold is a hash of the series.
func (s *series) fold() uint64 {
	values := []uint64{uint64(s.shift)}
	for i := range seriesBins {
		values = append(values, uint64(s.arrivals[i]), uint64(s.departs[i]))
	}
	return foldInts(values...)
}

// Load is arrivals, departures and requests in the system over time.
type Load struct {
	BinMicros int64   `json:"bin_us"` // width of a bin; the first begins at 0
	Arrivals  []int64 `json:"arrivals"`
	Departed  []int64 `json:"departed"` // reached a final state
	Backlog   []int64 `json:"backlog"`  // in the system at the end of the bin

	// BacklogSlope is the growth of the backlog in requests per second over
	// the second half of the time in which requests arrived: the slope of the
	// least-squares line through the backlog. In a steady state it is near 0.
	// Null if that time has fewer than 8 bins.
	BacklogSlope *float64 `json:"backlog_slope_per_second"`
}

// load is the report of s up to the bin of end or of the last event.
func (s *series) load(end vtime.Time) Load {
	bins := int(min(end>>s.shift, seriesBins-1)) + 1
	for i := range seriesBins {
		if s.arrivals[i]+s.departs[i] > 0 {
			bins = max(bins, i+1)
		}
	}
	l := Load{
		BinMicros: 1 << s.shift,
		Arrivals:  append([]int64{}, s.arrivals[:bins]...),
		Departed:  append([]int64{}, s.departs[:bins]...),
		Backlog:   make([]int64, bins),
	}
	backlog := int64(0)
	for i := range bins {
		backlog += s.arrivals[i] - s.departs[i]
		l.Backlog[i] = backlog
	}
	l.BacklogSlope = l.slope()
	return l
}

// slope computes BacklogSlope. The last bin with an arrival does not count:
// arrivals cover only part of it.
func (l *Load) slope() *float64 {
	first, last := -1, -1
	for i, n := range l.Arrivals {
		if n > 0 {
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 || last-first < 8 {
		return nil
	}
	var n, sumX, sumY, sumXX, sumXY int64
	for i := (first + last) / 2; i < last; i++ {
		x, y := int64(i), l.Backlog[i]
		n++
		sumX += x
		sumY += y
		sumXX += x * x
		sumXY += x * y
	}
	perBin := float64(n*sumXY-sumX*sumY) / float64(n*sumXX-sumX*sumX)
	slope := perBin / (float64(l.BinMicros) / 1e6)
	return &slope
}
