package calibrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"blis/latency"
)

// TrainOptions say what is trained and how it is judged.
type TrainOptions struct {
	Family   *Family // nil: Physics
	Name     string
	Fit      FitOptions
	HoldOuts []HoldOut
	Share    float64  // of a run that ByTail fits to
	Data     string   // provenance, one line
	Dates    []string // first and last day of measuring, 2006-01-02; nil: not known
	Notes    []string
	Progress func(done, of int, what string) // before each fit
}

// Trained is a set of coefficients and how it was judged.
type Trained struct {
	Family   *Family
	Samples  []*Sample           // that were fitted to
	Set      *latency.PhysicsSet // nil unless Family is Physics
	Fit      *Fit
	InSample []Judgement // by the fit to everything
	HeldOut  []HeldOut
	Overload []string // runs whose requests failed, which were not fitted to
	Prefills int
}

// Content is the coefficient file, nil if there is none.
func (t *Trained) Content() []byte {
	if t.Set == nil {
		return nil
	}
	return t.Set.Format()
}

// HeldOut is the judgements under one way to hold data out.
type HeldOut struct {
	By         HoldOut
	Judgements []Judgement
	Skipped    []string // what could not be held out, since nothing was left to learn from
}

// Train fits a latency model to the runs that are not overloaded, and to
// prefills if there are any, judges it by what is held out, and
// makes a coefficient file of physics.
func Train(ctx context.Context, samples []*Sample, prefills []Prefill, o TrainOptions) (*Trained, error) {
	list, overloaded := notOverloaded(samples)
	if len(list) == 0 {
		return nil, errors.New("no run to fit to: requests of every run failed, so that latencies say how patient clients were")
	}
	family := o.Family
	if family == nil {
		family = Physics
	}
	if family != Physics && len(prefills) > 0 {
		return nil, fmt.Errorf("prefills of requests that ran alone are for physics, not %s", family.Name)
	}
	var points []Point
	for i := range prefills {
		points = append(points, prefills[i].Points()...)
	}
	for i := range list {
		var err error
		if list[i], err = list[i].For(family); err != nil {
			return nil, err
		}
	}
	progress := o.Progress
	if progress == nil {
		progress = func(int, int, string) {}
	}
	t := &Trained{Family: family, Samples: list, Overload: overloaded, Prefills: len(prefills)}
	if family == Physics { // what the options say of the set is not worth a fit to find out
		t.Fit = &Fit{}
		if err := t.set(list, prefills, o).Validate(); err != nil {
			return nil, err
		}
	}
	progress(0, 1, "fit to everything")
	var err error
	if t.Fit, err = FitRuns(ctx, list, points, o.Fit); err != nil {
		return nil, err
	}
	if t.InSample, err = judgeSamples(ctx, list, &t.Fit.Coefficients, o.Fit.Workers); err != nil {
		return nil, err
	}
	for _, h := range o.HoldOuts {
		folds, skipped := Folds(list, h, o.Share)
		judgements, err := Judge(ctx, folds, points, o.Fit, progress)
		if err != nil {
			return nil, err
		}
		t.HeldOut = append(t.HeldOut, HeldOut{h, judgements, skipped})
	}
	if family != Physics {
		return t, nil
	}
	t.Set = t.set(list, prefills, o)
	return t, t.Set.Validate()
}

// judge compares samples with their replays under the same coefficients.
func judgeSamples(ctx context.Context, samples []*Sample, c *Coefficients, workers int) ([]Judgement, error) {
	list := make([]Judgement, len(samples))
	return list, each(ctx, workers, len(samples), func(i int) error {
		comparison, err := samples[i].Judge(c)
		if err == nil {
			list[i] = Judgement{samples[i].Run.ID, samples[i], *comparison}
		}
		return err
	})
}

// set is the coefficient file of a fit to these samples.
func (t *Trained) set(samples []*Sample, prefills []Prefill, o TrainOptions) *latency.PhysicsSet {
	first := samples[0]
	training := latency.Training{
		TPMin: first.Server.Deployment.TP, TPMax: first.Server.Deployment.TP,
		AsyncScheduling: *first.Server.Config.AsyncScheduling, ChunkedPrefill: first.Server.Config.EnableChunkedPrefill,
		Dates: o.Dates, Data: o.Data, Lambda: o.Fit.Lambda, Gamma: latency.DefaultGamma, Method: "replay regression",
	}
	if o.Fit.Polish > 0 {
		training.Method += ", then Nelder-Mead"
	}
	add := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	var engines []string
	on := func(d *latency.Deployment) {
		add(&training.Models, d.Model.Name)
		add(&training.Kinds, d.Model.Kind())
		add(&training.GPUs, d.GPU.Name)
		training.TPMin, training.TPMax = min(training.TPMin, d.TP), max(training.TPMax, d.TP)
	}
	for _, s := range samples {
		on(s.Server.Deployment)
		add(&engines, s.Run.Engine)
		training.Samples += int64(s.To - s.From)
		for _, r := range s.Run.Requests[s.From:s.To] {
			training.ContextMax = max(training.ContextMax, int64(r.Input)+int64(r.Output))
		}
		c := &s.Server.Config
		training.SeatsMax, training.StepTokensMax = max(training.SeatsMax, int64(c.MaxNumSeqs)), max(training.StepTokensMax, int64(c.MaxNumBatchedTokens))
	}
	for i := range prefills {
		on(prefills[i].on)
		training.Samples++
	}
	training.Engine = strings.Join(engines, ", ")
	set := &latency.PhysicsSet{Name: o.Name, TrainedOn: training, Notes: o.Notes, Alpha: t.Fit.Alpha, Beta: t.Fit.Beta}
	for _, h := range t.HeldOut {
		for _, s := range Summarise(h.Judgements) {
			if s.Statistic == "mean" || s.Statistic == "p99" {
				set.Errors = append(set.Errors, latency.HeldOutError{
					HeldOut: h.By.Label(), Metric: string(s.Metric), Statistic: s.Statistic,
					MedianAPEPercent: round(100*s.Median, 2), Runs: s.Runs,
				})
			}
		}
	}
	return set
}

// CheckSamples is an error if samples cannot share a set: a coefficient file
// says whether batches were formed ahead and prompts chunked.
func CheckSamples(samples []*Sample) error {
	for _, s := range samples[min(1, len(samples)):] {
		a, b := &samples[0].Server.Config, &s.Server.Config
		if *a.AsyncScheduling != *b.AsyncScheduling || a.EnableChunkedPrefill != b.EnableChunkedPrefill {
			return fmt.Errorf("runs %s and %s differ in async scheduling or chunked prefill: want a set for each", samples[0].Run.ID, s.Run.ID)
		}
	}
	return nil
}
