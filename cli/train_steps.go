package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"blis/calibrate"
	"blis/calibrate/measured"
	"blis/latency"
	"blis/report"
)

// runSteps fits to the periods of steps.
func (t *trainCmd) runSteps(ctx context.Context, c *console) error {
	if len(t.Measured) > 0 || len(t.OTLP) > 0 {
		return &inputError{"--steps: want steps alone, or runs and --otlp without it: a ridge on steps knows nothing of requests"}
	}
	if t.Latency != "physics" || t.Only != "" || t.Polish > 0 || !slices.Equal(t.HoldOut, []string{"workload"}) {
		return &inputError{"--latency-model, --only, --polish and --hold-out say nothing of --steps: want them without it"}
	}
	var data []calibrate.StepData
	var sets []*latency.Deployment
	for _, file := range t.Steps {
		steps, err := readSteps(file)
		if err != nil {
			return inputOf(err)
		}
		for _, g := range calibrate.GroupSteps(steps) {
			d, limits, err := t.deployment(g.Model, g.TP)
			if err != nil {
				return err
			}
			f, err := latency.NewFeatures(d, limits)
			if err != nil {
				return &inputError{err.Error()}
			}
			name := g.Name()
			if name == "" || len(t.Steps) > 1 {
				name = strings.TrimSuffix(file+", "+name, ", ")
			}
			data = append(data, calibrate.StepData{Name: name, Features: f, Async: t.Async, ChunkedPrefill: true, Steps: g.Steps})
			sets = append(sets, d)
		}
	}
	file, err := create(ctx, "out", t.Out)
	if err != nil {
		return err
	}
	c.begun.Store(true)
	fit, set, err := t.fitSteps(ctx, data, sets)
	if err != nil {
		file.discard()
		return explainTraining(ctx, err)
	}
	if err := file.save(set.Format()); err != nil {
		return err
	}
	return c.print(&report.StepTraining{StepFit: fit, Coefficients: set, File: t.Out}, t.Format)
}

// fitSteps fits to the steps of deployments and makes a coefficient file of it.
func (t *trainCmd) fitSteps(ctx context.Context, data []calibrate.StepData, list []*latency.Deployment) (*calibrate.StepFit, *latency.PhysicsSet, error) {
	fit, err := calibrate.FitSteps(ctx, data, calibrate.StepOptions{Signed: t.Signed})
	if err != nil {
		return nil, nil, err
	}
	set := fit.Set(list, calibrate.TrainOptions{Name: t.Name, Data: t.Data, Dates: t.Dates, Notes: t.Notes}, t.Engine, t.Async)
	return fit, set, set.Validate()
}

// readSteps reads steps from CSV or, by its name, from OTLP-JSON.
func readSteps(file string) ([]measured.Step, error) {
	name := strings.TrimSuffix(file, ".gz")
	if !strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, ".jsonl") {
		return measured.ReadSteps(file)
	}
	trace, err := measured.ReadOTLP(file)
	if err != nil {
		return nil, err
	}
	if len(trace.Steps) == 0 {
		return nil, fmt.Errorf("%s: a trace without steps: want events step.BATCH_SUMMARY", file)
	}
	return trace.Steps, nil
}
