package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"blis/report/plaintext"
	"blis/vtime"
	"blis/workload/survey"
)

// Pictures of a workload, of block characters.

const plotRows = 4 // of the rate over time

// pictures draws the rate over time and how lengths are distributed.
func (t *surveyText) pictures(s *survey.Survey) {
	if s.Rate != nil {
		t.rateOverTime(s)
		t.Gap()
	}
	t.histograms(s)
}

// rateOverTime draws a column for each bin.
func (t *surveyText) rateOverTime(s *survey.Survey) {
	const label = plaintext.LabelWidth - 1
	counts, per := sumNeighbours(s.Arrivals.Counts, t.Width-plaintext.LabelWidth)
	width := vtime.Duration(per * s.Arrivals.BinMicros)
	for i, row := range plaintext.Histogram(counts, plotRows) {
		scale := ""
		if i == 0 {
			scale = plaintext.Significant(float64(slices.Max(counts)) / width.Seconds())
		} else if i == plotRows-1 {
			scale = "req/s"
		}
		fmt.Fprintf(t, "%*s %s\n", label, scale, row)
	}
	first, last := plaintext.Duration(vtime.Duration(*s.First)), plaintext.Duration(vtime.Duration(*s.Last))
	legend := fmt.Sprintf("%s to %s, a column is %s", first, last, plaintext.Duration(width))
	fmt.Fprintf(t, "%*s %s\n%*s %s\n", label, "0", strings.Repeat("▔", len(counts)), label, "", legend)
}

// sumNeighbours adds up neighbours until at most width sums are left.
func sumNeighbours(counts []int64, width int) (sums []int64, per int64) {
	per = int64((len(counts) + width - 1) / width)
	for i, n := range counts {
		if int64(i)%per == 0 {
			sums = append(sums, 0)
		}
		sums[len(sums)-1] += n
	}
	return sums, per
}

// histograms draws inputs and outputs beside each other, a row for each power
// of two that one of them has.
func (t *surveyText) histograms(s *survey.Survey) {
	const left, between = plaintext.LabelWidth + 6, 12 // columns: the labels, and a share with what parts it from the next bar
	barWidth := min(24, (t.Width-left-2*between+4)/2)
	side := func(list []survey.Bucket, from int64) string {
		most := int64(0)
		for _, b := range list {
			most = max(most, b.Count)
		}
		for _, b := range list {
			if b.From == from && b.Count > 0 {
				return plaintext.Bar(b.Count, most, barWidth) + " " + partOf(b.Count, s.Requests)
			}
		}
		return ""
	}
	row := func(label, in, out string) {
		line := label + strings.Repeat(" ", left-utf8.RuneCountInString(label)) + in
		if out != "" {
			line += strings.Repeat(" ", left+barWidth+between-utf8.RuneCountInString(line)) + out
		}
		io.WriteString(t, strings.TrimRight(line, " ")+"\n")
	}
	row("tokens", "input", "output")
	bars := slices.Concat(s.InputBars, s.OutputBars)
	slices.SortFunc(bars, func(a, b survey.Bucket) int { return cmp.Compare(a.From, b.From) })
	bars = slices.CompactFunc(bars, func(a, b survey.Bucket) bool { return a.From == b.From })
	for _, b := range bars {
		label := plaintext.Grouped(b.From)
		if b.To > b.From {
			label += "–" + plaintext.Grouped(b.To)
		}
		if utf8.RuneCountInString(label) >= left {
			label = "≥ " + plaintext.Grouped(b.From)
		}
		row(label, side(s.InputBars, b.From), side(s.OutputBars, b.From))
	}
}
