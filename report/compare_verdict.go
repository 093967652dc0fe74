package report

import (
	"fmt"
	"math"
	"strings"

	"blis/study"
)

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
