package calibrate

import (
	"blis/latency"
)

// errors returns the errors of means and 99th percentiles as a coefficient file states
// them: over all runs, then over the runs on each GPU at each TP degree if they are
// of at least latency.MinModels models and not all runs.
func (h *HeldOut) errors() []latency.HeldOutError {
	list := stated(h.By.Label(), "", 0, h.Evaluations)
	type place struct {
		gpu string
		tp  int
	}
	var places []place
	runs := map[place][]Evaluation{}
	for _, e := range h.Evaluations {
		d := e.Sample.Server.Deployment
		at := place{d.GPU.Name, d.TP}
		if runs[at] == nil {
			places = append(places, at)
		}
		runs[at] = append(runs[at], e)
	}
	if len(places) < 2 {
		return list
	}
	for _, at := range places {
		for _, e := range stated(h.By.Label(), at.gpu, at.tp, runs[at]) {
			if e.Models >= latency.MinModels {
				list = append(list, e)
			}
		}
	}
	return list
}

// stated returns the errors over some runs under one hold-out. gpu and tp say which
// runs they are; empty and 0: all.
func stated(heldOut, gpu string, tp int, runs []Evaluation) []latency.HeldOutError {
	var list []latency.HeldOutError
	for _, s := range Summarise(runs) {
		if s.Statistic == "mean" || s.Statistic == "p99" {
			list = append(list, s.stated(heldOut, gpu, tp))
		}
	}
	return list
}

// stated returns the summary in percent, for a coefficient file.
func (s *Summary) stated(heldOut, gpu string, tp int) latency.HeldOutError {
	percent := func(share float64) float64 { return round(100*share, 2) }
	return latency.HeldOutError{
		HeldOut: heldOut, Metric: string(s.Metric), Statistic: s.Statistic, GPU: gpu, TP: tp, Runs: s.Runs, Models: s.Models,
		MedianAPEPercent: percent(s.Median), MeanAPEPercent: percent(s.Mean), ModelMeanAPEPercent: percent(s.ModelMean),
		BiasPercent: percent(s.ModelBias), WorstPercent: percent(s.WorstError),
	}
}
