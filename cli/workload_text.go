package cli

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"blis/vtime"
	"blis/workload"
	"blis/workload/survey"
)

// writeSurvey prints what a workload is for a person: what it is, how many
// requests come when, how long they are, whose, what of their prompts is the
// same, and pictures of the rate and the lengths.
func writeSurvey(w io.Writer, s *surveyed, look style) error {
	var b strings.Builder
	t := newTextWriter(&b, look)
	t.line("workload", s.Workload)
	for _, note := range s.Notes {
		t.line("note", note)
	}
	if s.Partial {
		t.line("warning", "interrupted: this is about the requests until then")
	}
	t.gap()
	t.arrivals(&s.Survey)
	if s.Requests > 0 {
		t.requestsOf(&s.Survey)
		t.pictures(&s.Survey)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// arrivals says how many requests come, and when.
func (t *textWriter) arrivals(s *survey.Survey) {
	text := grouped(s.Requests)
	if s.Requests > 0 {
		text += fmt.Sprintf(", from %s to %s", span(vtime.Duration(*s.First)), span(vtime.Duration(*s.Last)))
	}
	if s.Together > 0 {
		text += fmt.Sprintf("; %s at the same µs as the one before", grouped(s.Together))
	}
	t.line("requests", text)
	if s.Rate != nil {
		rate := significant(*s.Rate) + " req/s"
		if s.GapCV != nil {
			rate += ", gaps with CV " + significant(*s.GapCV)
		}
		t.line("rate", fmt.Sprintf("%s, peak %s req/s in %s (%s times the mean)",
			rate, significant(*s.Peak), span(vtime.Duration(s.Arrivals.BinMicros)), significant(*s.PeakMean)))
	}
	tokens := fmt.Sprintf("%s in, %s out", grouped(s.InputTokens), grouped(s.OutputTokens))
	if s.Rate != nil {
		tokens += fmt.Sprintf("; %s/s in, %s/s out", significant(*s.Rate*s.Input.Mean), significant(*s.Rate*s.Output.Mean))
	}
	t.line("tokens", tokens)
	t.gap()
}

// requestsOf says what the requests are.
func (t *textWriter) requestsOf(s *survey.Survey) {
	t.summaries(s)
	t.gap()
	for _, k := range []struct {
		label string
		list  []survey.Share
		usual string // the name of what has no name in the source
	}{{"tenants", s.Tenants, ""}, {"classes", s.Classes, workload.DefaultClass}, {"models", s.Models, ""}} {
		if len(k.list) > 1 || k.list[0].Name != k.usual {
			t.line(k.label, sharesText(k.list, s))
		}
	}
	if s.Sessions > 0 {
		t.line("sessions", fmt.Sprintf("%s with %s of the requests", grouped(s.Sessions), partOf(s.SessionRequests, s.Requests)))
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
		t.line("limits", strings.Join(carry, ", "))
	}
	t.line("prefix", reuseText(s))
	t.gap()
}

func reuseText(s *survey.Survey) string {
	r := &s.Reuse
	if r.Named == 0 {
		return "no prompt has content that another could share"
	}
	return fmt.Sprintf("%s of the prompt tokens are content that others may share; an infinite cache would find %s (%s of the requests, blocks of %d tokens)",
		percent(r.NamedShare), percent(r.IdealShare), partOf(r.HitRequests, s.Requests), r.BlockSize)
}

// partOf is n as a share of all.
func partOf(n, all int64) string {
	share := float64(n) / float64(all)
	return percent(&share)
}

// mostShares is how many names a line has.
const mostShares = 6

// sharesText lists what each has of the requests, and of the tokens where that
// is another part.
func sharesText(list []survey.Share, s *survey.Survey) string {
	var parts []string
	for i, one := range list {
		if i == mostShares && len(list) > mostShares+1 {
			parts = append(parts, fmt.Sprintf("%s more", grouped(int64(len(list)-i))))
			break
		}
		part := nameText(one.Name) + " " + partOf(one.Requests, s.Requests)
		if tokens := partOf(one.InputTokens+one.OutputTokens, s.InputTokens+s.OutputTokens); tokens != partOf(one.Requests, s.Requests) {
			part += fmt.Sprintf(" (%s of the tokens)", tokens)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// nameText is a name that comes from a file, as it can be printed.
func nameText(name string) string {
	const most = 40
	if name == "" {
		return "(none)"
	}
	if quoted := strconv.Quote(name); quoted[1:len(quoted)-1] != name || !utf8.ValidString(name) {
		name = strconv.QuoteToASCII(name)
	}
	if utf8.RuneCountInString(name) > most {
		name = string([]rune(name)[:most]) + "…"
	}
	return name
}

// summaries is the table of lengths.
func (t *textWriter) summaries(s *survey.Survey) {
	const label = 8
	cell := min(labelWidth, (t.width-label)/8)
	row := func(name string, cells ...string) {
		fmt.Fprintf(t.w, "%-*s", label, name)
		for _, c := range cells {
			io.WriteString(t.w, strings.Repeat(" ", max(1, cell-utf8.RuneCountInString(c)))+c)
		}
		t.gap()
	}
	row("", "mean", "CV", "p50", "p90", "p95", "p99", "min", "max")
	for _, k := range []struct {
		label   string
		summary *survey.Summary
	}{{"input", s.Input}, {"output", s.Output}, {"rounds", s.Rounds}} {
		if x := k.summary; x != nil {
			cv := "–"
			if x.CV != nil {
				cv = significant(*x.CV)
			}
			row(k.label, brief(x.Mean), cv, brief(x.P50), brief(x.P90), brief(x.P95), brief(x.P99), brief(float64(x.Min)), brief(float64(x.Max)))
		}
	}
}

// brief is a number in a table, which has room for eight characters.
func brief(x float64) string {
	switch {
	case x >= 1e6:
		return significant(x/1e6) + "M"
	case x == math.Trunc(x):
		return grouped(int64(x))
	}
	return significant(x)
}

// span is a length of time for a person: two units of it, or a small one with
// three digits.
func span(d vtime.Duration) string {
	switch {
	case d == 0:
		return "0 s"
	case d < vtime.Millisecond:
		return fmt.Sprintf("%d µs", int64(d))
	case d < vtime.Second:
		return fmt.Sprintf("%.3g ms", d.Milliseconds())
	case d < vtime.Minute:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	units := []struct {
		length vtime.Duration
		name   string
	}{{24 * vtime.Hour, "days"}, {vtime.Hour, "h"}, {vtime.Minute, "min"}, {vtime.Second, "s"}}
	for i, u := range units {
		if d < u.length {
			continue
		}
		text := grouped(int64(d/u.length)) + " " + u.name
		if rest := d % u.length / units[i+1].length; rest > 0 {
			text += fmt.Sprintf(" %d %s", rest, units[i+1].name)
		}
		return text
	}
	return ""
}
