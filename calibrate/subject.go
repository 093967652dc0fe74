package calibrate

import (
	"fmt"
	"slices"
	"strings"

	"blis/latency"
	"blis/setup"
)

// NewSubjects returns the latency models of the names, each once. A set without a model
// that reads it is an error, and so is no name; errors are *setup.InputError.
func NewSubjects(names []string, set *latency.PhysicsSet) ([]Subject, error) {
	bad := func(format string, args ...any) error { return &setup.InputError{Text: fmt.Sprintf(format, args...)} }
	var list []Subject
	known := []string{"auto", "physics", "roofline", "blackbox"}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, bad("--latency-model is %q: want some of %s", name, strings.Join(known, ", "))
		}
		if !slices.ContainsFunc(list, func(s Subject) bool { return s.Name == name }) {
			list = append(list, NewSubject(name, set))
		}
	}
	if len(list) == 0 {
		return nil, bad("--latency-model is empty: want some of %s", strings.Join(known, ", "))
	}
	if set != nil && !slices.ContainsFunc(list, func(s Subject) bool { return s.Name == "auto" || s.Name == "physics" }) {
		return nil, bad("--coefficients: want auto or physics among --latency-model: the others have none")
	}
	return list, nil
}

// NewSubject returns the latency model with this name on the command line: auto,
// physics, roofline or blackbox. set holds the coefficients of physics; nil: the
// shipped set that covers the server best.
func NewSubject(name string, set *latency.PhysicsSet) Subject {
	return Subject{name, func(s *Server) (*ChosenModel, error) {
		switch name {
		case "blackbox":
			fit, err := latency.FindFitFor(s.Deployment)
			if err != nil {
				return nil, fmt.Errorf("no published coefficients of %s", s.Deployment)
			}
			return &ChosenModel{fit.Blackbox, nil, fit.String()}, nil
		case "roofline":
			m, err := latency.NewRoofline(s.Deployment, latency.DefaultRoofline(s.Deployment.GPU))
			if err != nil {
				return nil, err
			}
			return &ChosenModel{m, nil, "roofline"}, nil
		}
		chosen := set
		if best, _ := latency.Choose(s.Deployment, s.Limits); chosen == nil && name == "auto" {
			if chosen = best.Set; chosen == nil {
				return NewSubject("roofline", nil).ModelFor(s)
			}
		}
		if chosen == nil {
			chosen = ChoosePhysics(s.Deployment, s.Limits)
		}
		if chosen == nil {
			return nil, fmt.Errorf("no shipped coefficients cover %s", s.Deployment)
		}
		f, err := latency.NewFeatures(s.Deployment, s.Limits)
		if err != nil {
			return nil, err
		}
		m, err := chosen.Model(f)
		if err != nil {
			return nil, err
		}
		description := "physics " + chosen.Name
		if reasons := chosen.Coverage(s.Deployment, s.Limits, s.async(chosen)); len(reasons) > 0 {
			description += " (" + strings.Join(reasons, "; ") + ")"
		}
		return &ChosenModel{m, chosen, description}, nil
	}}
}

// ChoosePhysics returns the shipped set with the lowest expected error that covers a
// server, even if roofline has a lower one; nil if none covers it.
func ChoosePhysics(d *latency.Deployment, e latency.EngineLimits) *latency.PhysicsSet {
	best, next := latency.Choose(d, e)
	if best.Set == nil && next != nil {
		return next.Set
	}
	return best.Set
}
