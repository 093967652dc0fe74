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

// publish makes the instance publish signals of an endpoint, by the plan on.
func (s *publisher) publish(on *signalPlan, signals policy.Signals, o metrics.Options) {
	b := on.load
	s.inFlightFromLoad = on.inFlightFromLoad
	s.snapshots, s.readsKVUse = b, signals&policy.KVUse&^on.inGroups != 0
	if b != nil && b.cadence != immediate {
		s.instance.writers = append(s.instance.writers, refreshWriter{b.cadence, false, s.readsKVUse, -1, func(k int64) { b.publish(s.seat, k, s.load()) }})
	}
	s.keepRecent(signals, o)
	s.publishGroups(on)
}

// keepRecent keeps the latencies of the last requests if signals need them.
func (s *publisher) keepRecent(signals policy.Signals, o metrics.Options) {
	if signals&(policy.RecentLatency|policy.OwnSignals) != 0 {
		s.recent = &recent{options: o}
	}
}

// publishGroups makes the instance publish the signal groups of a plan.
func (s *publisher) publishGroups(on *signalPlan) {
	for _, f := range on.groups {
		seat := s.seatOf(f)
		f.snapshots.begin(seat, s.observe(f))
		if s.instance.outage != nil {
			s.keptGroups = append(s.keptGroups, keptGroup{of: f})
		}
		if f.snapshots.cadence == immediate {
			s.groups = append(s.groups, f)
			continue
		}
		write := func(k int64) { f.snapshots.publish(seat, k, s.observe(f)) }
		s.instance.writers = append(s.instance.writers, refreshWriter{f.snapshots.cadence, f.checks, f.signals.EveryStep() != policy.NoSignals, -1, write})
	}
}

// StableUntil implements lookahead.Publisher. An immediate signal is stable until
// it changes. A periodic one is stable until the refresh that sees the next
// change.
func (p *instance) StableUntil() lookahead.Key {
	steady := lookahead.NeverKey
	for _, s := range p.shown {
		if s.snapshots != nil && s.snapshots.cadence == immediate {
			steady = lookahead.Earliest(steady, p.unchangedUntil(s.readsKVUse, false))
		}
		for _, f := range s.groups {
			if f.checks {
				continue
			}
			steady = lookahead.Earliest(steady, p.unchangedUntil(f.signals.EveryStep() != policy.NoSignals, f.onDemand))
		}
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
		at = p.engines.firstStepState(!steps)
		if end := p.engines.firstEnd(); p.shown[0].inFlightFromLoad && end <= at { // in-flight is the router's own and knows no steps
			at, class = end, vtime.ClassQueued
		}
	case steps:
		return p.Next()
	default:
		at, class = p.engines.firstChange()
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
		p.engines.act(h.At, h.Class)
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
