package calibrate

import (
	"math"
	"slices"

	"github.com/montanaflynn/stats"
)

// Summary holds the errors of one statistic of one metric over several runs, as
// shares: 0.1 is 10 %.
type Summary struct {
	Metric    Metric  `json:"metric"`
	Statistic string  `json:"statistic"`
	Runs      int     `json:"runs"`
	Median    float64 `json:"median_ape"` // of the absolute relative errors
	Mean      float64 `json:"mean_ape"`   // MAPE
	Worst     float64 `json:"worst_ape"`
	Bias      float64 `json:"bias"` // mean of the signed relative errors
}

// Summarise returns the errors over all evaluations, by metric, then statistic.
func Summarise(evaluations []Evaluation) []Summary {
	var comparisons []*Comparison
	for i := range evaluations {
		comparisons = append(comparisons, &evaluations[i].Comparison)
	}
	return summarise(comparisons)
}

func summarise(comparisons []*Comparison) []Summary {
	var list []Summary
	for _, m := range Metrics {
		for _, statistic := range Statistics {
			var errors []float64
			bias := 0.0
			for _, c := range comparisons {
				if s := c.score(m, statistic); s != nil {
					errors = append(errors, math.Abs(s.Error()))
					bias += s.Error()
				}
			}
			if len(errors) == 0 {
				continue
			}
			slices.Sort(errors)
			mean, _ := stats.Mean(errors) // fails for an empty list only
			list = append(list, Summary{m, statistic, len(errors), percentile(errors, 50), mean, errors[len(errors)-1], bias / float64(len(errors))})
		}
	}
	return list
}

// score returns one statistic of one metric, nil if there is none.
func (c *Comparison) score(m Metric, statistic string) *Score {
	for i := range c.Scores {
		if s := &c.Scores[i]; s.Metric == m && s.Statistic == statistic {
			return s
		}
	}
	return nil
}

// round rounds x to a number of digits after the point.
func round(x float64, digits int) float64 {
	scale := math.Pow(10, float64(digits))
	return math.Round(x*scale) / scale
}
