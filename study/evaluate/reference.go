package evaluate

import (
	"context"
	"errors"
	"math"
	"slices"

	"blis/bundle"
)

// ReferenceSchema is the schema of a Reference in JSON.
const ReferenceSchema = "blis.eval-reference/v1"

// Reference is what the baseline of a suite does: scores are relative to it. As JSON it can be
// given to another process, which then need not run the baseline.
type Reference struct {
	Schema    string    `json:"schema"`
	Scenarios []Figures `json:"scenarios"`
}

// Reference runs the baseline in the scenarios that the options choose. Errors: *setup.InputError
// for a suite whose baseline cannot be a measure of others, or the one of ctx.
func (s *Suite) Reference(ctx context.Context, o Options) (*Reference, error) {
	list, err := s.chosen(o, false)
	if err != nil {
		return nil, err
	}
	held, err := s.chosen(o, true)
	if err != nil {
		return nil, err
	}
	list = slices.Concat(list, held)
	figures, err := play(ctx, list, func(c *Scenario) bundle.Bundle { return c.settings.Policies }, nil, o)
	var fault *runFault
	if errors.As(err, &fault) {
		return nil, inputErrorf("suite %s: the baseline fails: %v", s.Name, err)
	}
	if err != nil {
		return nil, err
	}
	for i, c := range list {
		if err := c.checkBaseline(&figures[i]); err != nil {
			return nil, err
		}
	}
	return &Reference{Schema: ReferenceSchema, Scenarios: figures}, nil
}

// checkBaseline refuses a baseline with which nothing compares.
func (c *Scenario) checkBaseline(f *Figures) error {
	for i := range c.Measures {
		w := &c.Measures[i]
		if x := float64(f.Values[w.key()]); w.Weight > 0 && (math.IsInf(x, 0) || math.IsNaN(x)) {
			return inputErrorf("scenario %s: %s of the baseline is %s (%d of %d requests did not complete): want a baseline and traffic with which it has a value, or weight 0",
				c.Name, w.key(), w.text(x), f.Lost, f.Requests)
		}
	}
	return nil
}

// of finds the figures of the baseline in a scenario.
func (r *Reference) of(c *Scenario) (*Figures, error) {
	for i := range r.Scenarios {
		f := &r.Scenarios[i]
		if f.Scenario != c.Name {
			continue
		}
		if f.Key != c.key() || len(f.Seconds) != len(c.Seeds) {
			return nil, inputErrorf("the reference has scenario %s of another suite, or of another version of blis: want it computed again", c.Name)
		}
		return f, nil
	}
	return nil, inputErrorf("the reference has no scenario %s: want it computed with the options of the evaluation", c.Name)
}
