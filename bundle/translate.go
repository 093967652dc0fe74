package bundle

import (
	"encoding/json"
	"fmt"
	"strings"

	"blis/policy"
)

// Files of the public simulator (inference-sim) and of its plan use other words:
// policy for type, a bare name for a policy, scorers as a list, other names of
// parameters. They are translated to the form of this simulator.

// typeAliases maps other names of types, by kind, to the type.
var typeAliases = map[policy.Kind]map[string]string{
	policy.RoutingKind:   {"weighted-scoring": "weighted"},
	policy.SchedulerKind: {"priority": "priority-fcfs"}, // vLLM's name
}

// parameterAliases maps other names of parameters, by kind, to the parameter.
var parameterAliases = map[policy.Kind]map[string]string{
	policy.AdmissionKind: {"bucket_size": "capacity", "token_bucket_capacity": "capacity", "token_bucket_refill_rate": "refill_rate"},
	policy.PriorityKind: {"critical_score": "critical", "realtime_score": "critical", "standard_score": "standard", "interactive_score": "standard",
		"batch_score": "batch", "background_score": "background", "sheddable_score": "sheddable", "default_score": "default"},
	policy.RoutingKind: {"cache_affinity_weight": "prefix-affinity", "load_balance_weight": "load-balance", "queue_depth_weight": "queue-depth",
		"kv_utilization_weight": "kv-utilization", "prefix_match_bonus": "prefix-match"},
	policy.SchedulerKind: {"preemption_policy": "preemption"},
	policy.AutoscaleKind: {"scale_up_threshold": "up", "scale_down_threshold": "down", "cooldown_seconds": "cooldown"},
}

// canonicalType returns the type of that name or alias. A policy that another module
// registered by the name of an alias wins.
func canonicalType(kind policy.Kind, name string) string {
	own, isAlias := typeAliases[kind][name]
	if !isAlias {
		return name
	}
	if _, err := policy.Find(kind, name); err == nil {
		return name
	}
	return own
}

// canonicalName returns the parameter of that name or alias.
func canonicalName(kind policy.Kind, name string) string {
	if own, ok := parameterAliases[kind][name]; ok {
		return own
	}
	return name
}

// canonicalValue returns the value for the parameter from the text given under that
// name or alias.
func canonicalValue(kind policy.Kind, name, text string) string {
	switch {
	case kind == policy.AutoscaleKind && name == "cooldown_seconds" && isNumeral(text) && !strings.ContainsAny(text, "eE"):
		return text + "s"
	case kind == policy.SchedulerKind && name == "preemption_policy" && text == "lowest-priority":
		return "priority"
	}
	return text
}

// translate returns the section of a policy in the form of this simulator.
func translate(kind policy.Kind, p *member) ([]member, *Error) {
	if name, bare := p.value.(string); bare {
		return []member{{"type", p.line, canonicalType(kind, name)}}, nil
	}
	members, isMapping := p.value.([]member)
	if !isMapping {
		return nil, &Error{Line: p.line, Field: p.name, Problem: describe(p.value) + " is not allowed, want a mapping like {name: value}, or the name of a policy"}
	}
	a := translation{kind: kind}
	for i := range members {
		if fault := a.field(&members[i]); fault != nil {
			return nil, fault
		}
	}
	return a.finish()
}

// translation is a section while it is translated.
type translation struct {
	kind     policy.Kind
	typed    *member // type, or policy
	params   *member // translated; nil: none yet
	ignores  *member // respect_priority: false
	respects *member // respect_priority: true
	rest     []member
}

func (a *translation) field(m *member) *Error {
	path := string(a.kind) + "." + m.name
	switch {
	case m.name == "type" || m.name == "policy":
		if a.typed != nil {
			return &Error{Line: m.line, Field: path, Problem: "policy is another name of type, want one of them"}
		}
		name, isString := m.value.(string)
		if !isString {
			a.rest = append(a.rest, member{"type", m.line, m.value}) // an error later
			return nil
		}
		a.typed = &member{"type", m.line, canonicalType(a.kind, name)}
	case m.name == "params":
		list, isMapping := m.value.([]member)
		if !isMapping {
			a.rest = append(a.rest, *m)
			return nil
		}
		a.open(m.line)
		for i := range list {
			if fault := a.param(&list[i]); fault != nil {
				return fault
			}
		}
	case a.kind == policy.RoutingKind && m.name == "scorers":
		return a.scorers(m)
	case a.kind == policy.AdmissionKind && strings.HasPrefix(m.name, "token_bucket_") && m.value != nil:
		return a.param(m)
	default:
		a.rest = append(a.rest, *m)
	}
	return nil
}

// open makes params if there is none.
func (a *translation) open(line int) {
	if a.params == nil {
		a.params = &member{"params", line, []member{}}
	}
}

// param translates one parameter and adds it.
func (a *translation) param(m *member) *Error {
	path := string(a.kind) + ".params." + m.name
	if a.kind == policy.SchedulerKind && (m.name == "respect_priority" || m.name == "preemption_enabled") {
		yes, isFlag := m.value.(bool)
		switch {
		case !isFlag:
			return &Error{Line: m.line, Field: path, Problem: describe(m.value) + " is not allowed, want true or false"}
		case m.name == "preemption_enabled" && !yes:
			return &Error{Line: m.line, Field: path, Problem: policy.NoPreemptionOff}
		case m.name == "respect_priority" && yes:
			a.respects = m
		case m.name == "respect_priority":
			a.ignores = m
		}
		return nil
	}
	a.open(m.line)
	value := m.value
	switch x := value.(type) {
	case json.Number:
		if text := canonicalValue(a.kind, m.name, string(x)); text != string(x) {
			value = text
		}
	case string:
		value = canonicalValue(a.kind, m.name, x)
	}
	a.params.value = append(a.params.value.([]member), member{canonicalName(a.kind, m.name), m.line, value})
	return nil
}

// scorers adds the weights of a list of {name, weight}.
func (a *translation) scorers(m *member) *Error {
	list, isList := m.value.([]any)
	if m.value == nil {
		return nil
	}
	bad := func(problem string) *Error {
		return &Error{Line: m.line, Field: "routing.scorers", Problem: problem + ", want a list like [{name: queue-depth, weight: 2}]"}
	}
	if !isList {
		return bad(describe(m.value) + " is not allowed")
	}
	for i, x := range list {
		entry, isMapping := x.([]member)
		if !isMapping {
			return bad(fmt.Sprintf("entry %d is %s", i+1, describe(x)))
		}
		name, weight := "", member{}
		for k := range entry {
			switch text, isText := entry[k].value.(string); {
			case entry[k].name == "name" && isText:
				name = text
			case entry[k].name == "weight":
				weight = entry[k]
			default:
				return bad(fmt.Sprintf("entry %d has %s: %s", i+1, oneLine(entry[k].name), describe(entry[k].value)))
			}
		}
		if name == "" || weight.name == "" {
			return bad(fmt.Sprintf("entry %d has no name or no weight", i+1))
		}
		if fault := a.param(&member{name, weight.line, weight.value}); fault != nil {
			return fault
		}
	}
	return nil
}

// finish returns the section, type first.
func (a *translation) finish() ([]member, *Error) {
	if a.ignores != nil && a.respects == nil && a.typed != nil && a.typed.value == "priority-fcfs" {
		a.typed.value = "fcfs"
	}
	if m := a.respects; m != nil && (a.typed == nil || a.typed.value != "priority-fcfs" && a.typed.value != "reverse-priority") {
		return nil, &Error{Line: m.line, Field: "scheduler.params." + m.name, Problem: "the scheduler goes by no priority, want type: priority-fcfs"}
	}
	var list []member
	for _, m := range []*member{a.typed, a.params} {
		if m != nil {
			list = append(list, *m)
		}
	}
	return append(list, a.rest...), nil
}

// noWorkload refuses a file that is a specification of a workload.
func noWorkload(members []member) *Error {
	for _, m := range members {
		if m.name == "clients" || m.name == "aggregate_rate" {
			return &Error{Line: m.line, Field: m.name, Problem: "no section of a policy bundle: this is a specification of a workload, which is given with --workload-spec"}
		}
	}
	return nil
}
