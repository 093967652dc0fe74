package report

import (
	"strings"
	"testing"

	"blis/metrics"
	"blis/report/plaintext"
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
		{"latency", study.Estimate{Mean: number(2640123), HalfWidth: number(867456), Verdict: study.Baseline}, latency, "2,640|±867||"},
		{"better", study.Estimate{Mean: number(34510), HalfWidth: number(1760), Verdict: study.Better,
			Difference: &study.Difference{Mean: -100, HalfWidth: number(5), Relative: number(-0.083)}}, latency, "34.5|±1.8|−8.3 %|✓"},
		{"much worse", study.Estimate{Mean: number(0.5), HalfWidth: number(0), Verdict: study.Worse,
			Difference: &study.Difference{Mean: -0.2, HalfWidth: number(0), Relative: number(-0.2857)}}, share, "50.0|±0.0|−29 %|✗"},
		{"from 0", study.Estimate{Mean: number(0.0152), HalfWidth: number(0.0059), Verdict: study.Worse,
			Difference: &study.Difference{Mean: 0.0152, HalfWidth: number(0.0059)}}, count, "0.0152|±0.0059|+0.0152|✗"},
		{"equal", study.Estimate{Mean: number(0), HalfWidth: number(0), Verdict: study.NoDifference,
			Difference: &study.Difference{HalfWidth: number(0)}}, count, "0|±0||="},
		{"not significant", study.Estimate{Mean: number(1), HalfWidth: number(0.2), Verdict: study.NoDifference,
			Difference: &study.Difference{Mean: -0.0001, HalfWidth: number(0.1), Relative: number(-0.0001)}}, count, "1.00|±0.20|0.0 %|~"},
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
func TestComparisonsAreColoured(t *testing.T) {
	w := &comparisonText{Writer: plaintext.Writer{Style: plaintext.Style{Colour: true}}}
	if got := w.coloured("x 1 ±2 +8.3 % ✓  −1.0 % ✗"); got != "x 1 ±2 +8.3 % \x1b[32m✓\x1b[0m  −1.0 % \x1b[31m✗\x1b[0m" {
		t.Errorf("%q", got)
	}
}
