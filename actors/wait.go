package actors

import (
	"fmt"

	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// Wait is one reason why the control plane and the instances cannot run apart
// from each other: a policy that reads signals of theirs.
type Wait struct {
	Policy  string // kind and name
	Signals policy.Signals
	Refresh vtime.Duration // age of what it reads of the instances; 0: as it is at the decision
	// Told are those of the signals that follow from the ends of requests, of
	// which the router is told when they happen: it may not decide past the
	// earliest end that can come.
	Told policy.Signals
	// MinThink, if not 0, says that no policy waits but the workload, in which
	// requests follow from answers: MinThink after them at the earliest.
	MinThink vtime.Duration
}

// String says what is waited for and for how long nobody waits.
func (w Wait) String() string {
	switch w.MinThink {
	case 0:
	case workload.NoFollowUp:
		return w.Policy + " counts sessions by their answers"
	default:
		return fmt.Sprintf("%s has requests that follow from answers, %v later at the earliest: nobody is further ahead of the next answer", w.Policy, w.MinThink)
	}
	text := fmt.Sprintf("%s reads %v", w.Policy, w.Signals)
	switch {
	case w.Told != 0:
		text += ": decisions wait for " + w.news()
	case w.Refresh > 0:
		text += fmt.Sprintf(" as of a refresh: everybody meets every %v", w.Refresh)
	default:
		text += ": each decision waits for the instances in which one of these may change before it"
	}
	return text
}

// news is what instances tell the router of.
func (w Wait) news() string {
	switch {
	case w.Told&policy.Prefixes == 0:
		return "every end of a request"
	case w.Told == policy.Prefixes:
		return "every end of a step"
	}
	return "every end of a step and of a request"
}

// waits lists what holds a run with these policies back, in the order in which
// a request meets them: for each the signals of one cadence together.
func (p *plan) waits(q *policies, b *signalPlan, extra policy.Signals) []Wait {
	c := &p.config
	var list []Wait
	for _, of := range []struct {
		kind, name string
		custom     bool
		signals    policy.Signals
	}{
		{"admission", c.AdmissionPolicy, c.Custom.Admission != nil, q.admission.Observes()},
		{"priority", c.PriorityPolicy, c.Custom.Priority != nil, q.priority.Observes()},
		{"routing", c.RoutingPolicy, c.Custom.Routing != nil, q.routing.Observes()},
		{"autoscale", c.AutoscalePolicy, c.Custom.Autoscale != nil, q.scaling()},
	} {
		if of.custom {
			of.name = "of the caller"
		}
		for _, w := range p.ages(of.signals, b) {
			w.Policy = of.kind + " " + of.name
			list = append(list, w)
		}
	}
	for _, w := range p.ages(extra, b) {
		w.Policy = "counterfactual-k"
		list = append(list, w)
	}
	if p.scales() {
		list = append(list, Wait{Policy: "autoscaling", Signals: policy.Active, Told: policy.Active})
	}
	if p.loops() {
		l := p.source.(workload.ClosedLoop)
		list = append(list, Wait{Policy: "the workload", MinThink: max(1, min(l.MinThink(true), l.MinThink(false)))})
	}
	return list
}

// ages parts the signals of a policy by how fresh they are. In-flight goes
// with the board, or with what comes at once if notices tell it.
func (p *plan) ages(signals policy.Signals, b *signalPlan) []Wait {
	var list []Wait
	for s := policy.Signals(1); s <= signals; s <<= 1 {
		if signals&s&^p.own() == 0 {
			continue
		}
		w := Wait{Signals: s, Told: s & b.notified, Refresh: p.config.SnapshotRefreshInterval}
		switch {
		case w.Told != 0:
			w.Refresh = 0
		case s&observed != 0:
			w.Refresh = vtime.Duration(max(p.cadence(s), immediate))
		}
		list = joinAge(list, w)
	}
	return list
}

// own is the signals that the router knows by itself.
func (p *plan) own() policy.Signals {
	if p.tellsBlocks(policy.Prefixes) {
		return policy.Rates
	}
	return policy.Rates | policy.Prefixes
}

// joinAge adds w to those of its age, told or not.
func joinAge(list []Wait, w Wait) []Wait {
	for i := range list {
		if l := &list[i]; l.Refresh == w.Refresh && (l.Told != 0) == (w.Told != 0) {
			l.Signals |= w.Signals
			l.Told |= w.Told
			return list
		}
	}
	return append(list, w)
}
