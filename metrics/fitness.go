package metrics

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"blis/suggest"
	"blis/vtime"
)

// Fitness says how much each measure counts in the one number that a search
// program maximises: Σ weight · score, where a score is the measure brought
// into [0, 1], higher being better. The zero value weighs nothing.
type Fitness struct {
	Terms []FitnessTerm // in the order in which they were given
}

// FitnessTerm is one measure of a Fitness.
type FitnessTerm struct {
	Measure Measure
	Weight  float64 // finite, from 0
	Target  float64 // in the measure's unit; 0: none, the classic normalisation
}

// FitnessScore is the fitness of a run.
type FitnessScore struct {
	Score float64     `json:"score"` // Σ weight · score, not divided by the weights
	Terms []TermScore `json:"terms"`
}

// TermScore is the part of one measure in a FitnessScore.
type TermScore struct {
	Measure string   `json:"measure"`
	Unit    string   `json:"unit"` // of target and value
	Weight  float64  `json:"weight"`
	Target  *float64 `json:"target"` // in the measure's unit; null: none was given
	Value   *float64 `json:"value"`  // in the measure's unit; null: it could not be measured
	Score   float64  `json:"score"`  // from 0 to 1; 0 if it could not be measured
}

// Objective is one measure of a run for searches that weigh nothing.
type Objective struct {
	Name   string   `json:"name"`
	Value  *float64 `json:"value"`  // null: it could not be measured
	Better string   `json:"better"` // higher or lower
	Unit   string   `json:"unit"`
}

// usualObjectives are the objectives of a run without weights: always the same,
// so that runs are comparable. Each pulls another way than the others.
var usualObjectives = []string{"throughput", "p99_ttft", "p99_tpot", "p99_e2e", "slo_attainment", "jain", "replica_hours"}

// measureAliases are other names of measures: the key that users of the public
// simulator type, and keys of results.
var measureAliases = map[string]string{
	"tokens_per_sec":    "tokens_per_second",
	"responses_per_sec": "throughput",
	"jain_index":        "jain",
}

// FindMeasure is the measure of that name or alias. The error names the nearest
// one.
func FindMeasure(name string) (Measure, error) {
	wanted := name
	if full, ok := measureAliases[name]; ok {
		wanted = full
	}
	var names []string
	for i := range measures {
		if measures[i].Name == wanted {
			return measures[i], nil
		}
		names = append(names, measures[i].Name)
	}
	return Measure{}, fmt.Errorf("unknown measure %q%s (docs/metrics.md lists them)", name, suggest.Hint(name, names))
}

// ParseFitness reads "throughput:0.5,p99_ttft@200ms:0.3": measures with
// weights, some of them with targets, in any order. Weights are finite numbers
// from 0, not all of them 0. Targets are durations for latencies, from above 0
// to 1 for shares, and numbers above 0 for the rest. The error names the term
// that is wrong. No text is no weights.
func ParseFitness(text string) (Fitness, error) {
	var f Fitness
	if text == "" {
		return f, nil
	}
	sum := 0.0
	for item := range strings.SplitSeq(text, ",") {
		term, err := parseTerm(strings.TrimSpace(item))
		if err != nil {
			return Fitness{}, err
		}
		for i := range f.Terms {
			if f.Terms[i].Measure.Name == term.Measure.Name {
				return Fitness{}, fmt.Errorf("%s is given twice, want it once", term.Measure.Name)
			}
		}
		f.Terms = append(f.Terms, term)
		sum += term.Weight
	}
	switch {
	case sum == 0:
		return Fitness{}, fmt.Errorf("%q: all weights are 0, want one above it", text)
	case math.IsInf(sum, 0):
		return Fitness{}, fmt.Errorf("%q: the sum of the weights is no finite number", text)
	}
	return f, nil
}

// parseTerm reads "measure:weight" or "measure@target:weight".
func parseTerm(item string) (FitnessTerm, error) {
	var t FitnessTerm
	at := strings.LastIndex(item, ":")
	if at < 0 {
		return t, fmt.Errorf("%q has no weight, want measure:weight or measure@target:weight, as throughput:0.5", item)
	}
	name, target, targeted := strings.Cut(item[:at], "@")
	var err error
	if t.Measure, err = FindMeasure(strings.TrimSpace(name)); err != nil {
		return t, err
	}
	weight := strings.TrimSpace(item[at+1:])
	t.Weight, err = strconv.ParseFloat(weight, 64)
	if err != nil || math.IsNaN(t.Weight) || math.IsInf(t.Weight, 0) || math.Signbit(t.Weight) {
		hint := ""
		if strings.Contains(weight, "@") {
			hint = "; a target stands before the colon"
		}
		return t, fmt.Errorf("%s: weight %q, want a finite number from 0%s", t.Measure.Name, weight, hint)
	}
	if targeted {
		t.Target, err = t.Measure.parseTarget(strings.TrimSpace(target))
	}
	return t, err
}

// parseTarget reads a target of m, in its unit.
func (m *Measure) parseTarget(text string) (float64, error) {
	if m.Kind == Latency {
		d, err := vtime.ParseDuration(text)
		if err != nil || d < 1 {
			return 0, fmt.Errorf("%s: target %q, want a duration like 200ms, or microseconds, at least 1", m.Name, text)
		}
		return float64(d), nil
	}
	most, want := math.MaxFloat64, "a finite number above 0"
	if m.Kind == Share {
		most, want = 1, "a share above 0, at most 1"
	}
	target, err := strconv.ParseFloat(text, 64)
	if err != nil || !(target > 0 && target <= most) {
		return 0, fmt.Errorf("%s: target %q, want %s", m.Name, text, want)
	}
	return target, nil
}

// Of is the fitness of a run; nil when nothing is weighed.
func (f *Fitness) Of(run *RunFigures) *FitnessScore {
	if len(f.Terms) == 0 {
		return nil
	}
	s := &FitnessScore{}
	for i := range f.Terms {
		t := &f.Terms[i]
		term := TermScore{Measure: t.Measure.Name, Unit: t.Measure.Unit, Weight: t.Weight, Value: t.Measure.Of(run)}
		if t.Target > 0 {
			term.Target = &t.Target
		}
		if term.Value != nil {
			term.Score = t.Measure.score(*term.Value, t.Target)
		}
		s.Score += float64(term.Weight * term.Score)
		s.Terms = append(s.Terms, term)
	}
	return s
}

// score brings a value of m, at least 0, into [0, 1]. At the target, or without
// one at Half, it is ½ for all but shares, which are their own score up to the
// target. All shares are better when higher.
func (m *Measure) score(value, target float64) float64 {
	half := m.Half
	if target > 0 {
		half = target
	}
	switch {
	case m.Kind == Share && target > 0:
		return min(1, value/target)
	case m.Kind == Share:
		return value
	case m.Better == Higher:
		return value / (value + half)
	}
	return 1 / (1 + value/half)
}

// Objectives are the measures that are weighed, with weight 0 too, each on its
// own; without weights a set that is always the same.
func (f *Fitness) Objectives(run *RunFigures) []Objective {
	var list []Objective
	add := func(m *Measure) {
		list = append(list, Objective{m.Name, m.Of(run), m.Better.String(), m.Unit})
	}
	for i := range f.Terms {
		add(&f.Terms[i].Measure)
	}
	if len(f.Terms) > 0 {
		return list
	}
	for _, name := range usualObjectives {
		m, err := FindMeasure(name)
		if err != nil {
			panic(err) // a list of ours
		}
		add(&m)
	}
	return list
}
