package main

import (
	"strings"
	"testing"

	"blis/metrics"
	"blis/study"
)

func TestCellsOfAComparison(t *testing.T) {
	number := func(x float64) *float64 { return &x }
	latency, share, count := study.Measure{Kind: metrics.Latency}, study.Measure{Kind: metrics.Share}, study.Measure{Kind: metrics.Number}
	for _, c := range []struct {
		name     string
		estimate study.Estimate
		measure  study.Measure
		want     string
	}{
		{"latency", study.Estimate{Mean: number(2640123), HalfWidth: number(867456), Verdict: study.Baseline}, latency, "2,640|± 867||"},
		{"better", study.Estimate{Mean: number(34510), HalfWidth: number(1760), Verdict: study.Better,
			Difference: &study.Difference{Mean: -100, HalfWidth: number(5), Relative: number(-0.083)}}, latency, "34.5|± 1.8|−8.3 %|better"},
		{"much worse", study.Estimate{Mean: number(0.5), HalfWidth: number(0), Verdict: study.Worse,
			Difference: &study.Difference{Mean: -0.2, HalfWidth: number(0), Relative: number(-0.2857)}}, share, "50.0|± 0.0|−29 %|worse"},
		{"from 0", study.Estimate{Mean: number(0.0152), HalfWidth: number(0.0059), Verdict: study.Worse,
			Difference: &study.Difference{Mean: 0.0152, HalfWidth: number(0.0059)}}, count, "0.0152|± 0.0059|+0.0152|worse"},
		{"equal", study.Estimate{Mean: number(0), HalfWidth: number(0), Verdict: study.NoDifference,
			Difference: &study.Difference{HalfWidth: number(0)}}, count, "0|± 0||="},
		{"not significant", study.Estimate{Mean: number(1), HalfWidth: number(0.2), Verdict: study.NoDifference,
			Difference: &study.Difference{Mean: -0.0001, HalfWidth: number(0.1), Relative: number(-0.0001)}}, count, "1.00|± 0.20|0.0 %|~"},
		{"missing", study.Estimate{Values: make(study.Values, 10), Missing: 3, Verdict: study.NotMeasured}, latency, "–|in 3/10||"},
		{"one replicate", study.Estimate{Mean: number(1000), Verdict: study.Undecided, Difference: &study.Difference{Mean: 500, Relative: number(1)}}, latency, "1.00||+100 %|?"},
	} {
		parts := cellOf(&c.estimate, &c.measure)
		if got := strings.Join(parts[:], "|"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// What is green in the table is what it calls better.
func TestComparisonsAreColouredOnTerminals(t *testing.T) {
	w := &comparisonWriter{textWriter: textWriter{colour: true}}
	if got := w.coloured("x 1 ± 2  +8.3 % better  −1.0 % worse"); got != "x 1 ± 2  +8.3 % \x1b[32mbetter\x1b[0m  −1.0 % \x1b[31mworse\x1b[0m" {
		t.Errorf("%q", got)
	}
	if out := done(t, quick()...).out; strings.Contains(out, "\x1b") {
		t.Error("colour where nobody sees it")
	}
}

func TestComparisonNotes(t *testing.T) {
	trace := done(t, "compare", "round-robin", "least-loaded", "--trace", "../../testdata/traces/blis.csv", "--seeds", "2").out
	if !strings.Contains(trace, "\nnote       seeds change nothing here: ") {
		t.Errorf("no note that a trace is always the same:\n%s", trace)
	}
	same := done(t, quick("--routing-policy", "least-loaded")...).out
	for _, want := range []string{"round-robin and least-loaded are the same policies in effect", "no significant difference in all 11 measures", "None of them differs significantly from round-robin: ranks are chance"} {
		if !strings.Contains(strings.Join(strings.Fields(same), " "), want) {
			t.Errorf("no %q in\n%s", want, same)
		}
	}
}
