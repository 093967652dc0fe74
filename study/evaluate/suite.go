package evaluate

import (
	"fmt"
	"slices"

	"blis/bundle"
	"blis/setup"
	"blis/suggest"
)

// Suite is scenarios in which policies are compared with a baseline. It is not changed after
// Parse; several goroutines may use it.
type Suite struct {
	Name      string // of its file, without folder and extension, or of the shipped suite
	About     string // one line
	Scenarios []*Scenario
	Baseline  bundle.Bundle
}

// Scenario is a cluster under traffic.
type Scenario struct {
	Name     string
	Weight   float64 // in the score, above 0
	Smoke    bool    // it belongs to the short stage
	HeldOut  bool    // it never counts in the score
	Seeds    []uint64
	Measures []Weighted

	settings setup.Config // with the policies of the baseline
	file     string       // of the suite, for errors
	workload inlineFile   // a specification; without it and a trace the settings say what arrives
	trace    inlineFile   // requests to replay
	failures inlineFile   // which instances fail, and when

	// scales says that the number of instances may change, so that a candidate may choose an
	// autoscaler.
	scales   bool
	ids      ids
	cluster  bundle.Bundle // the policies of the baseline, complete: what belongs to the cluster counts
	accuracy string        // what is known of the error of the latency model
	unused   []string      // settings that have no effect, in words
}

// inlineFile is a file that stands in the suite.
type inlineFile struct {
	path string // by which package setup opens it
	text []byte // on the lines that it has in the suite; nil: there is none
	line string // the same on one line, for its hash
}

// Stage is which scenarios count.
type Stage string

// Stages.
const (
	Full  Stage = "full"
	Smoke Stage = "smoke" // those that are marked smoke
)

// Options are how a candidate is evaluated. The zero value is all scored scenarios, without
// limits.
type Options struct {
	Stage   Stage // empty: Full
	HeldOut bool  // run held-out scenarios too

	// Scenarios are the names of those that count; nil: all of the stage.
	Scenarios []string

	MaxEvents int64 // requests and steps of a run, at most; 0: no limit

	// MaxSteps bounds the steps of a program that decides, for all decisions of a run: the
	// parameter max_steps of its policy, if it has one, is at most this. 0: no limit.
	MaxSteps int64

	Workers int // runs at a time; 0: one per core. The answer does not depend on it
}

// chosen lists the scored scenarios of the options, or the held-out ones.
func (s *Suite) chosen(o Options, heldOut bool) (list []*Scenario, err error) {
	if o.Stage != "" && o.Stage != Full && o.Stage != Smoke {
		return nil, inputErrorf("stage %q: want %s or %s", o.Stage, Full, Smoke)
	}
	if err := s.checkNames(o.Scenarios); err != nil {
		return nil, err
	}
	for _, c := range s.Scenarios {
		switch {
		case c.HeldOut != heldOut:
		case heldOut && o.HeldOut:
			list = append(list, c)
		case !heldOut && (o.Stage != Smoke || c.Smoke) && (o.Scenarios == nil || slices.Contains(o.Scenarios, c.Name)):
			list = append(list, c)
		}
	}
	switch {
	case list != nil || heldOut:
	case o.Scenarios == nil:
		return nil, inputErrorf("suite %s: no scenario is marked smoke, want smoke: true in one, or stage %s", s.Name, Full)
	default:
		return nil, inputErrorf("suite %s: no scenario of stage %s is among %v", s.Name, o.Stage, o.Scenarios)
	}
	return list, nil
}

// checkNames refuses names of scenarios that cannot be scored.
func (s *Suite) checkNames(names []string) error {
	var known []string
	for _, c := range s.Scenarios {
		if !c.HeldOut {
			known = append(known, c.Name)
		} else if slices.Contains(names, c.Name) {
			return inputErrorf("scenario %s is held out: it has no part in a score", c.Name)
		}
	}
	for i, name := range names {
		if !slices.Contains(known, name) {
			return inputErrorf("unknown scenario %q%s (there are: %v)", name, suggest.Hint(name, known), known)
		}
		if slices.Contains(names[:i], name) {
			return inputErrorf("scenario %s is given twice, want it once", name)
		}
	}
	return nil
}

func inputErrorf(format string, args ...any) error {
	return &setup.InputError{Text: fmt.Sprintf(format, args...)}
}
