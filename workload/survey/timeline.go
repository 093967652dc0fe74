package survey

import (
	"slices"

	"blis/vtime"
)

// Timeline is how many requests arrived over time, in bins of equal width from
// the first arrival on. The width is a round one, the least with which there
// are at most 80 bins, and at most one for every five requests, so that what
// is seen is more than chance; three bins are allowed always, with which there
// are two at least, unless all arrive at once. The last bin ends with the last
// arrival or later.
type Timeline struct {
	BinMicros int64   `json:"bin_us"`
	Counts    []int64 `json:"counts"`
}

const (
	mostBins  = 80 // of a Timeline: a line of a terminal
	leastBins = 3  // that it may have: a round width is up to 2.5 times the one before
	perBin    = 5  // requests
)

const (
	day = 24 * vtime.Hour
	// fineBins is how many bins a timeline counts in, whatever its span.
	fineBins = 4096
)

// timeline counts arrivals in bins of a width that grows with the span, which
// is not known beforehand: whenever a request arrives after the last bin, bins are
// joined to bins of the next width. Its size is fixed.
type timeline struct {
	begin  vtime.Time
	width  int // index among fineWidths
	last   int // bin of the last arrival
	counts [fineBins]int64
}

// fineWidths are widths of bins, each a multiple of the one before. The last
// ones reach as far as virtual time does, in few bins.
var fineWidths = []vtime.Duration{
	1, 10, 100, vtime.Millisecond, 10 * vtime.Millisecond, 100 * vtime.Millisecond, vtime.Second, 10 * vtime.Second,
	vtime.Minute, 10 * vtime.Minute, vtime.Hour, day, 10 * day, 100 * day, 1_000 * day, 10_000 * day, 100_000 * day, 1_000_000 * day, 10_000_000 * day,
}

// add counts an arrival. Arrivals come in order.
func (l *timeline) add(at vtime.Time) {
	if l.counts[0] == 0 {
		l.begin = at
	}
	since := at.Sub(l.begin)
	for since/fineWidths[l.width] >= fineBins {
		l.widen()
	}
	l.last = int(since / fineWidths[l.width])
	l.counts[l.last]++
}

// widen goes on to the next width.
func (l *timeline) widen() {
	factor := int(fineWidths[l.width+1] / fineWidths[l.width])
	l.width++
	for i := range l.counts {
		n := l.counts[i]
		l.counts[i] = 0
		l.counts[i/factor] += n
	}
}

// report joins the bins to bins of a round width.
func (l *timeline) report(requests int64) Timeline {
	most := min(max(requests/perBin, leastBins), mostBins)
	fine := fineWidths[l.width]
	width := fine
	for _, w := range roundWidths() {
		if width = w; w%fine == 0 && int64(l.last)/int64(w/fine) < most {
			break
		}
	}
	factor := int(width / fine)
	t := Timeline{BinMicros: int64(width), Counts: make([]int64, l.last/factor+1)}
	for i, n := range l.counts[:l.last+1] {
		t.Counts[i/factor] += n
	}
	return t
}

// roundWidths are the widths that people read easily, ascending.
func roundWidths() []vtime.Duration {
	var list []vtime.Duration
	for _, w := range fineWidths {
		factors := []vtime.Duration{1, 2, 5}
		switch w {
		case 10 * vtime.Second, 10 * vtime.Minute:
			factors = []vtime.Duration{1, 2, 3}
		case vtime.Hour:
			factors = []vtime.Duration{1, 2, 3, 6, 12}
		}
		for _, f := range factors {
			list = append(list, w*f)
		}
	}
	slices.Sort(list)
	return list
}

// peak is the largest number of arrivals per second in a bin; nil if all arrive
// at once.
func (t *Timeline) peak() *float64 {
	if len(t.Counts) < 2 {
		return nil
	}
	rate := float64(slices.Max(t.Counts)) / vtime.Duration(t.BinMicros).Seconds()
	return &rate
}
