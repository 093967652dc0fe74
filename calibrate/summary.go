package calibrate

import (
	"math"
	"slices"
)

// Summary is how far predictions of one statistic of one metric were off over
// several runs.
type Summary struct {
	Metric    Metric  `json:"metric"`
	Statistic string  `json:"statistic"`
	Runs      int     `json:"runs"`
	Median    float64 `json:"median_ape"` // of the absolute relative errors
	Mean      float64 `json:"mean_ape"`   // MAPE
	Worst     float64 `json:"worst_ape"`
	Bias      float64 `json:"bias"` // mean of the signed relative errors
}

// Summarise sums judgements up, by metric, then statistic.
func Summarise(judgements []Judgement) []Summary {
	var comparisons []*Comparison
	for i := range judgements {
		comparisons = append(comparisons, &judgements[i].Comparison)
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
			sum := 0.0
			for _, e := range errors {
				sum += e
			}
			n := float64(len(errors))
			list = append(list, Summary{m, statistic, len(errors), percentile(errors, 50), sum / n, errors[len(errors)-1], bias / n})
		}
	}
	return list
}

// score is one statistic of one metric, nil if there is none.
func (c *Comparison) score(m Metric, statistic string) *Score {
	for i := range c.Scores {
		if s := &c.Scores[i]; s.Metric == m && s.Statistic == statistic {
			return s
		}
	}
	return nil
}

// round keeps digits digits after the point, for figures that are shown.
func round(x float64, digits int) float64 {
	scale := math.Pow(10, float64(digits))
	return math.Round(x*scale) / scale
}
