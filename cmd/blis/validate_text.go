package main

import (
	"bufio"
	"fmt"
	"io"
	"text/tabwriter"

	"blis/calibrate"
)

// writeValidation prints how far latency models are off, for a person.
func writeValidation(out io.Writer, list []calibrate.Validation, prefills *prefillTable, skipped []string) error {
	w := bufio.NewWriter(out)
	for _, text := range skipped {
		fmt.Fprintf(w, "left out   %s\n", text)
	}
	for i := range list {
		if v := &list[i]; len(v.Runs) > 0 {
			writeSubject(w, v)
		}
	}
	if len(list) > 1 && len(list[0].Runs) > 0 {
		writeSubjects(w, list)
	}
	if prefills != nil {
		writePrefills(w, prefills)
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
			t := &r.Throughput
			beside = append(beside, fmt.Sprintf("%s: overloaded, %.2f completed/s, predicted %.2f (%+.1f %%)", r.Sample.Run.ID, t.Measured, t.Predicted, 100*t.Error()))
		default:
			writeComparison(w, r.Sample.Run.ID, "", &r.All)
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
		fmt.Fprintf(out, "order of %d cells by %s: Spearman %.3f, %d of %d pairs right\n", r.Cells, r.Metric, r.Spearman, r.Ordered, r.Pairs)
	}
	fmt.Fprintln(out)
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
		for _, s := range c.Scores {
			switch {
			case s.Metric == m && s.Statistic == "mean":
				fmt.Fprintf(w, "%.2f\t%.2f\t%+.1f %%\t", s.Measured, s.Predicted, 100*s.Error())
			case s.Metric == m && s.Statistic == "p99":
				fmt.Fprintf(w, "%+.1f %%\t", 100*s.Error())
			}
		}
	}
	for _, m := range calibrate.Metrics {
		fmt.Fprintf(w, "%.3f\t", c.KS[m])
	}
	fmt.Fprintln(w)
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
		bias, cold := 0.0, 0.0
		for _, s := range v.Summary {
			if s.Statistic == "mean" || s.Statistic == "p99" {
				fmt.Fprintf(w, "%.1f (%.0f) %%\t", 100*s.Median, 100*s.Worst)
			}
			if s.Metric == calibrate.E2E && s.Statistic == "mean" {
				bias = s.Bias
			}
		}
		for _, s := range v.Cold {
			if s.Metric == calibrate.TTFT && s.Statistic == "p50" {
				cold = s.Median
			}
		}
		fmt.Fprintf(w, "%+.1f %%\t%.1f %%\t\n", 100*bias, 100*cold)
	}
	w.Flush()
	fmt.Fprintln(out, "means unless p99; cold: the median request of those whose prompts were mostly not cached; overloaded runs are not in it")
}

func writePrefills(out io.Writer, t *prefillTable) {
	fmt.Fprintf(out, "prefills of %d requests that ran alone, by %s: median of absolute errors %.1f %%\n", len(t.Rows), t.Set, 100*t.Median)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "tokens\tms\tpredicted\terror\t")
	for _, r := range t.Rows {
		fmt.Fprintf(w, "%d\t%.1f\t%.1f\t%+.1f %%\t\n", r.Tokens, r.Measured, r.Predicted, 100*(r.Predicted/r.Measured-1))
	}
	w.Flush()
}
