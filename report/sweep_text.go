package report

import (
	"fmt"
	"io"
	"strings"

	"blis/report/plaintext"
	"blis/study"
	"blis/study/pointlog"
)

// SweepTextLimits are what of a view a text shows, unless all is asked for.
var SweepTextLimits = study.ViewLimits{Groups: mostShownGroups, Values: mostEffects}

// mostShownGroups is how many combinations a text has at most, unless all are asked for.
const mostShownGroups = 40

// mostEffects is how many values of an axis a text has at most.
const mostEffects = 20

// Text implements Document.
func (r *Sweep) Text(w io.Writer, s plaintext.Style) error {
	var b strings.Builder
	v := r.SweepView
	b.WriteString(r.summary() + "\n")
	for _, m := range v.Models[min(1, len(v.Models)):] {
		fmt.Fprintf(&b, "warning: rows of %s and of %s: measures of two latency models do not compare\n", v.Models[0], m)
	}
	b.WriteString("\n")
	if len(v.Groups) == 0 && v.Counts[pointlog.Refused]+v.Counts[pointlog.Failed] == 0 {
		b.WriteString("There is no combination to show.\n")
	} else if v.Counts[pointlog.OK] > 0 {
		r.table(&b)
	}
	r.front(&b, s)
	r.effects(&b)
	r.reasons(&b)
	_, err := io.WriteString(w, plaintext.Columns(b.String(), max(s.Width, 80)))
	return err
}

// summary is what the sweep is, in one line.
func (r *Sweep) summary() string {
	v := r.SweepView
	model := ""
	if len(v.Models) == 1 {
		model = "latency model " + v.Models[0] + " (" + v.Error + ")"
	}
	none := func(status pointlog.Status) string {
		if n := v.Counts[status]; n > 0 {
			return counted(n, string(status))
		}
		return ""
	}
	left := ""
	rows := v.Counts[pointlog.OK] + v.Counts[pointlog.Refused] + v.Counts[pointlog.Failed]
	if v.Points > int64(rows) {
		left = plaintext.Grouped(v.Points-int64(rows)) + " not run yet or not shown"
	}
	return r.Name + ": " + joined(counted(v.Counts[pointlog.OK], "points ok"), none(pointlog.Refused), none(pointlog.Failed), left, model)
}

// table has a line for each combination: its values, then the measures.
func (r *Sweep) table(b *strings.Builder) {
	v := r.SweepView
	for _, a := range v.Axes {
		b.WriteString(a + "\t")
	}
	for _, m := range v.Measures {
		b.WriteString(rowLabel(&m) + "\t")
	}
	if len(v.Objectives) > 0 {
		b.WriteString("Pareto")
	}
	b.WriteString("\n")
	shown := 0
	for i := range v.Groups {
		g := &v.Groups[i]
		if g.OK == 0 {
			continue
		}
		if shown == mostShownGroups && !r.All {
			break
		}
		shown++
		for _, c := range g.Coordinates {
			b.WriteString(valueText(c.Value) + "\t")
		}
		for m, e := range g.Estimates {
			b.WriteString(sweepCell(e, v.Measures[m].Kind) + "\t")
		}
		if g.Front {
			b.WriteString("●")
		}
		b.WriteString("\n")
	}
	if v.Repeated {
		fmt.Fprintf(b, "± is half of the %.0f %% confidence interval over replicates.\n", 100*v.Confidence)
	}
	if v.Ended > shown {
		fmt.Fprintf(b, "%s more combinations: --all shows them, --where fewer, --format csv all for other programs.\n", plaintext.Grouped(int64(v.Ended-shown)))
	}
	b.WriteString("\n")
}

// front draws the combinations over the first two objectives.
func (r *Sweep) front(b *strings.Builder, s plaintext.Style) {
	v := r.SweepView
	if len(v.Objectives) < 2 {
		return
	}
	place := func(name string) int {
		for i := range v.Measures {
			if v.Measures[i].Name == name {
				return i
			}
		}
		return -1
	}
	x, y := place(v.Objectives[0].Name), place(v.Objectives[1].Name)
	var dots []plaintext.Dot
	front := 0
	for i := range v.Groups {
		g := &v.Groups[i]
		mx, my := g.Estimates[x].Mean, g.Estimates[y].Mean
		if mx == nil || my == nil {
			continue
		}
		if g.Front {
			front++
		}
		dots = append(dots, plaintext.Dot{X: *inPercent(mx, v.Measures[x].Kind), Y: *inPercent(my, v.Measures[y].Kind), Marked: g.Front})
	}
	if len(dots) == 0 {
		fmt.Fprintf(b, "No combination has both %s and %s: there is nothing to draw.\n\n", v.Objectives[0].Name, v.Objectives[1].Name)
		return
	}
	fmt.Fprintf(b, "Upwards %s (%s is better), to the right %s (%s is better). ● marks the %d combinations that no other beats in %s together.\n",
		rowLabel(&v.Measures[y]), v.Measures[y].Better, rowLabel(&v.Measures[x]), v.Measures[x].Better, front, objectiveNames(v))
	drawScatter(b, s, dots)
	b.WriteString("\n")
}

// drawScatter draws points with the ends of both axes.
func drawScatter(b *strings.Builder, s plaintext.Style, dots []plaintext.Dot) {
	columns := min(max(s.Width, 80)-16, 64)
	lines, xs, ys := plaintext.Scatter(dots, columns, 12)
	text := func(x float64) string { return plaintext.Decimal(&x, plaintext.SignificantDecimals(&x)) }
	for i, line := range lines {
		edge := ""
		switch i {
		case 0:
			edge = text(ys[1])
		case len(lines) - 1:
			edge = text(ys[0])
		}
		fmt.Fprintf(b, "%10s │%s\n", edge, line)
	}
	fmt.Fprintf(b, "%10s └%s\n%12s%s … %s\n", "", strings.Repeat("─", columns), "", text(xs[0]), text(xs[1]))
}

func objectiveNames(v *study.SweepView) string {
	var names []string
	for _, o := range v.Objectives {
		names = append(names, o.Name)
	}
	return strings.Join(names, ", ")
}

// effects has the mean of each measure at each value of each axis.
func (r *Sweep) effects(b *strings.Builder) {
	v := r.SweepView
	varies := 0
	for _, e := range v.Effects {
		if len(e.Values) > 1 {
			varies++
		}
	}
	if varies < 2 {
		return // the table says it
	}
	b.WriteString("Mean over all combinations with a value:\n")
	for _, e := range v.Effects {
		if len(e.Values) < 2 || len(e.Values) > mostEffects && !r.All {
			continue
		}
		b.WriteString(e.Axis)
		for _, m := range v.Measures {
			b.WriteString("\t" + rowLabel(&m))
		}
		b.WriteString("\n")
		for _, value := range e.Values {
			b.WriteString("  " + value.Value)
			for m, mean := range value.Means {
				b.WriteString("\t" + sweepCell(study.SweepEstimate{Mean: mean}, v.Measures[m].Kind))
			}
			b.WriteString("\n")
		}
		b.WriteString(" \n")
	}
}

// reasons says why points have no result.
func (r *Sweep) reasons(b *strings.Builder) {
	const most = 5
	for i, f := range r.Reasons {
		if i == most {
			fmt.Fprintf(b, "and %d more reasons\n", len(r.Reasons)-most)
			return
		}
		fmt.Fprintf(b, "%s without a result, like point %d: %s\n", plaintext.Plural(f.Points, "point"), f.First, f.Reason)
	}
}
