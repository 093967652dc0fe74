package draw

import (
	"fmt"
	"math"
)

// Distribution is a distribution of a number: of tokens, of µs. The zero value
// is the constant 0. It is a value: copies draw alike, and drawing changes
// none. Those with equal parameters are ==, but for empirical ones.
type Distribution struct {
	kind          kind
	a, b, c, d, e float64 // parameters, see kind
	table         *table  // of an empirical distribution
}

// kind says what the parameters a to e of a distribution are.
type kind uint8

const (
	constant    kind = iota // a: the value
	gaussian                // a: mean, b: standard deviation
	uniform                 // a: least, b: most
	exponential             // a: mean
	lognormal               // a·exp(c + b·z), z normal
	heavyTailed             // lognormal with a = 1, or with probability a Pareto of alpha d from e
	zipf                    // a: exponent, b: how many values, c, d, e: see newZipf
	empirical               // a: mean, b: variance, c: least, d: most
)

// Sample draws once. It allocates nothing, and what it returns is finite. A
// distribution with only one value draws nothing from v.
func (d *Distribution) Sample(v *Variates) float64 {
	switch d.kind {
	case gaussian:
		return d.a + float64(d.b*v.Normal())
	case uniform:
		return d.a + float64((d.b-d.a)*v.Uniform())
	case exponential:
		return float64(d.a * v.Exponential())
	case lognormal:
		return d.lognormal(d.a, v)
	case heavyTailed:
		if v.Uniform() < d.a {
			return pareto(d.d, d.e, v)
		}
		return d.lognormal(1, v)
	case zipf:
		return d.zipf(v)
	case empirical:
		return d.table.pick(v)
	}
	return d.a
}

// lognormal draws scale·exp(mu + sigma·z).
func (d *Distribution) lognormal(scale float64, v *Variates) float64 {
	return float64(scale * Exp(float64(d.b*v.Normal())+d.c))
}

// pareto draws from the Pareto distribution: least / u^(1/alpha) with u
// uniform, which is least · exp(e/alpha) with e exponential.
func pareto(alpha, least float64, v *Variates) float64 {
	return float64(least * Exp(v.Exponential()/alpha))
}

// Mean is the expected value. It is +Inf for a Pareto tail with alpha up to 1.
func (d *Distribution) Mean() float64 {
	switch d.kind {
	case uniform:
		return d.a/2 + d.b/2
	case lognormal:
		return float64(d.a * Exp(d.c+float64(d.b*d.b)/2))
	case heavyTailed:
		return d.mixed(1)
	case zipf:
		return d.zipfMoment(1)
	}
	return d.a
}

// Variance is the expected square of the distance from the mean. It is +Inf
// for a Pareto tail with alpha up to 2, and where the number is too large.
func (d *Distribution) Variance() float64 {
	switch d.kind {
	case gaussian:
		return float64(d.b * d.b)
	case uniform:
		return float64((d.b-d.a)*(d.b-d.a)) / 12
	case exponential:
		return float64(d.a * d.a)
	case lognormal:
		square, mean := float64(d.b*d.b), d.Mean()
		// In this order no product overflows unless the result does.
		return float64(float64(float64(square*expm1Ratio(square))*mean) * mean)
	case heavyTailed:
		mean, square := d.Mean(), d.mixed(2)
		if math.IsInf(square, 1) {
			return square
		}
		return max(0, square-float64(mean*mean))
	case zipf:
		return d.zipfMoment(2)
	case empirical:
		return d.b
	}
	return 0
}

// mixed is the k-th moment of a Pareto-lognormal distribution.
func (d *Distribution) mixed(k float64) float64 {
	moment := 0.0
	if d.a > 0 {
		if d.d <= k {
			return math.Inf(1)
		}
		moment = float64(d.a * d.d / (d.d - k) * Exp(float64(k*Log(d.e))))
	}
	if d.a == 1 {
		return moment
	}
	return moment + float64((1-d.a)*Exp(float64(k*d.c)+float64(k*k*float64(d.b*d.b))/2))
}

// Bounds are the least and the most that a draw can be, -Inf and +Inf if there
// are none.
func (d *Distribution) Bounds() (least, most float64) {
	switch d.kind {
	case gaussian:
		return math.Inf(-1), math.Inf(1)
	case uniform:
		return d.a, d.b
	case exponential, lognormal, heavyTailed:
		return 0, math.Inf(1)
	case zipf:
		return 0, d.b - 1
	case empirical:
		return d.c, d.d
	}
	return d.a, d.a
}

// String names the distribution and its parameters, for people.
func (d *Distribution) String() string {
	switch d.kind {
	case gaussian:
		return fmt.Sprintf("gaussian %.10g ± %.10g", d.a, d.b)
	case uniform:
		return fmt.Sprintf("uniform from %.10g to %.10g", d.a, d.b)
	case exponential:
		return fmt.Sprintf("exponential, mean %.10g", d.a)
	case lognormal:
		square := float64(d.b * d.b)
		return fmt.Sprintf("lognormal, mean %.6g, CV %.6g", d.Mean(), math.Sqrt(float64(square*expm1Ratio(square))))
	case heavyTailed:
		return fmt.Sprintf("%.6g %% Pareto of alpha %.6g from %.6g, else lognormal of mu %.6g, sigma %.6g", float64(100*d.a), d.d, d.e, d.c, d.b)
	case zipf:
		return fmt.Sprintf("Zipf of exponent %.6g over %.10g values", d.a, d.b)
	case empirical:
		return fmt.Sprintf("empirical, %d values from %.10g to %.10g, mean %.6g", len(d.table.bins), d.c, d.d, d.a)
	}
	return fmt.Sprintf("constant %.10g", d.a)
}
