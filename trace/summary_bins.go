package trace

import "blis/vtime"

// maxBins is the maximum number of bins of a summary.
const maxBins = 24

// timeBins divides time into at most maxBins bins of equal width. The length of
// the run is not known in advance: when time gets past the last bin, bins
// become twice as wide and two become one. So a run that is longer than the
// first bins has between maxBins/2 and maxBins bins.
type timeBins struct {
	origin vtime.Time // a whole second
	width  vtime.Duration
}

func newTimeBins() timeBins { return timeBins{width: vtime.Millisecond} }

// start puts the origin at the second of the first record.
func (c *timeBins) start(first vtime.Time) { c.origin = first - first%vtime.Time(vtime.Second) }

func (c *timeBins) covers(t vtime.Time) bool { return t.Sub(c.origin)/c.width < maxBins }

func (c *timeBins) double() { c.width *= 2 }

// bin returns the bin of t. Times before the first record are in bin 0.
func (c *timeBins) bin(t vtime.Time) int { return int(max(0, t.Sub(c.origin)) / c.width) }

// bounds returns the bounds of a bin: [from, to).
func (c *timeBins) bounds(i int) (from, to vtime.Time) {
	from = c.origin.Add(vtime.Duration(i) * c.width)
	return from, from.Add(c.width)
}

// fold joins neighbouring bins, after the width has doubled.
func fold[T any](bins *[maxBins]T, join func(a, b T) T) {
	for i := range maxBins / 2 {
		bins[i] = join(bins[2*i], bins[2*i+1])
	}
	clear(bins[maxBins/2:])
}

// series is a count for each bin.
type series = [maxBins]int64

func add(a, b int64) int64 { return a + b }

// bin counts what happened in one bin.
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
