package bench

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteJSON writes the report as indented JSON.
func (r *Report) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// WriteText writes the report as tables.
func (r *Report) WriteText(w io.Writer) error {
	var b bytes.Buffer
	r.writeTimes(&b)
	r.writeGrowth(&b)
	r.writeComparison(&b)
	_, err := w.Write(b.Bytes())
	return err
}

func (r *Report) writeTimes(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s, %d cores, %s. Whole process, medians; a budget counts times the calibration,\n"+
		"wall against wall and user + system against CPU time (reference %.1f ns).\n\n",
		orElse(r.Machine.Model, r.Machine.Arch), r.Machine.CPUs, r.Machine.Go, r.ReferenceNS)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "scenario\tcores\twall\tmin – max\tuser\tsystem\tpeak\tallocs/request\tcalibration\tbudget\tmet\tspeed-up\tefficiency\tdigest\t")
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		for j := range s.Cores {
			fmt.Fprintln(t, s.row(j))
		}
	}
	t.Flush()
	for _, s := range r.Scenarios {
		fmt.Fprintf(b, "%s: %s\n", s.Name, s.Title)
	}
}

// row is one line of the table of times.
func (s *ScenarioTimes) row(core int) string {
	c := &s.Cores[core]
	allocations, calibration := "", ""
	if core == 0 {
		calibration = fmt.Sprintf("×%.2f ×%.2f", s.WallScale, s.CPUScale)
		if s.AllocationsPerRequest != nil {
			allocations = fmt.Sprintf("%.4f", *s.AllocationsPerRequest)
		}
	}
	budget, met, peak := "", "", ""
	if c.Met != nil {
		budget, met = milliseconds(s.BudgetS), answer(*c.Met)+" "+answer(*c.MetCPU)
	}
	if c.PeakBytes > 0 {
		peak = fmt.Sprintf("%.0f MiB", float64(c.PeakBytes)/(1<<20))
	}
	return fmt.Sprintf("%s\t%d\t%s\t%s – %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.2f\t%.2f\t%s\t", s.Name, c.CPUs, milliseconds(c.WallS),
		milliseconds(c.WallMinS), milliseconds(c.WallMaxS), milliseconds(c.UserS), milliseconds(c.SystemS),
		peak, allocations, calibration, budget, met, c.Speedup, c.Efficiency, c.Digest)
}

func (r *Report) writeGrowth(b *bytes.Buffer) {
	if len(r.Growth) == 0 {
		return
	}
	fmt.Fprint(b, "\nGrowth of user CPU time:\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, g := range r.Growth {
		fmt.Fprintf(t, "%s\tagainst\t%s\t×%.2f\tat most\t×%g\t%s\t\n", g.Name, g.Against, g.Factor, g.AtMost, answer(g.Met))
	}
	t.Flush()
}

func (r *Report) writeComparison(b *bytes.Buffer) {
	if len(r.Comparison) == 0 {
		return
	}
	fmt.Fprint(b, "\nBefore and now (CPU time on one core, wall time on several):\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, c := range r.Comparison {
		note := ""
		if !c.SameDigest {
			note = "another digest"
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t→\t%s\t%+.1f %%\t%s\t\n", c.Name, c.CPUs, milliseconds(c.BeforeS), milliseconds(c.NowS), 100*(c.Factor-1), note)
	}
	t.Flush()
}

// milliseconds writes seconds in the unit in which budgets are thought of.
func milliseconds(s float64) string {
	if s >= 10 {
		return fmt.Sprintf("%.2f s", s)
	}
	return fmt.Sprintf("%.1f ms", 1e3*s)
}

func answer(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func orElse(text, other string) string {
	if text != "" {
		return text
	}
	return other
}
