package trace

import (
	"math"
	"slices"
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

// shareOf is what part of the sum behind all is behind a; NaN never: 0 when
// all is 0.
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
