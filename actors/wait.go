package actors

import (
	"fmt"

	"blis/policy"
	"blis/vtime"
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
}

// String says what is waited for and for how long nobody waits.
func (w Wait) String() string {
	text := fmt.Sprintf("%s reads %v", w.Policy, w.Signals)
	rest := w.Signals &^ w.Told
	switch {
	case w.Refresh > 0 && w.Told != 0 && rest != 0:
		text += fmt.Sprintf(", refreshed every %v, but %v at once: decisions wait for every end of a request", w.Refresh, w.Told)
	case w.Told != 0 && rest == 0:
		text += ": decisions wait for every end of a request"
	case w.Refresh > 0:
		text += fmt.Sprintf(" as of a refresh: everybody meets every %v", w.Refresh)
	default:
		text += ": each decision waits for the instances in which one of these may change before it"
	}
	return text
}

// waits lists what holds a run with these policies back, in the order in which
// a request meets them.
func (p *plan) waits(q *policies, told policy.Signals) []Wait {
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
		{"autoscale", c.AutoscalePolicy, false, q.autoscale.Observes()},
	} {
		of.signals &^= policy.Rates // the router's own
		if of.signals == policy.NoSignals {
			continue
		}
		if of.custom {
			of.name = "of the caller"
		}
		list = append(list, Wait{
			Policy: of.kind + " " + of.name, Signals: of.signals, Refresh: c.SnapshotRefreshInterval,
			Told: of.signals & told,
		})
	}
	return list
}
