package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/vtime"
)

// instance is the actor of one serving instance: an engine, its recorder, and
// its place on the board.
type instance struct {
	index    int
	engine   *engine.Engine
	recorder *metrics.Recorder
	board    *board // nil: nobody observes it
	notify   bool   // the router hears when a request ends
	lengths  bool   // of its signals, only queue depth and batch size are observed
	finished int64
	collect  lookahead.ProcessID

	delivery engine.Delivery
	out      *lookahead.Outbox // of the turn
}

var (
	_ lookahead.Process   = (*instance)(nil)
	_ lookahead.Publisher = (*instance)(nil)
	_ lookahead.Estimator = (*instance)(nil)
	_ lookahead.Folder    = (*instance)(nil)
	_ engine.Sink         = (*instance)(nil)
)

// Next implements lookahead.Process.
func (p *instance) Next() lookahead.Key {
	at, class := p.engine.Next()
	if at == vtime.Never {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: at, Class: class}
}

// Promise implements lookahead.Process: a notice follows the end of a request
// in the same instant.
func (p *instance) Promise() lookahead.Key {
	if !p.notify {
		return lookahead.NeverKey
	}
	at := p.engine.FirstEnd()
	if at == vtime.Never {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: at, Class: classNotice}
}

// Steady implements lookahead.Publisher.
func (p *instance) Steady() lookahead.Key {
	if !p.lengths {
		return p.Next()
	}
	at, class := p.engine.FirstChange()
	if at == vtime.Never {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: at, Class: class}
}

// read takes the signals off the engine, as far as somebody observes them.
func (p *instance) read() reading {
	r := reading{queue: p.engine.Waiting(), batch: p.engine.Running(), finished: p.finished}
	if !p.lengths {
		r.used = int64(p.engine.UsedBlocks())
	}
	return r
}

// Receive implements lookahead.Process: a request is delivered.
func (p *instance) Receive(m *lookahead.Message, out *lookahead.Outbox) {
	readDelivery(&m.Body, &p.delivery)
	p.engine.Deliver(&p.delivery, m.Stamp.At)
}

// Advance implements lookahead.Process.
func (p *instance) Advance(_ lookahead.Key, out *lookahead.Outbox) {
	p.out = out
	if p.board != nil && p.board.interval > 0 {
		p.advancePeriodic(out)
		return
	}
	for out.Execute(p.Next()) {
		h := out.Horizon()
		p.engine.Act(h.At, h.Class)
	}
	if p.board != nil {
		p.board.tell(p.index, p.read())
	}
}

// advancePeriodic is Advance with a reading left behind at every refresh.
func (p *instance) advancePeriodic(out *lookahead.Outbox) {
	refresh := int64(-1)
	for {
		next := p.Next()
		if !out.Execute(next) {
			break
		}
		if k := p.board.refreshAfter(next.At); k != refresh {
			if refresh >= 0 {
				p.board.publish(p.index, refresh, p.read())
			}
			refresh = k
		}
		h := out.Horizon()
		if r := (lookahead.Key{At: p.board.at(refresh), Class: classRefresh}); r.Less(h) {
			h = r
		}
		p.engine.Act(h.At, h.Class)
	}
	if refresh >= 0 {
		p.board.publish(p.index, refresh, p.read())
	}
}

// Work implements lookahead.Estimator: steps until h at the mean pace so far.
func (p *instance) Work(h lookahead.Key) int {
	at, _ := p.engine.Next()
	if at == vtime.Never || at >= h.At {
		return 1
	}
	c := &p.engine.Counters
	pace := max(1, c.BusyMicros/max(1, c.Steps))
	return 1 + int(min(int64(h.At-at)/pace, 1<<20))
}

// Fold implements lookahead.Folder.
func (p *instance) Fold() uint64 { return p.engine.Fold() }

// Group implements engine.Sink.
func (p *instance) Group(class, model uint16, arrival vtime.Time) int {
	return p.recorder.Group(class, model, arrival)
}

// ITL implements engine.Sink.
func (p *instance) ITL(group int, gap vtime.Duration, n int) { p.recorder.ITL(group, gap, n) }

// Done implements engine.Sink.
func (p *instance) Done(o *metrics.Outcome, now vtime.Time) {
	p.finished++
	p.recorder.Record(o)
	sendOutcome(p.out, p.collect, now, o)
	if p.notify {
		sendEnded(p.out, now, p.index, o)
	}
}
