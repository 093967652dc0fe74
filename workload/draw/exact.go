package draw

import "math"

// The functions of this file return the same bits on every machine, which
// package math does not promise: its Log and Exp are assembly on one
// architecture and compiled with fused multiply-add on another. Every product
// that feeds a sum, be it statements later, is therefore written float64(a*b).
// They are accurate to a few units in the last place, which a test checks
// against package math.

// Log returns the natural logarithm of x, which is positive and finite.
func Log(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = float64(2*m), e-1
	}
	// log m = 2 artanh s with s = (m−1)/(m+1), |s| ≤ 0.172: the series below
	// is exact to 2⁻⁵⁵ with its last term s²³/23. Its terms are summed in two
	// halves that do not wait for each other.
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	w := float64(z * z)
	p := 1.0 / 23
	p = float64(p*w) + 1.0/19
	p = float64(p*w) + 1.0/15
	p = float64(p*w) + 1.0/11
	p = float64(p*w) + 1.0/7
	p = float64(p*w) + 1.0/3
	q := 1.0 / 21
	q = float64(q*w) + 1.0/17
	q = float64(q*w) + 1.0/13
	q = float64(q*w) + 1.0/9
	q = float64(q*w) + 1.0/5
	p += float64(q * z)
	p = float64(float64(p*z) * s)
	return float64(float64(e)*math.Ln2) + float64(2*(p+s))
}

// Exp returns e to the power of x, 0 below −745 and +Inf above 709.8.
func Exp(x float64) float64 {
	switch {
	case x < -746:
		return 0
	case x > 710:
		return math.Inf(1)
	}
	// x = k ln 2 + r with |r| ≤ 0.347. The upper part of ln 2 has 21 zero bits
	// at its end, so its product with k is exact.
	const upper, lower = 6.93147180369123816490e-01, 1.90821492927058770002e-10
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := (x - float64(k*upper)) - float64(k*lower)
	p := 0.0
	for _, c := range inverseFactorials {
		p = float64(p*r) + c
	}
	return math.Ldexp(p, int(k))
}

// inverseFactorials are the coefficients of exp's series, 1/14! … 1/0!.
var inverseFactorials = [...]float64{
	1.0 / 87178291200, 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
	1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1, 1,
}

// LogGamma returns log Γ(x) for x ≥ 1: Stirling's series (Abramowitz and
// Stegun 6.1.41) after moving x up to where it converges.
func LogGamma(x float64) float64 {
	product := 1.0
	for ; x < 12; x++ {
		product = float64(product * x)
	}
	z := 1 / float64(x*x)
	p := 1.0 / 1188
	p = float64(p*z) - 1.0/1680
	p = float64(p*z) + 1.0/1260
	p = float64(p*z) - 1.0/360
	p = float64(p*z) + 1.0/12
	const halfLogTwoPi = 0.91893853320467274178
	return float64((x-0.5)*Log(x)) - x + halfLogTwoPi + p/x - Log(product)
}

// expm1Ratio returns (eˣ − 1)/x, 1 at 0, for x up to 700. For small x neither
// the difference nor log eˣ is exact, but their quotient is: both have the
// rounding of eˣ in them (Higham, Accuracy and Stability of Numerical
// Algorithms, 2nd ed., 1.14.1).
func expm1Ratio(x float64) float64 {
	w := Exp(x)
	switch {
	case w == 1:
		return 1
	case w < 1.0/16 || w > 16: // nothing cancels, and w may be 0
		return (w - 1) / x
	}
	return (w - 1) / Log(w)
}

// log1pRatio returns log(1 + x)/x, 1 at 0, for x above −1; see expm1Ratio.
func log1pRatio(x float64) float64 {
	w := 1 + x
	if w == 1 {
		return 1
	}
	return Log(w) / (w - 1)
}

// cosine returns cos(2πt), t being a number of turns. The angle is reduced
// before it is multiplied, so whole and half turns are exact.
func cosine(t float64) float64 {
	t = math.Abs(t - math.Floor(t+0.5)) // to [0, ½]
	sign := 1.0
	if t > 0.25 {
		t, sign = 0.5-t, -1
	}
	if t > 0.125 {
		return float64(sign * sine(float64(2*math.Pi*(0.25-t))))
	}
	// The series up to x¹⁸/18!, with x ≤ π/4.
	x := float64(2 * math.Pi * t)
	z, p := float64(x*x), 0.0
	for n := 18; n >= 2; n -= 2 {
		p = float64((1-p)*z) / float64(n*(n-1))
	}
	return float64(sign * (1 - p))
}

// sine is the series up to x¹⁹/19!, for x from 0 to π/4.
func sine(x float64) float64 {
	z, p := float64(x*x), 0.0
	for n := 19; n >= 3; n -= 2 {
		p = float64((1-p)*z) / float64(n*(n-1))
	}
	return float64(x * (1 - p))
}

// Pow returns x to the power of y, with the special cases of math.Pow. Its relative
// error grows with the whole part of y: some 10⁻¹⁶ for each squaring.
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case y == 1:
		return x
	case x != x || y != y:
		return math.NaN()
	case x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Pow(x, y) // exact: 0, ±1 or infinite
	case y == 0.5:
		return math.Sqrt(x)
	case y == -0.5:
		return 1 / math.Sqrt(x)
	}
	whole, part := math.Modf(math.Abs(y))
	if part != 0 && x < 0 {
		return math.NaN()
	}
	if whole >= 1<<63 {
		switch {
		case x == -1:
			return 1
		case (math.Abs(x) < 1) == (y > 0):
			return 0
		}
		return math.Inf(1)
	}
	power, exponent := 1.0, int64(0) // the result is power · 2^exponent
	if part != 0 {
		if part > 0.5 {
			part, whole = part-1, whole+1
		}
		power = Exp(float64(part * Log(x)))
	}
	m, e := math.Frexp(x)
	for n, scale := int64(whole), int64(e); n != 0; n >>= 1 {
		if scale < -1<<12 || scale > 1<<12 { // out of reach of any later factor
			exponent += scale
			break
		}
		if n&1 == 1 {
			power, exponent = float64(power*m), exponent+scale
		}
		if m, scale = float64(m*m), scale<<1; m < 0.5 {
			m, scale = float64(m+m), scale-1
		}
	}
	if y < 0 {
		power, exponent = 1/power, -exponent
	}
	return math.Ldexp(power, int(exponent))
}
