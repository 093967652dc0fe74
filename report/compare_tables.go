package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"blis/report/plaintext"
	"blis/study"
)

// CSV writes a row for every bundle and measure, long and narrow: what pandas
// and R group by. All measures are there; what is missing is empty. Latencies
// are in ms.
func (c *Comparison) CSV(w io.Writer) error {
	r := c.Result
	out := csv.NewWriter(w)
	out.Write([]string{"place", "bundle", "pareto_rank", "measure", "unit", "better", "mean", "half_width", "difference", "difference_half_width", "relative", "verdict", "missing", "error"})
	for place, i := range ranked(r) {
		b := &r.Bundles[i]
		if b.Err != nil {
			out.Write([]string{"", b.Name, "", "", "", "", "", "", "", "", "", "", "", errorOf(b)})
			continue
		}
		for m := range b.Estimates {
			e, measure := &b.Estimates[m], &r.Measures[m]
			row := []string{strconv.Itoa(place + 1), b.Name, whole(b.Rank), measure.Name, unitOf(measure.Kind), measure.Better.String(),
				digits(scaled(e.Mean, measure.Kind)), digits(scaled(e.HalfWidth, measure.Kind)), "", "", "", string(e.Verdict), strconv.Itoa(e.Missing), ""}
			if d := e.Difference; d != nil {
				row[8], row[9], row[10] = digits(scaled(&d.Mean, measure.Kind)), digits(scaled(d.HalfWidth, measure.Kind)), digits(d.Relative)
			}
			out.Write(row)
		}
	}
	out.Flush()
	return out.Error()
}

// ranked are the bundles from the best to the worst, or as they were given when
// nothing is known of them.
func ranked(r *study.Result) []int {
	if r.Ranking != nil {
		return r.Ranking
	}
	var list []int
	for i := range r.Bundles {
		list = append(list, i)
	}
	return list
}

// digits is a value with all its digits, "" for a missing one.
func digits(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}

// whole is a rank, "" for none.
func whole(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// grid is a comparison as a table for a page: a line per bundle, from the best
// to the worst, and a column per measure; turned when that is narrower.
type grid struct {
	head  []string
	lines [][]string
	notes []string // below it
}

// newGrid fills a grid. cell words an estimate.
func newGrid(r *study.Result, rows []int, cell func(e *study.Estimate, m *study.Measure) string) *grid {
	g := &grid{head: []string{"bundle"}}
	for _, m := range rows {
		g.head = append(g.head, rowLabel(&r.Measures[m]))
	}
	for _, i := range ranked(r) {
		b := &r.Bundles[i]
		if b.Err != nil {
			g.notes = append(g.notes, b.Name+": "+errorOf(b))
			continue
		}
		line := []string{b.Name}
		for _, m := range rows {
			line = append(line, cell(&b.Estimates[m], &r.Measures[m]))
		}
		g.lines = append(g.lines, line)
	}
	if len(g.lines) < len(rows) {
		g.transpose()
	}
	how := "one run of each"
	switch r.Intervals.Method {
	case study.FromSeeds:
		how = fmt.Sprintf("mean ± %s interval over %s", percentOf(r.Confidence), plaintext.Plural(int64(len(r.Replicates)), "seed"))
	case study.Bootstrap:
		how = fmt.Sprintf("± %s interval by moving-block bootstrap, %d windows in blocks of %d", percentOf(r.Confidence), r.Intervals.Windows, r.Intervals.Block)
	}
	g.notes = append([]string{fmt.Sprintf("%s; in brackets the difference to %s; %s better, %s worse, at %s confidence and by at least %s",
		how, r.Bundles[0].Name, betterMark, worseMark, percentOf(r.Confidence), percentOf(r.Margin))}, append(g.notes, r.Notes...)...)
	return g
}

// transpose makes columns of lines.
func (g *grid) transpose() {
	all := append([][]string{g.head}, g.lines...)
	turned := make([][]string, len(g.head))
	for i := range turned {
		for _, line := range all {
			turned[i] = append(turned[i], line[i])
		}
	}
	turned[0][0] = "measure"
	g.head, g.lines = turned[0], turned[1:]
}

// cellText is an estimate in one piece: 633 ± 617 (−60 % ✓).
func cellText(e *study.Estimate, m *study.Measure) string {
	parts := cellOf(e, m)
	if m.Name == "fitness" {
		parts[0], parts[1] = fitnessText(e)
	}
	text := parts[0]
	if half := strings.Replace(parts[1], "±", "± ", 1); half != "" {
		text += " " + half
	}
	if inside := strings.TrimSpace(parts[2] + " " + parts[3]); inside != "" {
		text += " (" + inside + ")"
	}
	return text
}

// Markdown writes a table as GitHub and others read it.
func (c *Comparison) Markdown(w io.Writer) error {
	g := newGrid(c.Result, c.rows(), cellText)
	escape := strings.NewReplacer("|", `\|`, "\n", " ")
	line := func(cells []string) string {
		var b strings.Builder
		for _, c := range cells {
			b.WriteString("| " + escape.Replace(c) + " ")
		}
		return b.String() + "|\n"
	}
	var b strings.Builder
	b.WriteString(line(g.head) + "|---" + strings.Repeat("|---:", len(g.head)-1) + "|\n")
	for _, cells := range g.lines {
		b.WriteString(line(cells))
	}
	for _, note := range g.notes {
		b.WriteString("\n" + strings.ReplaceAll(note, "\n", " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// LaTeX writes a tabular with the rules of package booktabs.
func (c *Comparison) LaTeX(w io.Writer) error {
	g := newGrid(c.Result, c.rows(), cellText)
	line := func(cells []string) string {
		var escaped []string
		for _, c := range cells {
			escaped = append(escaped, latex(c))
		}
		return strings.Join(escaped, " & ") + " \\\\\n"
	}
	var b strings.Builder
	b.WriteString("% needs \\usepackage{booktabs,amssymb}\n")
	b.WriteString("\\begin{tabular}{l" + strings.Repeat("r", len(g.head)-1) + "}\n\\toprule\n" + line(g.head) + "\\midrule\n")
	for _, cells := range g.lines {
		b.WriteString(line(cells))
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	for _, note := range g.notes {
		b.WriteString("% " + strings.ReplaceAll(note, "\n", " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// latexSigns are characters that mean something to LaTeX or that its fonts lack.
var latexSigns = strings.NewReplacer(
	`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "_", `\_`, "%", `\%`, "&", `\&`, "#", `\#`, "$", `\$`, "^", `\textasciicircum{}`, "~", `$\sim$`,
	"±", `$\pm$`, "−", "$-$", "–", "--", "…", `\dots{}`, betterMark, `$\checkmark$`, worseMark, `$\times$`, "=", "$=$", "µ", `$\mu$`, "α", `$\alpha$`, "β", `$\beta$`, "γ", `$\gamma$`,
)

func latex(text string) string { return latexSigns.Replace(text) }
