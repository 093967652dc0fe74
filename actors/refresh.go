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
	use     bool                // KV use is on it
	pending int64               // refresh before which something happened, −1: none that is not published
	publish func(refresh int64) // writes the reading as of now
}

// observe makes the instance publish what is observed of it.
func (p *instance) observe(on *boards, signals policy.Signals, o metrics.Options) {
	b := on.board
	p.board, p.use = b, signals&policy.KVUse&^on.apart != 0
	if b != nil && b.cadence != immediate {
		p.refreshes = append(p.refreshes, refreshing{b.cadence, p.use, -1, func(k int64) { b.publish(p.index, k, p.read()) }})
	}
	if signals&policy.RecentLatency != 0 {
		p.recent = &recent{token: o.TokenOverhead, request: o.RequestOverhead}
	}
	for _, f := range on.feeds {
		if f.board.cadence == immediate {
			p.live = append(p.live, f)
			continue
		}
		write := func(k int64) { f.board.publish(p.index, k, p.detail(f.signals)) }
		p.refreshes = append(p.refreshes, refreshing{f.board.cadence, f.signals&policy.KVUse != 0, -1, write})
	}
}

// Steady implements lookahead.Publisher. What is shown immediately stays until
// it changes. A reading for a refresh is good once everything before it has
// happened, so what is read of earlier refreshes stays until the one that sees
// the next change. KV use changes with every event, the other signals seldom.
func (p *instance) Steady() lookahead.Key {
	next, change := p.Next(), lookahead.NeverKey
	if at, class := p.engine.FirstChange(); at != vtime.Never {
		change = lookahead.Key{At: at, Class: class}
	}
	steady := lookahead.NeverKey
	if p.board != nil && p.board.cadence == immediate {
		steady = changeOf(p.use, next, change)
	}
	for _, f := range p.live {
		steady = earlier(steady, changeOf(f.signals&policy.KVUse != 0, next, change))
	}
	for i := range p.refreshes {
		r := &p.refreshes[i]
		if k := changeOf(r.use, next, change); !k.IsNever() {
			steady = earlier(steady, r.key(r.after(k.At)))
		}
	}
	return steady
}

// changeOf is the first change of signals, with KV use among them or not.
func changeOf(use bool, next, change lookahead.Key) lookahead.Key {
	if use {
		return next
	}
	return change
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
