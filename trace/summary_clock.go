package trace

import "blis/vtime"

// maxBins is into how many bins a summary divides the time of a run, at most.
const maxBins = 24

// clock divides time into bins of equal width. How long a run will be is not
// known while it goes on: when time gets beyond the last bin, bins become
// twice as wide, and two are one. So a run that takes longer than the first
// bins has between half of maxBins and all of them.
type clock struct {
	origin vtime.Time // a whole second
	width  vtime.Duration
}

func newClock() clock { return clock{width: vtime.Millisecond} }

// start puts the origin at the second of the first record.
func (c *clock) start(first vtime.Time) { c.origin = first - first%vtime.Time(vtime.Second) }

func (c *clock) covers(t vtime.Time) bool { return t.Sub(c.origin)/c.width < maxBins }

func (c *clock) double() { c.width *= 2 }

// bin is where t is; what was before the first record is in the first bin.
func (c *clock) bin(t vtime.Time) int { return int(max(0, t.Sub(c.origin)) / c.width) }

// bounds are the ends of a bin. The later one is not within.
func (c *clock) bounds(i int) (from, to vtime.Time) {
	from = c.origin.Add(vtime.Duration(i) * c.width)
	return from, from.Add(c.width)
}

// fold joins neighbours, for a clock that has doubled.
func fold[T any](bins *[maxBins]T, join func(a, b T) T) {
	for i := range maxBins / 2 {
		bins[i] = join(bins[2*i], bins[2*i+1])
	}
	clear(bins[maxBins/2:])
}

// series is a count for each bin.
type series = [maxBins]int64

func add(a, b int64) int64 { return a + b }

// bin is what happened in one.
type bin struct {
	asked, rejected, routed     int64
	ended, judged, met          int64
	preemptions, anomalies      int64
	scaledUp, scaledDown, moved int64
}

func (b bin) plus(o bin) bin {
	return bin{
		b.asked + o.asked, b.rejected + o.rejected, b.routed + o.routed,
		b.ended + o.ended, b.judged + o.judged, b.met + o.met,
		b.preemptions + o.preemptions, b.anomalies + o.anomalies,
		b.scaledUp + o.scaledUp, b.scaledDown + o.scaledDown, b.moved + o.moved,
	}
}
