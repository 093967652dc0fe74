package survey

import (
	"math"
	"math/big"
	"math/bits"
)

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
