package report

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"blis/calibrate"
	"blis/report/plaintext"
)

// Training is the result of a fit to measured runs.
type Training struct {
	*calibrate.Trained
	LeftOut      []string                 // notes of calibrate.Load: runs that are left out and why, and others
	LoopsLeftOut []calibrate.LeftOutLoops // benchmarks that are not simulated
	File         string                   // the coefficient file that was written; "": none, it is in the text
}

// JSON implements Document.
func (t *Training) JSON(w io.Writer) error {
	return WriteIndented(w, newTrainedJSON(t))
}

// Text implements Document.
func (t *Training) Text(out io.Writer, _ plaintext.Style) error {
	w := bufio.NewWriter(out)
	requests := 0
	for _, s := range t.Samples {
		requests += s.To - s.From
	}
	if t.Set == nil {
		fmt.Fprintf(w, "model      %s\n", t.Family.Name)
	} else {
		s := &t.Set.TrainedOn
		fmt.Fprintf(w, "set        %s: %s on %s at %s, %s\n", t.Set.Name, strings.Join(s.Models, ", "), strings.Join(s.GPUs, ", "), rangeOf("TP", s.TPMin, s.TPMax), s.Engine)
	}
	fmt.Fprintf(w, "fitted to  %d requests of %d runs", requests, len(t.InSample))
	if t.Prefills > 0 {
		fmt.Fprintf(w, ", %d prefills of requests that ran alone", t.Prefills)
	}
	if len(t.Loops) > 0 {
		fmt.Fprintf(w, ", %d closed loops", t.Loops[0].All.Points)
	}
	settled := "predicted times stand still"
	if !t.Fit.Converged {
		settled = fmt.Sprintf("predicted times still move by %.2g %%", 100*t.Fit.Change)
	}
	fmt.Fprintf(w, "; %d replays of each, %s\n", t.Fit.Replays, settled)
	for _, id := range t.Overloaded {
		fmt.Fprintf(w, "left out   %s: requests failed, so latencies say how patient clients were\n", id)
	}
	for _, text := range t.LeftOut {
		fmt.Fprintf(w, "left out   %s\n", text)
	}
	if t.Set != nil {
		fmt.Fprintln(w)
		writeCoefficients(w, t.Trained)
	}
	writeErrors(w, "IN SAMPLE", t.InSample)
	for _, h := range t.HeldOut {
		writeErrors(w, strings.ToUpper(h.By.Label()), h.Evaluations)
		for _, name := range h.Skipped {
			fmt.Fprintf(w, "%s has no test: no other data to fit to\n", name)
		}
	}
	if len(t.Loops) > 0 {
		fmt.Fprintln(w)
		t.closedLoops().writeText(w)
	}
	switch {
	case t.Set == nil:
		m := calibrate.BlackboxOf(&t.Fit.Coefficients)
		fmt.Fprintf(w, "\nuse it with blis run --alpha-coeffs %s --beta-coeffs %s\n", flagOf(m.Alpha[:]), flagOf(m.Beta[:]))
	case t.File == "":
		fmt.Fprintf(w, "\n%s", t.Set.Format())
	default:
		fmt.Fprintf(w, "\nwritten to %s; use it with blis run --coefficients %s\n", t.File, t.File)
	}
	return w.Flush()
}

// closedLoops are the errors on closed loops, nil if none were fitted to.
func (t *Training) closedLoops() *ClosedLoops {
	if len(t.Loops) == 0 {
		return nil
	}
	return &ClosedLoops{t.Loops, t.LoopsLeftOut}
}

// flagOf is numbers as a flag takes them, to the bit.
func flagOf(list []float64) string {
	var parts []string
	for _, v := range list {
		parts = append(parts, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return strings.Join(parts, ",")
}

func rangeOf(what string, low, high int) string {
	if low == high {
		return fmt.Sprintf("%s %d", what, low)
	}
	return fmt.Sprintf("%s %d to %d", what, low, high)
}

// writeCoefficients lists those that are not 0.
func writeCoefficients(out io.Writer, t *calibrate.Trained) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "COEFFICIENT\tVALUE\tSTANDARD ERROR")
	values := append(append([]float64{}, t.Fit.Beta[:]...), t.Fit.Alpha[:]...)
	for i, name := range termNames() {
		if values[i] == 0 {
			continue
		}
		spread := "at a bound, or no data"
		if e := t.Fit.Spread.Errors[i]; e > 0 {
			spread = fmt.Sprintf("%.2g", e)
		}
		fmt.Fprintf(w, "%s\t%.5g\t%s\n", name, values[i], spread)
	}
	w.Flush()
}

// writeErrors is a table of one row per run, and the medians.
func writeErrors(out io.Writer, title string, list []calibrate.Evaluation) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\tTTFT\tp99\tTPOT\tp99\tE2E\tp99\tKS TTFT\tTPOT\tE2E\t\n", title)
	for i := range list {
		writeErrorRow(w, list[i].Sample.Run.ID, &list[i].Comparison)
	}
	writeMedians(w, calibrate.Summarise(list))
	w.Flush()
}

func writeErrorRow(w io.Writer, name string, c *calibrate.Comparison) {
	fmt.Fprintf(w, "%s\t", name)
	for _, m := range calibrate.Metrics {
		for _, statistic := range shownStatistics {
			if s := scoreOf(c, m, statistic); s != nil {
				fmt.Fprintf(w, "%+.1f %%\t", 100*s.Error())
			} else {
				fmt.Fprint(w, "–\t")
			}
		}
	}
	writeDistances(w, c)
}

// shownStatistics are those that tables have of each metric.
var shownStatistics = []string{"mean", "p99"}

// scoreOf is one statistic of one metric, nil where there is none: no request
// completed, or none had a second token.
func scoreOf(c *calibrate.Comparison, m calibrate.Metric, statistic string) *calibrate.Score {
	for i := range c.Scores {
		if s := &c.Scores[i]; s.Metric == m && s.Statistic == statistic {
			return s
		}
	}
	return nil
}

// summaryOf is the summary of one statistic of one metric, nil where there is
// none.
func summaryOf(list []calibrate.Summary, m calibrate.Metric, statistic string) *calibrate.Summary {
	for i := range list {
		if s := &list[i]; s.Metric == m && s.Statistic == statistic {
			return s
		}
	}
	return nil
}

// writeDistances ends a row.
func writeDistances(w io.Writer, c *calibrate.Comparison) {
	for _, m := range calibrate.Metrics {
		if d, there := c.KS[m]; there {
			fmt.Fprintf(w, "%.3f\t", d)
		} else {
			fmt.Fprint(w, "–\t")
		}
	}
	fmt.Fprintln(w)
}

func writeMedians(w io.Writer, list []calibrate.Summary) {
	fmt.Fprint(w, "median of absolute errors\t")
	for _, m := range calibrate.Metrics {
		for _, statistic := range shownStatistics {
			if s := summaryOf(list, m, statistic); s != nil {
				fmt.Fprintf(w, "%.1f %%\t", 100*s.Median)
			} else {
				fmt.Fprint(w, "–\t")
			}
		}
	}
	fmt.Fprintln(w, "\t\t\t")
}
