package trace

import (
	"cmp"
	"math"
	"slices"

	"blis/vtime"
)

// table has a value for each key, in the order in which keys came. When there
// are limit of them, what comes under new keys goes to others.
type table[K comparable, V any] struct {
	limit  int
	index  map[K]int
	keys   []K
	values []V
	others V
	full   bool // others is in use
}

const unlimited = math.MaxInt

func newTable[K comparable, V any](limit int) table[K, V] {
	return table[K, V]{limit: limit, index: map[K]int{}}
}

// at is the value of k. It is valid until the next call.
func (t *table[K, V]) at(k K) *V {
	i, ok := t.index[k]
	if ok {
		return &t.values[i]
	}
	if len(t.keys) == t.limit {
		t.full = true
		return &t.others
	}
	var zero V
	t.index[k] = len(t.keys)
	t.keys, t.values = append(t.keys, k), append(t.values, zero)
	return &t.values[len(t.values)-1]
}

// clone is a copy that shares nothing, if values do not.
func (t *table[K, V]) clone() table[K, V] {
	c := *t
	c.index = make(map[K]int, len(t.keys))
	for i, k := range t.keys {
		c.index[k] = i
	}
	c.keys, c.values = slices.Clone(t.keys), slices.Clone(t.values)
	return c
}

// average is the mean of finite numbers in the order in which they came. It
// never passes the range of float64, as a sum could.
type average struct {
	n                 int64
	mean, least, most float64
}

func (a *average) add(x float64) {
	if a.n == 0 {
		a.least, a.most = x, x
	}
	a.n++
	n := float64(a.n)
	a.mean += x/n - a.mean/n
	a.least, a.most = min(a.least, x), max(a.most, x)
}

// plus is the average of both.
func (a average) plus(b average) average {
	switch {
	case a.n == 0:
		return b
	case b.n == 0:
		return a
	}
	n := float64(a.n + b.n)
	return average{
		n:     a.n + b.n,
		mean:  float64(a.mean*(float64(a.n)/n)) + float64(b.mean*(float64(b.n)/n)),
		least: min(a.least, b.least), most: max(a.most, b.most),
	}
}

// shareOf returns the sum of a divided by the sum of all; 0 if that is 0.
func (a average) shareOf(all average) float64 {
	if all.mean == 0 || a.n == 0 {
		return 0
	}
	return min(1, float64(a.mean/all.mean*(float64(a.n)/float64(all.n))))
}

// histogram counts numbers from 0 in buckets whose bounds are the floats of
// eleven significant bits: 1,024 buckets between powers of two. Its
// percentiles are lower bounds of buckets, so they are exact for numbers of
// eleven bits, whole numbers up to 2,048 for instance, and too low by less than
// 1/1024 of themselves for the others. It depends on the numbers alone, not on
// their order, and has 8 KiB for each power of two that occurs.
type histogram struct {
	n, zeros int64
	most     float64
	octaves  []octave // by exponent
}

const (
	mantissaBits = 52
	bucketBits   = 10
)

type octave struct {
	exponent uint64
	counts   *[1 << bucketBits]int64
}

func (h *histogram) add(x float64) {
	h.n++
	if x == 0 {
		h.zeros++
		return
	}
	h.most = max(h.most, x)
	bits := math.Float64bits(x)
	i, found := h.find(bits >> mantissaBits)
	if !found {
		h.octaves = slices.Insert(h.octaves, i, octave{bits >> mantissaBits, new([1 << bucketBits]int64)})
	}
	h.octaves[i].counts[bits>>(mantissaBits-bucketBits)&(1<<bucketBits-1)]++
}

func (h *histogram) find(exponent uint64) (int, bool) {
	return slices.BinarySearchFunc(h.octaves, exponent, func(o octave, e uint64) int { return int(o.exponent) - int(e) })
}

// percentile is the bound of the bucket of the smallest number that at least p
// of 100 numbers do not exceed; 0 of none.
func (h *histogram) percentile(p int64) float64 {
	rank := (h.n/100)*p + (h.n%100*p+99)/100
	if rank <= h.zeros {
		return 0
	}
	below := h.zeros
	for _, o := range h.octaves {
		for i, n := range o.counts {
			if below += n; n > 0 && below >= rank {
				return math.Float64frombits(o.exponent<<mantissaBits | uint64(i)<<(mantissaBits-bucketBits))
			}
		}
	}
	return h.most
}

// clone is a copy that shares nothing.
func (h *histogram) clone() histogram {
	c := *h
	c.octaves = slices.Clone(h.octaves)
	for i := range c.octaves {
		counts := *c.octaves[i].counts
		c.octaves[i].counts = &counts
	}
	return c
}

// span is a number of durations and their sum in µs, which stays at the end of
// int64 when it gets there.
type span struct{ n, sum int64 }

func (s *span) add(us int64) {
	s.n++
	if s.sum > math.MaxInt64-us {
		s.sum = math.MaxInt64
		return
	}
	s.sum += us
}

// mean is null for none.
func (s *span) mean() *float64 {
	if s.n == 0 {
		return nil
	}
	m := float64(s.sum) / float64(s.n)
	return &m
}

// example is something that happened, for a reader to look up in the trace.
type example struct {
	at            vtime.Time
	request       int64 // −1: of no request
	instance      int   // −1: of no instance
	tenant, class string
	value         float64 // by which the largest are kept
}

// examples are the largest by value, then the earliest.
type examples []example

// add keeps x if it is among the largest.
func (e *examples) add(x example, most int) {
	i, _ := slices.BinarySearchFunc(*e, x, func(a, b example) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.at, b.at), cmp.Compare(a.request, b.request), -1)
	})
	*e = keep(*e, i, x, most)
}

// counted is a number and the largest or first examples.
type counted struct {
	n        int64
	examples examples
}

func (c *counted) add(x example, most int) {
	c.n++
	c.examples.add(x, most)
}

// keep puts x at i, in a list of limited length.
func keep[T any](list []T, i int, x T, most int) []T {
	if i >= most {
		return list
	}
	if len(list) == most {
		list = list[:most-1]
	}
	return slices.Insert(list, i, x)
}

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

// plus adds what happened in two bins.
func (b Bin) plus(o Bin) Bin {
	return Bin{
		Asked: b.Asked + o.Asked, Rejected: b.Rejected + o.Rejected, Routed: b.Routed + o.Routed, Redirected: b.Redirected + o.Redirected,
		Ended: b.Ended + o.Ended, Judged: b.Judged + o.Judged, Met: b.Met + o.Met,
		Preemptions: b.Preemptions + o.Preemptions, Anomalies: b.Anomalies + o.Anomalies,
		ScaledUp: b.ScaledUp + o.ScaledUp, ScaledDown: b.ScaledDown + o.ScaledDown,
	}
}
