package actors

import (
	"fmt"

	"blis/policy"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
)

// Wait is one reason why control plane and instances cannot run in parallel: a
// policy that reads signals of instances, a storage tier that they share, or a workload.
type Wait struct {
	Policy  string // kind and name; or of a storage tier
	Signals policy.Signals
	Refresh vtime.Duration // greatest age of the signals; 0: as they are at the decision
	// ByNotice are the signals among them that come by notices of instances: the
	// router may not decide past the earliest possible notice.
	ByNotice policy.Signals
	// MinThink, if not 0, says that the workload waits: its requests follow from
	// answers, MinThink later at the earliest.
	MinThink vtime.Duration
	// Answer, if not 0, says that instances share storage tiers, the answers of which take
	// Answer at least.
	Answer vtime.Duration
}

// String says who waits for what, and how far processes may run without.
func (w Wait) String() string {
	if w.Answer > 0 {
		return fmt.Sprintf("%s is shared, and answers after %v at the earliest: no instance is further ahead of the next question of another", w.Policy, w.Answer)
	}
	switch w.MinThink {
	case 0:
	case workload.NoFollowUp:
		return w.Policy + " counts sessions by their answers"
	default:
		return fmt.Sprintf("%s has requests that follow from answers, %v later at the earliest: nobody is further ahead of the next answer", w.Policy, w.MinThink)
	}
	text := fmt.Sprintf("%s reads %v", w.Policy, w.Signals)
	switch {
	case w.ByNotice != 0:
		text += ": decisions wait for " + w.noticedEvents()
	case w.Refresh > 0:
		text += fmt.Sprintf(" as of a refresh: everybody meets every %v", w.Refresh)
	default:
		text += ": each decision waits for the instances in which one of these may change before it"
	}
	return text
}

// noticedEvents says which events bring notices.
func (w Wait) noticedEvents() string {
	switch {
	case w.ByNotice&policy.Prefixes == 0:
		return "every end of a request"
	case w.ByNotice == policy.Prefixes:
		return "every end of a step"
	}
	return "every end of a step and of a request"
}

// waits lists what a run with these policies waits for, in the order in which a
// request meets the policies: for each the signals of one cadence together.
func waits(p *setup.Plan, q []policies, pools []*pool, counterfactual policy.Signals) (list []Wait) {
	for i, s := range pools {
		list = append(list, poolWaits(p, &q[i], s, counterfactual)...)
	}
	if p.Loops() {
		l := p.Source.(workload.ClosedLoop)
		list = append(list, Wait{Policy: "the workload", MinThink: max(1, min(l.MinThink(true), l.MinThink(false)))})
	}
	return list
}

// poolWaits are those for the instances of a pool.
func poolWaits(p *setup.Plan, q *policies, s *pool, counterfactual policy.Signals) []Wait {
	c, b, suffix := &p.Config, &s.endpoints.cluster.signalPlan, ""
	if s.name != "" {
		suffix = " of " + s.name
	}
	var list []Wait
	for _, of := range []struct {
		kind, name string
		custom     bool
		signals    policy.Signals
	}{
		{"admission", c.AdmissionPolicy, c.Custom.Admission != nil, asked(q, q.admission.Observes())},
		{"priority", c.PriorityPolicy, c.Custom.Priority != nil, asked(q, q.priority.Observes())},
		{"routing", s.plan.Routing.Type, c.Custom.Routing != nil, q.routing.Observes()},
		{"autoscale", c.AutoscalePolicy, c.Custom.Autoscale != nil, q.scaling()},
	} {
		if of.custom {
			of.name = "of the caller"
		}
		for _, w := range ages(s.plan, of.signals, b) {
			w.Policy = of.kind + " " + of.name + suffix
			list = append(list, w)
		}
	}
	for _, w := range ages(s.plan, counterfactual, b) {
		w.Policy = "counterfactual-k" + suffix
		list = append(list, w)
	}
	if s.plan.Scaling != nil {
		list = append(list, Wait{Policy: "autoscaling" + suffix, Signals: policy.Active, ByNotice: policy.Active})
	}
	for i := range s.plan.Storage {
		if t := &s.plan.Storage[i]; t.Places(1) > 0 {
			list = append(list, Wait{Policy: "storage tier " + t.Name + suffix, Answer: t.MinAnswer()})
		}
	}
	return list
}

// asked are the signals of a pool that a policy reads if it looks at the pool.
func asked(q *policies, signals policy.Signals) policy.Signals {
	if q.aside {
		return policy.NoSignals
	}
	return signals
}

// ages groups the signals of a policy by their age. In-flight has the age of load
// signals, or 0 if it comes by notices.
func ages(p *setup.Pool, signals policy.Signals, b *signalPlan) []Wait {
	var list []Wait
	for _, row := range policy.SignalTable() {
		s := row.Bit & signals &^ ownSignals(p)
		if s == policy.NoSignals {
			continue
		}
		w := Wait{Signals: s, ByNotice: s & b.notified, Refresh: p.Observability.Refresh}
		switch {
		case w.ByNotice != 0:
			w.Refresh = 0
		case row.Key != "":
			w.Refresh = vtime.Duration(max(cadenceOf(p, &row), immediate))
		}
		list = joinAge(list, w)
	}
	return list
}

// ownSignals are the signals that the router knows without instances.
func ownSignals(p *setup.Pool) policy.Signals {
	if sendsBlockEvents(p, &p.Observability, policy.Prefixes) {
		return policy.Rates
	}
	return policy.Rates | policy.Prefixes
}

// joinAge adds w to the entry of the same age, by notices or not.
func joinAge(list []Wait, w Wait) []Wait {
	for i := range list {
		if l := &list[i]; l.Refresh == w.Refresh && (l.ByNotice != 0) == (w.ByNotice != 0) {
			l.Signals |= w.Signals
			l.ByNotice |= w.ByNotice
			return list
		}
	}
	return append(list, w)
}
