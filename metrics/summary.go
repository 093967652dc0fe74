package metrics

import (
	"math"
	"math/bits"
	"slices"
	"sync"
)

// Summary holds mean, percentiles and extremes of a distribution, in µs. Percentiles are by
// linear interpolation at rank p/100·(n−1) over all samples, exact.
type Summary struct {
	N    int64   `json:"n"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	Min  int64   `json:"min"`
	Max  int64   `json:"max"`
}

// percents are the percentiles of Summary, ascending.
var percents = [4]int64{50, 90, 95, 99}

// Summary computes the summary; the zero Summary if there is no sample. It
// does not merge runs but narrows in on the ranks it needs.
func (d *Distribution) Summary() Summary {
	d.flush()
	if d.samples == 0 {
		return Summary{}
	}
	var ranks [2 * len(percents)]int64
	for i, p := range percents {
		at := rankOf(p, d.samples)
		ranks[2*i], ranks[2*i+1] = at, min(at+1, d.samples-1)
	}
	var values [len(ranks)]int64
	d.orderStatistics(ranks[:], values[:])
	var at [len(percents)]float64
	for i, p := range percents {
		at[i] = interpolate(values[2*i], values[2*i+1], p, d.samples)
	}
	low, high := d.bounds()
	return Summary{
		N: d.samples, Mean: d.sum.over(d.samples),
		P50: at[0], P90: at[1], P95: at[2], P99: at[3],
		Min: low, Max: high,
	}
}

// rankOf is ⌊p·(n−1)/100⌋, without passing the end of int64.
func rankOf(p, n int64) int64 {
	return (n-1)/100*p + (n-1)%100*p/100
}

// interpolate goes from a, at rankOf(p, n), towards b, at the rank after it.
func interpolate(a, b, p, n int64) float64 {
	hundredths := (n - 1) % 100 * p % 100
	step := float64(uint64(b) - uint64(a))
	return float64(a) + float64(float64(step*float64(hundredths))/100)
}

// bounds is the smallest and the largest sample. There must be one.
func (d *Distribution) bounds() (low, high int64) {
	low, high = math.MaxInt64, math.MinInt64
	for i := range d.runs {
		low, high = min(low, d.runs[i].first), max(high, d.runs[i].last)
	}
	return low, high
}

// interval is a range of values that holds at least one wanted rank.
type interval struct {
	low, high int64 // inclusive
	below     int64 // samples less than low
	entries   int   // pairs within, over all runs
}

const (
	bucketBits = 12
	// gatherLimit is the number of entries that are sorted rather than
	// narrowed down further: what a short run has is sorted at once, which is
	// less than new memory for buckets costs.
	gatherLimit = 2048
)

// workspace is memory of orderStatistics. It is used again for the next summary: fresh
// memory for each would cost a short run more than its percentiles do.
type workspace struct {
	decoded  block
	gathered [gatherLimit]entry
}

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// orderStatistics sets values[i] to the sample of rank ranks[i], counted from
// 0 in ascending order. Ranks ascend and are less than the number of samples.
func (d *Distribution) orderStatistics(ranks, values []int64) {
	if !d.selectFlat(ranks, values) {
		d.selectByRuns(ranks, values)
	}
}

// selectByRuns is orderStatistics without holding the entries: it reads the
// runs two or three times.
func (d *Distribution) selectByRuns(ranks, values []int64) {
	room := workspaces.Get().(*workspace)
	defer workspaces.Put(room)
	low, high := d.bounds()
	intervals := []interval{{low: low, high: high, entries: d.entries}}
	for mustNarrow(intervals) {
		intervals = d.narrow(intervals, ranks, room)
	}
	within, free := make([][]entry, len(intervals)), room.gathered[:]
	for i, v := range intervals {
		if v.low < v.high {
			within[i], free = free[:0:v.entries], free[v.entries:]
		}
	}
	d.read(intervals, &room.decoded, func(i int, part []entry) {
		if intervals[i].low < intervals[i].high {
			within[i] = append(within[i], part...)
		}
	})
	for i := range within {
		slices.SortFunc(within[i], byValue)
	}
	for k, rank := range ranks {
		i := intervalOf(intervals, rank)
		values[k] = intervals[i].low
		below := intervals[i].below
		for _, e := range within[i] {
			if below += e.count; rank < below {
				values[k] = e.value
				break
			}
		}
	}
}

// mustNarrow says whether too much lies in intervals to gather it. One that
// is a single value is settled.
func mustNarrow(intervals []interval) bool {
	open := 0
	for _, v := range intervals {
		if v.low < v.high {
			open += v.entries
		}
	}
	return open > gatherLimit
}

// intervalOf is the last interval that begins at or below rank.
func intervalOf(intervals []interval, rank int64) int {
	i := 0
	for i+1 < len(intervals) && intervals[i+1].below <= rank {
		i++
	}
	return i
}

// narrow divides each interval into 2¹² buckets or fewer, counts, and keeps
// the buckets that hold a rank: their range is 2¹² times smaller.
func (d *Distribution) narrow(intervals []interval, ranks []int64, room *workspace) []interval {
	type bucket struct{ samples, entries int64 }
	counts := make([][1 << bucketBits]bucket, len(intervals))
	shifts := make([]int, len(intervals))
	for i, v := range intervals {
		shifts[i] = max(0, bits.Len64(uint64(v.high)-uint64(v.low))-bucketBits)
	}
	d.read(intervals, &room.decoded, func(i int, part []entry) {
		low, shift, buckets := uint64(intervals[i].low), shifts[i], &counts[i]
		for _, e := range part {
			b := &buckets[(uint64(e.value)-low)>>shift&(1<<bucketBits-1)]
			b.samples += e.count
			b.entries++
		}
	})
	narrowed := make([]interval, 0, len(ranks))
	for _, rank := range ranks {
		i := intervalOf(intervals, rank)
		b, below := 0, intervals[i].below
		for below+counts[i][b].samples <= rank {
			below += counts[i][b].samples
			b++
		}
		from := uint64(b) << shifts[i] // both from the interval's low end, where nothing overflows
		to := min(from+(1<<shifts[i]-1), uint64(intervals[i].high)-uint64(intervals[i].low))
		v := interval{
			low:     int64(uint64(intervals[i].low) + from),
			high:    int64(uint64(intervals[i].low) + to),
			below:   below,
			entries: int(counts[i][b].entries),
		}
		if len(narrowed) == 0 || narrowed[len(narrowed)-1].low != v.low {
			narrowed = append(narrowed, v)
		}
	}
	return narrowed
}

// read calls visit with the entries that lie in each of intervals, run by run. The
// intervals are disjoint and ascend. The entries are valid until visit returns: they
// lie in scratch.
func (d *Distribution) read(intervals []interval, scratch *block, visit func(i int, part []entry)) {
	low, high := intervals[0].low, intervals[len(intervals)-1].high
	for r := range d.runs {
		if d.runs[r].last < low || d.runs[r].first > high {
			continue
		}
		rest := d.runs[r].decode(scratch)
		for i, v := range intervals {
			from, _ := slices.BinarySearchFunc(rest, entry{value: v.low}, byValue)
			rest = rest[from:]
			to := len(rest)
			if len(rest) > 0 && rest[to-1].value > v.high {
				to, _ = slices.BinarySearchFunc(rest, entry{value: v.high + 1}, byValue)
			}
			if to > 0 {
				visit(i, rest[:to])
			}
			rest = rest[to:]
		}
	}
}

// summaries are the summaries of a report that are not computed yet. All are computed
// together, on several workers. The result does not depend on the workers.
type summaries struct {
	of   map[*Distribution]*Summary // a distribution in several scopes has one summary
	work []summary
}

// summary is one distribution and the place of its Summary.
type summary struct {
	of *Distribution
	to *Summary
}

// add returns the summary of d, which compute fills; nil if d has no samples.
func (s *summaries) add(d *Distribution) *Summary {
	if to, ok := s.of[d]; ok {
		return to
	}
	if d.N() == 0 {
		return nil
	}
	if s.of == nil {
		s.of = map[*Distribution]*Summary{}
	}
	to := new(Summary)
	s.of[d] = to
	s.work = append(s.work, summary{d, to})
	return to
}

// compute fills the summaries, those of the largest distributions first.
func (s *summaries) compute(each func(n int, f func(i int))) {
	slices.SortStableFunc(s.work, func(a, b summary) int { return b.of.entries - a.of.entries })
	each(len(s.work), func(i int) { *s.work[i].to = s.work[i].of.Summary() })
}

// sequentially calls f one by one: Run.Each without goroutines.
func sequentially(n int, f func(i int)) {
	for i := range n {
		f(i)
	}
}
