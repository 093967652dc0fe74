package calibrate

import (
	"context"
	"fmt"
	"slices"
)

// HoldOut is how measured requests are kept from a fit that is then judged by
// them.
type HoldOut string

// Hold-outs.
const (
	ByWorkload HoldOut = "workload" // a run is judged by a fit to the other runs of its model
	ByModel    HoldOut = "model"    // the runs of a model are judged by a fit to all other models
	ByTail     HoldOut = "tail"     // the end of a run is judged by a fit to its beginning
)

// Label is the hold-out's name in coefficient files.
func (h HoldOut) Label() string {
	if h == ByTail {
		return "last part of each run"
	}
	return "leave-one-" + string(h) + "-out"
}

// Fold is one division of samples into those that a fit sees and those that
// judge it.
type Fold struct {
	Name        string // of what is held out
	Train, Test []*Sample
}

// Folds divides samples. Share is the part of a run that ByTail fits to, in
// (0, 1). Samples that cannot be held out, because nothing is left to learn
// from, are named in skipped.
func Folds(samples []*Sample, h HoldOut, share float64) (folds []Fold, skipped []string) {
	if h == ByTail {
		for _, s := range samples {
			cut := s.From + int(share*float64(s.To-s.From))
			if cut == s.From || cut == s.To {
				skipped = append(skipped, s.Run.ID)
				continue
			}
			folds = append(folds, Fold{s.Run.ID, []*Sample{s.Part(s.From, cut)}, []*Sample{s.Part(cut, s.To)}})
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
		f := Fold{Name: name}
		for _, s := range samples {
			switch {
			case h.name(s) == name:
				f.Test = append(f.Test, s)
			case h == ByModel || s.model() == f.model(samples, h):
				f.Train = append(f.Train, s)
			}
		}
		if len(f.Train) == 0 {
			skipped = append(skipped, name)
			continue
		}
		folds = append(folds, f)
	}
	return folds, skipped
}

// name is what is held out together with the sample.
func (h HoldOut) name(s *Sample) string {
	if h == ByModel {
		return s.model()
	}
	return s.Run.ID
}

// model is the model of the runs that the fold holds out.
func (f *Fold) model(samples []*Sample, h HoldOut) string {
	for _, s := range samples {
		if h.name(s) == f.Name {
			return s.model()
		}
	}
	return ""
}

// model is the name of the sample's model, whatever alias its data use.
func (s *Sample) model() string {
	if s.Server == nil {
		return s.Run.Model
	}
	return s.Server.Deployment.Model.Name
}

// Judgement is how a sample that a fit had not seen came out.
type Judgement struct {
	Fold   string
	Sample *Sample
	Comparison
}

// Judge fits to the training part of each fold and compares the rest. It calls
// progress before each fold.
func Judge(ctx context.Context, folds []Fold, points []Point, o FitOptions, progress func(done, of int, name string)) ([]Judgement, error) {
	var list []Judgement
	for i, f := range folds {
		progress(i, len(folds), f.Name)
		if err := f.check(); err != nil {
			return nil, err
		}
		fit, err := FitRuns(ctx, f.Train, f.points(points), o)
		if err != nil {
			return nil, fmt.Errorf("fit without %s, which judges it: %w", f.Name, err)
		}
		for _, s := range f.Test {
			c, err := s.Judge(&fit.Coefficients)
			if err != nil {
				return nil, err
			}
			list = append(list, Judgement{f.Name, s, *c})
		}
	}
	return list, nil
}

// points are those that do not tell of a model that judges the fold and of which
// it knows no run.
func (f *Fold) points(all []Point) []Point {
	var list []Point
	for _, p := range all {
		known := slices.ContainsFunc(f.Train, func(s *Sample) bool { return s.model() == p.Model })
		judge := slices.ContainsFunc(f.Test, func(s *Sample) bool { return s.model() == p.Model })
		if known || !judge {
			list = append(list, p)
		}
	}
	return list
}

// check is an error if a fold is judged by requests that it learned from.
func (f *Fold) check() error {
	for _, a := range f.Train {
		for _, b := range f.Test {
			if a.Run == b.Run && a.From < b.To && b.From < a.To {
				return fmt.Errorf("calibrate: fold %s learns from requests %d to %d of %s, which judge it", f.Name, max(a.From, b.From), min(a.To, b.To)-1, a.Run.ID)
			}
		}
	}
	return nil
}

// Judge compares the sample with its replay by the latency model with these
// coefficients.
func (s *Sample) Judge(c *Coefficients) (*Comparison, error) {
	m, err := s.Model(c)
	if err != nil {
		return nil, err
	}
	p, err := s.Server.Replay(s.Run, m, s.Timeout)
	if err != nil {
		return nil, err
	}
	return Compare(s, p, s.From, s.To), nil
}
