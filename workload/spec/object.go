package spec

import (
	"math"
	"slices"
	"strings"

	"blis/vtime"
	"blis/workload"
	"blis/yamldoc"
)

// given is a field of a specification: its value, whether it was given, and
// where it stands (where it would, if it was not).
type given[T any] struct {
	place
	value T
	set   bool
}

// or is the value, or another if it was not given.
func (g given[T]) or(other T) T {
	if g.set {
		return g.value
	}
	return other
}

// object reads the fields of a mapping.
type object struct {
	*faults
	place
	members []yamldoc.Member
}

// object is the mapping v, whose fields are those known; a nil or null v has
// none of them.
func (f *faults) object(v *yamldoc.Node, at place, known []string) object {
	o := object{f, at, nil}
	if v == nil || v.Kind == yamldoc.Null {
		return o
	}
	if v.Kind != yamldoc.Mapping {
		f.fail(at, "%s is not allowed, want a mapping of %s", v.Describe(), strings.Join(known, ", "))
		return o
	}
	o.members = v.Members
	for _, m := range v.Members {
		if !slices.Contains(known, m.Name) {
			f.fail(at.Within(m.Name, m.Line), "%s", yamldoc.Unknown("field", m.Name, known))
		}
	}
	return o
}

// get is the value of a field, nil when it is not given. null is like not
// given.
func (o *object) get(name string) (*yamldoc.Node, place) {
	for i := range o.members {
		if m := &o.members[i]; m.Name == name {
			if m.Value.Kind == yamldoc.Null {
				return nil, o.Within(name, m.Line)
			}
			return m.Value, o.Within(name, m.Line)
		}
	}
	return nil, o.Within(name, o.Line)
}

// has reports whether a field is given.
func (o *object) has(name string) bool {
	v, _ := o.get(name)
	return v != nil
}

// items are the values of a list, nil when it is not given.
func (o *object) items(name, of string) ([]*yamldoc.Node, place) {
	v, at := o.get(name)
	if v != nil && v.Kind != yamldoc.List {
		o.fail(at, "%s is not allowed, want a list of %s", v.Describe(), of)
		return nil, at
	}
	if v == nil {
		return nil, at
	}
	return v.Items, at
}

// maxString is the longest name, in bytes.
const maxString = 256

// text is a name or a path.
func (o *object) text(name, want string) given[string] {
	v, at := o.get(name)
	if v == nil {
		return given[string]{place: at}
	}
	switch {
	case v.Kind == yamldoc.List || v.Kind == yamldoc.Mapping:
		o.fail(at, "%s is not allowed, want %s", v.Describe(), want)
	case len(v.Text) > maxString:
		o.fail(at, "%q is not allowed, want at most %d bytes", yamldoc.Clip(v.Text), maxString)
	case yamldoc.OneLine(v.Text) != v.Text:
		o.fail(at, "%q is not allowed, want printable characters", yamldoc.Clip(v.Text))
	}
	return given[string]{at, v.Text, v.Text != ""}
}

// path is text that names a file or a folder.
func (o *object) path(name, want string) given[string] {
	g := o.text(name, want)
	if g.set {
		o.named = append(o.named, g.value)
	}
	return g
}

// choice is one of some words.
func (o *object) choice(name string, words ...string) given[string] {
	g := o.text(name, "one of "+strings.Join(words, ", "))
	if g.set && !slices.Contains(words, g.value) {
		o.fail(g.place, "%s", yamldoc.Unknown("value", g.value, words))
		return given[string]{place: g.place}
	}
	return g
}

// flag is true or false.
func (o *object) flag(name string) given[bool] {
	v, at := o.get(name)
	if v == nil {
		return given[bool]{place: at}
	}
	if v.Kind != yamldoc.Bool {
		o.fail(at, "%s is not allowed, want true or false", v.Describe())
	}
	return given[bool]{at, v.Text == "true", true}
}

// positive is the smallest value of a number that must be above 0.
const positive = math.SmallestNonzeroFloat64

// number is a finite number from least to most; want says so.
func (o *object) number(name string, least, most float64, want string) given[float64] {
	v, at := o.get(name)
	if v == nil {
		return given[float64]{place: at}
	}
	return given[float64]{at, o.parseNumber(v, at, least, most, want), true}
}

// parseNumber reads one value.
func (f *faults) parseNumber(v *yamldoc.Node, at place, least, most float64, want string) float64 {
	x, ok := v.Float()
	if !ok || !(x >= least && x <= most) || math.IsInf(x, 0) {
		f.fail(at, "%s: want %s", v.Describe(), want)
		return least
	}
	return x
}

// whole is a whole number from least to most; want says so.
func (o *object) whole(name string, least, most int64, want string) given[int64] {
	v, at := o.get(name)
	if v == nil {
		return given[int64]{place: at}
	}
	n, ok := v.Whole()
	if !ok || n < least || n > most {
		o.fail(at, "%s: want %s", v.Describe(), want)
		n = least
	}
	return given[int64]{at, n, true}
}

// durationWant is what a duration should have been.
const durationWant = "a duration like 50ms, 1.5s or 2h, or a number of microseconds, not negative"

// duration reads 50ms, 1.5s or a number of µs, from 0.
func (o *object) duration(name string) given[vtime.Duration] {
	v, at := o.get(name)
	if v == nil {
		return given[vtime.Duration]{place: at}
	}
	return given[vtime.Duration]{at, o.parseDuration(v, at), true}
}

// longDuration is duration, above 0.
func (o *object) longDuration(name string) given[vtime.Duration] {
	d := o.duration(name)
	if d.set && d.value == 0 {
		o.fail(d.place, "0: want a duration above 0, like 50ms or 1.5s")
	}
	return d
}

// parseDuration reads one value.
func (f *faults) parseDuration(v *yamldoc.Node, at place) vtime.Duration {
	if v.Kind == yamldoc.Number || v.Kind == yamldoc.String {
		if d, err := vtime.ParseDuration(v.Text); err == nil && vtime.Time(d) <= workload.Latest {
			return d
		}
	}
	f.fail(at, "%s: want %s", v.Describe(), durationWant)
	return 0
}
