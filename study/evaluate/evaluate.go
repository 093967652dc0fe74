package evaluate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"blis/bundle"
)

// Evaluate scores a candidate against the baseline, whose figures are in ref. A candidate that
// is bad or fails is an Answer that is not OK. Errors: *setup.InputError for options or a
// reference that do not fit the suite, or the one of ctx.
func (s *Suite) Evaluate(ctx context.Context, ref *Reference, c Candidate, o Options) (*Answer, error) {
	e, err := s.evaluation(ref, o)
	if err != nil {
		return nil, err
	}
	p, fault := c.read(s, e.list, o.MaxSteps)
	if fault != nil {
		return s.Failed(c, o, *fault), nil
	}
	figures, fault, err := e.play(ctx, p, e.list, e.baseline)
	if err != nil {
		return nil, err
	}
	if fault != nil {
		a := s.Failed(c, o, *fault)
		return a, nil
	}
	a := s.answer(e.list, p.id)
	a.OK = true
	a.Score, a.Result = result(e.list, figures, e.baseline)
	var digests []string
	for i := range figures {
		digests = append(digests, figures[i].Digest)
	}
	a.Outputs.Digest = hash(fmt.Appendf(nil, "%q", digests))[:16]
	if a.Feedback, err = e.feedback(ctx, p, a, figures); err != nil {
		return nil, err
	}
	if o.HeldOut {
		a.HeldOut, err = e.judgeHeldOut(ctx, &c, s)
	}
	return a, err
}

// Failed is the answer for a candidate that failed: its score is exactly 0, and it has every
// metric and objective that it would have otherwise, all finite. The options are those of
// Evaluate, which has checked them.
func (s *Suite) Failed(c Candidate, o Options, f Fault) *Answer {
	list, err := s.chosen(o, false)
	if err != nil {
		list = nil
	}
	id := hash(c.Text)
	if p, fault := c.read(s, list, 0); fault == nil {
		id = p.id
	}
	a := s.answer(list, id)
	a.Result, a.Error = failed(list), &f
	a.Feedback = failureFeedback(&c, &f)
	if held, err := s.chosen(o, true); err == nil && o.HeldOut {
		a.HeldOut = &HeldOut{Result: failed(held), Error: &f}
	}
	return a
}

// answer is an answer without numbers.
func (s *Suite) answer(list []*Scenario, policy string) *Answer {
	a := &Answer{Schema: AnswerSchema, Notes: []string{}, Warnings: s.warnings(list), Outputs: Outputs{Policy: policy, Seeds: seedsOf(list), Version: version()}}
	a.Outputs.Workload = join(list, func(c *Scenario) string { return c.ids.workload })
	a.Outputs.Cluster = join(list, func(c *Scenario) string { return c.ids.cluster })
	if a.Warnings == nil {
		a.Warnings = []string{}
	}
	for i, c := range list {
		switch {
		case c.accuracy == list[0].accuracy && i > 0:
		case slices.ContainsFunc(list, func(o *Scenario) bool { return o.accuracy != list[0].accuracy }):
			a.Notes = append(a.Notes, "scenario "+c.Name+": "+c.accuracy)
		default:
			a.Notes = append(a.Notes, c.accuracy)
		}
	}
	return a
}

// evaluation is what an evaluation compares with.
type evaluation struct {
	options  Options
	list     []*Scenario
	baseline []*Figures
	held     []*Scenario
	heldBase []*Figures
}

func (s *Suite) evaluation(ref *Reference, o Options) (*evaluation, error) {
	e := &evaluation{options: o}
	var err error
	find := func(heldOut bool) (list []*Scenario, figures []*Figures) {
		if err == nil {
			list, err = s.chosen(o, heldOut)
		}
		for _, c := range list {
			f, missing := ref.of(c)
			if err == nil {
				err = missing
			}
			figures = append(figures, f)
		}
		return list, figures
	}
	e.list, e.baseline = find(false)
	e.held, e.heldBase = find(true)
	return e, err
}

// play runs policies. What goes wrong is the fault of the candidate: the baseline ran in the same
// scenarios.
func (e *evaluation) play(ctx context.Context, p *policies, list []*Scenario, baseline []*Figures) ([]Figures, *Fault, error) {
	figures, err := play(ctx, list, func(c *Scenario) bundle.Bundle { return p.with(c) }, baseline, e.options)
	var fault *runFault
	switch {
	case err == nil:
		return figures, nil, nil
	case errors.As(err, &fault):
		return nil, faultOf(err), nil
	}
	return nil, nil, err
}

// judgeHeldOut evaluates a candidate in the held-out scenarios.
func (e *evaluation) judgeHeldOut(ctx context.Context, c *Candidate, s *Suite) (*HeldOut, error) {
	p, fault := c.read(s, e.held, e.options.MaxSteps)
	var figures []Figures
	if fault == nil {
		var err error
		if figures, fault, err = e.play(ctx, p, e.held, e.heldBase); err != nil {
			return nil, err
		}
	}
	if fault != nil {
		return &HeldOut{Result: failed(e.held), Error: fault}, nil
	}
	h := &HeldOut{OK: true}
	h.Score, h.Result = result(e.held, figures, e.heldBase)
	return h, nil
}
