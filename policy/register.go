package policy

import (
	"fmt"
	"slices"
	"strings"

	"blis/vtime"
)

// Values are the parameters of a policy that is made: complete, and in range. A name
// that is not of its template panics.
type Values struct{ values }

func (v *Values) of(name string) *value {
	i := v.find(name)
	if i < 0 {
		panic(fmt.Sprintf("policy: no parameter %q is declared", name))
	}
	return &v.list[i]
}

// Number returns a Number, Count or Weight, 0 for the CountOrAuto Auto.
func (v *Values) Number(name string) float64 { return v.of(name).number }

// Flag returns a Flag.
func (v *Values) Flag(name string) bool { return v.of(name).flag }

// Duration returns a Duration.
func (v *Values) Duration(name string) vtime.Duration { return v.of(name).duration }

// Text returns a parameter of any type as it was written: a Choice, for example.
func (v *Values) Text(name string) string { return v.of(name).text }

// Tenants returns the settings of single tenants as they were written, by tenant;
// see Template.Open.
func (v *Values) Tenants() map[string]string {
	list := make(map[string]string, len(v.open))
	for name, x := range v.open { // any order: a map again
		list[name] = x.text
	}
	return list
}

// Register adds a policy, which is then like a built-in one: in bundles, by flags, in
// lists. P is Admission, Priority, Routing, Scheduler or Autoscale, and says the kind;
// t.Kind is ignored. build is called once per run. A Routing gets the parameters of
// filters besides its own.
//
// It is called while the program starts, before any bundle is read: in an init
// function. It panics on a template that is not whole, and on a name that is taken.
func Register[P any](t Template, build func(Values, Env) (P, error)) {
	switch build := any(build).(type) {
	case func(Values, Env) (Admission, error):
		register(&admissionTemplates, AdmissionKind, templateOf(t, build))
	case func(Values, Env) (Priority, error):
		register(&priorityTemplates, PriorityKind, templateOf(t, build))
	case func(Values, Env) (Routing, error):
		register(&routingTemplates, RoutingKind, withFilters([]template[Routing]{templateOf(t, build)})[0])
	case func(Values, Env) (Scheduler, error):
		register(&schedulerTemplates, SchedulerKind, templateOf(t, build))
	case func(Values, Env) (Autoscale, error):
		register(&autoscaleTemplates, AutoscaleKind, templateOf(t, build))
	default:
		panic(fmt.Sprintf("policy: %q is made by a %T: want a function that returns Admission, Priority, Routing, Scheduler or Autoscale", t.Name, build))
	}
}

// templateOf is a template of another module.
func templateOf[P any](t Template, build func(Values, Env) (P, error)) template[P] {
	return template[P]{t, func(v values, env Env) (P, error) { return build(Values{v}, env) }}
}

func register[P any](list *[]template[P], kind Kind, t template[P]) {
	t.Kind = kind
	if problem := t.problem(); problem != "" {
		panic(fmt.Sprintf("policy: the %s policy %q: %s", kind, t.Name, problem))
	}
	*list = append(*list, t)
	byKind = listByKind()
}

// problem says why the template cannot be registered, empty if it can.
func (t *Template) problem() string {
	for _, other := range OfKind(t.Kind) {
		if other.Name == t.Name {
			return "the name is taken"
		}
	}
	if problem := nameProblem(t.Name, t.Help); problem != "" {
		return problem
	}
	if t.Open != nil && t.Open.Name != TenantsKey {
		return fmt.Sprintf("Open is called %q, want %q", t.Open.Name, TenantsKey)
	}
	var names []string
	for i := range t.Parameters {
		p := &t.Parameters[i]
		if problem := nameProblem(p.Name, p.Help); problem != "" {
			return fmt.Sprintf("parameter %q: %s", p.Name, problem)
		}
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			if slices.Contains(names, name) {
				return fmt.Sprintf("parameter %q: the name is taken", name)
			}
			names = append(names, name)
		}
		switch {
		case p.Type == Weight:
			return fmt.Sprintf("parameter %q: a weight is of a scorer, see RegisterScorer", p.Name)
		case !p.Allows(p.Default):
			return fmt.Sprintf("parameter %q: the default %q is not allowed, want %s", p.Name, p.Default, p.Range())
		}
	}
	return ""
}

// nameProblem says what is wrong with a name and its help, empty if nothing is.
func nameProblem(name, help string) string {
	switch {
	case name == "" || name[0] < 'a' || name[0] > 'z' || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "":
		return "want a name of small letters, digits, - and _, a letter first"
	case help == "" || strings.Contains(help, "\n"):
		return "want a help text of one line"
	}
	return ""
}

// Scorer is a scorer of the routing policy weighted.
type Scorer struct {
	Name     string
	Help     string // one line
	Observes Signals
	// Score rates instance i of the view, from 0 to 1. It follows from the observed
	// signals of that instance and from nothing else: it is called when one changed.
	Score func(view *View, i int) float64
}

// RegisterScorer adds a scorer, with weight 0 unless a bundle or flag gives one. It is
// called as Register is, and panics as Register does.
func RegisterScorer(s Scorer) {
	i := slices.IndexFunc(routingTemplates, func(t template[Routing]) bool { return t.Name == weightedName })
	parameters := routingTemplates[i].Parameters
	problem := nameProblem(s.Name, s.Help)
	switch {
	case routingTemplates[i].Parameter(s.Name) != nil:
		problem = "the name is taken"
	case s.Score == nil:
		problem = "want a function Score"
	}
	if problem != "" {
		panic(fmt.Sprintf("policy: the scorer %q: %s", s.Name, problem))
	}
	row := scorerRow{name: s.Name, weight: "0", help: s.Help, observes: s.Observes, score: s.Score}
	routingTemplates[i].Parameters = slices.Insert(slices.Clone(parameters), len(scorerTable), row.parameter())
	scorerTable = append(scorerTable, row)
	byKind = listByKind()
}

// RegisterSignal adds a signal that instances publish, and returns it for Observes
// and View.Value. Its value follows from what an instance says of itself, and from
// nothing else; it is finite. The name, in the form of queue_depth, sets its cadence in
// the section observability of a bundle. Without a cadence there the signal is fresh at
// every decision, unless observability.refresh says otherwise.
//
// It is called while the program starts, before any bundle is read: in an init
// function, or for the value of a package variable. It panics on a name that is
// taken or of another form, and when there are MaxOwnSignals.
func RegisterSignal(name string, value func(*InstanceState) float64) Signals {
	var last *Signal
	for i := range signalTable {
		if last = &signalTable[i]; last.Key == name {
			panic(fmt.Sprintf("policy: there is a signal %q already", name))
		}
	}
	own := 0
	if last.value != nil {
		own = last.own + 1
	}
	switch {
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || name == "" || slices.Contains(otherKeys, name):
		panic(fmt.Sprintf("policy: a signal cannot be called %q: want small letters, digits and _, and no other field of observability", name))
	case own == MaxOwnSignals:
		panic(fmt.Sprintf("policy: the signal %q is one too many: want at most %d of other modules", name, MaxOwnSignals))
	}
	r := Signal{Bit: 1 << (firstOwn + own), Name: name, Key: name, EveryStep: true, own: own, value: value}
	signalTable = append(signalTable, r)
	return r.Bit
}

// otherKeys are the fields of the section observability that are no signals.
var otherKeys = []string{"refresh", "in_flight", "prefix_index", "prefix_index_blocks", "kv_event_delay"}
