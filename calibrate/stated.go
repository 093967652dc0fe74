package calibrate

import "blis/latency"

// place is where runs were measured: a GPU, and a TP degree; 0: any.
type place struct {
	gpu string
	tp  int
}

// errors returns the errors that a coefficient file states: by hold-out, of runs and
// closed loops together.
func (t *Trained) errors() []latency.HeldOutError {
	var labels []string
	runs := map[string][]placedRun{}
	add := func(label string, list []placedRun) {
		if runs[label] == nil {
			labels = append(labels, label)
		}
		runs[label] = append(runs[label], list...)
	}
	for i := range t.HeldOut {
		add(t.HeldOut[i].By.Label(), t.HeldOut[i].placed())
	}
	if t.Loops != nil { // the first are those that the fit learned from
		add(latency.HeldOutGroup, t.Loops[1].placed())
		if len(t.Loops) > 2 {
			add(latency.HeldOutModel, t.Loops[2].placed())
		}
	}
	var list []latency.HeldOutError
	for _, label := range labels {
		list = append(list, statedErrors(label, runs[label])...)
	}
	return list
}

// placedRun is a run with the place where it was measured, as {GPU, TP}.
type placedRun struct {
	at place
	judgedRun
}

// placed returns the runs of a hold-out.
func (h *HeldOut) placed() []placedRun {
	var list []placedRun
	for i := range h.Evaluations {
		e := &h.Evaluations[i]
		d := e.Sample.Server.Deployment
		list = append(list, placedRun{place{d.GPU.Name, d.TP}, judgedRun{model: e.Sample.model(), Comparison: &e.Comparison}})
	}
	return list
}

// placed returns the benchmarks that were predicted. Of these TPOT counts alone: TTFT
// depends on how the users start.
func (v *LoopValidation) placed() []placedRun {
	var list []placedRun
	for i := range v.Results {
		r := &v.Results[i]
		if r.Missing != "" {
			continue
		}
		d := r.Sample.Server.Deployment
		tpot := Score{TPOT, "mean", r.Sample.Point.TPOT / 1e3, r.Predicted.TPOT / 1e3}
		group := r.Sample.Group()
		list = append(list, placedRun{place{d.GPU.Name, d.TP}, judgedRun{d.Model.Name, &Comparison{Scores: []Score{tpot}}, &group}})
	}
	return list
}

// statedErrors returns the errors of means and 99th percentiles under one hold-out as a
// coefficient file states them: over all runs, then over those on each GPU, and over
// those on it at each TP degree. An error of a place is stated if it is of at least
// latency.MinModels models and of fewer runs than the one that it is a part of.
func statedErrors(heldOut string, runs []placedRun) []latency.HeldOutError {
	var all []judgedRun
	var places []place
	at := map[place][]judgedRun{}
	for _, r := range runs {
		all = append(all, r.judgedRun)
		for _, p := range []place{{r.at.gpu, 0}, r.at} {
			if at[p] == nil {
				places = append(places, p)
			}
			at[p] = append(at[p], r.judgedRun)
		}
	}
	list := statedAt(heldOut, place{}, all)
	for _, p := range places {
		whole := all
		if p.tp != 0 {
			whole = at[place{p.gpu, 0}]
		}
		if len(at[p]) == len(whole) {
			continue
		}
		for _, e := range statedAt(heldOut, p, at[p]) {
			if e.Models >= latency.MinModels {
				list = append(list, e)
			}
		}
	}
	return list
}

// statedAt returns the errors over the runs at one place; the zero place: all runs.
func statedAt(heldOut string, at place, runs []judgedRun) []latency.HeldOutError {
	var list []latency.HeldOutError
	for _, s := range summarise(runs) {
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
		BiasPercent: percent(s.ModelBias), WorstPercent: percent(s.WorstError), GroupP90APEPercent: percent(s.GroupP90),
	}
}
