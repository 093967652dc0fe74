package draw

import (
	"math"

	"blis/vtime"

	"blis/workload"
)

// maxMagnitude is the largest magnitude of a parameter: with it and the ranges below no
// draw overflows. There are neither that many tokens nor that many µs.
const maxMagnitude = 1e18

// Ranges of parameters without a unit, far beyond what traffic has.
const (
	maxMu     = 400  // of a lognormal: e⁴⁰⁰, and with maxSigma a mean of e⁶⁰⁰
	maxSigma  = 20   //
	maxSpread = 1e6  // coefficient of variation of a lognormal
	minAlpha  = 0.1  // of a Pareto tail
	maxAlpha  = 1e6  //
	maxZipf   = 100  // exponent of Zipf's law
	maxValues = 10e6 // of Zipf's law
)

// Must returns d, and panics on an error. It is for parameters that the
// program itself gives.
func Must(d Distribution, err error) Distribution {
	if err != nil {
		panic("draw: " + err.Error())
	}
	return d
}

// Fixed is always value. It draws nothing.
func Fixed(value float64) Distribution { return Distribution{kind: constant, a: value} }

// Gaussian is the normal distribution; stdev from 0.
func Gaussian(mean, stdev float64) Distribution {
	if stdev == 0 {
		return Fixed(mean)
	}
	return Distribution{kind: gaussian, a: mean, b: stdev}
}

// NewFixed is always value, of magnitude up to Most. Errors of this and all
// constructors are one line that names every bad parameter.
func NewFixed(value float64) (Distribution, error) {
	var bad workload.Faults
	within(&bad, "value", value, -maxMagnitude, maxMagnitude)
	return Fixed(value), bad.Err("")
}

// NewGaussian is the normal distribution; mean of magnitude up to Most, stdDev
// from 0 to Most.
func NewGaussian(mean, stdDev float64) (Distribution, error) {
	var bad workload.Faults
	within(&bad, "mean", mean, -maxMagnitude, maxMagnitude)
	within(&bad, "std_dev", stdDev, 0, maxMagnitude)
	return Gaussian(mean, stdDev), bad.Err("")
}

// NewUniform is the uniform distribution of real numbers from least to most.
// Lengths are rounded: whole numbers from m to n with equal chances are the
// uniform distribution from m − ½ to n + ½.
func NewUniform(least, most float64) (Distribution, error) {
	var bad workload.Faults
	within(&bad, "min", least, -maxMagnitude, maxMagnitude)
	within(&bad, "max", most, -maxMagnitude, maxMagnitude)
	if most < least {
		bad.Add("max", most, "want at least min %v", least)
	}
	if least == most {
		return Fixed(least), bad.Err("")
	}
	return Distribution{kind: uniform, a: least, b: most}, bad.Err("")
}

// NewExponential is the exponential distribution; mean from 0.
func NewExponential(mean float64) (Distribution, error) {
	var bad workload.Faults
	within(&bad, "mean", mean, 0, maxMagnitude)
	if mean == 0 {
		return Fixed(0), bad.Err("")
	}
	return Distribution{kind: exponential, a: mean}, bad.Err("")
}

// NewLognormal is the distribution of exp(mu + sigma·z) with z normal; mu of
// magnitude up to 400, sigma from 0 to 20.
func NewLognormal(mu, sigma float64) (Distribution, error) {
	var bad workload.Faults
	checkLognormal(&bad, mu, sigma)
	if sigma == 0 {
		return Fixed(Exp(mu)), bad.Err("")
	}
	return Distribution{kind: lognormal, a: 1, b: sigma, c: mu}, bad.Err("")
}

func checkLognormal(bad *workload.Faults, mu, sigma float64) {
	within(bad, "mu", mu, -maxMu, maxMu)
	within(bad, "sigma", sigma, 0, maxSigma)
}

// NewLognormalMean is the lognormal distribution with a mean above 0 and a
// coefficient of variation from 0 to 10⁶.
func NewLognormalMean(mean, cv float64) (Distribution, error) {
	var bad workload.Faults
	above(&bad, "mean", mean, maxMagnitude)
	within(&bad, "cv", cv, 0, maxSpread)
	if cv == 0 {
		return Fixed(mean), bad.Err("")
	}
	return lognormalMean(mean, cv), bad.Err("")
}

// lognormalMean is mean·exp(σ·z − σ²/2) with σ² = ln(1 + cv²).
func lognormalMean(mean, cv float64) Distribution {
	variance := Log(1 + float64(cv*cv))
	return Distribution{kind: lognormal, a: mean, b: math.Sqrt(variance), c: -variance / 2}
}

// NewParetoLognormal is, with probability mixWeight, the Pareto distribution of
// exponent alpha from xm, and else the lognormal distribution of mu and sigma:
// a body with a heavy tail. alpha is from 0.1 to 10⁶, xm above 0, mu and sigma
// as in NewLognormal, mixWeight from 0 to 1.
func NewParetoLognormal(alpha, xm, mu, sigma, mixWeight float64) (Distribution, error) {
	var bad workload.Faults
	within(&bad, "alpha", alpha, minAlpha, maxAlpha)
	above(&bad, "xm", xm, maxMagnitude)
	checkLognormal(&bad, mu, sigma)
	within(&bad, "mix_weight", mixWeight, 0, 1)
	return Distribution{kind: heavyTailed, a: mixWeight, b: sigma, c: mu, d: alpha, e: xm}, bad.Err("")
}

// NewZipf is Zipf's law over the numbers 0 … n−1: the chance of k is
// proportional to 1/(k+1)^s. s is from 0 (all alike) to 100, n from 1 to 10⁷.
func NewZipf(s float64, n int) (Distribution, error) {
	var bad workload.Faults
	within(&bad, "s", s, 0, maxZipf)
	if n < 1 || n > maxValues {
		bad.Add("n", n, "want from 1 to %d", int(maxValues))
	}
	if err := bad.Err(""); err != nil || n == 1 {
		return Fixed(0), err
	}
	return newZipf(s, float64(n)), nil
}

// within notes a parameter outside [low, high].
func within(bad *workload.Faults, name string, x, low, high float64) {
	if !(x >= low && x <= high) {
		bad.Add(name, x, "want from %v to %v", low, high)
	}
}

// above notes a parameter that is not above 0, or above high.
func above(bad *workload.Faults, name string, x, high float64) {
	if !(x > 0 && x <= high) {
		bad.Add(name, x, "want above 0, at most %v", high)
	}
}

// Lognormal draws once from the lognormal distribution with a mean and a
// coefficient of variation, as NewLognormalMean has it.
func Lognormal(s *vtime.Stream, mean, cv float64) float64 {
	d, v := lognormalMean(mean, cv), NewVariates(s)
	return d.Sample(&v)
}
