package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"blis/metrics"
	"blis/report/plaintext"
	"blis/study"
	"blis/vtime"
)

// Capacity is how much a cluster serves within its SLOs, with what was asked.
type Capacity struct {
	*study.CapacityResult
	Asked study.Capacity
}

// JSON implements Document: docs/capacity.schema.json describes it.
func (c *Capacity) JSON(w io.Writer) error { return writeObject(w, newCapacityJSON(c)) }

// Text implements Document: the answer in sentences, the table of both ends, how to start such
// a server, and how to repeat the decisive runs.
func (c *Capacity) Text(w io.Writer, s plaintext.Style) error {
	var b strings.Builder
	t := &capacityText{Writer: plaintext.NewWriter(&b, s), of: c}
	t.what()
	t.headline()
	t.claims()
	t.table()
	t.commands()
	t.remarks()
	_, err := io.WriteString(w, b.String())
	return err
}

// sloText is "p99 TTFT ≤ 100 ms", with the class if it has one.
func sloText(s *study.SLO) string {
	text := measureText(s.Measure.Name)
	if s.Class != "" {
		text += " of " + plaintext.Name(s.Class)
	}
	operator := map[string]string{"<=": "≤", ">=": "≥"}[s.Operator]
	if operator == "" {
		operator = s.Operator
	}
	return text + " " + operator + " " + sloValue(s, s.Bound)
}

// measureText is p99_ttft as people write it: p99 TTFT.
func measureText(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words {
		switch w {
		case "ttft", "tpot", "itl", "e2e", "slo":
			words[i] = strings.ToUpper(w)
		}
	}
	return strings.Join(words, " ")
}

// sloValue is a value of the measure of an SLO with its unit.
func sloValue(s *study.SLO, x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 1):
		return "never"
	case s.Measure.Kind == metrics.Latency:
		return plaintext.Duration(vtime.Duration(math.Round(x)))
	case s.Measure.Kind == metrics.Share:
		return plaintext.Percent(&x)
	}
	return plaintext.Significant(x)
}

// axisText is a value of an axis in words: 138 req/s, 4 instances, TP 4.
func axisText(a *study.SearchAxis, x float64) string {
	switch n := int64(x); a.Name {
	case "rate":
		return a.Value(x) + " req/s"
	case "concurrency":
		return plaintext.Plural(n, "user")
	case "num-instances":
		return plaintext.Plural(n, "instance")
	case "prefill-replicas":
		return plaintext.Plural(n, "prefill instance")
	case "decode-replicas":
		return plaintext.Plural(n, "decode instance")
	case "tp":
		return "TP " + a.Value(x)
	}
	return a.Name + " " + a.Value(x)
}

// atAxis is the same with a preposition.
func atAxis(a *study.SearchAxis, x float64) string {
	if a.Name == "rate" || a.Name == "tp" {
		return "at " + axisText(a, x)
	}
	return "with " + axisText(a, x)
}

// shareText is a share as a ratio of small numbers, if it is one.
func shareText(share float64) string {
	for _, of := range []float64{10, 20, 100, 1000} {
		if n := float64(share * of); math.Abs(n-math.Round(n)) < 1e-9 {
			return fmt.Sprintf("%.0f of %.0f", math.Round(n), of)
		}
	}
	return plaintext.Percent(&share)
}
