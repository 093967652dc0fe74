package report

import (
	"fmt"
	"math"

	"blis/metrics"
	"blis/report/plaintext"
	"blis/study"
)

// Marks of verdicts in tables.
const (
	betterMark = "✓"
	worseMark  = "✗"
)

func rowLabel(m *study.Measure) string {
	if unit := shownUnit(m.Kind); unit != "" {
		return m.Name + ", " + unit
	}
	return m.Name
}

// shownUnit is the unit in which a text has a measure; "" for a mere number.
func shownUnit(kind metrics.MeasureKind) string {
	switch kind {
	case metrics.Share:
		return "%"
	case metrics.Latency:
		return "ms"
	case metrics.PerSecond:
		return "/s"
	}
	return ""
}

// cellOf is mean, half-width, difference and mark.
func cellOf(e *study.Estimate, m *study.Measure) (parts [4]string) {
	mean, half := shown(e.Mean, m.Kind), shown(e.HalfWidth, m.Kind)
	decimals := plaintext.SignificantDecimals(mean)
	parts[0] = plaintext.Decimal(mean, decimals)
	if half != nil {
		parts[1] = "±" + plaintext.Decimal(half, decimals)
	}
	if e.Missing > 0 {
		parts[1] = fmt.Sprintf("in %d/%d", e.Missing, len(e.Values))
	}
	if d := e.Difference; d != nil {
		parts[2] = differenceText(d, m.Kind)
	}
	parts[3] = markOf(e)
	return parts
}

// shown is a value as the text has it: shares in percent, latencies in ms.
func shown(x *float64, kind metrics.MeasureKind) *float64 {
	if x == nil || kind != metrics.Share {
		return scaled(x, kind)
	}
	share := 100 * *x
	return &share
}

// differenceText is relative, and absolute to a baseline of 0.
func differenceText(d *study.Difference, kind metrics.MeasureKind) string {
	if d.Relative != nil {
		percent, decimals := 100**d.Relative, 1
		if math.Abs(percent) >= 10 {
			decimals = 0
		}
		return plaintext.Signed(percent, decimals) + " %"
	}
	if d.Mean == 0 {
		return ""
	}
	x := shown(&d.Mean, kind)
	return plaintext.Signed(*x, plaintext.SignificantDecimals(x))
}

func markOf(e *study.Estimate) string {
	switch e.Verdict {
	case study.Better:
		return betterMark
	case study.Worse:
		return worseMark
	case study.NoDifference:
		if d := e.Difference; d.Mean == 0 && (d.HalfWidth == nil || *d.HalfWidth == 0) {
			return "="
		}
		return "~"
	case study.Undecided:
		return "?"
	}
	return ""
}
