package calibrate

import (
	"context"
	"math"

	"gonum.org/v1/gonum/optimize"

	"blis/calibrate/regress"
)

// refine improves fitted coefficients with the simplex search of Nelder and Mead. It
// replays all samples and closed loops o.Polish times with different factors on the coefficients that
// lie inside their bounds, and looks for the smallest refinementLoss
// (docs/latency.md). Coefficients that the data do not determine do not change. It
// returns start if it finds nothing better. It draws no random numbers: equal
// arguments give equal bits.
func refine(ctx context.Context, family *Family, samples []*Sample, loops []*ClosedLoopSample, start *Coefficients, system *regress.System, o FitOptions) (*Coefficients, error) {
	bounds := &family.bounds
	from := start.list()
	var index []int
	for i, v := range from {
		if v > bounds[i].lower && v < bounds[i].upper && system.Power(i) > 0 {
			index = append(index, i)
		}
	}
	if len(index) == 0 {
		return start, nil
	}
	var failed error
	at := func(logs []float64) *Coefficients { // logs of the factors
		c := append([]float64{}, from...)
		for k, i := range index {
			c[i] = math.Min(math.Max(float64(from[i]*math.Exp(logs[k])), bounds[i].lower), bounds[i].upper)
		}
		return coefficientsOf(c)
	}
	objective := func(logs []float64) float64 {
		if failed != nil {
			return math.Inf(1)
		}
		loss, err := refinementLoss(ctx, samples, loops, at(logs), o)
		if err != nil {
			failed = err
			return math.Inf(1)
		}
		return loss
	}
	result, err := optimize.Minimize(optimize.Problem{Func: objective}, make([]float64, len(index)),
		&optimize.Settings{FuncEvaluations: o.Polish, Concurrent: 1}, &optimize.NelderMead{SimplexSize: 0.02})
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	return at(result.X), nil
}

// refinementLoss returns the sum over samples of the absolute relative errors of the
// mean and the 90th percentile of TTFT, TPOT and E2E; those of TTFT have weight o.TTFT.
// Closed loops add the error of TPOT, by their weight.
func refinementLoss(ctx context.Context, samples []*Sample, loops []*ClosedLoopSample, c *Coefficients, o FitOptions) (float64, error) {
	losses := make([]float64, len(samples)+len(loops))
	err := forEach(ctx, o.Workers, len(samples), func(i int) error {
		comparison, err := samples[i].evaluate(c)
		if err != nil {
			return err
		}
		for _, s := range comparison.Scores {
			if s.Statistic != "mean" && s.Statistic != "p90" {
				continue
			}
			weight := 1.0
			if s.Metric == TTFT {
				weight = o.TTFT
			}
			losses[i] += float64(weight * math.Abs(s.Error()))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	err = forEach(ctx, o.Workers, len(loops), func(i int) error {
		p, err := loops[i].predict(c)
		if err == nil {
			losses[len(samples)+i] = loops[i].Weight * math.Abs(p.TPOT/loops[i].Point.TPOT-1)
		}
		return err
	})
	sum := 0.0
	for _, l := range losses {
		sum += l
	}
	return sum, err
}
