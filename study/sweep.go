package study

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"blis/setup"
)

// Sweep is many runs: one configuration, some of whose settings take several values.
// Start from NewSweep.
type Sweep struct {
	Base setup.Config // its seeds are those of the first replicate
	Axes []Axis       // in their order; the last varies fastest

	// Where keeps the points for which this Starlark expression is true; empty: all. It
	// knows every setting, axis and label, with _ for - and ., and gpus, cost_per_hour
	// and kv_blocks of the point.
	Where string

	Replicates int // runs of each point, with seeds that follow each other; from 1
	Sample     Sample
	Limits     SweepLimits

	// LatencyPerPoint lets each point have the latency model that a run of it alone has.
	// Without it all have one.
	LatencyPerPoint bool
}

// NewSweep is a sweep over a full grid, one run of each point.
func NewSweep(base setup.Config, axes ...Axis) Sweep {
	return Sweep{Base: base, Axes: axes, Replicates: 1, Sample: Sample{Method: Grid}, Limits: SweepLimits{Points: DefaultPoints}}
}

// Axis is what varies: a setting, or settings that go together.
type Axis struct {
	// Name is a setting or the path of a field of the policy bundle, see
	// setup.CheckName; with Labels any other name.
	Name   string
	Labels bool // values are labels of settings that go together

	Values []AxisValue // empty: Range says what they are
	Range  *Range      // of a sample that is no grid
}

// AxisValue is a value on an axis.
type AxisValue struct {
	Value  json.RawMessage    // as results show it: a JSON string, number, true or false
	Assign []setup.Assignment // what it means
}

// Range is an interval of numbers, both ends included.
type Range struct {
	From, To float64
	Log      bool // even on a logarithmic scale; both ends above 0
	Whole    bool // whole numbers only
}

// Sample says which points of the space are run.
type Sample struct {
	Method SampleMethod
	Points int    // of a sample, before Where; none of a grid
	Seed   uint64 // of a sample
}

// SampleMethod is a way to choose points.
type SampleMethod string

// The methods. A Latin hypercube of n points cuts every axis into n slices of equal
// probability and has one point in each: McKay, Beckman and Conover, "A comparison of
// three methods for selecting values of input variables", Technometrics 21 (1979).
const (
	Grid   SampleMethod = "grid"   // every combination
	Random SampleMethod = "random" // independent draws
	LHS    SampleMethod = "lhs"    // a Latin hypercube
)

// SweepLimits bound a sweep and each of its runs.
type SweepLimits struct {
	Points int64         // most points, replicates included; a sweep with more is refused
	Wall   time.Duration // a run that takes longer has failed; 0: no limit. It depends on the machine
	Events int64         // a run of more requests and steps has failed; 0: no limit
}

// DefaultPoints is the usual limit of the number of points.
const DefaultPoints = 100_000

// mostCombinations bounds the combinations that Where chooses from.
const mostCombinations = 100_000_000

// mostReplicates bounds the runs of a point.
const mostReplicates = 10_000

// SweepError is a fault in the definition of a sweep.
type SweepError struct {
	Field   string // like where, sample.points, axes.rate
	Axis    int    // of Axes; −1: not of an axis
	Value   int    // of the axis; −1: of the axis as a whole
	Problem string
}

// Error is one line.
func (e *SweepError) Error() string { return e.Field + ": " + e.Problem }

func sweepFault(field, format string, args ...any) error {
	return &SweepError{field, -1, -1, fmt.Sprintf(format, args...)}
}

func (s *Sweep) axisFault(axis, value int, format string, args ...any) error {
	field := "axes." + s.Axes[axis].Name
	switch {
	case value >= 0 && s.Axes[axis].Labels:
		field += "." + strings.Trim(string(s.Axes[axis].Values[value].Value), `"`)
	case value >= 0:
		field += fmt.Sprintf("[%d]", value)
	}
	return &SweepError{field, axis, value, fmt.Sprintf(format, args...)}
}

// Check reports the first fault of the definition, as a *SweepError. Faults of the base
// are found by NewSweepPlan.
func (s *Sweep) Check() error {
	if s.Base.Custom.Source != nil {
		return sweepFault("base", "a custom source cannot be run more than once: want a workload that the settings name")
	}
	if s.Replicates < 1 || s.Replicates > mostReplicates {
		return sweepFault("replicates", "%d: want 1 to %d", s.Replicates, mostReplicates)
	}
	if err := s.checkSample(); err != nil {
		return err
	}
	if err := s.Limits.check(); err != nil {
		return err
	}
	if len(s.Axes) == 0 {
		return sweepFault("axes", "there is none: want at least one setting with its values")
	}
	for i := range s.Axes {
		if err := s.checkAxis(i); err != nil {
			return err
		}
	}
	if err := s.checkNames(); err != nil {
		return err
	}
	_, err := s.compileWhere()
	return err
}

func (l *SweepLimits) check() error {
	switch {
	case l.Points < 1:
		return sweepFault("limits.points", "%d: want 1 or more", l.Points)
	case l.Wall < 0:
		return sweepFault("limits.wall", "%v: want 0 or more", l.Wall)
	case l.Events < 0:
		return sweepFault("limits.events", "%d: want 0 or more", l.Events)
	}
	return nil
}

func (s *Sweep) checkSample() error {
	switch s.Sample.Method {
	case Grid:
		if s.Sample.Points != 0 {
			return sweepFault("sample.points", "%d: a grid has all its points: want none, or method random or lhs", s.Sample.Points)
		}
	case Random, LHS:
		if s.Sample.Points < 1 || s.Sample.Points > mostCombinations {
			return sweepFault("sample.points", "%d: want 1 to %d", s.Sample.Points, mostCombinations)
		}
	default:
		return sweepFault("sample.method", "%q: want grid, random or lhs", s.Sample.Method)
	}
	return nil
}

func (s *Sweep) checkAxis(i int) error {
	a := &s.Axes[i]
	if a.Labels {
		if setup.CheckName(a.Name) == nil {
			return s.axisFault(i, -1, "is a setting: want another name for an axis of labels, or a list of values")
		}
	} else if err := setup.CheckName(a.Name); err != nil {
		return s.axisFault(i, -1, "%s", strings.TrimPrefix(err.Error(), a.Name+": "))
	}
	if a.Range != nil {
		return s.checkRange(i)
	}
	if len(a.Values) == 0 {
		return s.axisFault(i, -1, "has no values: want at least one")
	}
	for v := range a.Values {
		if err := s.checkValue(i, v); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sweep) checkRange(i int) error {
	r, a := s.Axes[i].Range, &s.Axes[i]
	switch {
	case len(a.Values) > 0 || a.Labels:
		return s.axisFault(i, -1, "has values and a range: want one of them")
	case s.Sample.Method == Grid:
		return s.axisFault(i, -1, "from and to alone: want step or points too, or sample with method random or lhs")
	case !(r.From < r.To) || math.IsInf(r.To-r.From, 1):
		return s.axisFault(i, -1, "from %v to %v: want finite numbers, the second above the first", r.From, r.To)
	case r.Log && r.From <= 0:
		return s.axisFault(i, -1, "from %v: want more than 0 with scale log", r.From)
	}
	for _, end := range []float64{r.From, r.To} {
		c := s.Base
		if err := c.Assign([]setup.Assignment{{Name: a.Name, Text: r.text(end)}}); err != nil {
			return s.axisFault(i, -1, "%v", err)
		}
	}
	return nil
}

// checkValue checks what can be checked of a value without the other axes: that the
// settings exist and read it. A parameter that another axis's policy has is left to the
// points.
func (s *Sweep) checkValue(i, v int) error {
	a := &s.Axes[i]
	value := &a.Values[v]
	for earlier := range v {
		if string(a.Values[earlier].Value) == string(value.Value) {
			return s.axisFault(i, v, "%s is given twice, want different values", value.Value)
		}
	}
	if len(value.Assign) == 0 {
		return s.axisFault(i, v, "sets nothing: want at least one setting")
	}
	for k, one := range value.Assign {
		if err := setup.CheckName(one.Name); err != nil {
			return s.axisFault(i, v, "%v", err)
		}
		if slices.ContainsFunc(value.Assign[:k], func(o setup.Assignment) bool { return o.Name == one.Name }) {
			return s.axisFault(i, v, "%s is given twice", one.Name)
		}
		if (one.Policies != nil) != (one.Name == setup.PoliciesSetting) {
			return s.axisFault(i, v, "%s: want a bundle for policies, and for nothing else", one.Name)
		}
		if err := checkAlone(one); err != nil {
			return s.axisFault(i, v, "%v", err)
		}
	}
	return nil
}

// checkAlone checks an assignment that needs no other.
func checkAlone(one setup.Assignment) error {
	if one.Policies != nil || strings.Contains(one.Name, ".params") || strings.Contains(one.Name, ".tenants.") || slices.Contains(setup.BundleSettings(), one.Name) {
		return nil
	}
	c := setup.DefaultConfig()
	return c.Assign([]setup.Assignment{one})
}

// checkNames refuses settings that two axes give, and names that read the same in Where.
func (s *Sweep) checkNames() error {
	given := map[string]int{} // setting → axis
	for i := range s.Axes {
		a := &s.Axes[i]
		for _, name := range a.settings() {
			if other, taken := given[name]; taken && other != i {
				return s.axisFault(i, -1, "%s is on the axis %s too: want it on one", name, s.Axes[other].Name)
			}
			given[name] = i
		}
		for _, earlier := range s.Axes[:i] {
			switch {
			case earlier.Name == a.Name:
				return s.axisFault(i, -1, "two axes have this name: want one, or another name")
			case identifier(earlier.Name) == identifier(a.Name):
				return s.axisFault(i, -1, "reads as %s in where, as does %s: want another name", identifier(a.Name), earlier.Name)
			}
		}
		if a.Labels && slices.Contains(builtins, identifier(a.Name)) {
			return s.axisFault(i, -1, "%s is what where calls a value of the point: want another name", identifier(a.Name))
		}
		if a.Labels && slices.ContainsFunc(settingNames(), func(name string) bool { return identifier(name) == identifier(a.Name) }) {
			return s.axisFault(i, -1, "reads as %s in where, as a setting does: want another name", identifier(a.Name))
		}
	}
	return nil
}

// Sets reports whether the axis gives a setting.
func (a *Axis) Sets(setting string) bool { return slices.Contains(a.settings(), setting) }

// settings are the names of all that the axis sets.
func (a *Axis) settings() []string {
	if a.Range != nil {
		return []string{a.Name}
	}
	var list []string
	for i := range a.Values {
		for _, one := range a.Values[i].Assign {
			if !slices.Contains(list, one.Name) {
				list = append(list, one.Name)
			}
		}
	}
	return list
}

// settingNames are the names of all settings.
func settingNames() []string {
	var names []string
	c := setup.DefaultConfig()
	for s := range c.Settings() {
		names = append(names, s.Name)
	}
	return names
}
