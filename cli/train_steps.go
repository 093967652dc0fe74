package cli

import (
	"context"
	"slices"

	"blis/calibrate"
	"blis/latency"
	"blis/report"
)

// runSteps fits to the periods of steps, or to forward passes.
func (t *trainCmd) runSteps(ctx context.Context, c *console) error {
	if len(t.Measured) > 0 || len(t.OTLP) > 0 || len(t.ClosedLoop) > 0 {
		return inputError("--steps: want steps alone, or runs, --otlp and --closed-loop without it: a regression on steps knows nothing of requests")
	}
	if t.Fit.Latency != "physics" || t.Only != "" || t.Fit.Polish > 0 || t.Fit.Own != 0 || !slices.Equal(t.Fit.HoldOut, []string{"workload"}) {
		return inputError("--latency-model, --only, --own, --polish and --hold-out say nothing of --steps: want them without it")
	}
	data, deployments, err := calibrate.ReadStepData(t.Steps, t.overrides(), t.Async)
	if err != nil {
		return inputOf(err)
	}
	passes, err := calibrate.ArePasses(data)
	if err != nil {
		return inputError("--steps: " + err.Error())
	}
	fit := t.fitPeriods
	if passes {
		fit = t.fitPasses
	}
	if err := t.checkSteps(passes); err != nil {
		return err
	}
	file, err := create(ctx, "out", t.Set.Out)
	if err != nil {
		return err
	}
	c.begun.Store(true)
	set, result, err := fit(ctx, c, data, deployments)
	if err == nil {
		err = set.Validate()
	}
	if err != nil {
		file.discard()
		return explainTraining(ctx, err)
	}
	if err := file.save(set.Format()); err != nil {
		return err
	}
	return c.print(result, t.Format)
}

// checkSteps checks the flags that say something of periods or of passes alone.
func (t *trainCmd) checkSteps(passes bool) error {
	switch {
	case passes && t.Signed:
		return inputError("--signed: coefficients of forward passes are fitted within bounds: want it with periods of steps")
	case !passes && t.Fit.Lambda != nil:
		return inputError("--lambda: for periods of steps cross-validation chooses it: want it with runs or forward passes")
	}
	return t.checkLambda()
}

// provenance says of a set what the data do not.
func (t *trainCmd) provenance() calibrate.TrainOptions {
	return calibrate.TrainOptions{Name: t.Set.Name, Data: t.Set.Data, Dates: t.Set.Dates, Notes: t.Set.Notes}
}

// fitPeriods fits to the periods of the steps of deployments.
func (t *trainCmd) fitPeriods(ctx context.Context, _ *console, data []calibrate.StepData, list []*latency.Deployment) (*latency.PhysicsSet, report.Document, error) {
	fit, err := calibrate.FitSteps(ctx, data, calibrate.StepOptions{Signed: t.Signed})
	if err != nil {
		return nil, nil, err
	}
	set := fit.Set(list, t.provenance(), t.Engine, t.Async)
	return set, &report.StepTraining{StepFit: fit, Coefficients: set, File: t.Set.Out}, nil
}

// fitPasses fits to forward passes of deployments.
func (t *trainCmd) fitPasses(ctx context.Context, c *console, data []calibrate.StepData, list []*latency.Deployment) (*latency.PhysicsSet, report.Document, error) {
	progress, bar := c.stages("fits")
	defer bar.done()
	o := calibrate.PassOptions{Progress: progress}
	if t.Fit.Lambda != nil {
		o.Lambda = *t.Fit.Lambda
	}
	fit, err := calibrate.FitPasses(ctx, data, o)
	if err != nil {
		return nil, nil, err
	}
	set := fit.Set(list, t.provenance(), t.Engine, t.Async)
	return set, &report.PassTraining{PassFit: fit, Coefficients: set, File: t.Set.Out}, nil
}
