package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"blis/policy"
	"blis/suggest"
	"blis/vtime"
)

// Selection is one policy of a bundle: its type, and its parameters in the order
// given. The order of the scorers of weighted is the order of their sum.
type Selection struct {
	Type   string // empty: not given, the default of the kind holds
	Params []policy.Setting
}

// AutoscaleSelection is the autoscaler of a bundle, when it is asked, and how its
// decisions are carried out. Fields are as they were written; empty or nil: not
// given.
type AutoscaleSelection struct {
	Selection
	Interval          *vtime.Duration // between evaluations
	Min, Max, Trigger string
	Refresh           string // interval at which it sees instances; empty or 0: as of each evaluation

	Provisioning, ModelLoad, Drain, DrainTimeout               string
	WarmupDuration, WarmupCurve, WarmupPenalty, WarmupRoutable string
}

// Observability says how fresh the signals are that policies see.
type Observability struct {
	Refresh  *vtime.Duration // largest age of instance signals; 0: always fresh; nil: not given
	InFlight string          // immediate or periodic; empty: not given

	// Fresh is the freshness of single signals that instances publish.
	Fresh Freshnesses

	PrefixIndex  string          // routed or events; empty: not given
	PrefixBlocks string          // with routed: blocks remembered per instance, or Auto; empty: not given
	KVEventDelay *vtime.Duration // with events: their delay; nil: not given
}

// Freshnesses has the freshness of each signal, by its bit: policy.Immediate,
// policy.OnDemand, or the interval of its refreshes; empty: Refresh, or the default of the signal, holds.
type Freshnesses [policy.MaxSignals]string

// Of returns where the freshness of a single signal is kept.
func (f *Freshnesses) Of(s policy.Signals) *string { return &f[bits.TrailingZeros32(uint32(s))] }

// Mapping is free-form content in the order given. A value is nil, a bool, a
// json.Number, a string, a []any of values or a Mapping.
type Mapping []Entry

// Entry is one name of a Mapping with its value.
type Entry struct {
	Name  string
	Value any
}

// Bundle names the policies of a run. Fields that are not given have the zero value,
// which flags may replace and Complete replaces by the default. The zero Bundle is
// an empty file. Set on a copy does not change the original.
type Bundle struct {
	Admission, Priority, Routing, Scheduler Selection

	Autoscale     AutoscaleSelection
	Observability Observability
	Metadata      Mapping // without effect; nil: not given

	file  string
	lines map[string]int // path of a field in the file → its line
}

// section is a top-level name of a bundle: a policy, with fields beside type and
// params, or fields alone.
type section struct {
	name      string                   // for a policy its Kind
	selection func(*Bundle) *Selection // nil: not a policy
	fields    []field
}

// field is a field with a single value, which the Parameter describes.
type field struct {
	policy.Parameter
	duration func(*Bundle) **vtime.Duration // where a Duration is kept; nil: choice
	choice   func(*Bundle) *string          // where another value is kept, as it was written
}

// text returns a field that is kept as it was written. A name with dots is a path
// through mappings within the section.
func text(p policy.Parameter, kept func(*Bundle) *string) field { return field{p, nil, kept} }

// freshness returns the parameter for the freshness of a signal.
func freshness(name string) policy.Parameter {
	return policy.Parameter{Name: name, Type: policy.Freshness, Min: 1, Max: policy.LongestDuration}
}

// metadata is the section with free-form content.
const metadata = "metadata"

// observability is the section about signals. It has a field for each signal that
// instances publish, after its first fields.
const (
	observability   = "observability"
	fieldsAtTheHead = 2
)

// made is the list of sections, and the number of signals when it was made.
var made struct {
	sync.Mutex
	signals int
	list    []section
}

// sections lists the sections of a bundle in the order in which they are written. The
// list is shared and must not be changed.
func sections() []section {
	made.Lock()
	defer made.Unlock()
	if n := len(policy.SignalTable()); made.list == nil || made.signals != n { // packages register signals while a program starts
		made.signals, made.list = n, withSignals()
	}
	return made.list
}

// withSignals is fixedSections with the fields of signals.
func withSignals() []section {
	list := slices.Clone(fixedSections)
	for i := range list {
		if list[i].name == observability {
			list[i].fields = slices.Insert(slices.Clone(list[i].fields), fieldsAtTheHead, signalFields()...)
		}
	}
	return list
}

// signalFields returns the fields for the freshness of signals.
func signalFields() (list []field) {
	for _, r := range policy.SignalTable() {
		if r.Key != "" {
			list = append(list, text(freshness(r.Key), func(b *Bundle) *string { return b.Observability.Fresh.Of(r.Bit) }))
		}
	}
	return list
}

// fixedSections are the sections without the fields of signals.
var fixedSections = []section{
	{name: string(policy.AdmissionKind), selection: func(b *Bundle) *Selection { return &b.Admission }},
	{name: string(policy.PriorityKind), selection: func(b *Bundle) *Selection { return &b.Priority }},
	{name: string(policy.RoutingKind), selection: func(b *Bundle) *Selection { return &b.Routing }},
	{name: string(policy.SchedulerKind), selection: func(b *Bundle) *Selection { return &b.Scheduler }},
	{name: string(policy.AutoscaleKind), selection: func(b *Bundle) *Selection { return &b.Autoscale.Selection }, fields: []field{
		{policy.Parameter{Name: "interval", Type: policy.Duration, Max: policy.LongestDuration}, func(b *Bundle) **vtime.Duration { return &b.Autoscale.Interval }, nil},
		text(policy.Parameter{Name: "min", Type: policy.Count, Max: 1 << 20}, func(b *Bundle) *string { return &b.Autoscale.Min }),
		text(policy.Parameter{Name: "max", Type: policy.Count, Max: 1 << 20}, func(b *Bundle) *string { return &b.Autoscale.Max }),
		text(policy.Parameter{Name: "refresh", Type: policy.Duration, Max: policy.LongestDuration}, func(b *Bundle) *string { return &b.Autoscale.Refresh }),
		text(policy.Parameter{Name: "trigger", Type: policy.Triggers}, func(b *Bundle) *string { return &b.Autoscale.Trigger }),
		text(policy.Parameter{Name: "actuation.provisioning", Type: policy.RandomDuration}, func(b *Bundle) *string { return &b.Autoscale.Provisioning }),
		text(policy.Parameter{Name: "actuation.model_load", Type: policy.RandomDuration}, func(b *Bundle) *string { return &b.Autoscale.ModelLoad }),
		text(policy.Parameter{Name: "actuation.warmup.duration", Type: policy.Duration, Max: policy.LongestDuration}, func(b *Bundle) *string { return &b.Autoscale.WarmupDuration }),
		text(policy.Parameter{Name: "actuation.warmup.curve", Type: policy.Choice, Choices: []string{"linear", "exponential", "step"}}, func(b *Bundle) *string { return &b.Autoscale.WarmupCurve }),
		text(policy.Parameter{Name: "actuation.warmup.penalty", Type: policy.Number, Min: 1, Max: 1000}, func(b *Bundle) *string { return &b.Autoscale.WarmupPenalty }),
		text(policy.Parameter{Name: "actuation.warmup.routable", Type: policy.Flag}, func(b *Bundle) *string { return &b.Autoscale.WarmupRoutable }),
		text(policy.Parameter{Name: "actuation.drain", Type: policy.Choice, Choices: []string{"wait", "immediate", "redirect"}}, func(b *Bundle) *string { return &b.Autoscale.Drain }),
		text(policy.Parameter{Name: "actuation.drain_timeout", Type: policy.Duration, Max: policy.LongestDuration}, func(b *Bundle) *string { return &b.Autoscale.DrainTimeout }),
	}},
	{name: observability, fields: []field{
		{policy.Parameter{Name: "refresh", Type: policy.Duration, Max: policy.LongestDuration}, func(b *Bundle) **vtime.Duration { return &b.Observability.Refresh }, nil},
		text(policy.Parameter{Name: "in_flight", Type: policy.Choice, Choices: []string{"immediate", "periodic"}}, func(b *Bundle) *string { return &b.Observability.InFlight }),
		// Here follow the signals; see sections.
		text(policy.Parameter{Name: "prefix_index", Type: policy.Choice, Choices: []string{"routed", "events"}}, func(b *Bundle) *string { return &b.Observability.PrefixIndex }),
		text(policy.Parameter{Name: "prefix_index_blocks", Type: policy.CountOrAuto, Min: 1, Max: 1<<31 - 1}, func(b *Bundle) *string { return &b.Observability.PrefixBlocks }),
		{policy.Parameter{Name: "kv_event_delay", Type: policy.Duration, Max: policy.LongestDuration}, func(b *Bundle) **vtime.Duration { return &b.Observability.KVEventDelay }, nil},
	}},
	{name: metadata},
}

// put sets the field to an allowed value.
func (f *field) put(b *Bundle, text string) {
	if f.duration != nil {
		d, _ := vtime.ParseDuration(text)
		*f.duration(b) = &d
		return
	}
	*f.choice(b) = text
}

// get returns the field as it is written, empty when it was not given.
func (f *field) get(b *Bundle) string {
	if f.choice != nil {
		return *f.choice(b)
	}
	if d := *f.duration(b); d != nil {
		return d.String()
	}
	return ""
}

// findSection returns the section of that name, or the problem that there is none.
func findSection(name string) (s *section, problem string) {
	list := fixedSections
	if name == observability {
		list = sections()
	}
	for i := range list {
		if list[i].name == name {
			return &list[i], ""
		}
	}
	var names []string
	for i := range list {
		names = append(names, list[i].name)
	}
	return nil, unknownName("section", name, names)
}

// find returns the field of that name, or the problem that there is none.
func (s *section) find(name string) (f *field, problem string) {
	if f := s.field(name); f != nil {
		return f, ""
	}
	return nil, unknownName("field", name, s.names())
}

// field returns the field of that name, nil if there is none.
func (s *section) field(name string) *field {
	for i := range s.fields {
		if s.fields[i].Name == name {
			return &s.fields[i]
		}
	}
	return nil
}

// holds reports whether name is a mapping of fields of the section.
func (s *section) holds(name string) bool {
	return slices.ContainsFunc(s.fields, func(f field) bool { return strings.HasPrefix(f.Name, name+".") })
}

// names lists the names in the section.
func (s *section) names() []string {
	var names []string
	if s.selection != nil {
		names = append(names, "type", "params")
		if policy.HasTenants(policy.Kind(s.name)) {
			names = append(names, policy.TenantsKey)
		}
	}
	for i := range s.fields {
		names = append(names, s.fields[i].Name)
	}
	return names
}

func unknownName(what, name string, names []string) string {
	return fmt.Sprintf("unknown %s %q%s (there are: %s)", what, name, suggest.Hint(name, names), strings.Join(names, ", "))
}

// template returns the template of the policy's type, or of the default of the kind.
func (c *Selection) template(kind policy.Kind) (*policy.Template, error) {
	return policy.Find(kind, cmp.Or(c.Type, policy.OfKind(kind)[0].Name))
}

// Error is a fault in a bundle file.
type Error struct {
	File    string
	Line    int    // 0: not known
	Field   string // path of the fault, like routing.params.tie; empty: the whole file
	Problem string // what is wrong and what would be right
}

// Error returns one line: file, line, field and what is wrong with it.
func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text += ":" + strconv.Itoa(e.Line)
	}
	if e.Field != "" {
		text += ": " + oneLine(e.Field)
	}
	return text + ": " + e.Problem
}

// oneLine returns a name for a message, quoted if it does not print as it is.
func oneLine(name string) string {
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}

// Locate returns an *Error with file and line for a *policy.Error about a field that
// stands in the file. Any other error it returns as it is. A field that Set has
// changed no longer stands in the file.
func (b *Bundle) Locate(err error) error {
	var fault *policy.Error
	if !errors.As(err, &fault) {
		return err
	}
	line, given := b.lines[fault.Field]
	if !given {
		return err
	}
	return &Error{File: b.file, Line: line, Field: fault.Field, Problem: fault.Problem}
}
