package draw

import "math"

// Zipf's law is drawn by rejection-inversion: Hörmann and Derflinger,
// "Rejection-inversion to generate variates from monotone discrete
// distributions", ACM TOMACS 6 (1996). With h(x) = x^−s and H its integral, u
// is uniform from H(1½) − h(1) to H(n+½), and x = H⁻¹(u) rounded is k, from 1.
// The part of u that rounds to k is as long as ∫h from k−½ to k+½, which is at
// least h(k) since h is convex; u counts where it is in the last h(k) of it,
// else another is drawn. No table, and hardly a rejection.

// newZipf has the parameters of the law of exponent s over n values: c and d
// are the range of u. Where k − x ≤ e, u counts for sure: at k = 2 that bound
// is the narrowest.
func newZipf(s, n float64) Distribution {
	return Distribution{
		kind: zipf, a: s, b: n,
		c: powerIntegral(s, 1.5) - 1,
		d: powerIntegral(s, n+0.5),
		e: 2 - powerIntegralInverse(s, powerIntegral(s, 2.5)-power(s, 2)),
	}
}

func (d *Distribution) zipf(v *Variates) float64 {
	for {
		u := d.d + float64((d.c-d.d)*v.Uniform())
		x := powerIntegralInverse(d.a, u)
		k := min(max(math.Floor(x+0.5), 1), d.b)
		if k-x <= d.e || u >= powerIntegral(d.a, k+0.5)-power(d.a, k) {
			return k - 1
		}
	}
}

// power is x^−s.
func power(s, x float64) float64 { return Exp(float64(-s * Log(x))) }

// powerIntegral is the integral of t^−s from 1 to x, (x^(1−s) − 1)/(1 − s), in
// a form that is exact near s = 1 too, where it is ln x.
func powerIntegral(s, x float64) float64 {
	l := Log(x)
	return float64(l * expm1Ratio(float64((1-s)*l)))
}

// powerIntegralInverse is the x with powerIntegral(s, x) = u, and +Inf for u
// that no x reaches.
func powerIntegralInverse(s, u float64) float64 {
	t := float64((1 - s) * u)
	if t <= -1 {
		return math.Inf(1)
	}
	return Exp(float64(u * log1pRatio(t)))
}

// zipfMoment is the mean of the law, or its second central moment.
func (d *Distribution) zipfMoment(k int) float64 {
	all := powerSum(d.a, d.b)
	mean := powerSum(d.a-1, d.b) / all
	if k == 1 {
		return mean - 1
	}
	return max(0, powerSum(d.a-2, d.b)/all-float64(mean*mean))
}

// powerSum is Σ k^−s for k from 1 to n: the first terms one by one, the others
// by the formula of Euler and Maclaurin up to the third derivative.
func powerSum(s, n float64) float64 {
	const direct = 64
	sum := 0.0
	for k := min(n, direct-1); k >= 1; k-- {
		sum += power(s, k)
	}
	if n < direct {
		return sum
	}
	first, last := power(s, direct), power(s, n)
	// The integral from m to n is m^(1−s) times that from 1 to n/m.
	sum += float64(direct * first * powerIntegral(s, n/direct))
	sum += (first + last) / 2
	sum += float64(s*(first/direct-last/n)) / 12
	third := float64(s * (s + 1) * (s + 2))
	sum -= float64(third*(first/(direct*direct*direct)-last/float64(n*n*n))) / 720
	return sum
}
