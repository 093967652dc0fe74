package study

import (
	"fmt"
	"slices"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/suggest"
)

// Measure is a number by which a study judges whole runs.
type Measure struct {
	Name   string // like p99_ttft
	Help   string // a definition, in a line
	Kind   metrics.MeasureKind
	Better metrics.Direction
	of     func(*metrics.RunFigures, *metrics.FitnessScore) *float64
}

// Measures lists all there are, in the order in which they print: the measures
// of a run, then their weighted sum, which is measured when there are weights.
func Measures() []Measure {
	var list []Measure
	for _, m := range metrics.Measures() {
		list = append(list, Measure{m.Name, m.Help, m.Kind, m.Better, func(j *metrics.RunFigures, _ *metrics.FitnessScore) *float64 { return m.Of(j) }})
	}
	return append(list, Measure{"fitness", "weighted sum of scores, as --fitness-weights says", metrics.Number, metrics.Higher, func(_ *metrics.RunFigures, f *metrics.FitnessScore) *float64 {
		if f == nil {
			return nil
		}
		return &f.Score
	}})
}

// measure takes the values out of a result. They are copied: a pointer into a
// report would keep all of it.
func measure(r *actors.Result) Values {
	judged := r.Figures()
	var values Values
	for _, m := range Measures() {
		v := m.of(judged, r.Fitness)
		if v != nil {
			copied := *v
			v = &copied
		}
		values = append(values, v)
	}
	return values
}

// SelectMeasures returns the measures with these names, in their order. An unknown
// name, or one that is given twice, is an *actors.InputError that begins with what,
// the name of the flag.
func SelectMeasures(what string, names []string) ([]Measure, error) {
	var list []Measure
	var known []string
	byName := map[string]Measure{}
	for _, m := range Measures() {
		known, byName[m.Name] = append(known, m.Name), m
	}
	for i, name := range names {
		m, ok := byName[name]
		if !ok {
			return nil, &actors.InputError{Text: fmt.Sprintf("%s: unknown measure %q%s (there are: %s)", what, name, suggest.Hint(name, known), strings.Join(known, ", "))}
		}
		if slices.Contains(names[:i], name) {
			return nil, &actors.InputError{Text: what + ": " + name + " is given twice, want it once"}
		}
		list = append(list, m)
	}
	return list, nil
}
