package actors

import (
	"cmp"
	"slices"

	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// outage is the part of an instance that may crash.
type outage struct {
	rebuild func(rank int) engine.Config // of its engines, with empty caches
	down    bool
	crashes int32       // so far
	links   []linkShare // that have less than their bandwidth, of those on which the instance pulls
}

// keptGroup is what an instance has published of a signal group.
type keptGroup struct {
	of    *signalGroup
	state policy.InstanceState
}

// fallen is a request that is lost with the instance.
type fallen struct {
	engine.Delivery
	lost
}

// isDown reports whether the instance is down.
func (p *instance) isDown() bool { return p.outage != nil && p.outage.down }

// crash takes the instance down at now. All requests are cut off, by number.
func (p *instance) crash(now vtime.Time) {
	x := p.outage
	p.keepPublished(now)
	var list []fallen
	p.engines.cutOff(now, func(rank int, d *engine.Delivery, progress *engine.Progress, tokens int32) {
		r := &p.ranks[rank]
		r.left()
		f := fallen{*d, lost{transfer{*progress, int32(r.number)}, tokens}}
		f.Spans = slices.Clone(d.Spans)
		list = append(list, f)
	})
	slices.SortFunc(list, func(a, b fallen) int { return cmp.Compare(a.ID, b.ID) })
	for i := range list {
		sendCutOff(p.out, now, &list[i].Delivery, &list[i].lost)
	}
	p.engines.restart(x.rebuild)
	for _, s := range p.shown {
		if s.recent != nil {
			s.recent = &recent{options: s.recent.options}
		}
	}
	x.down = true
	x.crashes++
	p.touch(now)
}

// cutOff tells the router of a request that is lost at now.
func (r *rank) cutOff(d *engine.Delivery, l *lost, now vtime.Time) {
	r.left()
	sendCutOff(r.instance.out, now, d, l)
}

// refuse reports whether the instance is down when p.delivery is delivered, which is cut off then. Else it numbers the
// attempt where an earlier one may have been on the instance.
func (p *instance) refuse(progress *engine.Progress, now vtime.Time) bool {
	if !p.isDown() {
		if p.delivery.Attempt = 0; p.server.pool.role != setup.Monolithic {
			p.delivery.Attempt = uint32(p.delivery.Retries)&0xffff | uint32(progress.Redirects)<<16
		}
		return false
	}
	if progress.Routed == vtime.Never {
		progress.Routed = now
	}
	progress.Redirects++
	r := &p.ranks[int(p.delivery.Endpoint)*p.server.pool.plan.Ranks.Local]
	r.cutOff(&p.delivery, &lost{transfer{*progress, int32(r.number)}, wasRefused}, now)
	p.touch(now)
	return true
}

// noProgress is the progress of a request that is delivered for the first time.
func noProgress() engine.Progress {
	return engine.Progress{Progress: metrics.NoProgress(), Evicted: vtime.Never}
}

// repair brings the instance back at now, empty and cold.
func (p *instance) repair(now vtime.Time) {
	p.outage.down = false
	p.engines.warmUp(now)
	p.touch(now)
}

// keepPublished keeps what the instance has published before now: what it would publish at the
// next refresh is lost.
func (p *instance) keepPublished(now vtime.Time) {
	if p.outage.down {
		return
	}
	for _, s := range p.shown {
		s.keep(now)
	}
}

// keep is keepPublished for one publisher.
func (s *publisher) keep(now vtime.Time) {
	if b := s.snapshots; b != nil {
		s.kept = s.load()
		if b.cadence != immediate {
			s.kept = b.at(s.seat, b.before(now))
		}
	}
	for i := range s.keptGroups {
		k := &s.keptGroups[i]
		if b := k.of.snapshots; b.cadence != immediate {
			k.state = b.at(s.seatOf(k.of), b.before(now))
		} else {
			k.state = s.observe(k.of)
		}
	}
}

// keptOf is what the instance, which is down, has published of f.
func (s *publisher) keptOf(f *signalGroup) policy.InstanceState {
	return s.keptGroups[slices.IndexFunc(s.keptGroups, func(k keptGroup) bool { return k.of == f })].state
}

// touch makes the instance publish after a message that changed what it publishes, as after an
// event.
func (p *instance) touch(now vtime.Time) {
	for i := range p.writers {
		w := &p.writers[i]
		if k := w.after(now); k != w.dirty {
			w.flush()
			w.dirty = k
		}
	}
}

// receiveFailure receives a message about a failure.
func (p *instance) receiveFailure(m *lookahead.Message) {
	now := m.Stamp.At
	switch m.Kind {
	case kindCrash:
		p.crash(now)
	case kindRepair:
		p.repair(now)
	case kindLink:
		p.outage.receiveLink(readLink(&m.Body))
		for k := range p.ranks {
			p.engines.rank(k, now, m.Stamp.Class).Pulls.SharesChange(now)
		}
	case kindSlow:
		p.engines.slow(readSlow(&m.Body), now)
	}
}
