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

// PassTraining is the result of a fit to forward passes.
type PassTraining struct {
	*calibrate.PassFit
	Coefficients *latency.PhysicsSet
	File         string // the coefficient file that was written; "": none, it is in the text
}

// JSON implements Document.
func (f *PassTraining) JSON(w io.Writer) error {
	shown := *f.PassFit
	shown.Usual, shown.Outliers, shown.InSample, shown.HeldOut = listed(f.Usual), listed(f.Outliers), listed(f.InSample), listed(f.HeldOut)
	shown.Range.PrefillSizes = listed(f.Range.PrefillSizes)
	return WriteIndented(w, struct {
		Schema string             `json:"schema"`
		Fit    *calibrate.PassFit `json:"fit"`
		Set    string             `json:"coefficient_file"`
	}{"blis.train-passes/v1", &shown, string(f.Coefficients.Format())})
}

// Text implements Document.
func (f *PassTraining) Text(out io.Writer, _ plaintext.Style) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "set        %s: %s, λ %g\n", f.Coefficients.Name, f.Coefficients.TrainedOn.Method, f.Lambda)
	fmt.Fprintf(w, "fitted to  %d of %d forward passes\n", f.Passes, f.Passes+len(f.Outliers))
	for _, o := range f.Outliers {
		fmt.Fprintf(w, "outlier    %s, line %d: %s: %.1f ms, %.2g times that of passes like it\n", o.Configuration, o.Line, o.Batch, o.Measured, o.Factor)
	}
	f.writeRange(w)
	if len(f.Usual) > 0 {
		fmt.Fprintf(w, "not fitted %s: 0 in all passes, so they have usual values\n", strings.Join(f.Usual, ", "))
	}
	fmt.Fprintln(w)
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "COEFFICIENT\tVALUE\tSTANDARD ERROR")
	for i, v := range f.Beta {
		if v == 0 {
			continue
		}
		spread := "at a bound, or no data"
		if e := f.Errors[i]; e > 0 {
			spread = fmt.Sprintf("%.2g", e)
		}
		fmt.Fprintf(columns, "β%d %s\t%.5g\t%s\n", i+1, latency.BetaNames[i], v, spread)
	}
	columns.Flush()
	writePassErrors(w, "FITTED TO", f.InSample)
	writePassErrors(w, "HELD OUT, BY A FIT TO THE OTHERS", f.HeldOut)
	if f.File == "" {
		fmt.Fprintf(w, "\n%s", f.Coefficients.Format())
	} else {
		fmt.Fprintf(w, "\nwritten to %s; use it with blis run --coefficients %s\n", f.File, f.File)
	}
	return w.Flush()
}

// writeRange says where the passes were: outside nothing is known.
func (f *PassTraining) writeRange(w io.Writer) {
	r := &f.Range
	var sizes []string
	for _, n := range r.PrefillSizes {
		sizes = append(sizes, fmt.Sprint(n))
	}
	switch n := len(sizes); {
	case n > 12:
		fmt.Fprintf(w, "range      prefills alone of %s to %s tokens, %d sizes\n", sizes[0], sizes[n-1], n)
	case n > 0:
		fmt.Fprintf(w, "range      prefills alone of %s tokens\n", strings.Join(sizes, ", "))
	}
	fmt.Fprintf(w, "range      at most %d decoding requests, %d prefill tokens beside them, %d tokens in a pass, contexts of %d\n", r.Decodes, r.MixedPrefill, r.Tokens, r.Context)
}

// writePassErrors is a table of errors by configuration and kind of batch.
func writePassErrors(w io.Writer, title string, list []calibrate.PassErrors) {
	if len(list) == 0 {
		return
	}
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(columns, "\n%s\tpasses\tmedian APE\tp90\tbias\t\n", title)
	for _, e := range list {
		fmt.Fprintf(columns, "%s, %s\t%d\t%.1f %%\t%.1f %%\t%+.1f %%\t\n", e.Configuration, e.Kind, e.Passes, 100*e.Median, 100*e.P90, 100*e.Bias)
	}
	columns.Flush()
}
