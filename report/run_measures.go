package report

import (
	"fmt"
	"io"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/report/plaintext"
)

// fitness prints the score and what it is made of, if there are weights.
func (t *runText) fitness(r *actors.Result) {
	if r.Fitness == nil {
		return
	}
	var terms []string
	for i := range r.Fitness.Terms {
		terms = append(terms, fitnessTerm(&r.Fitness.Terms[i]))
	}
	t.Line("fitness", fmt.Sprintf("%s = %s", plaintext.Decimal(&r.Fitness.Score, 4), strings.Join(terms, " + ")))
}

// fitnessTerm is one term: its weight, its score, and what was measured.
func fitnessTerm(s *metrics.TermScore) string {
	m, err := metrics.FindMeasure(s.Measure)
	if err != nil {
		panic(err) // it was judged by it
	}
	text := fmt.Sprintf("%g × %s (%s %s", s.Weight, plaintext.Decimal(&s.Score, 4), m.Name, inUnit(&m, s.Value))
	if s.Target != nil {
		text += ", target " + inUnit(&m, s.Target)
	}
	return text + ")"
}

// inUnit prints a value of m with its unit.
func inUnit(m *metrics.Measure, value *float64) string {
	switch {
	case value == nil:
		return "–"
	case m.Kind == metrics.Share:
		return plaintext.Percent(value)
	case m.Kind == metrics.Latency:
		ms := *value / 1e3
		return plaintext.Decimal(&ms, 2) + " ms"
	case m.Unit == "ratio":
		return plaintext.Decimal(value, 2)
	}
	return plaintext.Decimal(value, 2) + " " + m.Unit
}

// Check says which bounds a run kept.
func Check(r *actors.Result, bounds []metrics.Constraint) []metrics.ConstraintResult {
	var list []metrics.ConstraintResult
	run := r.Figures()
	for i := range bounds {
		list = append(list, bounds[i].Of(run))
	}
	return list
}

// writeChecks writes a line for each bound.
func writeChecks(w io.Writer, list []metrics.ConstraintResult, s plaintext.Style) {
	t := plaintext.NewWriter(w, s)
	for i := range list {
		c := &list[i]
		m, err := metrics.FindMeasure(c.Measure)
		if err != nil {
			panic(err) // it was measured by it
		}
		verdict := "PASS"
		if !c.Pass {
			verdict = "FAIL"
		}
		value := "not measured"
		if c.Value != nil {
			value = inUnit(&m, c.Value)
		}
		t.Line("check", fmt.Sprintf("%s %s %s %s: %s", verdict, c.Measure, c.Operator, inUnit(&m, &c.Bound), value))
	}
}
