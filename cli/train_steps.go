package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"blis/calibrate"
	"blis/calibrate/measured"
	"blis/latency"
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
	if t.Format == "json" {
		shown := *fit
		shown.Unmoved, shown.Entangled, shown.Negative, shown.Dropped = listed(fit.Unmoved), listed(fit.Entangled), listed(fit.Negative), listed(fit.Dropped)
		return printJSON(c.out, struct {
			Schema string             `json:"schema"`
			Fit    *calibrate.StepFit `json:"fit"`
			Set    string             `json:"coefficient_file"`
		}{"blis.train-steps/v1", &shown, string(set.Format())})
	}
	return writeStepFit(c.out, fit, set, t.Out)
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

// writeStepFit prints a ridge fit for a person.
func writeStepFit(out io.Writer, f *calibrate.StepFit, set *latency.PhysicsSet, file string) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "set        %s: ridge, λ %g, γ %g, %.1f degrees of freedom\n", set.Name, f.Lambda, f.Gamma, f.Freedom)
	fmt.Fprintf(w, "fitted to  %d of %d steps; %d held out, %d at half weight near preemptions\n", f.Rows, f.Steps, f.HeldOut, f.Halved)
	for _, d := range f.Dropped {
		if d.Steps > 0 {
			fmt.Fprintf(w, "left out   %d steps: %s\n", d.Steps, d.Reason)
		}
	}
	if len(f.Unmoved) > 0 {
		fmt.Fprintf(w, "not fitted %s: the same in all steps\n", strings.Join(f.Unmoved, ", "))
	}
	if len(f.Entangled) > 0 {
		fmt.Fprintf(w, "uncertain  %s: the data hardly tell them apart\n", strings.Join(f.Entangled, ", "))
	}
	if len(f.Negative) > 0 {
		fmt.Fprintf(w, "NEGATIVE   %s: no work takes negative time\n", strings.Join(f.Negative, ", "))
	}
	fmt.Fprintln(w)
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "COEFFICIENT\tVALUE\tSTANDARD ERROR")
	for i, v := range f.Beta {
		if v != 0 {
			fmt.Fprintf(columns, "β%d %s\t%.5g\t%.2g\n", i+1, latency.BetaNames[i], v, f.Errors[i])
		}
	}
	columns.Flush()
	fmt.Fprintln(w)
	columns = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(columns, "MAPE (bias)\ttraining\tcross-validated\tlast fifth\tother configurations\t")
	for _, e := range f.Configurations {
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\t%s\t\n", e.Name, deviation(e.Training), deviation(e.CrossValidated), deviation(e.HeldOut), deviation(e.LeftOut))
	}
	columns.Flush()
	fmt.Fprintln(w)
	columns = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(columns, "TOKENS IN A STEP\tsteps\tbias\t")
	for _, b := range f.Residuals {
		if b.Steps > 0 {
			fmt.Fprintf(columns, "%s\t%d\t%+.1f %%\t\n", binName(b), b.Steps, 100*b.Bias)
		}
	}
	columns.Flush()
	for _, x := range f.Targets {
		met := "met"
		if !x.Met {
			met = "MISSED"
		}
		fmt.Fprintf(w, "target     %s: at most %.0f %%, %s: %.1f %% (%s)\n", x.Name, 100*x.Limit, met, 100*x.Worst, x.Of)
	}
	if file == "" {
		fmt.Fprintf(w, "\n%s", set.Format())
	} else {
		fmt.Fprintf(w, "\nwritten to %s; use it with blis run --coefficients %s\n", file, file)
	}
	return w.Flush()
}

func deviation(d calibrate.StepDeviation) string {
	if d.Steps == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %% (%+.1f)", 100*d.MAPE, 100*d.Bias)
}

func binName(b calibrate.StepBin) string {
	switch {
	case b.To == 0:
		return fmt.Sprintf("%d and more", b.From)
	case b.From == b.To:
		return fmt.Sprint(b.From)
	}
	return fmt.Sprintf("%d–%d", b.From, b.To)
}
