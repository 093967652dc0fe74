package draw

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// distributionCase is a distribution, and what is known of it elsewhere.
type distributionCase struct {
	name           string
	dist           Distribution
	mean, variance float64               // NaN: not known here
	cdf            func(float64) float64 // of a continuous distribution
	values         []float64             // of a discrete one, ascending
	bins           []chanceBin           // of a discrete one
	heavy          bool                  // no fourth moment: no test of the variance of samples
}

// chanceBin is some neighbouring values of a discrete distribution.
type chanceBin struct{ most, chance float64 }

func distributions() []distributionCase {
	cases := []distributionCase{
		continuous("gaussian", Must(NewGaussian(512, 128)), distuv.Normal{Mu: 512, Sigma: 128}),
		continuous("gaussian below 0", Must(NewGaussian(-3, 1e-3)), distuv.Normal{Mu: -3, Sigma: 1e-3}),
		continuous("uniform", Must(NewUniform(10, 20)), distuv.Uniform{Min: 10, Max: 20}),
		continuous("uniform around 0", Must(NewUniform(-1e6, 3e6)), distuv.Uniform{Min: -1e6, Max: 3e6}),
		continuous("exponential", Must(NewExponential(300)), distuv.Exponential{Rate: 1.0 / 300}),
		continuous("lognormal", Must(NewLognormal(6, 0.5)), distuv.LogNormal{Mu: 6, Sigma: 0.5}),
		continuous("lognormal wide", Must(NewLognormal(-1, 1.5)), distuv.LogNormal{Mu: -1, Sigma: 1.5}),
		continuous("lognormal of mean and CV", Must(NewLognormalMean(40, 0.7)), lognormalWith(40, 0.7)),
		mixture(1.2, 1000, 6, 1, 0.1), mixture(2.5, 50, 3, 0.4, 0.5), mixture(5, 10, 2, 0.3, 1), mixture(9, 10, 2, 0.3, 0),
		zipfCase("Zipf", 1, 50), zipfCase("Zipf flat", 0, 7), zipfCase("Zipf gentle", 0.6, 1000),
		zipfCase("Zipf large", 1.1, 1_000_000), zipfCase("Zipf steep", 3, 100_000), zipfCase("Zipf almost 1", 1+1e-9, 10_000),
		weighted("empirical", []float64{3, 1, 4, 1.5, 9, 2.6}, []float64{1, 2, 3, 0, 5, 0.25}),
		weighted("empirical even", []float64{-7, 0, 8, 100}, nil),
		weighted("empirical large weights", []float64{1, 2, 3}, []float64{1e308, 1e308, 2e307}),
	}
	cases[6].heavy = true
	return cases
}

// continuous is a case whose moments and distribution function gonum knows.
func continuous(name string, d Distribution, want interface {
	Mean() float64
	Variance() float64
	CDF(float64) float64
}) distributionCase {
	return distributionCase{name: name, dist: d, mean: want.Mean(), variance: want.Variance(), cdf: want.CDF}
}

func lognormalWith(mean, cv float64) distuv.LogNormal {
	variance := math.Log1p(cv * cv)
	return distuv.LogNormal{Mu: math.Log(mean) - variance/2, Sigma: math.Sqrt(variance)}
}

func mixture(alpha, xm, mu, sigma, weight float64) distributionCase {
	body, tail := distuv.LogNormal{Mu: mu, Sigma: sigma}, distuv.Pareto{Xm: xm, Alpha: alpha}
	c := distributionCase{
		name: "Pareto-lognormal", dist: Must(NewParetoLognormal(alpha, xm, mu, sigma, weight)), heavy: alpha <= 5,
		cdf: func(x float64) float64 { return weight*tail.CDF(x) + (1-weight)*body.CDF(x) },
	}
	c.name = c.dist.String()
	c.mean = weight*tail.Mean() + (1-weight)*body.Mean()
	square := func(mean, variance float64) float64 { return variance + mean*mean }
	c.variance = weight*square(tail.Mean(), tail.Variance()) + (1-weight)*square(body.Mean(), body.Variance()) - c.mean*c.mean
	if weight == 0 { // 0 times infinity
		c.mean, c.variance = body.Mean(), body.Variance()
	}
	return c
}

func zipfCase(name string, s float64, n int) distributionCase {
	values, weights := make([]float64, n), make([]float64, n)
	for i := range values {
		values[i], weights[i] = float64(i), math.Pow(float64(i+1), -s)
	}
	return discrete(name, Must(NewZipf(s, n)), values, weights)
}

func weighted(name string, values, weights []float64) distributionCase {
	d := Must(NewEmpirical(values, weights))
	if weights == nil {
		weights = slices.Repeat([]float64{1}, len(values))
	}
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return values[order[i]] < values[order[j]] })
	var v, w []float64
	for _, i := range order {
		v, w = append(v, values[i]), append(w, weights[i]/1e3)
	}
	return discrete(name, d, v, w)
}

// discrete is a case with ascending values and weights, summed from the
// smallest.
func discrete(name string, d Distribution, values, weights []float64) distributionCase {
	c := distributionCase{name: name, dist: d, values: values}
	sum := 0.0
	for i := len(weights) - 1; i >= 0; i-- {
		sum += weights[i]
	}
	for i := len(weights) - 1; i >= 0; i-- {
		weights[i] /= sum
		c.mean += weights[i] * values[i]
	}
	for i := len(weights) - 1; i >= 0; i-- {
		c.variance += weights[i] * (values[i] - c.mean) * (values[i] - c.mean)
	}
	c.bins = together(values, weights)
	return c
}

// together makes bins in each of which ten samples are expected.
func together(values, chance []float64) []chanceBin {
	const enough = 10.0 / samples
	bins, sum := []chanceBin{}, 0.0
	for i, v := range values {
		if sum += chance[i]; sum >= enough {
			bins, sum = append(bins, chanceBin{v, sum}), 0
		}
	}
	last := &bins[len(bins)-1]
	last.most, last.chance = values[len(values)-1], last.chance+sum
	return bins
}

// lawCase is an arrival process, and the distribution of its gaps with mean 1.
type lawCase struct {
	name  string
	law   ArrivalProcess
	cv    float64
	cdf   func(float64) float64 // nil: gaps are not independent of each other
	heavy bool
}

func laws() []lawCase {
	cases := []lawCase{
		{"poisson", ArrivalProcess{}, 1, distuv.Exponential{Rate: 1}.CDF, false},
		{"constant", ArrivalProcess{Kind: Constant}, 0, nil, false},
		{"pareto 3", ArrivalProcess{Kind: Pareto, Alpha: 3}, math.Sqrt(1.0 / 3), distuv.Pareto{Xm: 2.0 / 3, Alpha: 3}.CDF, true},
		{"pareto 1.5", ArrivalProcess{Kind: Pareto, Alpha: 1.5}, math.Inf(1), distuv.Pareto{Xm: 1.0 / 3, Alpha: 1.5}.CDF, true},
		{"periodic 0.4", ArrivalProcess{Kind: Periodic, Jitter: 0.4}, math.Sqrt(0.16 / 6), nil, false},
		{"periodic 1", ArrivalProcess{Kind: Periodic, Jitter: 1}, math.Sqrt(1.0 / 6), nil, false},
		{"burst 10", ArrivalProcess{Kind: Burst, Size: 10}, 3, nil, false},
	}
	for _, cv := range []float64{0.2, 1, 3, 10} {
		shape := 1 / (cv * cv)
		cdf := distuv.Gamma{Alpha: shape, Beta: shape}.CDF
		cases = append(cases, lawCase{"gamma CV " + short(cv), ArrivalProcess{Kind: Gamma, CV: cv}, cv, cdf, cv > 3})
	}
	cases = append(cases, lawCase{"gamma shape 4", ArrivalProcess{Kind: Gamma, Shape: 4}, 0.5, distuv.Gamma{Alpha: 4, Beta: 4}.CDF, false})
	for _, shape := range []float64{0.4, 0.8, 1.7, 8} {
		mean := math.Gamma(1 + 1/shape)
		cv := math.Round(1e9*math.Sqrt(math.Gamma(1+2/shape)/(mean*mean)-1)) / 1e9 // the same on every machine
		cdf := distuv.Weibull{K: shape, Lambda: 1 / mean}.CDF
		cases = append(cases, lawCase{"weibull shape " + short(shape), ArrivalProcess{Kind: Weibull, Shape: shape}, cv, cdf, shape < 0.5},
			lawCase{"weibull CV " + short(cv), ArrivalProcess{Kind: Weibull, CV: cv}, cv, cdf, shape < 0.5})
	}
	return cases
}
