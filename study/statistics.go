package study

import (
	"math"
	"strconv"

	"github.com/montanaflynn/stats"
	"gonum.org/v1/gonum/stat/distuv"
)

// interval is a mean of replicates with its confidence interval, mean ± half.
type interval struct {
	mean float64
	half *float64 // nil: one replicate has none
}

// estimate is the interval of independent samples of a normal distribution
// with unknown variance: mean ± t·s/√n, t being the quantile at (1 +
// confidence)/2 of Student's distribution with n − 1 degrees of freedom, s the
// sample standard deviation. Student, "The probable error of a mean",
// Biometrika 6 (1908); Law, Simulation Modeling and Analysis, 5th ed., 4.5.
// There must be a sample.
func estimate(samples []float64, confidence float64) interval {
	n := len(samples)
	mean, spread := moments(samples)
	if n < 2 {
		return interval{mean, nil}
	}
	half := float64(quantileT(n-1, confidence) * spread / math.Sqrt(float64(n)))
	return interval{mean, &half}
}

// moments are mean and sample standard deviation. Of equal samples they are the
// sample itself and exactly 0, which sums do not always give.
func moments(samples []float64) (mean, spread float64) {
	if allEqual(samples) {
		return samples[0], 0
	}
	mean, _ = stats.Mean(samples) // fails without samples only
	squares := make([]float64, len(samples))
	for i, x := range samples {
		squares[i] = float64((x - mean) * (x - mean)) // rounded here: the library's variance is fused on some machines
	}
	sum, _ := stats.Sum(squares)
	return mean, math.Sqrt(sum / float64(len(samples)-1))
}

func allEqual(samples []float64) bool {
	for _, x := range samples {
		if x != samples[0] {
			return false
		}
	}
	return true
}

// quantileT is the two-sided quantile of Student's t. Its last digits depend
// on how a machine multiplies and adds, so ten are kept.
func quantileT(freedom int, confidence float64) float64 {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(freedom)}.Quantile((1 + confidence) / 2)
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(t, 'g', 10, 64), 64)
	if err != nil {
		panic("study: quantile " + err.Error())
	}
	return rounded
}
