package policy

import (
	"math"

	"blis/vtime"
	"blis/workload"
)

var priorityTemplates = []template[Priority]{{
	Template: Template{Kind: PriorityKind, Name: "constant", Help: "the same for every request: 0 (default)"},
	build:    func(values, Env) (Priority, error) { return constant{}, nil },
}, {
	Template: Template{Kind: PriorityKind, Name: "slo-based", Help: "by SLO class; higher is more urgent", Parameters: classScores},
	build: func(v values, env Env) (Priority, error) {
		return &sloBased{byLabel[float64]{names: env.classes(), value: v.classScore}}, nil
	},
}, {
	Template: Template{
		Kind: PriorityKind, Name: "tenant-priority", Help: "by tenant; higher is more urgent",
		Parameters: []Parameter{scoreParameter("default", "0", "score of tenants that have none of their own")},
		Open:       &openScore,
	},
	build: func(v values, env Env) (Priority, error) {
		return &tenantPriority{byLabel[float64]{names: env.tenants(), value: v.tenantScore}}, nil
	},
}, {
	Template: Template{
		Kind: PriorityKind, Name: "deadline-aware", Help: "earliest deadline first; without a deadline, that by which the first token is due",
		Parameters: []Parameter{{Name: "default_target", Type: Duration, Default: "10s", Max: day,
			Help: "after its arrival, when the first token is due of a request whose class has no TTFT target"}},
	},
	build: func(v values, env Env) (Priority, error) {
		return &deadlineAware{target: env.TTFTTarget, otherwise: v.duration("default_target")}, nil
	},
}, {
	Template: Template{Kind: PriorityKind, Name: "inverted-slo", Help: "slo-based with every score negated (pathological, for tests)", Parameters: classScores},
	build: func(v values, env Env) (Priority, error) {
		// 0 − x, because −x of 0 is −0.
		inverted := func(class string) float64 { return 0 - v.classScore(class) }
		return &sloBased{byLabel[float64]{names: env.classes(), value: inverted}}, nil
	},
}}

// day, in µs, is the largest duration that parameters take: a longer one is a slip
// of the unit.
const day = 24 * 3600 * 1e6

// scoreParameter describes the score of one SLO class, or of one tenant.
func scoreParameter(name, score, help string, aliases ...string) Parameter {
	return Parameter{Name: name, Aliases: aliases, Type: Number, Default: score, Min: -1e9, Max: 1e9, Help: help}
}

var classScores = []Parameter{
	scoreParameter("critical", "100", "score of critical, also called realtime", "realtime"),
	scoreParameter("standard", "50", "score of standard, also called interactive", "interactive"),
	scoreParameter("batch", "10", "score of batch"),
	scoreParameter("background", "1", "score of background"),
	scoreParameter("sheddable", "0", "score of sheddable"),
	scoreParameter("default", "50", "score of any other class, and of none"),
}

// openScore describes the settings of tenants of tenant-priority.
var openScore = scoreParameter(TenantsKey, "", "scores of single tenants")

// classScore returns the score of the SLO class of that name.
func (v *values) classScore(name string) float64 {
	if parameter := v.find(name); parameter >= 0 {
		return v.list[parameter].number
	}
	return v.number("default")
}

// tenantScore returns the score of the tenant of that name.
func (v *values) tenantScore(name string) float64 {
	if given, ok := v.open[name]; ok {
		return given.number
	}
	return v.number("default")
}

type constant struct{}

func (constant) Observes() Signals { return NoSignals }

func (constant) Score(*Request, *RouterState, vtime.Time) float64 { return 0 }

type sloBased struct{ scores byLabel[float64] }

func (*sloBased) Observes() Signals { return NoSignals }

func (p *sloBased) Score(req *Request, _ *RouterState, _ vtime.Time) float64 {
	return p.scores.of(req.Class)
}

type tenantPriority struct{ scores byLabel[float64] }

func (*tenantPriority) Observes() Signals { return NoSignals }

func (p *tenantPriority) Score(req *Request, _ *RouterState, _ vtime.Time) float64 {
	return p.scores.of(req.Tenant)
}

// deadlineAware scores by the deadline, not by the time that is left: the order of
// two requests does not depend on when they are scored.
type deadlineAware struct {
	target    func(class, tenant workload.Label) vtime.Duration
	otherwise vtime.Duration // the target of a class without one
}

func (*deadlineAware) Observes() Signals { return NoSignals }

func (p *deadlineAware) Score(req *Request, _ *RouterState, _ vtime.Time) float64 {
	return 0 - float64(p.due(req)) // exact for the first 285 years
}

// due returns the deadline of a request, or without one the time at which its first
// token is due.
func (p *deadlineAware) due(req *Request) vtime.Time {
	if req.Deadline != vtime.Never {
		return req.Deadline
	}
	if p.target != nil {
		if target := p.target(req.Class, req.Tenant); target > 0 {
			return req.Arrival.Add(target)
		}
	}
	return req.Arrival.Add(p.otherwise)
}

// urgency lists the SLO classes in the default order of slo-based, the most urgent
// first, each with all its names.
var urgency = [...][]string{{"critical", "realtime"}, {"standard", "interactive"}, {"batch"}, {"background"}, {"sheddable"}}

// urgencyOf returns the index of a class in urgency, len(urgency) for any other
// class and for none.
func urgencyOf(class string) int {
	for i, names := range urgency {
		for _, name := range names {
			if name == class {
				return i
			}
		}
	}
	return len(urgency)
}

// ClassInversions finds class inversions. A request is one if its priority is
// strictly higher than the priority of a request of a more urgent class: of the last
// one of that class that got a priority, if it did not arrive later. Only the last
// one counts, because older ones may be long over. One that arrived later does not
// count, because a request that admission delayed may be due before it. Classes that
// are not in urgency take no part.
type ClassInversions struct {
	ranks byLabel[int] // urgencyOf
	last  [len(urgency)]prioritised
}

// prioritised is a request with the priority that it got.
type prioritised struct {
	request  int64
	arrival  vtime.Time
	priority float64
	exists   bool
}

// ClassInversion names the more urgent request with the lower priority: of several
// the one with the lowest, of equal ones the one of the most urgent class.
type ClassInversion struct {
	Urgent int64   // number of that request
	By     float64 // difference of the priorities, above 0 and finite
}

// NewClassInversions returns a ClassInversions for a run with these labels; nil:
// classes have no names.
func NewClassInversions(labels *workload.Labels) *ClassInversions {
	env := Env{Labels: labels}
	return &ClassInversions{ranks: byLabel[int]{names: env.classes(), value: urgencyOf}}
}

// Give notes that a request is given a priority, a finite number, and reports
// whether the request is a class inversion. Give is called once per request, in the
// order in which requests get their priorities.
func (c *ClassInversions) Give(req *Request, priority float64) (found ClassInversion, inverted bool) {
	rank := c.ranks.of(req.Class)
	if rank == len(urgency) {
		return found, false
	}
	lowest := priority
	for i := range c.last[:rank] {
		if u := &c.last[i]; u.exists && u.arrival <= req.Arrival && u.priority < lowest {
			lowest = u.priority
			found.Urgent, inverted = u.request, true
		}
	}
	if inverted {
		found.By = min(priority-lowest, math.MaxFloat64)
	}
	c.last[rank] = prioritised{req.ID, req.Arrival, priority, true}
	return found, inverted
}
