package survey

import (
	"math/bits"

	"blis/metrics"
)

// Summary is what is said of whole numbers: of the tokens of prompts or
// outputs, or of rounds. Percentiles are by linear interpolation at rank
// p/100·(n−1) over all of them, exact. CV is the standard deviation over the
// mean, nil for fewer than two numbers and where all are 0.
type Summary struct {
	Mean float64  `json:"mean"`
	CV   *float64 `json:"cv"`
	P50  float64  `json:"p50"`
	P90  float64  `json:"p90"`
	P95  float64  `json:"p95"`
	P99  float64  `json:"p99"`
	Min  int64    `json:"min"`
	Max  int64    `json:"max"`
}

// Bucket is a bar of a histogram: how many numbers lie from From to To, both
// included.
type Bucket struct {
	From  int64 `json:"from"`
	To    int64 `json:"to"`
	Count int64 `json:"count"`
}

// tally counts whole numbers, none negative. Its memory grows with the number
// of different ones: two or three bytes for each, see metrics.Distribution.
type tally struct {
	moments
	distribution metrics.Distribution
	powers       [64]int64 // by the number of bits: 0, 1, 2–3, 4–7, …
}

func (t *tally) add(x int64) {
	t.moments.add(uint64(x))
	t.distribution.Add(x)
	t.powers[bits.Len64(uint64(x))]++
}

// summary is nil if nothing was counted.
func (t *tally) summary() *Summary {
	s := t.distribution.Summary()
	if s.N == 0 {
		return nil
	}
	return &Summary{Mean: s.Mean, CV: t.cv(), P50: s.P50, P90: s.P90, P95: s.P95, P99: s.P99, Min: s.Min, Max: s.Max}
}

// histogram has a bucket for each power of two from the smallest number to the
// largest.
func (t *tally) histogram() []Bucket {
	list := []Bucket{}
	for i, n := range t.powers {
		if n == 0 && len(list) == 0 {
			continue
		}
		list = append(list, Bucket{From: int64(1) << i >> 1, To: int64(1)<<i - 1, Count: n})
	}
	for len(list) > 0 && list[len(list)-1].Count == 0 {
		list = list[:len(list)-1]
	}
	return list
}
