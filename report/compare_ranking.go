package report

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"blis/metrics"
	"blis/report/plaintext"
	"blis/study"
)

// fewUnranked is how many bundles need no ranking: their columns stand side by
// side.
const fewUnranked = 4

// mostNamed is how many bundles of one rank are named.
const mostNamed = 8

// longestBundle is how much of a bundle's name a ranking has.
const longestBundle = 28

// ranking prints all bundles from the best to the worst, a line each: by fitness
// if there is one, else by Pareto rank. Columns are the fitness, the rank and as
// many objectives as fit.
func (t *comparisonText) ranking() {
	r := t.result
	if r.Ranking == nil || !r.Weighed() && len(r.Bundles) <= fewUnranked {
		return
	}
	columns := []column{t.places(), t.names()}
	if r.Weighed() {
		columns = append(columns, t.rankingColumn(measureNamed(r, "fitness"), true))
	}
	columns = append(columns, t.ranks())
	for _, o := range r.Objectives {
		c := t.rankingColumn(measureNamed(r, o.Name), false)
		if width(columns)+c.width()-columnGap > t.Width {
			break
		}
		columns = append(columns, c)
	}
	t.table(columns)
	t.Gap()
	if !t.all() {
		t.Line("details", fmt.Sprintf("of the baseline and the best %d follow; those of all %d are in --format csv, json, markdown or latex", len(t.detailed), len(r.Bundles)))
		t.Gap()
	}
}

// measureNamed is the place of a measure.
func measureNamed(r *study.Result, name string) int {
	for i := range r.Measures {
		if r.Measures[i].Name == name {
			return i
		}
	}
	panic("report: no measure " + name)
}

func (t *comparisonText) places() column {
	last := len(fmt.Sprint(len(t.result.Ranking)))
	c := column{head: [2]string{"", fmt.Sprintf("%*s", last, "#")}}
	for place, b := range t.result.Ranking {
		text := fmt.Sprint(place + 1)
		if t.result.Bundles[b].Err != nil {
			text = "–"
		}
		c.cells = append(c.cells, fmt.Sprintf("%*s", last, text))
	}
	return c
}

func (t *comparisonText) names() column {
	c := column{head: [2]string{"", "bundle"}}
	for _, b := range t.result.Ranking {
		name := t.result.Bundles[b].Name
		if utf8.RuneCountInString(name) > longestBundle {
			runes := []rune(name) // the end tells files of a search apart
			name = "…" + string(runes[len(runes)-longestBundle+1:])
		}
		c.cells = append(c.cells, name)
	}
	return c
}

func (t *comparisonText) ranks() column {
	c := column{head: [2]string{"", "Pareto"}}
	for _, b := range t.result.Ranking {
		text := "error"
		if rank := t.result.Bundles[b].Rank; rank > 0 {
			text = fmt.Sprint(rank)
		}
		c.cells = append(c.cells, text)
	}
	return c
}

// rankingColumn is a measure of every bundle, with or without its interval.
func (t *comparisonText) rankingColumn(m int, interval bool) column {
	measure := &t.result.Measures[m]
	var parts [][4]string
	for _, i := range t.result.Ranking {
		b, p := &t.result.Bundles[i], [4]string{}
		if b.Err == nil {
			p = cellOf(&b.Estimates[m], measure)
			if measure.Name == "fitness" {
				p[0], p[1] = fitnessText(&b.Estimates[m])
			}
			if !interval {
				p[1] = ""
			}
		}
		parts = append(parts, p)
	}
	return column{head: [2]string{"", rowLabel(measure)}, cells: aligned(parts)}
}

// fitnessText has four decimals: those are what a search climbs.
func fitnessText(e *study.Estimate) (mean, half string) {
	mean = plaintext.Decimal(e.Mean, 4)
	if e.HalfWidth != nil {
		half = "±" + plaintext.Decimal(e.HalfWidth, 4)
	}
	return mean, half
}

// verdicts says in words how each bundle stands to the baseline, then the ranks.
func (t *comparisonText) verdicts() {
	if len(t.result.Replicates) == 0 {
		return
	}
	label := "verdict"
	for _, i := range t.detailed {
		t.Line(label, t.verdict(&t.result.Bundles[i]))
		label = ""
	}
	t.Line("Pareto", t.pareto())
}

// pareto says which bundle is on which front. With many bundles the ranking has all but
// the first.
func (t *comparisonText) pareto() string {
	r := t.result
	last := 0
	for i := range r.Bundles {
		last = max(last, r.Bundles[i].Rank)
	}
	if !t.all() {
		last = min(last, 1)
	}
	var ranks, objectives []string
	for rank := 1; rank <= last; rank++ {
		var names []string
		for i := range r.Bundles {
			if r.Bundles[i].Rank == rank {
				names = append(names, r.Bundles[i].Name)
			}
		}
		if more := len(names) - mostNamed; more > 0 {
			names = append(names[:mostNamed], fmt.Sprintf("%d more", more))
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
	return text
}

// unitOf is the unit in which a measure prints.
func unitOf(kind metrics.MeasureKind) string {
	switch kind {
	case metrics.Share:
		return "share"
	case metrics.Latency:
		return "ms"
	case metrics.PerSecond:
		return "1/s"
	}
	return "number"
}

// verdict is the verdict of one bundle over the rows of the table.
func (t *comparisonText) verdict(b *study.Compared) string {
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
