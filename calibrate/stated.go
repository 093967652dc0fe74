package calibrate

import "blis/latency"

// place is where runs were measured: a GPU, and a TP degree; 0: any.
type place struct {
	gpu string
	tp  int
}

// errors returns the errors of means and 99th percentiles as a coefficient file states
// them: over all runs, then over those on each GPU, and over those on it at each TP
// degree. An error of a place is stated if it is of at least latency.MinModels models
// and of fewer runs than the one that it is a part of.
func (h *HeldOut) errors() []latency.HeldOutError {
	label := h.By.Label()
	list := stated(label, place{}, h.Evaluations)
	var places []place
	runs := map[place][]Evaluation{}
	for _, e := range h.Evaluations {
		d := e.Sample.Server.Deployment
		for _, at := range []place{{d.GPU.Name, 0}, {d.GPU.Name, d.TP}} {
			if runs[at] == nil {
				places = append(places, at)
			}
			runs[at] = append(runs[at], e)
		}
	}
	for _, at := range places {
		whole := h.Evaluations
		if at.tp != 0 {
			whole = runs[place{at.gpu, 0}]
		}
		if len(runs[at]) == len(whole) {
			continue
		}
		for _, e := range stated(label, at, runs[at]) {
			if e.Models >= latency.MinModels {
				list = append(list, e)
			}
		}
	}
	return list
}

// stated returns the errors over some runs under one hold-out, which were measured at
// this place; the zero place: anywhere.
func stated(heldOut string, at place, runs []Evaluation) []latency.HeldOutError {
	var list []latency.HeldOutError
	for _, s := range Summarise(runs) {
		if s.Statistic == "mean" || s.Statistic == "p99" {
			list = append(list, s.stated(heldOut, at))
		}
	}
	return list
}

// stated returns the summary in percent, for a coefficient file.
func (s *Summary) stated(heldOut string, at place) latency.HeldOutError {
	percent := func(share float64) float64 { return round(100*share, 2) }
	return latency.HeldOutError{
		HeldOut: heldOut, Metric: string(s.Metric), Statistic: s.Statistic, GPU: at.gpu, TP: at.tp, Runs: s.Runs, Models: s.Models,
		MedianAPEPercent: percent(s.Median), MeanAPEPercent: percent(s.Mean), ModelMeanAPEPercent: percent(s.ModelMean),
		BiasPercent: percent(s.ModelBias), WorstPercent: percent(s.WorstError),
	}
}
