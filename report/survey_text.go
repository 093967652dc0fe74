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
	"blis/workload"
	"blis/workload/survey"
)

// surveyText writes the text of a survey.
type surveyText struct{ plaintext.Writer }

// arrivals says how many requests come, and when.
func (t *surveyText) arrivals(s *survey.Survey) {
	text := plaintext.Grouped(s.Requests)
	if s.Requests > 0 {
		text += fmt.Sprintf(", from %s to %s", plaintext.Duration(vtime.Duration(*s.First)), plaintext.Duration(vtime.Duration(*s.Last)))
	}
	if s.Together > 0 {
		text += fmt.Sprintf("; %s at the same µs as the one before", plaintext.Grouped(s.Together))
	}
	t.Line("requests", text)
	if s.Rate != nil {
		rate := plaintext.Significant(*s.Rate) + " req/s"
		if s.GapCV != nil {
			rate += ", gaps with CV " + plaintext.Significant(*s.GapCV)
		}
		t.Line("rate", fmt.Sprintf("%s, peak %s req/s in %s (%s times the mean)",
			rate, plaintext.Significant(*s.Peak), plaintext.Duration(vtime.Duration(s.Arrivals.BinMicros)), plaintext.Significant(*s.PeakMean)))
	}
	tokens := fmt.Sprintf("%s in, %s out", plaintext.Grouped(s.InputTokens), plaintext.Grouped(s.OutputTokens))
	if s.Rate != nil {
		tokens += fmt.Sprintf("; %s/s in, %s/s out", plaintext.Significant(*s.Rate*s.Input.Mean), plaintext.Significant(*s.Rate*s.Output.Mean))
	}
	t.Line("tokens", tokens)
	t.Gap()
}

// requestsOf says what the requests are.
func (t *surveyText) requestsOf(s *survey.Survey) {
	t.summaries(s)
	t.Gap()
	for _, k := range []struct {
		label string
		list  []survey.Share
		usual string // the name of what has no name in the source
	}{{"tenants", s.Tenants, ""}, {"classes", s.Classes, workload.DefaultClass}, {"models", s.Models, ""}} {
		if len(k.list) > 1 || k.list[0].Name != k.usual {
			t.Line(k.label, sharesText(k.list, s))
		}
	}
	if s.Sessions > 0 {
		t.Line("sessions", fmt.Sprintf("%s with %s of the requests", plaintext.Grouped(s.Sessions), partOf(s.SessionRequests, s.Requests)))
	}
	var carry []string
	for _, k := range []struct {
		n    int64
		what string
	}{{s.WithDeadline, "a deadline"}, {s.WithLimit, "a limit of their output"}, {s.WithHint, "a priority hint"}} {
		if k.n > 0 {
			carry = append(carry, fmt.Sprintf("%s have %s", partOf(k.n, s.Requests), k.what))
		}
	}
	if carry != nil {
		t.Line("limits", strings.Join(carry, ", "))
	}
	t.Line("prefix", reuseText(s))
	t.Gap()
}

func reuseText(s *survey.Survey) string {
	r := &s.Reuse
	if r.Named == 0 {
		return "no prompt has content that another could share"
	}
	return fmt.Sprintf("%s of the prompt tokens are content that others may share; an infinite cache would find %s (%s of the requests, blocks of %d tokens)",
		plaintext.Percent(r.NamedShare), plaintext.Percent(r.IdealShare), partOf(r.HitRequests, s.Requests), r.BlockSize)
}

// partOf is n as a share of all.
func partOf(n, all int64) string {
	share := float64(n) / float64(all)
	return plaintext.Percent(&share)
}

// mostShares is how many names a line has.
const mostShares = 6

// sharesText lists what each has of the requests, and of the tokens where that
// is another part.
func sharesText(list []survey.Share, s *survey.Survey) string {
	var parts []string
	for i, one := range list {
		if i == mostShares && len(list) > mostShares+1 {
			parts = append(parts, fmt.Sprintf("%s more", plaintext.Grouped(int64(len(list)-i))))
			break
		}
		part := plaintext.Name(one.Name) + " " + partOf(one.Requests, s.Requests)
		if tokens := partOf(one.InputTokens+one.OutputTokens, s.InputTokens+s.OutputTokens); tokens != partOf(one.Requests, s.Requests) {
			part += fmt.Sprintf(" (%s of the tokens)", tokens)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// summaries is the table of lengths.
func (t *surveyText) summaries(s *survey.Survey) {
	const label = 8
	cell := min(plaintext.LabelWidth, (t.Width-label)/8)
	row := func(name string, cells ...string) {
		fmt.Fprintf(t, "%-*s", label, name)
		for _, c := range cells {
			fmt.Fprintf(t, " %*s", cell-1, c)
		}
		t.Gap()
	}
	row("", "mean", "CV", "p50", "p90", "p95", "p99", "min", "max")
	for _, k := range []struct {
		label   string
		summary *survey.Summary
	}{{"input", s.Input}, {"output", s.Output}, {"rounds", s.Rounds}} {
		if x := k.summary; x != nil {
			cv := "–"
			if x.CV != nil {
				cv = plaintext.Significant(*x.CV)
			}
			row(k.label, plaintext.Short(x.Mean), cv, plaintext.Short(x.P50), plaintext.Short(x.P90), plaintext.Short(x.P95), plaintext.Short(x.P99), plaintext.Short(float64(x.Min)), plaintext.Short(float64(x.Max)))
		}
	}
}

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
