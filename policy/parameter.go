package policy

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"blis/suggest"
	"blis/vtime"
	"blis/workload"
)

// ParameterType is how the text of a parameter is read.
type ParameterType uint8

// Parameter types.
const (
	Number         ParameterType = iota // a finite decimal number within Min and Max
	Flag                                // true or false
	Choice                              // one of Choices
	Weight                              // a Number: the weight of the scorer of that name
	Duration                            // a time like 250ms or 5s; Min and Max in µs
	Count                               // a Number without a fraction
	Freshness                           // Immediate, OnDemand, or a Duration
	RandomDuration                      // a Duration, or 40s,cv=0.2: lognormal with that mean and coefficient of variation
	CountOrAuto                         // a Count, or Auto
	Triggers                            // what ParseTrigger reads
	Path                                // the path of a file whose text becomes the parameter Content, see Template.Unread
	Text                                // any text of at most MostText bytes, not empty
	Mapping                             // a mapping in YAML, kept as its text of at most MostText bytes
)

// MostText bounds a Text, in bytes.
const MostText = 64 << 10

var parameterTypes = [...]string{"number", "true|false", "choice", "weight", "duration", "count", "freshness", "duration", "count|auto", "trigger", "path", "text", "mapping"}

// Freshness of a signal without an interval.
const (
	Immediate = "immediate" // as instances publish it
	OnDemand  = "on_demand" // as it is when the router reads it
)

// LongestDuration is the Max in µs of a Duration without a bound of its own.
const LongestDuration = float64(1 << 62)

// Auto is the CountOrAuto whose number is derived.
const Auto = "auto"

// String returns the name of the type.
func (t ParameterType) String() string { return parameterTypes[t] }

// Parameter describes one parameter of a template.
type Parameter struct {
	Name     string
	Aliases  []string
	Type     ParameterType
	Default  string
	Min, Max float64 // bounds of a number or duration, inclusive; MaxFloat64: none
	Choices  []string
	Refused  map[string]string // values that a user may expect → why they are not allowed
	Quiet    bool              // Complete lists it only where it was set
	Content  string            // of a Path: the Text that takes what the file has
	Help     string
}

// Range returns the allowed values, in words.
func (p *Parameter) Range() string {
	switch {
	case p.Type == Flag:
		return "true or false"
	case p.Type == Choice:
		return strings.Join(p.Choices, " | ")
	case p.Type == Triggers:
		return triggerForms
	case p.Type == Path:
		return "the path of a file"
	case p.Type == Mapping:
		return "a mapping like {name: value}"
	case p.Type == Text:
		return fmt.Sprintf("a text of at most %d KiB", MostText>>10)
	case p.Type == RandomDuration:
		return "a duration like 40s, or 40s,cv=0.2 with cv from 0 to 10"
	case p.Type == Freshness:
		return Immediate + ", " + OnDemand + " or a duration like 50ms"
	case p.Type == CountOrAuto:
		return Auto + ", or a whole number" + fmt.Sprintf(" in [%g, %g]", p.Min, p.Max)
	case p.Type == Duration:
		return "a duration like 250ms or 5s" + p.limits()
	case p.Max == math.MaxFloat64:
		return p.noun() + " ≥ " + strconv.FormatFloat(p.Min, 'g', -1, 64)
	}
	return fmt.Sprintf("%s in [%g, %g]", p.noun(), p.Min, p.Max)
}

// noun returns what a value without words and units is.
func (p *Parameter) noun() string {
	if p.Type == Count {
		return "a whole number"
	}
	return "a number"
}

// limits returns the bounds of a duration in words, but for "not negative".
func (p *Parameter) limits() string {
	words := ""
	if p.Min > 0 {
		words += ", at least " + vtime.Duration(p.Min).String()
	}
	if p.Max < LongestDuration {
		words += ", at most " + vtime.Duration(p.Max).String()
	}
	return words
}

// Setting is a parameter as the user gave it, or a value of a tenant (see
// TenantsPrefix). Lists of settings keep the order given: the order of the scorers
// is the order of their sum.
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
	given      []int            // indices of the parameters that were set, in the order given
	open       map[string]value // tenant → its value; see Template.Open
}

// find returns the index of the parameter of that name or alias, −1 for none.
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

func (v *values) count(name string) int64             { return int64(v.number(name)) }
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
	field := t.Path(s.Name)
	if tenant, ok := TenantOf(s.Name); ok {
		return v.setOpen(t, Setting{tenant, s.Value}, field)
	}
	i := v.find(s.Name)
	if i < 0 {
		return &Error{Field: field, Problem: v.unknown(t, s.Name)}
	}
	for _, earlier := range v.given {
		if earlier == i {
			return &Error{Field: field, Problem: fmt.Sprintf("%s is given twice", v.parameters[i].Name)}
		}
	}
	parsed, ok := v.parameters[i].parse(s.Value)
	if why, refused := v.parameters[i].Refused[s.Value]; refused && !ok {
		return &Error{Field: field, Problem: why}
	}
	if !ok {
		return &Error{Field: field, Problem: fmt.Sprintf("%s is not allowed, want %s", clipped(s.Value), v.parameters[i].Range())}
	}
	v.list[i], v.given = parsed, append(v.given, i)
	return nil
}

// clipped quotes a value for a message.
func clipped(text string) string {
	const most = 200
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}

// setOpen takes a setting of a tenant into v.
func (v *values) setOpen(t *Template, s Setting, field string) error {
	if t.Open == nil {
		return &Error{Field: field, Problem: t.NoTenants()}
	}
	if _, given := v.open[s.Name]; given {
		return &Error{Field: field, Problem: fmt.Sprintf("%s is given twice", s.Name)}
	}
	parsed, ok := t.Open.parse(s.Value)
	if !ok {
		return &Error{Field: field, Problem: fmt.Sprintf("%q is not allowed, want %s", s.Value, t.Open.Range())}
	}
	if v.open == nil {
		v.open = map[string]value{}
	}
	v.open[s.Name] = parsed
	return nil
}

// unknown returns the error text for a parameter that the template does not have.
func (v *values) unknown(t *Template, name string) string {
	if len(v.parameters) == 0 {
		return t.Name + " takes no parameters"
	}
	tenants := ""
	if t.Open != nil {
		tenants = fmt.Sprintf("; settings of tenants stand beside params: %s: {%s: …}", TenantsKey, oneLine(name))
	}
	names := make([]string, len(v.parameters))
	for i := range v.parameters {
		names[i] = v.parameters[i].Name
	}
	return fmt.Sprintf("%s has no parameter %q%s (there are: %s)", t.Name, name, suggest.Hint(name, names), strings.Join(names, ", ")) + tenants
}

// IsNumber reports whether a file may write the parameter as a number without
// a unit.
func (p *Parameter) IsNumber() bool {
	return p.Type == Number || p.Type == Count || p.Type == Weight || p.Type == CountOrAuto
}

// Allows reports whether text is an allowed value.
func (p *Parameter) Allows(text string) bool {
	_, ok := p.parse(text)
	return ok
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
	if p.Type == Path || p.Type == Text || p.Type == Mapping {
		return value{text: text}, len(text) <= MostText && (text != "" || p.Default == "")
	}
	if p.Type == Triggers {
		_, err := ParseTrigger(text)
		return value{text: text}, err == nil && text != ""
	}
	if p.Type == RandomDuration {
		_, _, err := ParseRandomDuration(text)
		return value{text: text}, err == nil
	}
	if p.Type == CountOrAuto && text == Auto {
		return value{text: text}, true
	}
	if p.Type == Freshness && (text == Immediate || text == OnDemand) {
		return value{text: text}, true
	}
	if p.Type == Duration || p.Type == Freshness {
		d, err := vtime.ParseDuration(text)
		return value{text: text, duration: d}, err == nil && float64(d) >= p.Min && float64(d) <= p.Max
	}
	x, err := strconv.ParseFloat(text, 64)
	if (p.Type == Count || p.Type == CountOrAuto) && x != math.Trunc(x) {
		return value{}, false
	}
	return value{text: text, number: x}, err == nil && x >= p.Min && x <= p.Max // NaN is in no range, infinities in none of ours
}

// ParseRandomDuration reads a duration like 40s, or the mean and the coefficient
// of variation of a lognormal distribution like 40s,cv=0.2.
func ParseRandomDuration(text string) (mean vtime.Duration, cv float64, err error) {
	first, rest, varies := strings.Cut(text, ",")
	if mean, err = vtime.ParseDuration(first); err != nil || !varies {
		return mean, 0, err
	}
	number, named := strings.CutPrefix(strings.TrimSpace(rest), "cv=")
	if cv, err = strconv.ParseFloat(number, 64); err != nil || !named || !(cv >= 0 && cv <= 10) {
		return 0, 0, fmt.Errorf("%q is not a duration: want 40s, or 40s,cv=0.2 with cv from 0 to 10", text)
	}
	return mean, cv, nil
}

// byLabel maps labels of tenants or classes to what a policy makes of their names.
// It looks at a name once; from then on the label, a small number, is an index. New
// labels may appear during the run.
type byLabel[V any] struct {
	names *workload.Names // nil: nothing has a name
	value func(name string) V
	known []V // by label
}

func (b *byLabel[V]) of(label workload.Label) V {
	if int(label) < len(b.known) {
		return b.known[label]
	}
	return b.learn(label)
}

// learn computes the values up to the value of label. Without names all requests
// have label 0, which stands for no name.
func (b *byLabel[V]) learn(label workload.Label) V {
	if b.names == nil || int(label) >= b.names.Len() {
		return b.value("")
	}
	for int(label) >= len(b.known) {
		b.known = append(b.known, b.value(b.names.Name(workload.Label(len(b.known)))))
	}
	return b.known[label]
}

// tenants returns the names of tenants, nil when there are none.
func (e *Env) tenants() *workload.Names {
	if e.Labels == nil {
		return nil
	}
	return &e.Labels.Tenants
}

// classes returns the names of SLO classes, nil when there are none.
func (e *Env) classes() *workload.Names {
	if e.Labels == nil {
		return nil
	}
	return &e.Labels.Classes
}

// oneLine returns a name for a message, quoted if it does not print as it is.
func oneLine(name string) string {
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}
