package report

import (
	"fmt"
	"strings"

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
