package calibrate

import (
	"context"
	"fmt"
	"slices"

	"blis/setup"
)

// HoldOut says which measured requests are held out of a fit, to test it.
type HoldOut string

// Hold-outs.
const (
	ByWorkload HoldOut = "workload" // one run at a time tests a fit to the other runs of its model
	ByModel    HoldOut = "model"    // the runs of one model at a time test a fit to all other models
	ByTail     HoldOut = "tail"     // the end of a run tests a fit to its beginning
)

// ParseHoldOuts reads the names of hold-outs, or none. Its error is an
// *setup.InputError.
func ParseHoldOuts(names []string) ([]HoldOut, error) {
	var list []HoldOut
	for _, name := range names {
		switch h := HoldOut(name); h {
		case ByWorkload, ByModel, ByTail:
			if !slices.Contains(list, h) {
				list = append(list, h)
			}
		case "none":
		default:
			return nil, &setup.InputError{Text: fmt.Sprintf("--hold-out is %q: want workload, model, tail or none", name)}
		}
	}
	return list, nil
}

// Label returns the name of the hold-out in coefficient files.
func (h HoldOut) Label() string {
	if h == ByTail {
		return "last part of each run"
	}
	return "leave-one-" + string(h) + "-out"
}

// sampleFold is one division of samples into those that a fit learns from and those
// that test it. They have no request in common.
type sampleFold struct {
	name        string // of what is held out
	train, test []*Sample
}

// makeFolds divides samples. share is the part of a run that ByTail fits to, in
// (0, 1). skipped names what cannot be held out, because no data would be left to
// learn from.
func makeFolds(samples []*Sample, h HoldOut, share float64) (folds []sampleFold, skipped []string) {
	if h == ByTail {
		for _, s := range samples {
			cut := s.From + int(share*float64(s.To-s.From))
			if cut == s.From || cut == s.To {
				skipped = append(skipped, s.Run.ID)
				continue
			}
			folds = append(folds, sampleFold{s.Run.ID, []*Sample{s.slice(s.From, cut)}, []*Sample{s.slice(cut, s.To)}})
		}
		return folds, skipped
	}
	var names []string
	for _, s := range samples {
		if name := h.name(s); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		f := sampleFold{name: name}
		for _, s := range samples {
			switch {
			case h.name(s) == name:
				f.test = append(f.test, s)
			case h == ByModel || s.model() == f.model(samples, h):
				f.train = append(f.train, s)
			}
		}
		if len(f.train) == 0 {
			skipped = append(skipped, name)
			continue
		}
		folds = append(folds, f)
	}
	return folds, skipped
}

// name returns the name of the fold that holds the sample out: model or run id.
func (h HoldOut) name(s *Sample) string {
	if h == ByModel {
		return s.model()
	}
	return s.Run.ID
}

// model returns the model of the runs that the fold holds out.
func (f *sampleFold) model(samples []*Sample, h HoldOut) string {
	for _, s := range samples {
		if h.name(s) == f.name {
			return s.model()
		}
	}
	return ""
}

// model returns the name of the sample's model. Its data may have used an alias.
func (s *Sample) model() string {
	if s.Server == nil {
		return s.Run.Model
	}
	return s.Server.Deployment.Model.Name
}

// Evaluation compares a sample with its replay under fitted coefficients.
type Evaluation struct {
	Fold   string // name of the fold that held the sample out, or the run id
	Sample *Sample
	Comparison
}

// evaluateFolds fits to the training part of each fold and tests the fit on the
// rest. It calls progress before each fold. A fold learns from the loops too, but not
// from those of a model that it tests.
func evaluateFolds(ctx context.Context, folds []sampleFold, points []point, o FitOptions, progress func(done, of int, name string), loops ...*ClosedLoopSample) ([]Evaluation, error) {
	var list []Evaluation
	for i, f := range folds {
		progress(i, len(folds), f.name)
		if err := f.check(); err != nil {
			return nil, err
		}
		fit, err := fitRuns(ctx, f.train, f.points(points), o, f.loops(loops)...)
		if err != nil {
			return nil, fmt.Errorf("fit without %s, which judges it: %w", f.name, err)
		}
		for _, s := range f.test {
			c, err := s.evaluate(&fit.Coefficients)
			if err != nil {
				return nil, err
			}
			list = append(list, Evaluation{f.name, s, *c})
		}
	}
	return list, nil
}

// points returns the points that the fold may learn from: all but those of a model
// that is held out.
func (f *sampleFold) points(all []point) []point {
	var list []point
	for _, p := range all {
		learned := slices.ContainsFunc(f.train, func(s *Sample) bool { return s.model() == p.model })
		tested := slices.ContainsFunc(f.test, func(s *Sample) bool { return s.model() == p.model })
		if learned || !tested {
			list = append(list, p)
		}
	}
	return list
}

// loops returns the closed loops that the fold may learn from: all but those of a model
// that is held out.
func (f *sampleFold) loops(all []*ClosedLoopSample) []*ClosedLoopSample {
	tested := func(l *ClosedLoopSample) bool {
		return slices.ContainsFunc(f.test, func(s *Sample) bool { return s.model() == l.Server.Deployment.Model.Name })
	}
	return slices.DeleteFunc(slices.Clone(all), tested)
}

// check returns an error if a fold is tested on requests that it learned from.
func (f *sampleFold) check() error {
	for _, a := range f.train {
		for _, b := range f.test {
			if a.Run == b.Run && a.From < b.To && b.From < a.To {
				return fmt.Errorf("calibrate: fold %s learns from requests %d to %d of %s, which judge it", f.name, max(a.From, b.From), min(a.To, b.To)-1, a.Run.ID)
			}
		}
	}
	return nil
}

// evaluate compares the sample with its replay by the latency model with these
// coefficients.
func (s *Sample) evaluate(c *Coefficients) (*Comparison, error) {
	m, err := s.Model(c)
	if err != nil {
		return nil, err
	}
	p, err := s.Server.Replay(s.Run, m, s.Timeout)
	if err != nil {
		return nil, err
	}
	return s.compare(p, s.From, s.To, nil), nil
}
