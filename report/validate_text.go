package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"blis/calibrate"
	"blis/report/plaintext"
)

// Validation is how far latency models are off.
type Validation struct {
	Models   []calibrate.Validation
	Prefills *Prefills    // nil: none were compared
	Loops    *ClosedLoops // nil: none were compared
	LeftOut  []string     // notes of calibrate.Load: runs that are left out and why, and others
}

// JSON implements Document.
func (v *Validation) JSON(w io.Writer) error {
	return WriteIndented(w, newValidationJSON(v))
}

// Text implements Document.
func (v *Validation) Text(out io.Writer, _ plaintext.Style) error {
	w := bufio.NewWriter(out)
	for _, text := range v.LeftOut {
		fmt.Fprintf(w, "left out   %s\n", text)
	}
	for i := range v.Models {
		if m := &v.Models[i]; len(m.Runs) > 0 {
			writeSubject(w, m)
		}
	}
	if len(v.Models) > 1 && len(v.Models[0].Runs) > 0 {
		writeSubjects(w, v.Models)
	}
	if v.Prefills != nil {
		writePrefills(w, v.Prefills)
	}
	if v.Loops != nil {
		v.Loops.writeText(w)
	}
	return w.Flush()
}

// writeSubject is the table of one latency model.
func writeSubject(out io.Writer, v *calibrate.Validation) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\t\tTTFT ms\tpredicted\terror\tp99\tTPOT ms\tpredicted\terror\tp99\tE2E ms\tpredicted\terror\tp99\tKS TTFT\tTPOT\tE2E\t\n", v.Subject)
	var beside []string // what is no row
	for i := range v.Runs {
		r := &v.Runs[i]
		switch {
		case r.Missing != "":
			beside = append(beside, fmt.Sprintf("%s: %s", r.Sample.Run.ID, r.Missing))
		case r.Overloaded:
			beside = append(beside, r.Sample.Run.ID+": overloaded, "+throughput(&r.Throughput))
		default:
			writeComparison(w, r.Sample.Run.ID, "", &r.All)
			if n := r.Measured - r.All.Requests; n > 0 {
				beside = append(beside, fmt.Sprintf("%s: %d of %d measured requests do not complete in the replay and are not compared", r.Sample.Run.ID, n, r.Measured))
			}
			for k := range r.Stages {
				if len(r.Stages) > 1 {
					stage := r.Sample.Run.Stages[k]
					writeComparison(w, "", fmt.Sprintf("%g/s", stage.Rate), &r.Stages[k])
				}
			}
		}
	}
	w.Flush()
	for _, text := range beside {
		fmt.Fprintln(out, text)
	}
	descriptions(out, v)
	for _, r := range v.Rankings {
		if r.Pairs == 0 {
			continue
		}
		fmt.Fprintf(out, "order of %d cells by %s: Spearman %.3f, %d of %d pairs right\n", r.Cells, r.Metric, r.Spearman, r.Ordered, r.Pairs)
	}
	writeSummary(out, v.Summary)
	if doubt := v.Doubt(); doubt != "" {
		fmt.Fprintf(out, "\n%s\n", doubt)
	}
	fmt.Fprintln(out)
}

// writeSummary is the errors over all runs, by metric and statistic.
func writeSummary(out io.Writer, list []calibrate.Summary) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "OVER RUNS\tmedian APE\tMAPE\tworst\tbias\tMAPE by model\tbias by model\t")
	for _, s := range list {
		fmt.Fprintf(w, "%s %s\t%.1f %%\t%.1f %%\t%+.1f %%\t%+.1f %%\t%.1f %%\t%+.1f %%\t\n", strings.ToUpper(string(s.Metric)), s.Statistic,
			100*s.Median, 100*s.Mean, 100*s.WorstError, 100*s.Bias, 100*s.ModelMean, 100*s.ModelBias)
	}
	w.Flush()
}

// throughput says in words how many requests an overloaded server completed per second.
func throughput(t *calibrate.Throughput) string {
	text := fmt.Sprintf("%.2f completed/s, predicted %.2f", t.Measured, t.Predicted)
	if t.Measured > 0 {
		text += fmt.Sprintf(" (%+.1f %%)", 100*t.Error())
	}
	return text
}

// descriptions says which model stood behind which runs, each once.
func descriptions(out io.Writer, v *calibrate.Validation) {
	seen := map[string]bool{}
	for i := range v.Runs {
		if d := v.Runs[i].Description; d != "" && !seen[d] {
			seen[d] = true
			fmt.Fprintf(out, "by %s\n", d)
		}
	}
}

func writeComparison(w io.Writer, name, stage string, c *calibrate.Comparison) {
	fmt.Fprintf(w, "%s\t%s\t", name, stage)
	for _, m := range calibrate.Metrics {
		mean, p99 := scoreOf(c, m, "mean"), scoreOf(c, m, "p99")
		if mean == nil {
			fmt.Fprint(w, "–\t–\t–\t–\t")
			continue
		}
		fmt.Fprintf(w, "%.2f\t%.2f\t%+.1f %%\t%+.1f %%\t", mean.Measured, mean.Predicted, 100*mean.Error(), 100*p99.Error())
	}
	writeDistances(w, c)
}

// writeSubjects sets the latency models side by side.
func writeSubjects(out io.Writer, list []calibrate.Validation) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "MEDIAN (WORST) OF ABSOLUTE ERRORS\truns\tTTFT\tp99\tTPOT\tp99\tE2E\tp99\tbias of E2E\tcold TTFT\t")
	for i := range list {
		v := &list[i]
		if len(v.Summary) == 0 {
			fmt.Fprintf(w, "%s\t0\t\n", v.Subject)
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t", v.Subject, v.Summary[0].Runs)
		for _, m := range calibrate.Metrics {
			for _, statistic := range shownStatistics {
				if s := summaryOf(v.Summary, m, statistic); s != nil {
					fmt.Fprintf(w, "%.1f (%.0f) %%\t", 100*s.Median, 100*s.Worst)
				} else {
					fmt.Fprint(w, "–\t")
				}
			}
		}
		bias, cold := "–", "–"
		if s := summaryOf(v.Summary, calibrate.E2E, "mean"); s != nil {
			bias = fmt.Sprintf("%+.1f %%", 100*s.Bias)
		}
		if e, known := v.ColdTTFT(); known {
			cold = fmt.Sprintf("%.1f %%", 100*e)
		}
		fmt.Fprintf(w, "%s\t%s\t\n", bias, cold)
	}
	w.Flush()
	fmt.Fprintln(out, "means unless p99, without overloaded runs; cold TTFT: of single requests whose prompts were mostly not cached, the median over\nrequests and then over runs")
}

func writePrefills(out io.Writer, t *Prefills) {
	fmt.Fprintf(out, "prefills of %d requests that ran alone, by %s: median of absolute errors %.1f %%\n", len(t.Rows), t.Set, 100*t.Median)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "tokens\tms\tpredicted\terror\t")
	for _, r := range t.Rows {
		fmt.Fprintf(w, "%d\t%.1f\t%.1f\t%+.1f %%\t\n", r.Tokens, r.Measured, r.Predicted, 100*(r.Predicted/r.Measured-1))
	}
	w.Flush()
	if t.Doubt != nil {
		fmt.Fprintln(out, *t.Doubt)
	}
}
