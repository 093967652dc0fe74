package latency

import (
	"math"
	"math/bits"
)

// log1p is ln(1 + n), 0 for n below 0, with the same bits on every machine.
// Package math promises the same bits of neither Log, which is assembly on amd64,
// nor Log1p, whose products the compiler fuses into sums on arm64. Here every
// product that feeds a sum is rounded first, and Ldexp and conversions are
// exact or round once.
func log1p(n int64) float64 {
	if n <= 0 {
		return 0
	}
	x := float64(uint64(n) + 1)
	// x = m·2ᵉ with m in [√½, √2).
	e := bits.Len64(uint64(n) + 1)
	m := math.Ldexp(x, -e)
	if m < math.Sqrt2/2 {
		m, e = float64(2*m), e-1
	}
	// ln m = 2·artanh s = 2(s + s³/3 + s⁵/5 + …) with s = (m − 1)/(m + 1), at
	// most 0.172, so that what follows s²¹/21 is below 2⁻⁶⁰ of the sum.
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	p := 0.0
	for _, c := range oddReciprocals {
		p = float64((p + c) * z)
	}
	return float64(float64(e)*math.Ln2) + float64(2*(s+float64(p*s)))
}

var oddReciprocals = [...]float64{1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3}
