package policy

import (
	"fmt"
	"strings"

	"blis/prefixindex"
	"blis/suggest"
	"blis/vtime"
	"blis/workload"
)

// Kind is what a policy decides about.
type Kind string

// The kinds, in the order in which a request meets them.
const (
	AdmissionKind Kind = "admission"
	PriorityKind  Kind = "priority"
	RoutingKind   Kind = "routing"
	SchedulerKind Kind = "scheduler"
	AutoscaleKind Kind = "autoscale"
)

// Kinds are all kinds, in that order.
var Kinds = []Kind{AdmissionKind, PriorityKind, RoutingKind, SchedulerKind, AutoscaleKind}

// Template describes a registered policy.
type Template struct {
	Kind       Kind
	Name       string
	Help       string // one line
	Parameters []Parameter
	Seeded     bool              // draws, whatever its parameters are; policies with tie: random need not say so
	DrawsIf    func(Values) bool // reports whether one with these parameters draws beside ties; nil: Seeded says it
	// Verify returns what is wrong with these parameters together, a Fault or an *Error;
	// nil: nothing can be that the constructor would not find.
	Verify func(Values) error
	// Open describes the settings of single tenants, whose names the user makes
	// up; see TenantsPrefix. nil: there are none.
	Open *Parameter
}

// Env is what a policy may need of the run that it is made for.
type Env struct {
	BlockSize int32              // tokens per KV block, at least 1
	Instances int                // expected number, to make room for; there may be more
	Prefixes  *prefixindex.Index // of the run; the router calls Look and Record
	Draws     Draws              // for routing policies
	Stream    *vtime.Stream      // "router": for policies of your own; no template draws from it
	Labels    *workload.Labels   // names behind the labels of requests
	Hints     []string           // names of the hints that the priority policy gives, for routing policies and schedulers; see Hint
	// TTFTTarget returns the TTFT target of requests of an SLO class and a tenant, 0 where
	// there is none: that of the tenant if the tenant has targets, else that of the class.
	// nil: nobody has targets.
	TTFTTarget func(class, tenant workload.Label) vtime.Duration
}

// Error is a fault in the choice of a policy or its parameters.
type Error struct {
	Field   string // path of the fault, like "routing.params.queue-depth"
	Problem string // what is wrong and what would be right
}

// Error names the field and what is wrong with it.
func (e *Error) Error() string { return e.Field + ": " + e.Problem }

// template is a Template with its constructor. build gets values that are
// complete and in range.
type template[P any] struct {
	Template
	build func(v values, env Env) (P, error)
}

// Templates lists what is registered, by kind, the default of each kind first.
func Templates() []Template {
	var all []Template
	all = appendTemplates(all, admissionTemplates)
	all = appendTemplates(all, priorityTemplates)
	all = appendTemplates(all, routingTemplates)
	all = appendTemplates(all, schedulerTemplates)
	return appendTemplates(all, autoscaleTemplates)
}

func appendTemplates[P any](all []Template, list []template[P]) []Template {
	for i := range list {
		all = append(all, list[i].Template)
	}
	return all
}

// NewAdmission makes the admission policy called name. Here and below an unknown
// name, and an unknown, repeated or bad setting, is an *Error.
func NewAdmission(name string, settings []Setting, env Env) (Admission, error) {
	return create(AdmissionKind, admissionTemplates, name, settings, env)
}

// NewPriority makes the priority policy called name.
func NewPriority(name string, settings []Setting, env Env) (Priority, error) {
	return create(PriorityKind, priorityTemplates, name, settings, env)
}

// NewRouting makes the routing policy called name.
func NewRouting(name string, settings []Setting, env Env) (Routing, error) {
	return create(RoutingKind, routingTemplates, name, settings, env)
}

// NewScheduler makes the scheduler called name. Each instance has one of its own: it may
// remember things.
func NewScheduler(name string, settings []Setting, env Env) (Scheduler, error) {
	return create(SchedulerKind, schedulerTemplates, name, settings, env)
}

// NewAutoscale makes the autoscaler called name.
func NewAutoscale(name string, settings []Setting, env Env) (Autoscale, error) {
	return create(AutoscaleKind, autoscaleTemplates, name, settings, env)
}

func create[P any](kind Kind, list []template[P], name string, settings []Setting, env Env) (P, error) {
	var none P
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
		if list[i].Name != name {
			continue
		}
		v, err := list[i].resolve(settings)
		if err != nil {
			return none, err
		}
		return list[i].build(v, env)
	}
	return none, &Error{
		Field:   string(kind) + ".type",
		Problem: fmt.Sprintf("unknown %s policy %q%s (there are: %s)", kind, name, suggest.Hint(name, names), strings.Join(names, ", ")),
	}
}
