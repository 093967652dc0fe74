package calibrate

import (
	"context"
	"fmt"

	"blis/calibrate/regress"
)

// LoopHoldOut says which benchmarks are held out of a fit at a time, to test it.
type LoopHoldOut string

// Hold-outs of benchmarks.
const (
	ByGroup     LoopHoldOut = "group" // those of one model, GPU, precision and TP
	ByLoopModel LoopHoldOut = "model" // those of one model, and the runs and prefills of it
)

// name is the fold of a sample.
func (h LoopHoldOut) name(s *ClosedLoopSample) string {
	if h == ByLoopModel {
		return s.Server.Deployment.Model.Name
	}
	g := s.Group()
	return fmt.Sprintf("%s, %s, %s, TP %d", g.Model, g.GPU, g.Precision, g.TP)
}

// HoldOutLoops tests fits like f on benchmarks that they did not learn from. f is the fit
// to all of samples, prefills and loops with options o. All are replayed once with its
// coefficients; each fold solves for its own coefficients under these schedules, which
// hardly depend on them, and simulates what it held out. So a fold is one solution
// and not a whole fit.
func (f *Fit) HoldOutLoops(ctx context.Context, samples []*Sample, prefills []Prefill, loops []*ClosedLoopSample, h LoopHoldOut, o FitOptions) (*LoopValidation, error) {
	list := replays(samples, loops)
	systems, err := observeEach(ctx, list, &f.Coefficients, o)
	if err != nil {
		return nil, err
	}
	var names []string
	members := map[string][]int{} // of loops
	for i, l := range loops {
		name := h.name(l)
		if members[name] == nil {
			names = append(names, name)
		}
		members[name] = append(members[name], i)
	}
	v := &LoopValidation{Subject: string(h) + " held out", Results: make([]LoopResult, len(loops))}
	return v, v.holdOut(ctx, names, func(name string) error {
		system, err := f.without(name, h, samples, prefills, loops, systems, o)
		if err != nil {
			return err
		}
		if system.Rows() == 0 {
			for _, i := range members[name] {
				v.Results[i] = LoopResult{Sample: loops[i], Missing: "no other data to fit to"}
			}
			return nil
		}
		c, err := solveBox(system, Physics, o)
		if err == nil && o.Own > 0 {
			c, err = ownOf(loops[members[name][0]], name, h, loops, systems[len(samples):], c, o)
		}
		if err != nil {
			return fmt.Errorf("fit without %s, which judges it: %w", name, err)
		}
		for _, i := range members[name] {
			r := &v.Results[i]
			r.Sample = loops[i]
			if r.Predicted, err = loops[i].predict(coefficientsOf(c)); err != nil {
				return err
			}
		}
		return nil
	}, o.Workers)
}

// holdOut tests the folds and summarises.
func (v *LoopValidation) holdOut(ctx context.Context, names []string, test func(name string) error, workers int) error {
	if err := forEach(ctx, workers, len(names), func(i int) error { return test(names[i]) }); err != nil {
		return err
	}
	v.summarise()
	return nil
}

// without returns the sum of the observations that a fold may learn from. systems are
// those of samples and loops.
func (f *Fit) without(name string, h LoopHoldOut, samples []*Sample, prefills []Prefill, loops []*ClosedLoopSample, systems []*regress.System, o FitOptions) (*regress.System, error) {
	var points []point
	for i := range prefills {
		for _, p := range prefills[i].points() {
			if h != ByLoopModel || p.model != name {
				points = append(points, p)
			}
		}
	}
	system, err := observe(context.Background(), nil, points, &f.Coefficients, o)
	if err != nil {
		return nil, err
	}
	for i, s := range samples {
		if h != ByLoopModel || s.model() != name {
			system.Merge(systems[i])
		}
	}
	for i, l := range loops {
		if h.name(l) != name {
			system.Merge(systems[len(samples)+i])
		}
	}
	return system, nil
}

// ownOf returns the coefficients of the held-out model alone, drawn to those of all
// models. None of the held-out benchmarks counts.
func ownOf(held *ClosedLoopSample, name string, h LoopHoldOut, loops []*ClosedLoopSample, systems []*regress.System, general []float64, o FitOptions) ([]float64, error) {
	system, n := regress.New(columns), 0
	for i, l := range loops {
		if h.name(l) != name && l.Server.Deployment.Model.Name == held.Server.Deployment.Model.Name {
			system.Merge(systems[i])
			n++
		}
	}
	if n < 5 {
		return general, nil
	}
	o.Toward, o.Lambda = coefficientsOf(general), o.Own
	return solveBox(system, Physics, o)
}

// own returns a fit to the loops of one model, drawn to f, a fit to them and to those of
// others, with weight o.Own.
func (f *Fit) own(ctx context.Context, loops []*ClosedLoopSample, o FitOptions) (*Fit, error) {
	o.Toward, o.Lambda = &f.Coefficients, o.Own
	system, err := observe(ctx, replays(nil, loops), nil, &f.Coefficients, o)
	if err != nil {
		return nil, err
	}
	c, err := solveBox(system, Physics, o)
	if err != nil {
		return nil, err
	}
	own := *f
	own.Coefficients, own.Requests, own.general = *coefficientsOf(c), system.Rows(), f
	own.Spread = system.Spread(boxOptions(system, Physics, o), c)
	return &own, nil
}
