package actors

import (
	"blis/policy"
	"blis/setup"
)

// signalPlan is how the signals of a run reach the router. It follows from what the
// policies observe and from how fresh that should be.
type signalPlan struct {
	load        *snapshots[load] // load signals, without the side signals; nil: none
	side        []*sideSnapshots // signals of other cadences, one for each cadence
	sideSignals policy.Signals   // load signals that side carries

	// In-flight is what the router sent less what ended. How many ended is in the
	// load snapshots where decisions wait for instances anyway, or should learn of
	// ends at a refresh. Otherwise each end is a notice to the router.
	countsFinished bool
	notified       policy.Signals // signals that notices carry
}

// planSignals is the plan of a run whose policies observe signals. The extra
// signals are for a counterfactual trace: they change nothing that policies see
// and add no notices.
func planSignals(p *setup.Pool, signals, extra policy.Signals) signalPlan {
	usual := cadence(p.Observability.Refresh)
	var b signalPlan
	var inLoad, atOnce policy.Signals
	for _, row := range policy.SignalTable() {
		s := row.Bit & (signals | extra).Published()
		if s == policy.NoSignals {
			continue
		}
		c := cadenceOf(p, &row)
		if c == onDemand {
			b.sideOf(c, p.Instances).signals |= s
			b.sideSignals |= s & loadSignals
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
		b.sideSignals |= s & loadSignals
		b.sideOf(c, p.Instances).signals |= s
	}
	b.notified = signals & (policy.Active | policy.ClassLatency)
	if tellsBlocks(p, signals) {
		b.notified |= policy.Prefixes
	}
	if signals&policy.InFlight != 0 {
		b.countsFinished = p.Observability.InFlightPeriodic || usual == immediate && atOnce != 0
		if !b.countsFinished {
			b.notified |= policy.InFlight
		}
	} else if extra&policy.InFlight != 0 {
		b.countsFinished = true // without notices
	}
	if b.countsFinished || inLoad != 0 {
		b.load = newSnapshots[load](p.Instances, usual)
	}
	return b
}

// planChecks is how the signals that evaluations of the autoscaler observe reach it:
// as of the check, or as of its own refreshes.
func planChecks(p *setup.Pool, signals policy.Signals) (b signalPlan) {
	for _, row := range policy.SignalTable() {
		if s := row.Bit & signals.Published(); s != policy.NoSignals {
			f := b.sideOf(cadence(p.Scaling.Refresh), p.Instances)
			f.signals |= s
			f.checks = true
		}
	}
	return b
}

// sideOf returns the side snapshots of a cadence, new ones if there are none.
func (b *signalPlan) sideOf(c cadence, instances int) *sideSnapshots {
	asked := c == onDemand
	for _, f := range b.side {
		if f.onDemand == asked && (asked || f.snapshots.cadence == c) {
			return f
		}
	}
	f := &sideSnapshots{snapshots: newSnapshots[policy.InstanceState](instances, max(c, immediate)), onDemand: asked, refresh: -1}
	b.side = append(b.side, f)
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
