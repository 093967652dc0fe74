package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"blis/report/plaintext"
	"blis/study"
)

// comparisonText writes the text of a comparison.
type comparisonText struct {
	plaintext.Writer
	result   *study.Result
	rows     []int // of result.Measures
	detailed []int // of result.Bundles, without the baseline: those with columns of their own
}

// With more bundles than mostDetailed the text has a ranking of all, and columns
// for the baseline and the best bestDetailed alone.
const (
	mostDetailed = 6
	bestDetailed = 3
)

// chooseDetails settles which bundles have columns and verdicts.
func (t *comparisonText) chooseDetails() {
	r := t.result
	for _, b := range r.Ranking {
		if b > 0 && r.Bundles[b].Err == nil {
			t.detailed = append(t.detailed, b)
		}
	}
	if len(t.detailed) >= mostDetailed {
		t.detailed = t.detailed[:bestDetailed]
		return
	}
	slices.Sort(t.detailed) // few stay in the order in which they were given
}

// all reports whether every bundle that ran is detailed.
func (t *comparisonText) all() bool {
	good := 0
	for i := range t.result.Bundles {
		if t.result.Bundles[i].Err == nil {
			good++
		}
	}
	return len(t.detailed) == good-1
}

func (t *comparisonText) what() {
	r := t.result
	if r.Partial {
		t.Line("PARTIAL", fmt.Sprintf("interrupted: what follows is of %d of %s", len(r.Replicates), plaintext.Plural(int64(r.Planned), "seed")))
	}
	base := &r.Bundles[0]
	writeCluster(&t.Writer, &base.Setup, &base.Config)
	t.Line("workload", base.Setup.Workload)
	for _, note := range base.Setup.Notes {
		t.Line("note", note)
	}
	if base.BeyondFit != "" {
		t.Line("warning", base.BeyondFit)
	}
	if len(r.Replicates) > 0 {
		t.Line("seeds", t.seeds())
		if text := intervalsLine(&r.Intervals); text != "" {
			t.Line("intervals", text)
		}
	}
	t.bundles(base.Setup.Notes)
	t.Gap()
}

// seeds says what ran.
func (t *comparisonText) seeds() string {
	r := t.result
	n := len(r.Replicates)
	first, last := r.Replicates[0], r.Replicates[n-1]
	text, runs := fromTo(first.Seed, last.Seed), "one run"
	if first.Seed != first.Workload {
		text += ", of the workload " + fromTo(first.Workload, last.Workload)
	}
	if n > 1 {
		runs = fmt.Sprintf("%d runs", n)
	}
	return text + ": " + runs + " of each bundle, with the same requests for all"
}

// intervalsLine says where intervals come from if that is not seeds.
func intervalsLine(i *study.Intervals) string {
	switch i.Method {
	case study.Bootstrap:
		return fmt.Sprintf("moving-block bootstrap: %d windows of %.3g s, drawn %s times in blocks of %d, the same for all bundles",
			i.Windows, i.Width.Seconds(), plaintext.Grouped(int64(i.Series)), i.Block)
	case study.Exact:
		return "none: differences are those of this one traffic"
	}
	return ""
}

// bundles lists what the detailed ones are.
func (t *comparisonText) bundles(common []string) {
	label := "bundles"
	for _, i := range append([]int{0}, t.shown()...) {
		b := &t.result.Bundles[i]
		t.Line(label, b.Name+": "+b.Setup.Policies)
		label = ""
		for _, note := range b.Setup.Notes {
			if !slices.Contains(common, note) {
				t.Line("", "("+note+")")
			}
		}
	}
	for i := range t.result.Bundles {
		if b := &t.result.Bundles[i]; b.Err != nil {
			t.Line("error", b.Name+": "+errorOf(b))
		}
	}
}

// shown are the detailed bundles, or all that could run before any did.
func (t *comparisonText) shown() []int {
	if t.result.Ranking != nil {
		return t.detailed
	}
	var list []int
	for i := range t.result.Bundles {
		if i > 0 && t.result.Bundles[i].Err == nil {
			list = append(list, i)
		}
	}
	return list
}

// errorOf words why a bundle has no result, without its name in front.
func errorOf(b *study.Compared) string {
	return strings.TrimPrefix(ErrorLine(b.Err), "bundle "+b.Name+": ")
}

// fromTo words a range of seeds.
func fromTo(first, last uint64) string {
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d to %d", first, last)
}

// tables prints as many bundles side by side as fit, the baseline in front.
func (t *comparisonText) tables() {
	if len(t.result.Replicates) == 0 || len(t.rows) == 0 {
		return
	}
	head := "mean ± " + percentOf(t.result.Confidence)
	if t.result.Intervals.Method == study.Exact {
		head = ""
	}
	labels := column{head: [2]string{"", head}}
	for _, m := range t.rows {
		labels.cells = append(labels.cells, rowLabel(&t.result.Measures[m]))
	}
	fixed := []column{labels, t.column(0)}
	for rest := 0; rest < len(t.detailed); {
		columns := slices.Clone(fixed)
		for ; rest < len(t.detailed); rest++ {
			c := t.column(t.detailed[rest])
			if len(columns) > len(fixed) && width(columns)+c.width()-columnGap > t.Width {
				break
			}
			columns = append(columns, c)
		}
		t.table(columns)
		t.Gap()
	}
}

// marks explains the signs in tables.
func (t *comparisonText) marks() {
	r := t.result
	if len(r.Replicates) == 0 {
		return
	}
	how := fmt.Sprintf("seed by seed, at %s confidence and by at least %s", percentOf(r.Confidence), percentOf(r.Margin))
	switch r.Intervals.Method {
	case study.Bootstrap:
		how = fmt.Sprintf("window by window, at %s confidence and by at least %s", percentOf(r.Confidence), percentOf(r.Margin))
	case study.Exact:
		how = fmt.Sprintf("by at least %s", percentOf(r.Margin))
	}
	t.Line("marks", fmt.Sprintf("%s better, %s worse, ~ no significant difference, = equal; all against %s, %s%s", betterMark, worseMark, r.Bundles[0].Name, how, t.missing()))
	t.Gap()
}

// missing explains how what is not known prints.
func (t *comparisonText) missing() string {
	n := len(t.result.Replicates)
	switch {
	case t.result.Intervals.Method == study.Bootstrap:
		return "; ? not resampled, no interval"
	case n == 1 && t.result.Intervals.Method == study.FromSeeds:
		return "; ? undecided with one seed"
	}
	for _, i := range append([]int{0}, t.detailed...) {
		for _, m := range t.rows {
			if k := t.result.Bundles[i].Estimates[m].Missing; k > 0 {
				return fmt.Sprintf("; – in %d/%d: not measured in %d of %d runs", k, n, k, n)
			}
		}
	}
	return ""
}

// percentOf prints a share that was given as a setting.
func percentOf(share float64) string { return fmt.Sprintf("%.10g %%", 100*share) }

// column is one of the table: a head of two lines, a cell per row.
type column struct {
	head  [2]string
	cells []string
}

// texts are head and cells.
func (c *column) texts() []string { return slices.Concat(c.head[:], c.cells) }

// width is the width of its widest text plus the gap after it.
func (c *column) width() int {
	w := 0
	for _, text := range c.texts() {
		w = max(w, utf8.RuneCountInString(text))
	}
	return w + columnGap
}

// columnGap is the number of blanks between columns.
const columnGap = 2

func width(columns []column) int {
	sum := 0
	for i := range columns {
		sum += columns[i].width()
	}
	return sum
}

// table prints columns.
func (t *comparisonText) table(columns []column) {
	for row := range columns[0].texts() {
		line := ""
		for i := range columns {
			c := &columns[i]
			text := c.texts()[row]
			line += text + strings.Repeat(" ", c.width()-utf8.RuneCountInString(text))
		}
		io.WriteString(t, t.coloured(strings.TrimRight(line, " "))+"\n")
	}
}

// coloured gives the verdicts of a line their colours.
func (t *comparisonText) coloured(line string) string {
	if !t.Colour {
		return line
	}
	return strings.NewReplacer(betterMark, "\x1b[32m"+betterMark+"\x1b[0m", worseMark, "\x1b[31m"+worseMark+"\x1b[0m").Replace(line)
}

// column is the column of a bundle: mean ± half-width, and against the baseline the
// relative difference and a mark. What stands between is padded so that the
// parts stand below each other.
func (t *comparisonText) column(bundle int) column {
	b := &t.result.Bundles[bundle]
	parts := make([][4]string, len(t.rows))
	for i, m := range t.rows {
		parts[i] = cellOf(&b.Estimates[m], &t.result.Measures[m])
	}
	c := column{head: [2]string{b.Name, ""}, cells: aligned(parts)}
	if bundle == 0 {
		c.head[1] = "baseline"
	}
	return c
}

// aligned joins the parts of cells, each padded to the widest of its kind: the
// numbers flush right, the mark flush left. Kinds that no cell has take no room.
func aligned(parts [][4]string) []string {
	var widest [4]int
	for _, p := range parts {
		for k, text := range p {
			widest[k] = max(widest[k], utf8.RuneCountInString(text))
		}
	}
	var cells []string
	for _, p := range parts {
		var words []string
		for k, text := range p {
			switch {
			case widest[k] == 0:
			case k == len(p)-1:
				words = append(words, text)
			default:
				words = append(words, fmt.Sprintf("%*s", widest[k], text))
			}
		}
		cells = append(cells, strings.Join(words, " "))
	}
	return cells
}
