package actors

import (
	"reflect"
	"slices"
	"strings"

	"blis/policy"
)

// Printed is what policies of a kind said to their author.
type Printed struct {
	Kind policy.Kind
	Text string // lines, each with its end; those of schedulers in the order of instances
}

// Printed returns what policies said to their authors, by kind.
func (r *Result) Printed() []Printed { return r.rest.printed }

// mostPrinted bounds what is kept of a kind of policies, in bytes.
const mostPrinted = 4 << 10

// printers are the policies of a cluster that have something to say, by kind.
type printers map[policy.Kind][]policy.Printer

// add notes a policy, once: several pools may share it.
func (l printers) add(kind policy.Kind, p any) {
	if x, ok := p.(policy.Printer); ok && reflect.TypeOf(p).Comparable() && !slices.Contains(l[kind], x) {
		l[kind] = append(l[kind], x)
	}
}

// printersOf are those among the policies of pools.
func printersOf(q []policies) printers {
	l := printers{}
	for i := range q {
		l.add(policy.AdmissionKind, q[i].admission)
		l.add(policy.PriorityKind, q[i].priority)
		l.add(policy.RoutingKind, q[i].routing)
		l.add(policy.AutoscaleKind, q[i].autoscale)
	}
	return l
}

// printed collects what they said, and what the schedulers of instances did.
func (c *cluster) printed() (list []Printed) {
	for _, n := range c.instances {
		for k := range n.ranks {
			c.printers.add(policy.SchedulerKind, n.ranks[k].scheduler)
		}
	}
	return c.printers.printed()
}

// printed is what they said, in the order of kinds.
func (l printers) printed() (list []Printed) {
	for _, kind := range policy.Kinds {
		text := ""
		for _, p := range l[kind] {
			if len(text) < mostPrinted {
				text += p.Printed()
			}
		}
		if len(text) > mostPrinted {
			text = strings.ToValidUTF8(text[:mostPrinted], "")
		}
		if text != "" {
			list = append(list, Printed{kind, text})
		}
	}
	return list
}
