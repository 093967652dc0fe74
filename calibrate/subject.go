package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"blis/latency"
)

// NewSubject is a latency model by its name on the command line: auto, physics,
// roofline or blackbox. set is the coefficients of physics; nil: the shipped
// set that covers the server best.
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
				return NewSubject("roofline", nil).For(s)
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

// ChoosePhysics is the shipped set with the lowest stated error that covers a
// server, whether or not roofline states a lower one; nil if none does.
func ChoosePhysics(d *latency.Deployment, e latency.EngineLimits) *latency.PhysicsSet {
	best, next := latency.Choose(d, e)
	if best.Set == nil && next != nil {
		return next.Set
	}
	return best.Set
}

// MedianError is the median of the absolute relative errors of prefills.
func MedianError(list []Prefill, c *Coefficients) float64 {
	var errors []float64
	for i := range list {
		errors = append(errors, math.Abs(list[i].Predicted(c)/list[i].Measured-1))
	}
	slices.Sort(errors)
	return percentile(errors, 50)
}
