package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"blis/calibrate"
	"blis/latency"
	"blis/report/plaintext"
)

// StepTraining is the result of a ridge regression on the periods of steps.
type StepTraining struct {
	*calibrate.StepFit
	Coefficients *latency.PhysicsSet
	File         string // the coefficient file that was written; "": none, it is in the text
}

// JSON implements Document.
func (f *StepTraining) JSON(w io.Writer) error {
	shown := *f.StepFit
	shown.Unmoved, shown.Entangled, shown.Negative, shown.Dropped = listed(f.Unmoved), listed(f.Entangled), listed(f.Negative), listed(f.Dropped)
	return WriteIndented(w, struct {
		Schema string             `json:"schema"`
		Fit    *calibrate.StepFit `json:"fit"`
		Set    string             `json:"coefficient_file"`
	}{"blis.train-steps/v1", &shown, string(f.Coefficients.Format())})
}

// Text implements Document.
func (f *StepTraining) Text(out io.Writer, _ plaintext.Style) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "set        %s: ridge, λ %g, γ %g, %.1f degrees of freedom\n", f.Coefficients.Name, f.Lambda, f.Gamma, f.Freedom)
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
	if f.File == "" {
		fmt.Fprintf(w, "\n%s", f.Coefficients.Format())
	} else {
		fmt.Fprintf(w, "\nwritten to %s; use it with blis run --coefficients %s\n", f.File, f.File)
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
