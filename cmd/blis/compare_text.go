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
func writeComparisonText(w io.Writer, r *study.Result, rows []study.Measure, asked, colour bool) error {
	var b strings.Builder
	t := &comparisonWriter{textWriter: textWriter{&b, colour}, result: r}
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
		text := fmt.Sprintf("%d to %d", first.Seed, last.Seed)
		if first.Seed != first.Workload {
			text += fmt.Sprintf(", of the workload %d to %d", first.Workload, last.Workload)
		}
		t.line("seeds", fmt.Sprintf("%s: %d runs of each bundle, with the same requests for all", text, n))
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
			if len(columns) > len(fixed) && width(columns)+c.width()-columnGap > textWidth {
				break
			}
			columns = append(columns, c)
		}
		t.table(columns)
		t.gap()
	}
	r := t.result
	t.line("marks", fmt.Sprintf("better or worse than %s: by differences seed by seed, at %s confidence and by at least %s; ~ no significant difference; = equal",
		r.Bundles[0].Name, percentOf(r.Confidence), percentOf(r.Margin)))
	t.gap()
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
		parts[1] = fmt.Sprintf("missing in %d of %d", e.Missing, len(e.Values))
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

// decimalsFor keeps about four digits of a number.
func decimalsFor(x *float64) int {
	decimals := 3
	if x != nil {
		for size := math.Abs(*x); size >= 10 && decimals > 0; size /= 10 {
			decimals--
		}
	}
	return decimals
}

// differenceText is relative, and absolute to a baseline of 0.
func differenceText(d *study.Difference, kind metrics.MeasureKind) string {
	if d.Relative != nil {
		return signed(100**d.Relative, 1) + " %"
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

// verdicts says in words how each bundle stands to the baseline, then the ranks.
func (t *comparisonWriter) verdicts() {
	r := t.result
	if len(r.Replicates) == 0 {
		return
	}
	label := "verdict"
	for i := range r.Bundles[1:] {
		t.line(label, t.verdict(&r.Bundles[i+1]))
		label = ""
	}
	last := 0
	for i := range r.Bundles {
		last = max(last, r.Bundles[i].Rank)
	}
	var ranks, objectives []string
	for rank := 1; rank <= last; rank++ {
		var names []string
		for i := range r.Bundles {
			if r.Bundles[i].Rank == rank {
				names = append(names, r.Bundles[i].Name)
			}
		}
		ranks = append(ranks, fmt.Sprintf("rank %d: %s", rank, strings.Join(names, ", ")))
	}
	for _, o := range r.Objectives {
		objectives = append(objectives, fmt.Sprintf("%s (%s)", o.Name, o.Better))
	}
	text := strings.Join(ranks, "; ") + "; over " + strings.Join(objectives, ", ")
	if !r.Decided() {
		text += ". None of them differs significantly from " + r.Bundles[0].Name + ": ranks are chance"
	}
	t.line("Pareto", text)
}

// verdict is that of one bundle over the rows of the table.
func (t *comparisonWriter) verdict(b *study.Compared) string {
	counts := map[study.Verdict]int{}
	most := map[study.Verdict]int{} // the row with the largest relative difference
	size := func(row int) float64 {
		if d := b.Estimates[row].Difference; d != nil && d.Relative != nil {
			return math.Abs(*d.Relative)
		}
		return -1
	}
	for _, row := range t.rows {
		v := b.Estimates[row].Verdict
		if counts[v]++; counts[v] == 1 || size(row) > size(most[v]) {
			most[v] = row
		}
	}
	var parts []string
	for _, v := range study.Verdicts() {
		n := counts[v]
		if n == 0 {
			continue
		}
		text := fmt.Sprintf("%s in %s", v, measuresOf(n, len(t.rows)))
		if v == study.Better || v == study.Worse {
			text += fmt.Sprintf(", most of all %s (%s)", t.result.Measures[most[v]].Name, differenceText(b.Estimates[most[v]].Difference, t.result.Measures[most[v]].Kind))
		}
		parts = append(parts, text)
	}
	return b.Name + " against " + t.result.Bundles[0].Name + ": " + strings.Join(parts, "; ")
}

// measuresOf words n of all.
func measuresOf(n, all int) string {
	switch {
	case n == all && n == 1:
		return "the only measure"
	case n == all:
		return fmt.Sprintf("all %d measures", all)
	}
	return fmt.Sprintf("%d of %d", n, all)
}
