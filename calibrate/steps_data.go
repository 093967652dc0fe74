package calibrate

import (
	"fmt"
	"strings"

	"blis/calibrate/measured"
	"blis/latency"
)

// StepData holds the steps of one configuration: one engine under one workload.
type StepData struct {
	Name     string            // model, GPU, TP, limits, workload, for reports; unique in a fit
	Features *latency.Features // of the deployment under the engine's limits
	// Async: batches were formed one step ahead, so that the period of a step is
	// the time of the batch before it. It says nothing of forward passes, which were
	// measured alone (measured.Step.OwnTime); a StepData has only these or none, and
	// they are for FitPasses.
	Async          bool
	ChunkedPrefill bool
	Steps          []measured.Step // in order of time
}

// ReadStepData reads the steps of measured.ReadSteps in files, a StepData for each run in
// them, with the deployments of the runs. o says of servers what files do not. async is
// whether the engines formed batches one step ahead.
func ReadStepData(files []string, o Overrides, async bool) (data []StepData, deployments []*latency.Deployment, err error) {
	for _, file := range files {
		steps, err := measured.ReadSteps(file)
		if err != nil {
			return nil, nil, err
		}
		for _, g := range GroupSteps(steps) {
			d, limits, err := o.Deployment(g.Model, g.TP)
			if err != nil {
				return nil, nil, err
			}
			f, err := latency.NewFeatures(d, limits)
			if err != nil {
				return nil, nil, err
			}
			name := g.Name()
			if name == "" || len(files) > 1 {
				name = strings.TrimSuffix(file+", "+name, ", ")
			}
			data = append(data, StepData{Name: name, Features: f, Async: async, ChunkedPrefill: true, Steps: g.Steps})
			deployments = append(deployments, d)
		}
	}
	return data, deployments, nil
}

// StepGroup holds the steps of one run out of a file of several.
type StepGroup struct {
	Experiment, Model string // empty: the file does not say
	TP                int    // 0: the file does not say
	Steps             []measured.Step
}

// Name returns "experiment, model, TP n", without what is not known.
func (g *StepGroup) Name() string {
	name := ""
	add := func(text string) {
		if name != "" && text != "" {
			name += ", "
		}
		name += text
	}
	add(g.Experiment)
	add(g.Model)
	if g.TP > 0 {
		add(fmt.Sprintf("TP %d", g.TP))
	}
	return name
}

// GroupSteps divides the steps of measured.ReadSteps or of a measured.Trace by
// run, in the order in which runs first appear. A group, Features and the settings
// of the engine make StepData.
func GroupSteps(steps []measured.Step) []StepGroup {
	type key struct {
		experiment, model string
		tp                int
	}
	var list []StepGroup
	places := map[key]int{}
	for _, s := range steps {
		k := key{s.Experiment, s.Model, s.TP}
		place, known := places[k]
		if !known {
			place = len(list)
			places[k] = place
			list = append(list, StepGroup{Experiment: s.Experiment, Model: s.Model, TP: s.TP})
		}
		list[place].Steps = append(list[place].Steps, s)
	}
	return list
}

// batchOf returns the number of the step whose batch ran during the period of step
// n, or the reason why it is not known.
func (d *StepData) batchOf(n int) (k int, why dropReason) {
	s := &d.Steps[n]
	if k = n; d.Async {
		k--
	}
	switch {
	case s.Period <= 0:
		return 0, noPeriod
	case k < 0 || d.Async && !s.PreviousInSample:
		return 0, noBatch
	case k < warmSteps:
		return 0, warming
	case !d.Steps[k].HasSums:
		return 0, noSums
	case d.waited(n) || d.Async && d.waited(k):
		return 0, idling
	}
	return k, kept
}

// waited reports whether the engine may have run out of work between step n and
// the next, so that the period has idle time in it. With async scheduling it
// then formed the next batch late or, after the wait, two batches at once: neither
// period is the time of a batch.
//
// The engine may have run out of work if no request of step n is in the next step,
// and all of that step are new. No request waited at step n, or else the engine
// would have admitted it at once. With async scheduling one may have waited: the
// blocks that it needs may belong to a batch that still runs.
func (d *StepData) waited(n int) bool {
	if n+1 >= len(d.Steps) || !d.Steps[n+1].PreviousInSample {
		return false
	}
	s, next := &d.Steps[n], &d.Steps[n+1]
	if next.DecodeRequests > 0 {
		return false
	}
	// A prompt with a context may be half computed, or cached. Then only the number
	// of requests that left tells, if the trace has it.
	gone := s.Running > 0 && next.Finished+next.Preempted >= s.Running
	fresh := next.PrefillContext == 0 && s.Waiting == 0
	return fresh || gone && (d.Async || s.Waiting == 0)
}

// averages returns the preemption average of each step (docs/latency.md 3), for each
// γ. It starts from 0 wherever the step before is not known.
func (d *StepData) averages() [len(gammas)][]float64 {
	var all [len(gammas)][]float64
	for g, gamma := range gammas {
		all[g] = make([]float64, len(d.Steps))
		ema := 0.0
		for n := range d.Steps {
			s := &d.Steps[n]
			if !s.PreviousInSample {
				ema = 0
			}
			share := float64(s.Preempted) / float64(max(1, s.Running))
			ema = float64(gamma*share) + float64((1-gamma)*ema)
			all[g][n] = ema
		}
	}
	return all
}

// stepBatch returns the batch of a step.
func stepBatch(s *measured.Step, ema float64) *latency.Batch {
	return &latency.Batch{
		PrefillTokens: s.PrefillTokens, DecodeTokens: s.DecodeTokens, PrefillRequests: s.PrefillRequests, DecodeRequests: s.DecodeRequests,
		PrefillPairs: s.PrefillPairs, PrefillContext: s.PrefillContext, DecodeContext: s.DecodeContext, SampledRows: s.SampledRows,
		Preempted: s.Preempted, PreemptionEMA: ema,
	}
}
