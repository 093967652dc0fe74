package survey

import (
	"math"
	"math/big"
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

// moments sums whole numbers and their squares without rounding. Numbers are
// below 2⁶³. The sums have 128 bits: enough for 2⁶⁴ numbers of tokens, and
// for gaps, which together are no longer than virtual time.
type moments struct {
	n            int64
	sum, squares wide
}

// wide is a whole number of 128 bits.
type wide struct{ high, low uint64 }

func (w *wide) add(high, low uint64) {
	var carry uint64
	w.low, carry = bits.Add64(w.low, low, 0)
	w.high, _ = bits.Add64(w.high, high, carry)
}

func (w wide) big() *big.Int {
	x := new(big.Int).SetUint64(w.high)
	x.Lsh(x, 64)
	return x.Or(x, new(big.Int).SetUint64(w.low))
}

func (m *moments) add(x uint64) {
	m.n++
	m.sum.add(0, x)
	m.squares.add(bits.Mul64(x, x))
}

// cv is the coefficient of variation, √(n·Σx² − (Σx)²)/Σx, of the numbers as a
// population: the variance has n in the denominator and not n − 1.
// The quotient below the root is rounded once. Nil if there are fewer than two
// numbers or all are 0.
func (m *moments) cv() *float64 {
	sum := m.sum.big()
	if m.n < 2 || sum.Sign() == 0 {
		return nil
	}
	square := new(big.Int).Mul(sum, sum)
	spread := m.squares.big()
	spread.Mul(spread, big.NewInt(m.n)).Sub(spread, square)
	ratio, _ := new(big.Rat).SetFrac(spread, square).Float64()
	cv := math.Sqrt(ratio)
	return &cv
}
