package cli

import (
	"fmt"
	"strings"

	"blis/actors"
	"blis/metrics"
)

// fitness prints the score and what it is made of, if there are weights.
func (t *textWriter) fitness(r *actors.Result) {
	if r.Fitness == nil {
		return
	}
	var terms []string
	for i := range r.Fitness.Terms {
		terms = append(terms, fitnessTerm(&r.Fitness.Terms[i]))
	}
	t.line("fitness", fmt.Sprintf("%s = %s", decimal(&r.Fitness.Score, 4), strings.Join(terms, " + ")))
}

// fitnessTerm is one term: its weight, its score, and what was measured.
func fitnessTerm(s *metrics.TermScore) string {
	m, err := metrics.FindMeasure(s.Measure)
	if err != nil {
		panic(err) // it was judged by it
	}
	text := fmt.Sprintf("%g × %s (%s %s", s.Weight, decimal(&s.Score, 4), m.Name, inUnit(&m, s.Value))
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
		return percent(value)
	case m.Kind == metrics.Latency:
		ms := *value / 1e3
		return decimal(&ms, 2) + " ms"
	case m.Unit == "ratio":
		return decimal(value, 2)
	}
	return decimal(value, 2) + " " + m.Unit
}
