package study

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"blis/setup"
	"blis/study/pointlog"
)

// SweepView is what the points of a sweep gave, replicates together.
type SweepView struct {
	Axes     []string
	Measures []Measure
	Groups   []SweepGroup // points without their seeds, in the order of the sweep
	Ended    int          // groups with an ok row, those included that are not kept
	Repeated bool         // a group has more than one ok row
	Effects  []AxisEffect
	Counts   map[pointlog.Status]int
	Reasons  []Refusals // why points were refused or failed, the most frequent first

	// Models are the latency models of the rows: measures of two do not compare.
	Models     []string
	Objectives []Measure // of the Pareto front
	Points     int64     // that the sweep has; 0: not known
	Error      string    // what is known of the error of the latency model, in words
	Confidence float64   // of intervals

	// Keep bounds the memory, of views without objectives.
	Keep ViewLimits

	where   *expression
	samples [][]float64 // of the last group, by measure
	sums    []effectSums
}

// ViewLimits are how much of a view is kept; 0: all. What is not counts all the same.
type ViewLimits struct {
	Groups int // the first of those with an ok row
	Values int // of an axis in Effects; with more than that it has one more, and they are not complete
}

// SweepGroup is the replicates of a combination of values.
type SweepGroup struct {
	Index       int64 // of the first point
	Coordinates []pointlog.Coordinate
	OK, Failed  int // rows; refused ones count as failed
	Model       string
	Estimates   []SweepEstimate // of each measure
	Front       bool            // no other group is better in one objective and as good in all
}

// SweepEstimate is a measure over replicates, a latency in ms as in the rows.
type SweepEstimate struct {
	Mean *float64 // nil: no replicate has a value
	Half *float64 // of the interval: mean ± half; nil: one replicate has none
}

// AxisEffect is how a measure depends on one axis, whatever the others are.
type AxisEffect struct {
	Axis   string
	Values []EffectValue
}

// EffectValue is the mean over the groups with a value on an axis.
type EffectValue struct {
	Value  string
	Groups int
	Means  []*float64 // of each measure
}

// NewSweepView is a view with these measures. Names that are nil are those by which runs
// of the base are judged. Where keeps groups: it knows the axes, the measures and status.
// Its errors are an *setup.InputError.
func NewSweepView(s *Sweep, measures, objectives []string, where string) (*SweepView, error) {
	v := &SweepView{Counts: map[pointlog.Status]int{}, Confidence: DefaultConfidence}
	for i := range s.Axes {
		v.Axes = append(v.Axes, s.Axes[i].Name)
	}
	if measures == nil {
		measures = usualMeasures(&s.Base, false)
	}
	for _, name := range objectives {
		if !slices.Contains(measures, name) {
			measures = append(slices.Clip(measures), name)
		}
	}
	var err error
	if v.Measures, err = SelectMeasures("--measures", measures); err != nil {
		return nil, err
	}
	if objectives != nil {
		if v.Objectives, err = SelectMeasures("--pareto", objectives); err != nil {
			return nil, err
		}
	}
	if strings.TrimSpace(where) == "" {
		return v, nil
	}
	names := []string{"status"}
	for _, a := range v.Axes {
		names = append(names, identifier(a))
	}
	for _, m := range Measures() {
		names = append(names, m.Name)
	}
	x, problem := compile(where, names, "an axis, a measure or status")
	if problem != "" {
		return nil, &setup.InputError{Text: "--where: " + problem}
	}
	v.where = &x
	return v, nil
}

// Add takes a row. Rows of a combination come together.
func (v *SweepView) Add(r *pointlog.Row) error {
	if v.where != nil {
		kept, problem, err := v.where.holds(func(name string) (starlark.Value, error) { return rowValue(r, name) })
		if problem != "" {
			return &setup.InputError{Text: fmt.Sprintf("--where: %s (at point %d)", problem, r.Index)}
		}
		if err != nil || !kept {
			return err
		}
	}
	v.Counts[r.Status]++
	g := v.group(r)
	if r.Status != pointlog.OK {
		g.Failed++
		v.reason(r)
		return nil
	}
	g.OK++
	g.Model = strings.TrimSpace(r.LatencyModel + " " + r.CoefficientSet)
	if !slices.Contains(v.Models, g.Model) {
		v.Models = append(v.Models, g.Model)
	}
	for _, m := range r.Measures {
		i := slices.IndexFunc(v.Measures, func(x Measure) bool { return x.Name == m.Name })
		if i >= 0 && m.Value != nil {
			v.samples[i] = append(v.samples[i], *m.Value)
		}
	}
	return nil
}

// group is the group of a row: the last one, or a new one.
func (v *SweepView) group(r *pointlog.Row) *SweepGroup {
	if n := len(v.Groups); n > 0 && sameCoordinates(v.Groups[n-1].Coordinates, r.Axes) {
		return &v.Groups[n-1]
	}
	v.closeGroup()
	v.Groups = append(v.Groups, SweepGroup{Index: r.Index, Coordinates: r.Axes})
	return &v.Groups[len(v.Groups)-1]
}

// closeGroup computes the estimates of the last group, which has all its rows.
func (v *SweepView) closeGroup() {
	if v.samples == nil { // there is none
		v.samples, v.sums = make([][]float64, len(v.Measures)), make([]effectSums, len(v.Axes))
		return
	}
	g := &v.Groups[len(v.Groups)-1]
	for m, samples := range v.samples {
		var e SweepEstimate
		if len(samples) > 0 {
			est := estimate(samples, v.Confidence)
			e.Mean, e.Half = &est.mean, est.half
		}
		g.Estimates = append(g.Estimates, e)
		v.samples[m] = samples[:0]
	}
	for k := range v.sums {
		v.sums[k].add(g, k, v.Keep.Values)
	}
	v.Repeated = v.Repeated || g.OK > 1
	if g.OK > 0 {
		v.Ended++
	}
	if v.Keep.Groups > 0 && len(v.Objectives) == 0 && (g.OK == 0 || v.Ended > v.Keep.Groups) {
		v.Groups = v.Groups[:len(v.Groups)-1]
	}
}

func sameCoordinates(a, b []pointlog.Coordinate) bool {
	return slices.EqualFunc(a, b, func(x, y pointlog.Coordinate) bool {
		return x.Axis == y.Axis && string(x.Value) == string(y.Value)
	})
}

// reason counts why points have no result.
func (v *SweepView) reason(r *pointlog.Row) {
	for i := range v.Reasons {
		if v.Reasons[i].Reason == r.Error {
			v.Reasons[i].Points++
			return
		}
	}
	const most = 1000 // of a million other ones nobody reads more
	if len(v.Reasons) < most {
		v.Reasons = append(v.Reasons, Refusals{r.Error, 1, r.Index})
	}
}

// rowValue is what a name stands for in a row.
func rowValue(r *pointlog.Row, name string) (starlark.Value, error) {
	if name == "status" {
		return starlark.String(r.Status), nil
	}
	for _, c := range r.Axes {
		if identifier(c.Axis) == name {
			return jsonScalar(c.Value)
		}
	}
	for _, m := range r.Measures {
		if m.Name == name && m.Value != nil {
			return starlark.Float(*m.Value), nil
		}
	}
	return starlark.None, nil
}

// Finish computes what is shown, after the last row.
func (v *SweepView) Finish() {
	v.closeGroup()
	for k := range v.Axes {
		e := v.sums[k].effect(v.Axes[k])
		e.sort()
		v.Effects = append(v.Effects, e)
	}
	slices.SortStableFunc(v.Reasons, func(a, b Refusals) int { return int(b.Points - a.Points) })
	v.findFront()
}

// effectSums are the sums of which the effect of an axis is made.
type effectSums struct {
	places map[string]int // value → place in values
	values []valueSums
}

// valueSums are the sums over the groups with one value.
type valueSums struct {
	value  string
	groups int
	sums   []float64 // of means, by measure
	counts []int     // groups with a mean, by measure
}

// add takes a group with its estimates. Of at most one value more than most (0: any
// number) something is kept.
func (e *effectSums) add(g *SweepGroup, axis, most int) {
	value := strings.Trim(string(g.Coordinates[axis].Value), `"`)
	at, known := e.places[value]
	if !known {
		if most > 0 && len(e.values) > most {
			return
		}
		if e.places == nil {
			e.places = map[string]int{}
		}
		at = len(e.values)
		e.places[value] = at
		e.values = append(e.values, valueSums{value, 0, make([]float64, len(g.Estimates)), make([]int, len(g.Estimates))})
	}
	v := &e.values[at]
	v.groups++
	for m := range g.Estimates {
		if mean := g.Estimates[m].Mean; mean != nil {
			v.sums[m] += *mean
			v.counts[m]++
		}
	}
}

// effect is the effect of the axis, whatever the others are.
func (e *effectSums) effect(axis string) AxisEffect {
	effect := AxisEffect{Axis: axis}
	for _, v := range e.values {
		one := EffectValue{Value: v.value, Groups: v.groups}
		for m, n := range v.counts {
			var mean *float64
			if n > 0 {
				mean = new(v.sums[m] / float64(n))
			}
			one.Means = append(one.Means, mean)
		}
		effect.Values = append(effect.Values, one)
	}
	return effect
}

// sort puts numbers in their order; labels stay in that of the sweep.
func (e *AxisEffect) sort() {
	numbers := make(map[string]float64, len(e.Values))
	for _, v := range e.Values {
		x, err := strconv.ParseFloat(v.Value, 64)
		if err != nil {
			return
		}
		numbers[v.Value] = x
	}
	slices.SortStableFunc(e.Values, func(a, b EffectValue) int { return cmp.Compare(numbers[a.Value], numbers[b.Value]) })
}

// findFront marks the groups that no other dominates over the objectives. The front is
// kept while groups come by, so that most are compared with few.
func (v *SweepView) findFront() {
	var places []int
	for _, o := range v.Objectives {
		places = append(places, slices.IndexFunc(v.Measures, func(m Measure) bool { return m.Name == o.Name }))
	}
	if len(places) == 0 {
		return
	}
	var front []int
	for i := range v.Groups {
		if v.Groups[i].OK == 0 || slices.ContainsFunc(front, func(f int) bool { return v.dominates(f, i, places) }) {
			continue
		}
		front = append(slices.DeleteFunc(front, func(f int) bool { return v.dominates(i, f, places) }), i)
	}
	for _, i := range front {
		v.Groups[i].Front = true
	}
}

// dominates: group a is in no objective worse than b and in one better.
func (v *SweepView) dominates(a, b int, places []int) bool {
	better := false
	for _, m := range places {
		switch prefer(v.Groups[a].Estimates[m].Mean, v.Groups[b].Estimates[m].Mean, v.Measures[m].Better) {
		case 1:
			better = true
		case -1:
			return false
		}
	}
	return better
}
