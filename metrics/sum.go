package metrics

import "math/bits"

// sum128 is an exact signed sum in 128 bits, two's complement. 10¹⁰ samples of
// 10⁹ µs pass the end of int64; they are nowhere near the end of this.
type sum128 struct {
	hi, lo uint64
}

// add adds v.
func (s *sum128) add(v int64) { s.addProduct(v, 1) }

// addProduct adds v·n. n must not be negative.
func (s *sum128) addProduct(v, n int64) {
	hi, lo := bits.Mul64(uint64(v), uint64(n))
	if v < 0 { // uint64(v) is v + 2⁶⁴
		hi -= uint64(n)
	}
	s.plus(sum128{hi, lo})
}

// plus adds o.
func (s *sum128) plus(o sum128) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, o.lo, 0)
	s.hi, _ = bits.Add64(s.hi, o.hi, carry)
}

// less reports whether s is less than o.
func (s sum128) less(o sum128) bool {
	if s.hi != o.hi {
		return int64(s.hi) < int64(o.hi)
	}
	return s.lo < o.lo
}

// magnitude is |s| and whether s is negative.
func (s sum128) magnitude() (sum128, bool) {
	if int64(s.hi) >= 0 {
		return s, false
	}
	lo, borrow := bits.Sub64(0, s.lo, 0)
	hi, _ := bits.Sub64(0, s.hi, borrow)
	return sum128{hi, lo}, true
}

// over is s/n as a float. n must be positive and |s|/n below 2⁶⁴, which holds
// for a mean of int64 values.
func (s sum128) over(n int64) float64 {
	m, negative := s.magnitude()
	quotient, rest := bits.Div64(m.hi, m.lo, uint64(n))
	mean := float64(quotient) + float64(float64(rest)/float64(n))
	if negative {
		return -mean
	}
	return mean
}

// float is s as a float, for output only.
func (s sum128) float() float64 {
	m, negative := s.magnitude()
	f := float64(float64(m.hi)*(1<<64)) + float64(m.lo)
	if negative {
		return -f
	}
	return f
}
