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
	Models    int     `json:"models"`     // that the runs are of
	Median    float64 `json:"median_ape"` // of the absolute relative errors
	Mean      float64 `json:"mean_ape"`   // MAPE
	Worst     float64 `json:"worst_ape"`
	Bias      float64 `json:"bias"` // mean of the signed relative errors

	// Means over models of the mean of the runs of a model: a model with many runs
	// counts once.
	ModelMean float64 `json:"model_mean_ape"`
	ModelBias float64 `json:"model_bias"`

	WorstError float64 `json:"worst_error"` // the error behind Worst, with its sign

	// GroupP90 is the 90th percentile, over groups of closed loops, of the mean absolute
	// error of a group. 0: there are none.
	GroupP90 float64 `json:"group_p90_ape,omitempty"`
}

// judgedRun is the comparison of a run, with the name of its model and, of a closed loop,
// its group.
type judgedRun struct {
	model string
	*Comparison
	group *LoopGroup
}

// Summarise returns the errors over all evaluations, by metric, then statistic.
func Summarise(evaluations []Evaluation) []Summary {
	var list []judgedRun
	for i := range evaluations {
		e := &evaluations[i]
		list = append(list, judgedRun{model: e.Sample.model(), Comparison: &e.Comparison})
	}
	return summarise(list)
}

func summarise(runs []judgedRun) []Summary {
	var list []Summary
	for _, m := range Metrics {
		for _, statistic := range Statistics {
			var models []string
			var signed [][]float64 // errors of the runs, by model
			for _, r := range runs {
				s := r.score(m, statistic)
				if s == nil {
					continue
				}
				i := slices.Index(models, r.model)
				if i < 0 {
					i, models, signed = len(models), append(models, r.model), append(signed, nil)
				}
				signed[i] = append(signed[i], s.Error())
			}
			if models != nil {
				summary := summaryOf(m, statistic, signed)
				summary.GroupP90 = groupP90(runs, m, statistic)
				list = append(list, summary)
			}
		}
	}
	return list
}

// groupP90 is Summary.GroupP90 of one statistic.
func groupP90(runs []judgedRun, m Metric, statistic string) float64 {
	errors := map[LoopGroup][]float64{}
	for _, r := range runs {
		if s := r.score(m, statistic); s != nil && r.group != nil {
			errors[*r.group] = append(errors[*r.group], math.Abs(s.Error()))
		}
	}
	var means []float64
	for _, list := range errors {
		mean, _ := stats.Mean(list) // fails for an empty list only
		means = append(means, mean)
	}
	if means == nil {
		return 0
	}
	slices.Sort(means)
	return percentile(means, 90)
}

// summaryOf summarises the signed errors of runs, by model.
func summaryOf(m Metric, statistic string, byModel [][]float64) Summary {
	s := Summary{Metric: m, Statistic: statistic, Models: len(byModel)}
	var all []float64
	bias := 0.0 // of the runs
	for _, signed := range byModel {
		size, sum := 0.0, 0.0 // of the runs of this model
		for _, e := range signed {
			size, sum = size+math.Abs(e), sum+e
			all = append(all, math.Abs(e))
			if math.Abs(e) > s.Worst {
				s.Worst, s.WorstError = math.Abs(e), e
			}
		}
		bias += sum
		s.ModelMean, s.ModelBias = s.ModelMean+size/float64(len(signed)), s.ModelBias+sum/float64(len(signed))
	}
	slices.Sort(all)
	s.Runs, s.Median, s.Bias = len(all), percentile(all, 50), bias/float64(len(all))
	s.Mean, _ = stats.Mean(all) // fails for an empty list only
	models := float64(len(byModel))
	s.ModelMean, s.ModelBias = s.ModelMean/models, s.ModelBias/models
	return s
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
