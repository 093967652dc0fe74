package actors

import (
	"blis/policy"
	"blis/setup"
)

// signalPlan is how the signals of a run reach the router. It follows from what the
// policies observe and from how fresh that should be.
type signalPlan struct {
	load     *snapshots[load] // load signals, without those in groups; nil: none
	groups   []*signalGroup   // all other published signals, one group for each cadence
	inGroups policy.Signals   // load signals that are in groups

	// In-flight is the number of requests sent to an instance less the number that
	// ended there. The load snapshots have the second number if inFlightFromLoad:
	// where decisions wait for instances anyway, or learn of ends at refreshes.
	// Otherwise each end is a notice to the router.
	inFlightFromLoad bool
	notified         policy.Signals // signals that notices carry
}

// planSignals is the plan for so many endpoints of pool p and others, of which policies observe signals. counterfactual are
// the signals that a counterfactual trace reads: they change nothing that policies see
// and add no notices.
func planSignals(p *setup.Pool, endpoints int, signals, counterfactual, gateway policy.Signals) signalPlan {
	usual := cadence(p.Observability.Refresh)
	var b signalPlan
	var inLoad, atOnce policy.Signals
	for _, row := range policy.SignalTable() {
		s := row.Bit & (signals | counterfactual).Published()
		if s == policy.NoSignals {
			continue
		}
		c := cadenceOf(p, &row)
		if c == onDemand {
			b.groupOf(c, endpoints).signals |= s
			b.inGroups |= s & loadSignals
			atOnce |= s & signals
			continue
		}
		if c == immediate {
			atOnce |= s & signals
		}
		if s&loadSignals != 0 && c == usual {
			inLoad |= s
			continue
		}
		b.inGroups |= s & loadSignals
		b.groupOf(c, endpoints).signals |= s
	}
	b.notified = signals & (policy.Active | policy.ClassLatency)
	if sendsBlockEvents(p, &p.Observability, signals) {
		b.notified |= policy.Prefixes
	}
	if signals&policy.InFlight != 0 {
		b.inFlightFromLoad = p.Observability.InFlightPeriodic || usual == immediate && atOnce != 0 && gateway&policy.InFlight == 0 // whose ticks follow from notices
		if !b.inFlightFromLoad {
			b.notified |= policy.InFlight
		}
	} else if counterfactual&policy.InFlight != 0 {
		b.inFlightFromLoad = true // without notices
	}
	if b.inFlightFromLoad || inLoad != 0 {
		b.load = newSnapshots[load](endpoints, usual)
	}
	return b
}

// planChecks is how the signals that evaluations of the autoscaler observe reach it:
// as of the check, or as of its own refreshes.
func planChecks(p *setup.Pool, signals policy.Signals) (b signalPlan) {
	for _, row := range policy.SignalTable() {
		if s := row.Bit & signals.Published(); s != policy.NoSignals {
			f := b.groupOf(cadence(p.Scaling.Refresh), p.Instances)
			f.signals |= s
			f.checks = true
		}
	}
	return b
}

// groupOf returns the signal group of a cadence, a new one if there is none.
func (b *signalPlan) groupOf(c cadence, instances int) *signalGroup {
	live := c == onDemand
	for _, f := range b.groups {
		if f.onDemand == live && (live || f.snapshots.cadence == c) {
			return f
		}
	}
	f := &signalGroup{snapshots: newSnapshots[policy.InstanceState](instances, max(c, immediate)), onDemand: live, refresh: -1}
	b.groups = append(b.groups, f)
	return f
}

// cadenceOf is how fresh a signal is that instances publish.
func cadenceOf(p *setup.Pool, row *policy.Signal) cadence {
	if c, ok := p.Observability.Fresh[row.Bit]; ok {
		return cadence(c)
	}
	if usual := cadence(p.Observability.Refresh); usual != immediate {
		return usual
	}
	return cadence(row.Every)
}
