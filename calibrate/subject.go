package calibrate

import (
	"fmt"
	"strings"

	"blis/latency"
)

// NewSubject returns the latency model with this name on the command line: auto,
// physics, roofline or blackbox. set holds the coefficients of physics; nil: the
// shipped set that covers the server best.
func NewSubject(name string, set *latency.PhysicsSet) Subject {
	return Subject{name, func(s *Server) (latency.Model, string, error) {
		switch name {
		case "blackbox":
			fit, err := latency.FindFitFor(s.Deployment)
			if err != nil {
				return nil, "", fmt.Errorf("no published coefficients of %s", s.Deployment)
			}
			return fit.Blackbox, fit.String(), nil
		case "roofline":
			m, err := latency.NewRoofline(s.Deployment, latency.DefaultRoofline())
			return m, "roofline", err
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
			return nil, "", fmt.Errorf("no shipped coefficients cover %s", s.Deployment)
		}
		f, err := latency.NewFeatures(s.Deployment, s.Limits)
		if err != nil {
			return nil, "", err
		}
		m, err := chosen.Model(f)
		if err != nil {
			return nil, "", err
		}
		description := "physics " + chosen.Name
		if reasons := chosen.Coverage(s.Deployment, s.Limits, *s.Config.AsyncScheduling); len(reasons) > 0 {
			description += " (" + strings.Join(reasons, "; ") + ")"
		}
		return m, description, nil
	}}
}

// ChoosePhysics returns the shipped set with the lowest stated error that covers a
// server, even if roofline has a lower one; nil if none covers it.
func ChoosePhysics(d *latency.Deployment, e latency.EngineLimits) *latency.PhysicsSet {
	best, next := latency.Choose(d, e)
	if best.Set == nil && next != nil {
		return next.Set
	}
	return best.Set
}
