package actors

import (
	"cmp"
	"slices"

	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
)

// outage is the part of an instance that may crash.
type outage struct {
	rebuild func() engine.Config // of its engine, with empty caches
	down    bool
	crashes int32 // so far

	// What it published before it crashed, which stays while it is down: of its load, and of its
	// signal groups. But the requests that ended there are counted on.
	load   load
	groups []keptGroup
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

// incarnation is the present one.
func (p *instance) incarnation() incarnation {
	i := incarnation{instance: int32(p.index)}
	if p.outage != nil {
		i.number = p.outage.crashes
	}
	return i
}

// isDown reports whether the instance is down.
func (p *instance) isDown() bool { return p.outage != nil && p.outage.down }

// crash takes the instance down at now. All requests are cut off, by number.
func (p *instance) crash(now vtime.Time) {
	x := p.outage
	p.keepPublished(now)
	var list []fallen
	engine.CutOff(p.engine, now, func(d *engine.Delivery, progress *engine.Progress, tokens int32) {
		f := fallen{*d, lost{transfer{*progress, int32(p.index)}, tokens}}
		f.Spans = slices.Clone(d.Spans)
		list = append(list, f)
	})
	slices.SortFunc(list, func(a, b fallen) int { return cmp.Compare(a.ID, b.ID) })
	for i := range list {
		p.cutOff(&list[i].Delivery, &list[i].lost, now)
	}
	engine.Restart(p.engine, x.rebuild())
	if p.recent != nil {
		p.recent = &recent{options: p.recent.options}
	}
	x.down = true
	x.crashes++
	p.touch(now)
}

// cutOff tells the router of a request that is lost at now.
func (p *instance) cutOff(d *engine.Delivery, l *lost, now vtime.Time) {
	p.finished++
	sendCutOff(p.out, now, d, l)
}

// refuse cuts off p.delivery, which is delivered while the instance is down.
func (p *instance) refuse(progress engine.Progress, now vtime.Time) {
	if progress.Routed == vtime.Never {
		progress.Routed = now
	}
	progress.Redirects++
	p.cutOff(&p.delivery, &lost{transfer{progress, int32(p.index)}, -1}, now)
	p.touch(now)
}

// noProgress is the progress of a request that is delivered for the first time.
func noProgress() engine.Progress {
	return engine.Progress{Progress: metrics.NoProgress(), Evicted: vtime.Never}
}

// repair brings the instance back at now, empty and cold.
func (p *instance) repair(now vtime.Time) {
	p.outage.down = false
	engine.WarmUp(p.engine, now)
	p.touch(now)
}

// keepPublished keeps what the instance has published before now: what it would publish at the
// next refresh is lost.
func (p *instance) keepPublished(now vtime.Time) {
	x := p.outage
	if x.down {
		return
	}
	if b := p.snapshots; b != nil {
		x.load = p.load()
		if b.cadence != immediate {
			x.load = b.at(p.place.seat, b.before(now))
		}
	}
	for i := range x.groups {
		k := &x.groups[i]
		if b := k.of.snapshots; b.cadence != immediate {
			k.state = b.at(p.seatOf(k.of), b.before(now))
		} else {
			k.state = p.observe(k.of)
		}
	}
}

// kept is what the instance, which is down, has published of f.
func (x *outage) kept(f *signalGroup) policy.InstanceState {
	return x.groups[slices.IndexFunc(x.groups, func(k keptGroup) bool { return k.of == f })].state
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
	case kindSlow:
		engine.Slow(p.engine, readSlow(&m.Body))
	}
}
