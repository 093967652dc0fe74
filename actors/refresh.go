package actors

import (
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
)

// refreshWriter writes the snapshots of one cadence for an instance: before the
// first event after a refresh, the value as of that refresh.
type refreshWriter struct {
	cadence
	checks         bool                // as signalGroup.checks
	changesPerStep bool                // it has signals that change with every step
	dirty          int64               // refresh before which an event happened whose value is not written; −1: none
	write          func(refresh int64) // writes the value as of now
}

// publish makes the instance publish signals, by the plan on.
func (p *instance) publish(on *signalPlan, signals policy.Signals, o metrics.Options) {
	b := on.load
	p.inFlightFromLoad = on.inFlightFromLoad
	p.snapshots, p.readsKVUse = b, signals&policy.KVUse&^on.inGroups != 0
	if b != nil && b.cadence != immediate {
		p.writers = append(p.writers, refreshWriter{b.cadence, false, p.readsKVUse, -1, func(k int64) { b.publish(p.place.seat, k, p.load()) }})
	}
	if signals&(policy.RecentLatency|policy.OwnSignals) != 0 {
		p.recent = &recent{options: o}
	}
	p.publishGroups(on)
}

// publishGroups makes the instance publish the signal groups of a plan.
func (p *instance) publishGroups(on *signalPlan) {
	for _, f := range on.groups {
		seat := p.seatOf(f)
		f.snapshots.begin(seat, p.observe(f))
		if p.outage != nil {
			p.outage.groups = append(p.outage.groups, keptGroup{of: f})
		}
		if f.snapshots.cadence == immediate {
			p.groups = append(p.groups, f)
			continue
		}
		write := func(k int64) { f.snapshots.publish(seat, k, p.observe(f)) }
		p.writers = append(p.writers, refreshWriter{f.snapshots.cadence, f.checks, f.signals.EveryStep() != policy.NoSignals, -1, write})
	}
}

// seatOf is where the instance writes in the snapshots of a group: those of an autoscaler are of
// its pool alone.
func (p *instance) seatOf(f *signalGroup) int {
	if f.checks {
		return p.place.slot
	}
	return p.place.seat
}

// StableUntil implements lookahead.Publisher. An immediate signal is stable until
// it changes. A periodic one is stable until the refresh that sees the next
// change.
func (p *instance) StableUntil() lookahead.Key {
	steady := lookahead.NeverKey
	if p.snapshots != nil && p.snapshots.cadence == immediate {
		steady = p.unchangedUntil(p.readsKVUse, false)
	}
	for _, f := range p.groups {
		if f.checks {
			continue
		}
		steady = lookahead.Earliest(steady, p.unchangedUntil(f.signals.EveryStep() != policy.NoSignals, f.onDemand))
	}
	for i := range p.writers {
		r := &p.writers[i]
		if k := p.unchangedUntil(r.changesPerStep, false); !r.checks && !k.IsNever() {
			steady = lookahead.Earliest(steady, r.key(r.after(k.At)))
		}
	}
	return steady
}

// unchangedUntil is a Key before which signals do not change; with steps,
// signals that change with every step are among them.
func (p *instance) unchangedUntil(steps, onDemand bool) lookahead.Key {
	at, class := vtime.Never, vtime.ClassStep
	switch {
	case p.perStep && !onDemand:
		at = p.engine.FirstStepState(!steps)
		if end := p.engine.FirstEnd(); p.inFlightFromLoad && end <= at { // in-flight is the router's own and knows no steps
			at, class = end, vtime.ClassQueued
		}
	case steps:
		return p.Next()
	default:
		at, class = p.engine.FirstChange()
	}
	if at == vtime.Never {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: at, Class: class}
}

// advanceByRefresh is Advance for an instance with writers.
func (p *instance) advanceByRefresh(out *lookahead.Outbox) {
	for {
		next := p.Next()
		if !out.Execute(next) {
			break
		}
		h := out.Horizon()
		for i := range p.writers {
			r := &p.writers[i]
			if k := r.after(next.At); k != r.dirty {
				r.flush()
				r.dirty = k
			}
			h = lookahead.Earliest(h, r.key(r.dirty))
		}
		p.engine.Act(h.At, h.Class)
	}
	for i := range p.writers {
		p.writers[i].flush()
	}
}

// flush writes the value of the dirty refresh.
func (r *refreshWriter) flush() {
	if r.dirty >= 0 {
		r.write(r.dirty)
		r.dirty = -1
	}
}
