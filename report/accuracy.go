package report

import (
	"fmt"
	"math"
	"strings"

	"blis/latency"
	"blis/report/plaintext"
)

// writeAccuracy writes what is known of the error of the latency model.
func writeAccuracy(t *plaintext.Writer, a *latency.Accuracy) {
	if a == nil {
		return
	}
	text := "not stated for this run"
	switch {
	case a.Stated != nil:
		text = statedText(a.Stated)
	case a.Step != nil:
		text = "not stated for requests; " + stepErrorText(a.Step)
	}
	t.Line("error", text)
	if len(a.NotMeasured) > 0 {
		t.Line("", "not measured: "+notMeasuredText(a.NotMeasured))
	}
}

// statedText is the expected error of each metric, with bias and worst run, and what it
// was found on.
func statedText(s *latency.Stated) string {
	var list []string
	for _, m := range []struct {
		name      string
		deviation *latency.Deviation
	}{{"E2E", s.E2E}, {"TPOT", s.TPOT}, {"TTFT", s.TTFT}} {
		if m.deviation != nil {
			list = append(list, m.name+" "+deviationText(m.deviation, s.Models > 0))
		}
	}
	text := "expected " + strings.Join(list, ", ")
	if s.Models == 0 {
		return fmt.Sprintf("%s: median of %s, %s; bias and worst run not known", text, plaintext.Plural(int64(s.Runs), "run"), s.HeldOut)
	}
	return fmt.Sprintf("%s: mean over %s (%s%s, %s)", text, plaintext.Plural(int64(s.Models), "model"), plaintext.Plural(int64(s.Runs), "run"), placeText(s), s.HeldOut)
}

// stepErrorText is the error of the time of a step, and what it was found on.
func stepErrorText(e *latency.HeldOutError) string {
	if e.Models == 0 {
		return fmt.Sprintf("time of a step %s %%: median of %s, %s", percentage(e.MedianAPEPercent), plaintext.Plural(int64(e.Runs), "run"), e.HeldOut)
	}
	return fmt.Sprintf("time of a step %s: mean over %s (%s, %s)",
		deviationText(e.Deviation(), true), plaintext.Plural(int64(e.Models), "model"), plaintext.Plural(int64(e.Runs), "step"), e.HeldOut)
}

// placeText says where the runs behind an error were measured if they are a part of all.
func placeText(s *latency.Stated) string {
	text := ""
	if s.GPU != "" {
		text = " on " + s.GPU
	}
	if s.TP != 0 {
		text += fmt.Sprintf(" at TP %d", s.TP)
	}
	return text
}

// deviationText is "7.2 % (median 5.1, bias −3.4, worst +231)".
func deviationText(d *latency.Deviation, models bool) string {
	if !models {
		return percentage(d.Expected) + " %"
	}
	groups := ""
	if d.GroupP90 > 0 {
		groups = fmt.Sprintf(", nine of ten groups within %s", percentage(d.GroupP90))
	}
	return fmt.Sprintf("%s %% (median %s%s, bias %s, worst %s)", percentage(d.Expected), percentage(d.Median), groups, signedPercentage(d.Bias), signedPercentage(d.Worst))
}

// percentage has a decimal below 100 %.
func percentage(x float64) string {
	if math.Abs(x) < 100 {
		return plaintext.Decimal(&x, 1)
	}
	return plaintext.Decimal(&x, 0)
}

// signedPercentage has a decimal below 10 %.
func signedPercentage(x float64) string {
	if math.Abs(x) < 10 {
		return plaintext.Signed(x, 1)
	}
	return plaintext.Signed(x, 0)
}

func notMeasuredText(list []latency.Unmeasured) string {
	var texts []string
	for _, n := range list {
		texts = append(texts, n.Text)
	}
	return strings.Join(texts, ", ")
}

// StatedCells returns the cells of a table for a stated error: expected E2E, the worst run
// by it (by TPOT where E2E is not known), expected TPOT and TTFT, and what was held out, with tabs between them.
func StatedCells(s *latency.Stated) string {
	if s == nil {
		return "–\t–\t–\t–\tnot stated"
	}
	expected := func(d *latency.Deviation) string {
		if d == nil {
			return "–"
		}
		return percentage(d.Expected) + " %"
	}
	worst := "–"
	if _, d := s.Ranked(); s.Models > 0 {
		worst = signedPercentage(d.Worst) + " %"
	}
	return strings.Join([]string{expected(s.E2E), worst, expected(s.TPOT), expected(s.TTFT), s.HeldOut}, "\t")
}

// latencyError is what is known of the error of the latency model, in percent.
type latencyError struct {
	HeldOut     *string              `json:"held_out"` // null: no stated error applies; so are all others but not_measured
	GPU         *string              `json:"gpu"`      // that the runs were on; null: any
	TP          *int                 `json:"tp"`
	Runs        *int                 `json:"runs"`
	Models      *int                 `json:"models"` // null: not known, then bias and worst are not either
	E2E         *metricError         `json:"e2e"`    // null, as the others: not known
	TPOT        *metricError         `json:"tpot"`
	TTFT        *metricError         `json:"ttft"`
	Step        *metricError         `json:"step"` // of the time of a step; null unless no other is known, and runs are steps
	NotMeasured []latency.Unmeasured `json:"not_measured"`
}

type metricError struct {
	Expected float64  `json:"expected_percent"`
	Median   float64  `json:"median_percent"`
	Bias     *float64 `json:"bias_percent"`
	Worst    *float64 `json:"worst_percent"`
	GroupP90 float64  `json:"group_p90_percent,omitempty"`
}

// newLatencyError returns nil if nothing is known of the latency model.
func newLatencyError(a *latency.Accuracy) *latencyError {
	if a == nil {
		return nil
	}
	j := &latencyError{NotMeasured: append([]latency.Unmeasured{}, a.NotMeasured...)}
	switch s, e := a.Stated, a.Step; {
	case s != nil:
		j.foundOn(s.HeldOut, s.GPU, s.TP, s.Runs, s.Models)
		j.E2E, j.TPOT, j.TTFT = newMetricError(s.E2E, j.Models), newMetricError(s.TPOT, j.Models), newMetricError(s.TTFT, j.Models)
	case e != nil:
		j.foundOn(e.HeldOut, e.GPU, e.TP, e.Runs, e.Models)
		j.Step = newMetricError(e.Deviation(), j.Models)
	}
	return j
}

// foundOn says what errors were found on. Empty and 0: any, or not known.
func (j *latencyError) foundOn(heldOut, gpu string, tp, runs, models int) {
	j.HeldOut, j.Runs = &heldOut, &runs
	if gpu != "" {
		j.GPU = &gpu
	}
	if tp != 0 {
		j.TP = &tp
	}
	if models > 0 {
		j.Models = &models
	}
}

func newMetricError(d *latency.Deviation, models *int) *metricError {
	if d == nil {
		return nil
	}
	j := &metricError{Expected: d.Expected, Median: d.Median, GroupP90: d.GroupP90}
	if models != nil {
		j.Bias, j.Worst = &d.Bias, &d.Worst
	}
	return j
}
