package spec

import (
	"fmt"
	"slices"
	"strings"

	"blis/vtime"
	"blis/workload/draw"
	"blis/workload/traffic"
	"blis/yamldoc"
)

// maxTokens is the longest prompt or answer a specification may ask for, and
// the bound of distributions without a max of their own: ten times the longest
// context there is.
const maxTokens = 10_000_000

// maxDelay bounds delays in the same way: a year.
const maxDelay = 365 * 24 * vtime.Hour

// measure is what a distribution is about.
type measure struct {
	unit     string
	least    float64 // smallest value that makes sense
	usual    float64 // lower bound where min is not given
	most     float64
	duration bool // values are durations; in µs
}

var (
	inputTokens  = measure{"tokens", 1, 1, maxTokens, false}
	outputTokens = measure{"tokens", 0, 1, maxTokens, false}
	rounds       = measure{"rounds", 1, 1, 100_000, false}
	counts       = measure{"calls", 0, 0, 100_000, false}
	delays       = measure{"µs", 0, 0, float64(maxDelay), true}
	pauses       = measure{"µs", float64(traffic.LeastPause), float64(traffic.LeastPause), float64(maxDelay), true}
)

// parameter is one of a distribution. Scaled ones have the unit of what is
// drawn and grow with it.
type parameter struct {
	name        string
	least, most float64 // of those that are not scaled
	scaled      bool
}

// family is a type of distribution.
type family struct {
	name   string
	params [][]parameter // alternatives
}

var families = []family{
	{"constant", [][]parameter{{{name: "value", scaled: true}}}},
	{"gaussian", [][]parameter{{{name: "mean", scaled: true}, {name: "std_dev", scaled: true}}}},
	{"exponential", [][]parameter{{{name: "mean", scaled: true}}}},
	{"lognormal", [][]parameter{
		{{name: "mu", least: -50, most: 50}, {name: "sigma", least: 0, most: 10}},
		{{name: "mean", scaled: true}, {name: "cv", least: draw.MinCV, most: draw.MaxCV}},
	}},
	{"pareto_lognormal", [][]parameter{{
		{name: "alpha", least: 0.05, most: 1000}, {name: "xm", scaled: true}, {name: "mu", least: -50, most: 50},
		{name: "sigma", least: 0, most: 10}, {name: "mix_weight", least: 0, most: 1},
	}}},
	{"zipf", [][]parameter{{{name: "s", least: 0, most: 20}, {name: "n", least: 1, most: 100_000}}}},
	{"uniform", [][]parameter{{}}},
	{"empirical", [][]parameter{{}}},
}

// distribution is one as the specification gives it.
type distribution struct {
	place
	family string
	form   int       // which of the family's alternatives
	params []float64 // in the family's order

	min, max        given[float64]
	values, weights []float64 // empirical, values rising
	file            given[string]
	measure         measure

	origin *distribution // what this is factor times of; nil: nothing
	factor float64
}

// constantOf is the distribution of one value.
func constantOf(at place, m measure, value float64) *distribution {
	return &distribution{place: at, family: "constant", params: []float64{value}, measure: m}
}

// distribution reads {type, params, file}, nil when it is not given.
func (o *object) distribution(name string, m measure) *distribution {
	v, at := o.get(name)
	if v == nil {
		return nil
	}
	return o.readDistribution(v, at, m)
}

// quantity reads a plain value, or a distribution; nil when it is not given.
func (o *object) quantity(name string, m measure) *distribution {
	v, at := o.get(name)
	switch {
	case v == nil:
		return nil
	case v.Kind == yamldoc.Mapping:
		return o.readDistribution(v, at, m)
	}
	return constantOf(at, m, o.scaled(v, at, m, m.least))
}

func (f *faults) readDistribution(v *yamldoc.Node, at place, m measure) *distribution {
	o := f.object(v, at, []string{"type", "params", "file"})
	names := make([]string, len(families))
	for i := range families {
		names[i] = families[i].name
	}
	d := &distribution{place: at, measure: m}
	kind := o.choice("type", names...)
	if !kind.set {
		o.fail(kind.place, "not given, want one of %s", strings.Join(names, ", "))
		return d
	}
	d.family = kind.value
	d.file = o.path("file", "the path of a file of values")
	if d.file.set && d.family != "empirical" {
		o.fail(d.file.place, "%q: want it with type empirical only", d.file.value)
	}
	params, where := o.get("params")
	if d.family == "empirical" {
		d.readEmpirical(f, params, where)
		return d
	}
	d.readParams(f, params, where, &families[slices.Index(names, d.family)])
	return d
}

// readParams reads the parameters of the form that the names given belong to.
func (d *distribution) readParams(f *faults, v *yamldoc.Node, at place, of *family) {
	var known []string
	for _, form := range of.params {
		for _, p := range form {
			known = append(known, p.name)
		}
	}
	o := f.object(v, at, append(known, "min", "max"))
	for i, form := range of.params[1:] {
		if o.has(form[0].name) || o.has(form[len(form)-1].name) {
			d.form = i + 1
		}
	}
	for i, form := range of.params {
		for _, p := range form {
			if value, where := o.get(p.name); i != d.form && value != nil {
				f.fail(where, "%s: want either %s or %s", value.Describe(), names(of.params[0]), names(of.params[1]))
			}
		}
	}
	for _, p := range of.params[d.form] {
		value, where := o.get(p.name)
		switch {
		case value == nil:
			f.fail(where, "not given, want %s with type %s", names(of.params[d.form]), d.family)
		case p.scaled:
			least := 0.0
			switch {
			case p.name == "value":
				least = d.measure.least
			case p.name != "std_dev" && !(p.name == "mean" && d.family == "gaussian"):
				least = positive
			}
			d.params = append(d.params, o.scaled(value, where, d.measure, least))
		case p.name == "n":
			d.params = append(d.params, float64(o.whole("n", 1, int64(p.most), "a whole number from 1 to 100000").value))
		default:
			d.params = append(d.params, f.parseNumber(value, where, p.least, p.most, fmt.Sprintf("a number from %v to %v", p.least, p.most)))
		}
	}
	d.readBounds(f, &o)
}

func names(form []parameter) string {
	list := make([]string, len(form))
	for i := range form {
		list[i] = form[i].name
	}
	return strings.Join(list, " and ")
}

// readBounds reads min and max, which a uniform distribution must have.
func (d *distribution) readBounds(f *faults, o *object) {
	bound := func(name string) given[float64] {
		v, at := o.get(name)
		if v == nil {
			if d.family == "uniform" {
				f.fail(at, "not given, want min and max with type uniform")
			}
			return given[float64]{place: at}
		}
		return given[float64]{at, o.scaled(v, at, d.measure, d.measure.least), true}
	}
	d.min, d.max = bound("min"), bound("max")
	if d.max.set && d.max.value < d.min.or(d.measure.least) {
		f.fail(d.max.place, "%v: want at least min %v", d.max.value, d.min.or(d.measure.least))
	}
	if d.family == "zipf" && d.measure.duration {
		f.fail(d.place, "zipf is not for durations, want exponential, lognormal or another")
	}
}

// scaled reads a value in the unit of the measure.
func (f *faults) scaled(v *yamldoc.Node, at place, m measure, least float64) float64 {
	if !m.duration {
		return f.parseNumber(v, at, least, m.most, fmt.Sprintf("a number %s to %.0f %s", from(least), m.most, m.unit))
	}
	d := float64(f.parseDuration(v, at))
	if d < least || d > m.most {
		lowest := from(least)
		if least >= 1 {
			lowest = fmt.Sprintf("from %v", vtime.Duration(least))
		}
		f.fail(at, "%s: want a duration %s to %v", v.Describe(), lowest, maxDelay)
	}
	return d
}

func from(least float64) string {
	if least == positive {
		return "above 0 up"
	}
	return fmt.Sprintf("from %v", least)
}

// readEmpirical reads a mapping from value to weight, unless a file has it.
func (d *distribution) readEmpirical(f *faults, v *yamldoc.Node, at place) {
	if d.file.set {
		if v != nil {
			f.fail(at, "given beside file, want one of them")
		}
		return
	}
	if v == nil || v.Kind != yamldoc.Mapping || len(v.Members) == 0 {
		f.fail(at, "want a mapping from value to weight, like {100: 0.7, 2000: 0.3}, or a file")
		return
	}
	for _, m := range v.Members {
		here := at.Within(m.Name, m.Line)
		value := f.scaled(yamldoc.Word(m.Name, m.Line), here, d.measure, d.measure.least)
		d.add(value, f.parseNumber(m.Value, here, 0, 1e300, "a weight from 0"))
	}
	d.finish(f, at)
}

func (d *distribution) add(value, weight float64) {
	d.values, d.weights = append(d.values, value), append(d.weights, weight)
}

// finish puts the values in order, whose weights must not all be 0.
func (d *distribution) finish(f *faults, at place) {
	order := make([]int, len(d.values))
	sum := 0.0
	for i := range order {
		order[i] = i
		sum += d.weights[i]
	}
	if !(sum > 0 && sum <= 1e300) {
		f.fail(at, "the weights add up to %v, want more than 0", sum)
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case d.values[i] < d.values[j]:
			return -1
		case d.values[i] > d.values[j]:
			return 1
		}
		return 0
	})
	values, weights := d.values, d.weights
	d.values, d.weights = nil, nil
	for _, i := range order {
		d.add(values[i], weights[i])
	}
}
