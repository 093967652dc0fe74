package latency

import (
	"fmt"
	"math"
	"strings"
)

// Hold-outs, as blis train writes them: their errors are those for another load of a
// measured model, for a measured model on another GPU, with other widths or at another
// TP, for a model that was not measured, and for the same load a little later.
const (
	HeldOutWorkload = "leave-one-workload-out"
	HeldOutGroup    = "leave-one-group-out"
	HeldOutModel    = "leave-one-model-out"
	HeldOutTail     = "last part of each run"
	NothingFitted   = "nothing fitted" // of roofline: every run is one that it had not seen

	// HeldOutConfiguration is of fits to steps, for a model on a GPU at another TP, or
	// whatever else differs between files of steps.
	HeldOutConfiguration = "leave-one-configuration-out"
)

// MinModels is the minimum number of models behind errors on one GPU or TP degree.
// With fewer, one odd model would speak for all; then errors over all runs count.
const MinModels = 3

// HeldOutError is an error of predictions on data that were held out of the fit: of
// one statistic of one metric, over several runs. Errors are in percent of the measured
// value, above 0 where the prediction was too high.
//
// Files of earlier versions have the median alone. Then Models is 0, and so are all
// fields that need the models.
type HeldOutError struct {
	HeldOut   string `yaml:"held_out" json:"held_out"`   // what was held out, such as HeldOutWorkload
	Metric    string `yaml:"metric" json:"metric"`       // one of errorMetrics
	Statistic string `yaml:"statistic" json:"statistic"` // one of errorStatistics, over the requests of a run

	GPU string `yaml:"gpu" json:"gpu,omitempty"` // that the runs were on; empty: any
	TP  int    `yaml:"tp" json:"tp,omitempty"`   // of the runs; 0: any, always so without GPU

	Runs   int `yaml:"runs" json:"runs"`
	Models int `yaml:"models" json:"models,omitempty"` // that the runs were of, at most Runs; 0: not known

	MedianAPEPercent float64 `yaml:"median_ape_percent" json:"median_ape_percent"` // of the absolute errors of the runs
	MeanAPEPercent   float64 `yaml:"mean_ape_percent" json:"mean_ape_percent"`     // of the same

	// ModelMeanAPEPercent is the expected error: the mean over models of the mean
	// absolute error of the runs of a model. A model with many runs counts once.
	ModelMeanAPEPercent float64 `yaml:"model_mean_ape_percent" json:"model_mean_ape_percent"`
	BiasPercent         float64 `yaml:"bias_percent" json:"bias_percent"`   // the same of the signed errors
	WorstPercent        float64 `yaml:"worst_percent" json:"worst_percent"` // the largest error of a run, with its sign

	// GroupP90APEPercent is the 90th percentile, over groups of model, GPU, precision and
	// TP, of the mean absolute error of the runs of a group. 0: not known.
	GroupP90APEPercent float64 `yaml:"group_p90_ape_percent" json:"group_p90_ape_percent,omitempty"`
}

// errorMetrics and errorStatistics are the legal values of HeldOutError.
var (
	errorMetrics    = []string{"ttft", "tpot", "itl", "e2e", "step", "throughput"}
	errorStatistics = []string{"mean", "p50", "p90", "p95", "p99"}
)

// rounded is how much errors of files may be off for rounding, in percent.
const rounded = 0.01

func (e *HeldOutError) check(p *problems, prefix string) {
	p.line(prefix+"held_out", e.HeldOut)
	p.oneOf(prefix+"metric", e.Metric, errorMetrics)
	p.oneOf(prefix+"statistic", e.Statistic, errorStatistics)
	if e.GPU != "" || e.TP != 0 {
		p.line(prefix+"gpu", e.GPU)
		p.between(prefix+"tp", int64(e.TP), 0, 1024)
	}
	p.between(prefix+"runs", int64(e.Runs), 1, 1<<30)
	p.notNegative(prefix+"median_ape_percent", e.MedianAPEPercent)
	if e.Models == 0 {
		if e.MeanAPEPercent != 0 || e.ModelMeanAPEPercent != 0 || e.BiasPercent != 0 || e.WorstPercent != 0 || e.GroupP90APEPercent != 0 {
			p.add(prefix+"models", "is missing, want the number of models behind the mean, the bias and the worst error")
		}
		return
	}
	if e.Runs > 0 {
		p.between(prefix+"models", int64(e.Models), 1, int64(e.Runs))
	}
	p.notNegative(prefix+"mean_ape_percent", e.MeanAPEPercent)
	p.notNegative(prefix+"model_mean_ape_percent", e.ModelMeanAPEPercent)
	p.notNegative(prefix+"group_p90_ape_percent", e.GroupP90APEPercent)
	if !(math.Abs(e.BiasPercent) <= e.ModelMeanAPEPercent+rounded) {
		p.add(prefix+"bias_percent", "is %v, want at most model_mean_ape_percent in magnitude", e.BiasPercent)
	}
	if worst := math.Abs(e.WorstPercent); !(worst >= max(e.MeanAPEPercent, e.ModelMeanAPEPercent, e.MedianAPEPercent, e.GroupP90APEPercent)-rounded) || math.IsInf(worst, 0) {
		p.add(prefix+"worst_percent", "is %v, want a finite number, in magnitude no mean or median of the runs above it", e.WorstPercent)
	}
}

// format returns the error as a flow mapping of a coefficient file.
func (e *HeldOutError) format() string {
	var b strings.Builder
	fmt.Fprintf(&b, "{held_out: %s, metric: %s, statistic: %s", quote(e.HeldOut), e.Metric, e.Statistic)
	if e.GPU != "" {
		fmt.Fprintf(&b, ", gpu: %s", quote(e.GPU))
	}
	if e.TP != 0 {
		fmt.Fprintf(&b, ", tp: %d", e.TP)
	}
	fmt.Fprintf(&b, ", median_ape_percent: %s", number(e.MedianAPEPercent))
	if e.Models > 0 {
		fmt.Fprintf(&b, ", mean_ape_percent: %s, model_mean_ape_percent: %s, bias_percent: %s, worst_percent: %s, models: %d",
			number(e.MeanAPEPercent), number(e.ModelMeanAPEPercent), number(e.BiasPercent), number(e.WorstPercent), e.Models)
	}
	if e.GroupP90APEPercent > 0 {
		fmt.Fprintf(&b, ", group_p90_ape_percent: %s", number(e.GroupP90APEPercent))
	}
	fmt.Fprintf(&b, ", runs: %d}", e.Runs)
	return b.String()
}
