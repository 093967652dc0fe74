package actors

import (
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
)

// refreshing is a board on which an instance leaves a reading behind at every
// refresh.
type refreshing struct {
	cadence
	steps   bool                // it has signals that change with every step
	pending int64               // refresh before which something happened, −1: none that is not published
	publish func(refresh int64) // writes the reading as of now
}

// observe makes the instance publish what is observed of it.
func (p *instance) observe(on *boards, signals policy.Signals, o metrics.Options) {
	b := on.board
	p.counted = on.counted
	p.board, p.use = b, signals&policy.KVUse&^on.apart != 0
	if b != nil && b.cadence != immediate {
		p.refreshes = append(p.refreshes, refreshing{b.cadence, p.use, -1, func(k int64) { b.publish(p.index, k, p.read()) }})
	}
	if signals&policy.RecentLatency != 0 {
		p.recent = &recent{options: o}
	}
	for _, f := range on.feeds {
		if f.board.cadence == immediate {
			p.live = append(p.live, f)
			continue
		}
		write := func(k int64) { f.board.publish(p.index, k, p.detail(f)) }
		p.refreshes = append(p.refreshes, refreshing{f.board.cadence, f.signals&stepSignals != 0, -1, write})
	}
}

// StableUntil implements lookahead.Publisher. What is shown immediately stays
// until it changes. A reading for a refresh is good once everything before it has
// happened, so what is read of earlier refreshes stays until the one that sees
// the next change.
func (p *instance) StableUntil() lookahead.Key {
	steady := lookahead.NeverKey
	if p.board != nil && p.board.cadence == immediate {
		steady = p.change(p.use, false)
	}
	for _, f := range p.live {
		steady = earlier(steady, p.change(f.signals&stepSignals != 0, f.asked))
	}
	for i := range p.refreshes {
		r := &p.refreshes[i]
		if k := p.change(r.steps, false); !k.IsNever() {
			steady = earlier(steady, r.key(r.after(k.At)))
		}
	}
	return steady
}

// stepSignals change with every step, the others seldom.
const stepSignals = policy.KVUse | policy.EstimatedWait

// change is a Key before which signals do not change, stepSignals among them or
// not.
func (p *instance) change(steps, asked bool) lookahead.Key {
	at, class := vtime.Never, vtime.ClassStep
	switch {
	case p.perStep && !asked:
		at = p.engine.FirstStepState(!steps)
		if end := p.engine.FirstEnd(); p.counted && end <= at { // in-flight is the router's own and knows no steps
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

// advanceByRefresh is Advance for boards of any number of cadences.
func (p *instance) advanceByRefresh(out *lookahead.Outbox) {
	for {
		next := p.Next()
		if !out.Execute(next) {
			break
		}
		h := out.Horizon()
		for i := range p.refreshes {
			r := &p.refreshes[i]
			if k := r.after(next.At); k != r.pending {
				r.flush()
				r.pending = k
			}
			h = earlier(h, r.key(r.pending))
		}
		p.engine.Act(h.At, h.Class)
	}
	for i := range p.refreshes {
		p.refreshes[i].flush()
	}
}

// flush publishes for the pending refresh.
func (r *refreshing) flush() {
	if r.pending >= 0 {
		r.publish(r.pending)
		r.pending = -1
	}
}
