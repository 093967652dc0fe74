package metrics

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"blis/vtime"
)

// Constraint is a bound that a run must keep: p99_ttft<500ms.
type Constraint struct {
	Measure  Measure
	Operator string  // <, <=, > or >=
	Bound    float64 // in the measure's unit
}

// ConstraintResult says whether a run kept a Constraint, and its value.
type ConstraintResult struct {
	Measure  string   `json:"measure"`
	Operator string   `json:"operator"`
	Bound    float64  `json:"bound"`
	Value    *float64 `json:"value"` // null: it could not be measured, and the check failed
	Unit     string   `json:"unit"`  // of bound and value
	Pass     bool     `json:"pass"`
}

// ParseConstraints reads "p99_ttft<500ms,slo_attainment>=0.99": measures with
// bounds, separated by commas. Bounds are durations with a unit for latencies, shares like
// 0.99 or 99%, and finite numbers for the rest. The error names the part that is
// wrong.
func ParseConstraints(text string) ([]Constraint, error) {
	var list []Constraint
	for part := range strings.SplitSeq(text, ",") {
		c, err := parseConstraint(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func parseConstraint(text string) (c Constraint, err error) {
	at := strings.IndexAny(text, "<>")
	if at <= 0 {
		return c, fmt.Errorf("%q is no bound: want a measure, <, <=, > or >=, and a value, as p99_ttft<500ms", text)
	}
	bound := text[at+1:]
	c.Operator = text[at : at+1]
	if strings.HasPrefix(bound, "=") {
		c.Operator, bound = c.Operator+"=", bound[1:]
	}
	if c.Measure, err = FindMeasure(strings.TrimSpace(text[:at])); err != nil {
		return c, err
	}
	c.Bound, err = c.Measure.parseBound(strings.TrimSpace(bound))
	return c, err
}

// parseBound reads a bound of m, in its unit.
func (m *Measure) parseBound(text string) (float64, error) {
	want := "a finite number from 0"
	switch m.Kind {
	case Latency:
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return 0, fmt.Errorf("%s: bound %q has no unit: want a duration like 500ms", m.Name, text)
		}
		d, err := vtime.ParseDuration(text)
		if err != nil {
			return 0, fmt.Errorf("%s: bound %q, want a duration like 500ms", m.Name, text)
		}
		return float64(d), nil
	case Share:
		want = "a share like 0.99 or 99%"
	}
	number, percent := strings.CutSuffix(text, "%")
	bound, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		bound /= 100
	}
	if err != nil || !(bound >= 0) || math.IsInf(bound, 0) || percent && m.Kind != Share || m.Kind == Share && bound > 1 && m.Unit == shareUnit {
		return 0, fmt.Errorf("%s: bound %q, want %s", m.Name, text, want)
	}
	return bound, nil
}

// Of says whether a run keeps the bound. What could not be measured does not.
func (c *Constraint) Of(run *RunFigures) ConstraintResult {
	r := ConstraintResult{Measure: c.Measure.Name, Operator: c.Operator, Bound: c.Bound, Value: c.Measure.Of(run), Unit: c.Measure.Unit}
	if r.Value == nil {
		return r
	}
	switch v := *r.Value; c.Operator {
	case "<":
		r.Pass = v < c.Bound
	case "<=":
		r.Pass = v <= c.Bound
	case ">":
		r.Pass = v > c.Bound
	case ">=":
		r.Pass = v >= c.Bound
	}
	return r
}
