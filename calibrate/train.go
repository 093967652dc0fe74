package calibrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"blis/latency"
)

// TrainOptions say what is trained and how it is tested.
type TrainOptions struct {
	Family   *Family // nil: Physics
	Name     string
	Fit      FitOptions
	HoldOuts []HoldOut
	Share    float64  // part of a run that ByTail fits to, in (0, 1)
	Data     string   // provenance, one line
	Dates    []string // first and last day of measuring, 2006-01-02; nil: not known
	Notes    []string
	Progress func(done, of int, what string) // before each fit

	// Loops are fitted to beside the runs, or alone. Fits that test themselves on runs of a
	// model learn from the loops of other models; those on a run or its end from none.
	Loops []*ClosedLoopSample

	// Beside are loops of other models. With them, and without runs, the fit to Loops is
	// drawn to a fit to all of both, with weight Fit.Own: what the data of one model do
	// not determine follows the others. Nil: Loops alone count.
	Beside []*ClosedLoopSample
}

// Trained holds fitted coefficients and their errors.
type Trained struct {
	Family     *Family
	Samples    []*Sample           // of the fit
	Set        *latency.PhysicsSet // nil unless Family is Physics
	Fit        *Fit
	InSample   []Evaluation // of Samples, from which the fit learned
	HeldOut    []HeldOut    // one per TrainOptions.HoldOuts
	Overloaded []string     // ids of overloaded runs, which are not in the fit
	Prefills   int          // of requests that ran alone, in the fit
	// Loops holds the errors on TrainOptions.Loops: of the fit, then of fits that did not
	// learn from their group, and from their model. Nil if there are none.
	Loops []LoopValidation
}

// Content returns the coefficient file, nil if there is none.
func (t *Trained) Content() []byte {
	if t.Set == nil {
		return nil
	}
	return t.Set.Format()
}

// HeldOut holds the evaluations under one hold-out.
type HeldOut struct {
	By          HoldOut
	Evaluations []Evaluation
	Skipped     []string // models or runs without other data to learn from
}

// Train fits a latency model to the runs that are not overloaded and to prefills,
// tests fits of the same kind on held-out data, and for the physics model makes a
// coefficient set.
func Train(ctx context.Context, samples []*Sample, prefills []Prefill, o TrainOptions) (*Trained, error) {
	list, overloaded := notOverloaded(samples)
	if len(list) == 0 && len(o.Loops) == 0 {
		return nil, errors.New("no run to fit to: requests of every run failed, so that latencies say how patient clients were")
	}
	family := o.Family
	if family == nil {
		family = Physics
	}
	if family != Physics && len(prefills) > 0 {
		return nil, fmt.Errorf("prefills of requests that ran alone are for physics, not %s", family.Name)
	}
	if len(o.Beside) > 0 && (len(list) > 0 || o.Fit.Own <= 0) {
		return nil, errors.New("a fit to closed loops of one model beside others: want no runs, and a weight for the distance to the others")
	}
	if family != Physics && len(o.Loops) > 0 {
		return nil, fmt.Errorf("closed loops are for physics, not %s", family.Name)
	}
	var points []point
	for i := range prefills {
		points = append(points, prefills[i].points()...)
	}
	for i := range list {
		var err error
		if list[i], err = list[i].withFamily(family); err != nil {
			return nil, err
		}
	}
	progress := o.Progress
	if progress == nil {
		progress = func(int, int, string) {}
	}
	t := &Trained{Family: family, Samples: list, Overloaded: overloaded, Prefills: len(prefills)}
	if family == Physics { // find errors in the options before the long fit
		t.Fit = &Fit{}
		if err := t.coefficientSet(list, prefills, o).Validate(); err != nil {
			return nil, err
		}
	}
	progress(0, 1, "fit to everything")
	var err error
	if t.Fit, err = o.fit(ctx, list, points); err != nil {
		return nil, err
	}
	if t.InSample, err = evaluateSamples(ctx, list, &t.Fit.Coefficients, o.Fit.Workers); err != nil {
		return nil, err
	}
	for _, h := range o.HoldOuts {
		folds, skipped := makeFolds(list, h, o.Share)
		var loops []*ClosedLoopSample
		if h == ByModel {
			loops = o.Loops
		}
		evaluations, err := evaluateFolds(ctx, folds, points, o.Fit, progress, loops...)
		if err != nil {
			return nil, err
		}
		t.HeldOut = append(t.HeldOut, HeldOut{h, evaluations, skipped})
	}
	if family != Physics {
		return t, nil
	}
	if err := t.evaluateLoops(ctx, list, prefills, o); err != nil {
		return nil, err
	}
	t.Set = t.coefficientSet(list, prefills, o)
	return t, t.Set.Validate()
}

// evaluateLoops fills Loops.
func (t *Trained) evaluateLoops(ctx context.Context, samples []*Sample, prefills []Prefill, o TrainOptions) error {
	if len(o.Loops) == 0 {
		return nil
	}
	fitted := LoopValidation{Subject: "fitted to", Results: make([]LoopResult, len(o.Loops))}
	err := forEach(ctx, o.Fit.Workers, len(o.Loops), func(i int) (err error) {
		r := &fitted.Results[i]
		r.Sample = o.Loops[i]
		r.Predicted, err = o.Loops[i].predict(&t.Fit.Coefficients)
		return err
	})
	if err != nil {
		return err
	}
	fitted.summarise()
	t.Loops = []LoopValidation{fitted}
	if len(o.Beside) > 0 {
		v, err := t.Fit.general.HoldOutLoops(ctx, nil, nil, slices.Concat(o.Loops, o.Beside), ByGroup, o.Fit)
		if err != nil {
			return err
		}
		v.Results = v.Results[:len(o.Loops)]
		v.summarise()
		t.Loops = append(t.Loops, *v)
		return nil
	}
	general := o.Fit
	general.Own = 0
	for _, h := range []LoopHoldOut{ByGroup, ByLoopModel} {
		v, err := t.Fit.HoldOutLoops(ctx, samples, prefills, o.Loops, h, general)
		if err != nil {
			return err
		}
		t.Loops = append(t.Loops, *v)
	}
	return nil
}

// fit returns the fit to samples, points and loops.
func (o *TrainOptions) fit(ctx context.Context, samples []*Sample, points []point) (*Fit, error) {
	if len(o.Beside) == 0 {
		return fitRuns(ctx, samples, points, o.Fit, o.Loops...)
	}
	general, err := FitClosedLoops(ctx, slices.Concat(o.Loops, o.Beside), o.Fit)
	if err != nil {
		return nil, err
	}
	return general.own(ctx, o.Loops, o.Fit)
}

// evaluateSamples compares samples with their replays under the same coefficients.
func evaluateSamples(ctx context.Context, samples []*Sample, c *Coefficients, workers int) ([]Evaluation, error) {
	list := make([]Evaluation, len(samples))
	return list, forEach(ctx, workers, len(samples), func(i int) error {
		comparison, err := samples[i].evaluate(c)
		if err == nil {
			list[i] = Evaluation{samples[i].Run.ID, samples[i], *comparison}
		}
		return err
	})
}

// coefficientSet returns the coefficient set of a fit to these samples.
func (t *Trained) coefficientSet(samples []*Sample, prefills []Prefill, o TrainOptions) *latency.PhysicsSet {
	first := firstServer(samples, o.Loops)
	training := latency.Training{
		TPMin: first.Deployment.TP, TPMax: first.Deployment.TP,
		AsyncScheduling: first.async(nil), ChunkedPrefill: first.Config.EnableChunkedPrefill,
		Dates: o.Dates, Data: o.Data, Lambda: o.Fit.Lambda, Gamma: latency.DefaultGamma, Method: "replay regression",
	}
	if len(o.Beside) > 0 {
		training.Method += fmt.Sprintf(", drawn with weight %v to a fit to other models too", o.Fit.Own)
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
		add(&training.Precisions, d.Model.Precision())
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
		on(prefills[i].deployment)
		training.Samples++
	}
	for _, l := range o.Loops {
		on(l.Server.Deployment)
		add(&engines, strings.TrimSpace("vLLM "+l.Point.EngineVersion))
		training.Samples++
		training.ContextMax = max(training.ContextMax, int64(l.Point.Input)+int64(l.Point.Output))
		training.SeatsMax = max(training.SeatsMax, int64(l.Users))
		training.StepTokensMax = max(training.StepTokensMax, int64(l.Server.Config.MaxNumBatchedTokens))
	}
	if slices.Equal(training.Precisions, []string{"w16a16"}) {
		training.Precisions = nil // as in files that do not say
	}
	training.Engine = engineText(engines)
	return &latency.PhysicsSet{Name: o.Name, TrainedOn: training, Errors: t.errors(), Notes: o.Notes, Alpha: t.Fit.Alpha, Beta: t.Fit.Beta}
}

// engineText lists engines; of more than three versions it has the first and the last.
func engineText(engines []string) string {
	slices.Sort(engines)
	released := slices.DeleteFunc(slices.Clone(engines), func(e string) bool { return !strings.HasPrefix(e, "vLLM 0.") })
	if len(engines) > 3 && len(released) > 1 {
		return released[0] + " to " + strings.TrimPrefix(released[len(released)-1], "vLLM ")
	}
	return strings.Join(engines, ", ")
}

// firstServer returns the server of the first run, else of the first closed loop that
// schedules as most of them do.
func firstServer(samples []*Sample, loops []*ClosedLoopSample) *Server {
	if len(samples) > 0 {
		return samples[0].Server
	}
	async := 0
	for _, l := range loops {
		if l.Server.async(nil) {
			async++
		}
	}
	for _, l := range loops {
		if l.Server.async(nil) == (2*async >= len(loops)) {
			return l.Server
		}
	}
	panic("calibrate: a fit to nothing")
}

// CheckSamples returns an error if samples differ in async scheduling or chunked
// prefill: a coefficient set is for one value of each. Coefficients of blackbox are for
// one deployment too.
func CheckSamples(samples []*Sample, f *Family) error {
	for _, s := range samples[min(1, len(samples)):] {
		a, b := samples[0].Server, s.Server
		if a.async(nil) != b.async(nil) || a.Config.EnableChunkedPrefill != b.Config.EnableChunkedPrefill {
			return fmt.Errorf("runs %s and %s differ in async scheduling or chunked prefill: want a set for each", samples[0].Run.ID, s.Run.ID)
		}
	}
	for _, s := range samples {
		if a, b := samples[0].Server.Deployment.String(), s.Server.Deployment.String(); f == Blackbox && a != b {
			return fmt.Errorf("--latency-model blackbox: its coefficients hold for one model, GPU and TP, the runs are of %s and %s: want --only", a, b)
		}
	}
	return nil
}
