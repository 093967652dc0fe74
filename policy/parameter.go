package policy

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"blis/suggest"
	"blis/vtime"
)

// ParameterType is how the text of a parameter is read.
type ParameterType uint8

// Parameter types.
const (
	Number   ParameterType = iota // a finite decimal number within Min and Max
	Flag                          // true or false
	Choice                        // one of Choices
	Weight                        // a Number: the weight of the scorer of that name
	Duration                      // a time like 250ms or 5s; Min and Max in µs
)

var parameterTypes = [...]string{"number", "true|false", "choice", "weight", "duration"}

// String is the name of the type.
func (t ParameterType) String() string { return parameterTypes[t] }

// Parameter describes one parameter of a template.
type Parameter struct {
	Name     string
	Aliases  []string
	Type     ParameterType
	Default  string
	Min, Max float64 // inclusive, of a Number, Weight or Duration; MaxFloat64 is no bound
	Choices  []string
	Help     string
}

// Range says which values are allowed, in words.
func (p *Parameter) Range() string {
	switch {
	case p.Type == Flag:
		return "true or false"
	case p.Type == Choice:
		return strings.Join(p.Choices, " | ")
	case p.Type == Duration && p.Min == 0:
		return "a duration like 250ms or 5s"
	case p.Type == Duration:
		return "a duration like 250ms or 5s, at least " + vtime.Duration(p.Min).String()
	case p.Max == math.MaxFloat64:
		return "a number ≥ " + strconv.FormatFloat(p.Min, 'g', -1, 64)
	}
	return fmt.Sprintf("a number in [%g, %g]", p.Min, p.Max)
}

// Setting is a parameter as the user gave it, in the order given: the order
// of the scorers is the order of their sum.
type Setting struct{ Name, Value string }

// value is a parameter's value in the form of its type.
type value struct {
	text     string
	number   float64
	flag     bool
	duration vtime.Duration
}

// values holds one value for each parameter of a template.
type values struct {
	parameters []Parameter
	list       []value
	given      []int   // indices of those that were set, in the order given
	open       []named // settings of names that the template leaves open, in the order given
}

// named is the value of a name that the template leaves open.
type named struct {
	name string
	value
}

// find is the index of the parameter of that name or alias, −1 for none.
func (v *values) find(name string) int {
	for i := range v.parameters {
		p := &v.parameters[i]
		if p.Name == name {
			return i
		}
		for _, alias := range p.Aliases {
			if alias == name {
				return i
			}
		}
	}
	return -1
}

func (v *values) number(name string) float64 { return v.list[v.find(name)].number }
func (v *values) flag(name string) bool      { return v.list[v.find(name)].flag }
func (v *values) choice(name string) string  { return v.list[v.find(name)].text }

func (v *values) duration(name string) vtime.Duration { return v.list[v.find(name)].duration }

// resolve checks settings and completes them with defaults.
func (t *Template) resolve(settings []Setting) (values, error) {
	v := values{parameters: t.Parameters, list: make([]value, len(t.Parameters))}
	for i := range t.Parameters {
		parsed, ok := t.Parameters[i].parse(t.Parameters[i].Default)
		if !ok {
			panic("policy: bad default of " + t.Name + " " + t.Parameters[i].Name)
		}
		v.list[i] = parsed
	}
	for _, s := range settings {
		if err := v.set(t, s); err != nil {
			return values{}, err
		}
	}
	return v, nil
}

// set takes one setting into v.
func (v *values) set(t *Template, s Setting) error {
	field := string(t.Kind) + ".params." + s.Name
	i := v.find(s.Name)
	if i < 0 && t.Open != nil {
		return v.setOpen(t, s, field)
	}
	if i < 0 {
		return &Error{Field: field, Problem: v.unknown(t, s.Name)}
	}
	for _, earlier := range v.given {
		if earlier == i {
			return &Error{Field: field, Problem: fmt.Sprintf("%s is given twice", v.parameters[i].Name)}
		}
	}
	parsed, ok := v.parameters[i].parse(s.Value)
	if !ok {
		return &Error{Field: field, Problem: fmt.Sprintf("%q is not allowed, want %s", s.Value, v.parameters[i].Range())}
	}
	v.list[i], v.given = parsed, append(v.given, i)
	return nil
}

// setOpen takes a setting whose name the template leaves open.
func (v *values) setOpen(t *Template, s Setting, field string) error {
	for i := range v.open {
		if v.open[i].name == s.Name {
			return &Error{Field: field, Problem: fmt.Sprintf("%s is given twice", s.Name)}
		}
	}
	parsed, ok := t.Open.parse(s.Value)
	if !ok {
		return &Error{Field: field, Problem: fmt.Sprintf("%q is not allowed, want %s", s.Value, t.Open.Range())}
	}
	v.open = append(v.open, named{s.Name, parsed})
	return nil
}

// unknown words the error for a parameter that the template does not have.
func (v *values) unknown(t *Template, name string) string {
	if len(v.parameters) == 0 {
		return t.Name + " takes no parameters"
	}
	names := make([]string, len(v.parameters))
	for i := range v.parameters {
		names[i] = v.parameters[i].Name
	}
	return fmt.Sprintf("%s has no parameter %q, the nearest is %q (there are: %s)", t.Name, name, suggest.Nearest(name, names), strings.Join(names, ", "))
}

// parse reads text as a value of p and reports whether it is allowed.
func (p *Parameter) parse(text string) (value, bool) {
	switch p.Type {
	case Flag:
		return value{text: text, flag: text == "true"}, text == "true" || text == "false"
	case Choice:
		for _, choice := range p.Choices {
			if choice == text {
				return value{text: text}, true
			}
		}
		return value{}, false
	}
	if p.Type == Duration {
		d, err := vtime.ParseDuration(text)
		return value{text: text, duration: d}, err == nil && float64(d) >= p.Min && float64(d) <= p.Max
	}
	x, err := strconv.ParseFloat(text, 64)
	return value{text: text, number: x}, err == nil && x >= p.Min && x <= p.Max // NaN is in no range, infinities in none of ours
}
