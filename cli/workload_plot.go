package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"blis/vtime"
	"blis/workload/survey"
)

// Pictures of a workload, of block characters.

const plotRows = 4 // of the rate over time

// pictures draws the rate over time and how lengths are distributed.
func (t *textWriter) pictures(s *survey.Survey) {
	if s.Rate != nil {
		t.rateOverTime(s)
		t.gap()
	}
	t.histograms(s)
}

// rateOverTime draws a column for each bin.
func (t *textWriter) rateOverTime(s *survey.Survey) {
	const label = labelWidth - 1
	counts, per := joined(s.Arrivals.Counts, t.width-labelWidth)
	width := vtime.Duration(per * s.Arrivals.BinMicros)
	for i, row := range columns(counts, plotRows) {
		scale := ""
		if i == 0 {
			scale = significant(float64(slices.Max(counts)) / width.Seconds())
		} else if i == plotRows-1 {
			scale = "req/s"
		}
		fmt.Fprintf(t.w, "%*s %s\n", label, scale, row)
	}
	first, last := span(vtime.Duration(*s.First)), span(vtime.Duration(*s.Last))
	legend := fmt.Sprintf("%s to %s, a column is %s", first, last, span(width))
	fmt.Fprintf(t.w, "%*s %s\n%*s %s\n", label, "0", strings.Repeat("▔", len(counts)), label, "", legend)
}

// joined adds up neighbours until at most width sums are left.
func joined(counts []int64, width int) (sums []int64, per int64) {
	per = int64((len(counts) + width - 1) / width)
	for i, n := range counts {
		if int64(i)%per == 0 {
			sums = append(sums, 0)
		}
		sums[len(sums)-1] += n
	}
	return sums, per
}

// columns draws counts as columns of up to rows rows, the largest of full height
// and none but 0 without a mark. The first row is the top.
func columns(counts []int64, rows int) []string {
	eighths := []rune(" ▁▂▃▄▅▆▇█")
	most := max(1, slices.Max(counts))
	drawn := make([]strings.Builder, rows)
	for _, n := range counts {
		height := int(float64(n) / float64(most) * float64(8*rows))
		if n > 0 {
			height = max(1, height)
		}
		for i := range drawn {
			below := 8 * (rows - 1 - i)
			drawn[i].WriteRune(eighths[min(max(height-below, 0), 8)])
		}
	}
	var lines []string
	for i := range drawn {
		lines = append(lines, strings.TrimRight(drawn[i].String(), " "))
	}
	return lines
}

// histograms draws inputs and outputs beside each other, a row for each power
// of two that one of them has.
func (t *textWriter) histograms(s *survey.Survey) {
	const left, between = labelWidth + 6, 12 // columns: the labels, and a share with what parts it from the next bar
	barWidth := min(24, (t.width-left-2*between+4)/2)
	side := func(list []survey.Bucket, from int64) string {
		most := int64(0)
		for _, b := range list {
			most = max(most, b.Count)
		}
		for _, b := range list {
			if b.From == from && b.Count > 0 {
				return bar(b.Count, most, barWidth) + " " + partOf(b.Count, s.Requests)
			}
		}
		return ""
	}
	row := func(label, in, out string) {
		line := label + strings.Repeat(" ", left-utf8.RuneCountInString(label)) + in
		if out != "" {
			line += strings.Repeat(" ", left+barWidth+between-utf8.RuneCountInString(line)) + out
		}
		io.WriteString(t.w, strings.TrimRight(line, " ")+"\n")
	}
	row("tokens", "input", "output")
	bars := slices.Concat(s.InputBars, s.OutputBars)
	slices.SortFunc(bars, func(a, b survey.Bucket) int { return cmp.Compare(a.From, b.From) })
	bars = slices.CompactFunc(bars, func(a, b survey.Bucket) bool { return a.From == b.From })
	for _, b := range bars {
		label := grouped(b.From)
		if b.To > b.From {
			label += "–" + grouped(b.To)
		}
		if utf8.RuneCountInString(label) >= left {
			label = "≥ " + grouped(b.From)
		}
		row(label, side(s.InputBars, b.From), side(s.OutputBars, b.From))
	}
}

// bar draws a count as a bar. The largest is columns wide, and none is without a
// mark.
func bar(n, most int64, columns int) string {
	eighths := []rune("▏▎▍▌▋▊▉█")
	width := max(1, int(float64(n)/float64(most)*8*float64(columns)))
	text := strings.Repeat("█", width/8)
	if rest := width % 8; rest > 0 {
		text += string(eighths[rest-1])
	}
	return text
}
