package calibrate

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// LoopResult compares a benchmark with the prediction of one latency model.
type LoopResult struct {
	Sample      *ClosedLoopSample
	Description string // of the latency model
	Missing     string // why there is no prediction; empty: there is one
	Predicted   ClosedLoopPrediction
}

// Error is the relative error of TPOT, above 0 when the prediction is too high.
func (r *LoopResult) Error() float64 { return r.Predicted.TPOT/r.Sample.Point.TPOT - 1 }

// LoopErrors are the errors of TPOT over some benchmarks, as shares: 0.1 is 10 %.
type LoopErrors struct {
	Points int     `json:"points"`
	Median float64 `json:"median_ape"` // of the absolute relative errors
	P90    float64 `json:"p90_ape"`    // 90th percentile of the same
	Bias   float64 `json:"bias"`       // mean of the signed relative errors
	Worst  float64 `json:"worst"`      // the largest, with its sign
}

// LoopGroup holds the errors of the benchmarks of one model on one kind of server.
type LoopGroup struct {
	Model     string `json:"model"`
	GPU       string `json:"gpu"`
	Precision string `json:"precision"` // of the checkpoint, as fp8
	TP        int    `json:"tp"`
	LoopErrors
}

// LoopValidation holds the results of all benchmarks under one latency model.
type LoopValidation struct {
	Subject string
	Results []LoopResult   // in the order of the samples
	Groups  []LoopGroup    // by model, GPU, precision and TP, in this order
	All     LoopErrors     // Points 0: nothing was predicted
	LeftOut []LeftOutLoops // without a prediction by this latency model
}

// ValidateClosedLoops simulates benchmarks under each subject. The results have the
// order of the arguments; they do not depend on the number of workers.
func ValidateClosedLoops(ctx context.Context, samples []*ClosedLoopSample, subjects []Subject, workers int, progress func(done, of int, what string)) ([]LoopValidation, error) {
	var list []LoopValidation
	for k, subject := range subjects {
		progress(k, len(subjects), subject.Name)
		v := LoopValidation{Subject: subject.Name, Results: make([]LoopResult, len(samples))}
		if err := forEach(ctx, workers, len(samples), func(i int) error {
			v.Results[i] = samples[i].validate(subject)
			return nil
		}); err != nil {
			return nil, err
		}
		v.summarise()
		list = append(list, v)
	}
	return list, nil
}

func (s *ClosedLoopSample) validate(subject Subject) LoopResult {
	r := LoopResult{Sample: s}
	chosen, err := subject.ModelFor(s.Server)
	if err == nil {
		r.Description = chosen.Description
		r.Predicted, err = s.Predict(chosen.Model)
	}
	if err != nil {
		r.Missing = err.Error()
	}
	return r
}

// summarise computes all but Results from them.
func (v *LoopValidation) summarise() {
	var groups []LoopGroup
	var errors [][]float64
	var all []float64
	for i := range v.Results {
		r := &v.Results[i]
		if r.Missing != "" {
			v.LeftOut = leaveOut(v.LeftOut, r.Missing, r.Sample.Point.Line)
			continue
		}
		g := r.Sample.Group()
		k := slices.Index(groups, g)
		if k < 0 {
			k = len(groups)
			groups, errors = append(groups, g), append(errors, nil)
		}
		errors[k] = append(errors[k], r.Error())
		all = append(all, r.Error())
	}
	for k := range groups {
		groups[k].LoopErrors = loopErrors(errors[k])
	}
	slices.SortFunc(groups, func(a, b LoopGroup) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.GPU, b.GPU), cmp.Compare(a.Precision, b.Precision), cmp.Compare(a.TP, b.TP))
	})
	v.Groups, v.All = groups, loopErrors(all)
}

// Group returns the group of the sample, without errors.
func (s *ClosedLoopSample) Group() LoopGroup {
	d := s.Server.Deployment
	precision := s.Point.Precision
	if precision == "" && d.Model.WeightBits == 16 {
		precision = "bf16"
	}
	return LoopGroup{Model: s.Point.Model, GPU: d.GPU.Name, Precision: cmp.Or(precision, "?"), TP: s.Point.TP}
}

// loopErrors are the errors of a list of signed relative errors.
func loopErrors(signed []float64) LoopErrors {
	e := LoopErrors{Points: len(signed)}
	if e.Points == 0 {
		return e
	}
	var absolute []float64
	for _, v := range signed {
		absolute = append(absolute, math.Abs(v))
		e.Bias += v / float64(len(signed))
		if math.Abs(v) > math.Abs(e.Worst) {
			e.Worst = v
		}
	}
	slices.Sort(absolute)
	e.Median, e.P90 = percentile(absolute, 50), percentile(absolute, 90)
	return e
}

// leaveOut adds a benchmark to those that are left out, by reason in the order in
// which reasons first appear.
func leaveOut(list []LeftOutLoops, reason string, line int) []LeftOutLoops {
	k := slices.IndexFunc(list, func(l LeftOutLoops) bool { return l.Reason == reason })
	if k < 0 {
		k = len(list)
		list = append(list, LeftOutLoops{Reason: reason})
	}
	list[k].Points++
	list[k].Lines = append(list[k].Lines, line)
	return list
}
