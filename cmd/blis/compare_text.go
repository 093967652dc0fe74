package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"blis/metrics"
	"blis/study"
)

// comparisonWriter writes the text of a comparison.
type comparisonWriter struct {
	textWriter
	result *study.Result
	rows   []int // of result.Measures
}

// writeComparisonText prints a comparison for a person: what ran, a table of
// measures, verdicts in words, ranks. Rows that were not asked for are left out
// where they say nothing.
func writeComparisonText(w io.Writer, r *study.Result, rows []study.Measure, asked bool, s style) error {
	var b strings.Builder
	t := &comparisonWriter{textWriter: newTextWriter(&b, s), result: r}
	for _, row := range rows {
		i := slices.IndexFunc(r.Measures, func(m study.Measure) bool { return m.Name == row.Name })
		if asked || t.tells(i) {
			t.rows = append(t.rows, i)
		}
	}
	t.what()
	t.tables()
	t.verdicts()
	for _, note := range r.Notes {
		t.line("note", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tells reports whether a row has anything to say: some value, and for what
// instances cost in time an autoscaler.
func (t *comparisonWriter) tells(row int) bool {
	measured, scales := false, false
	for i := range t.result.Bundles {
		b := &t.result.Bundles[i]
		measured = measured || b.Estimates[row].Missing < len(t.result.Replicates)
		scales = scales || b.Config.Policies.Autoscale.Type != "none"
	}
	return measured && (scales || t.result.Measures[row].Name != "replica_hours")
}

func (t *comparisonWriter) what() {
	r := t.result
	if r.Partial {
		t.line("PARTIAL", fmt.Sprintf("interrupted: what follows is of %d of %d seeds", len(r.Replicates), r.Planned))
	}
	base := &r.Bundles[0]
	t.cluster(&base.Setup, &base.Config)
	t.line("workload", base.Setup.Workload)
	for _, note := range base.Setup.Notes {
		t.line("note", note)
	}
	if n := len(r.Replicates); n > 0 {
		first, last := r.Replicates[0], r.Replicates[n-1]
		text, runs := fromTo(first.Seed, last.Seed), "one run"
		if first.Seed != first.Workload {
			text += ", of the workload " + fromTo(first.Workload, last.Workload)
		}
		if n > 1 {
			runs = fmt.Sprintf("%d runs", n)
		}
		t.line("seeds", text+": "+runs+" of each bundle, with the same requests for all")
	}
	label := "bundles"
	for i := range r.Bundles {
		b := &r.Bundles[i]
		t.line(label, b.Name+": "+b.Setup.Policies)
		label = ""
		for _, note := range b.Setup.Notes {
			if !slices.Contains(base.Setup.Notes, note) {
				t.line("", "("+note+")")
			}
		}
	}
	t.gap()
}

// fromTo words a range of seeds.
func fromTo(first, last uint64) string {
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d to %d", first, last)
}

// tables prints as many bundles side by side as fit, the baseline in front.
func (t *comparisonWriter) tables() {
	if len(t.result.Replicates) == 0 || len(t.rows) == 0 {
		return
	}
	labels := column{head: [2]string{"", "mean ± " + percentOf(t.result.Confidence)}}
	for _, m := range t.rows {
		labels.cells = append(labels.cells, rowLabel(&t.result.Measures[m]))
	}
	fixed := []column{labels, t.column(0)}
	for rest := 1; rest < len(t.result.Bundles); {
		columns := slices.Clone(fixed)
		for ; rest < len(t.result.Bundles); rest++ {
			c := t.column(rest)
			if len(columns) > len(fixed) && width(columns)+c.width()-columnGap > t.textWriter.width {
				break
			}
			columns = append(columns, c)
		}
		t.table(columns)
		t.gap()
	}
	r := t.result
	t.line("marks", fmt.Sprintf("better or worse than %s: by differences seed by seed, at %s confidence and by at least %s; ~ no significant difference; = equal%s",
		r.Bundles[0].Name, percentOf(r.Confidence), percentOf(r.Margin), t.missing()))
	t.gap()
}

// missing explains how what is not known prints.
func (t *comparisonWriter) missing() string {
	n := len(t.result.Replicates)
	if n == 1 {
		return "; ? undecided with one seed"
	}
	for i := range t.result.Bundles {
		for _, m := range t.rows {
			if k := t.result.Bundles[i].Estimates[m].Missing; k > 0 {
				return fmt.Sprintf("; – in %d/%d: not measured in %d of %d runs", k, n, k, n)
			}
		}
	}
	return ""
}

// percentOf prints a share that somebody chose.
func percentOf(share float64) string { return fmt.Sprintf("%.10g %%", 100*share) }

func rowLabel(m *study.Measure) string {
	switch m.Kind {
	case metrics.Share:
		return m.Name + ", %"
	case metrics.Latency:
		return m.Name + ", ms"
	case metrics.PerSecond:
		return m.Name + ", /s"
	}
	return m.Name
}

// column is one of the table: a head of two lines, a cell per row.
type column struct {
	head  [2]string
	cells []string
}

// texts are head and cells.
func (c *column) texts() []string { return slices.Concat(c.head[:], c.cells) }

// width is that of its widest text and of the gap behind it.
func (c *column) width() int {
	w := 0
	for _, text := range c.texts() {
		w = max(w, utf8.RuneCountInString(text))
	}
	return w + columnGap
}

// columnGap is the number of blanks between columns.
const columnGap = 3

func width(columns []column) int {
	sum := 0
	for i := range columns {
		sum += columns[i].width()
	}
	return sum
}

// table prints columns.
func (t *comparisonWriter) table(columns []column) {
	for row := range len(t.rows) + len(column{}.head) {
		line := ""
		for i := range columns {
			c := &columns[i]
			text := c.texts()[row]
			line += text + strings.Repeat(" ", c.width()-utf8.RuneCountInString(text))
		}
		io.WriteString(t.w, t.coloured(strings.TrimRight(line, " "))+"\n")
	}
}

// coloured gives the verdicts of a line their colours.
func (t *comparisonWriter) coloured(line string) string {
	if !t.colour {
		return line
	}
	return strings.NewReplacer(" better", " \x1b[32mbetter\x1b[0m", " worse", " \x1b[31mworse\x1b[0m").Replace(line)
}

// column is that of a bundle: mean ± half-width, and against the baseline the
// relative difference and a mark. What stands between is padded so that the
// parts stand below each other.
func (t *comparisonWriter) column(bundle int) column {
	b := &t.result.Bundles[bundle]
	parts := make([][4]string, len(t.rows))
	var widest [4]int
	for i, m := range t.rows {
		parts[i] = cellOf(&b.Estimates[m], &t.result.Measures[m])
		for k, text := range parts[i] {
			widest[k] = max(widest[k], utf8.RuneCountInString(text))
		}
	}
	c := column{head: [2]string{b.Name, ""}}
	if bundle == 0 {
		c.head[1] = "baseline"
	}
	for _, p := range parts {
		text := padded(p[0], widest[0]) + " " + padded(p[1], widest[1])
		if bundle > 0 {
			text += "  " + padded(p[2], widest[2]) + " " + p[3] + strings.Repeat(" ", widest[3]-utf8.RuneCountInString(p[3]))
		}
		c.cells = append(c.cells, text)
	}
	return c
}

// padded is text flush right.
func padded(text string, width int) string {
	return strings.Repeat(" ", width-utf8.RuneCountInString(text)) + text
}

// cellOf is mean, half-width, difference and mark.
func cellOf(e *study.Estimate, m *study.Measure) (parts [4]string) {
	mean, half := shown(e.Mean, m.Kind), shown(e.HalfWidth, m.Kind)
	decimals := decimalsFor(mean)
	parts[0] = decimal(mean, decimals)
	if half != nil {
		parts[1] = "± " + decimal(half, decimals)
	}
	if e.Missing > 0 {
		parts[1] = fmt.Sprintf("in %d/%d", e.Missing, len(e.Values))
	}
	if d := e.Difference; d != nil {
		parts[2] = differenceText(d, m.Kind)
	}
	parts[3] = markOf(e)
	return parts
}

// shown is a value as the text has it: shares in percent, latencies in ms.
func shown(x *float64, kind metrics.MeasureKind) *float64 {
	if x == nil || kind != metrics.Share {
		return scaled(x, kind)
	}
	share := 100 * *x
	return &share
}

// decimalsFor keeps three digits of a number, at most six of them decimals.
func decimalsFor(x *float64) int {
	if x == nil || *x == 0 {
		return 0
	}
	size, decimals := math.Abs(*x), 2
	for ; size >= 10 && decimals > 0; size /= 10 {
		decimals--
	}
	for ; size < 1 && decimals < 6; size *= 10 {
		decimals++
	}
	return decimals
}

// differenceText is relative, and absolute to a baseline of 0.
func differenceText(d *study.Difference, kind metrics.MeasureKind) string {
	if d.Relative != nil {
		percent, decimals := 100**d.Relative, 1
		if math.Abs(percent) >= 10 {
			decimals = 0
		}
		return signed(percent, decimals) + " %"
	}
	if d.Mean == 0 {
		return ""
	}
	x := shown(&d.Mean, kind)
	return signed(*x, decimalsFor(x))
}

// signed prints a number with its sign; what rounds to 0 has none.
func signed(x float64, decimals int) string {
	abs := math.Abs(x)
	text := decimal(&abs, decimals)
	switch {
	case strings.Trim(text, "0.") == "":
		return text
	case x < 0:
		return "−" + text
	}
	return "+" + text
}

func markOf(e *study.Estimate) string {
	switch e.Verdict {
	case study.NoDifference:
		if d := e.Difference; d.Mean == 0 && *d.HalfWidth == 0 {
			return "="
		}
		return "~"
	case study.Undecided:
		return "?"
	case study.NotMeasured, study.Baseline:
		return ""
	}
	return string(e.Verdict)
}
