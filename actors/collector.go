package actors

import (
	"blis/lookahead"
	"blis/metrics"
	"blis/setup"
	"blis/vtime"
)

// collectorID is the process of the collector.
const collectorID = lookahead.FirstSink

// collector is the actor that receives the outcome of every request. It sends
// nothing. With emit it emits rows in order of arrival, and holds outcomes until all
// earlier requests have one. With a tracer it also receives the messages of the trace,
// and passes all messages to the tracer in the order of the run.
type collector struct {
	tracer  *tracer           // nil: the run is not traced
	emit    func(*Row)        // nil: no rows
	options []metrics.Options // by pool
	row     Row
	next    int64 // request whose row is emitted next; held has none below it
	held    map[int64]metrics.Outcome
	left    map[int64]vtime.Time // when the gateway dispatched requests that have no row yet; nil: there is none, or nobody wants rows
	part    bool                 // it has a part of the requests: rows are emitted as they come
	outcome metrics.Outcome
}

var _ lookahead.Process = (*collector)(nil)

// Next implements lookahead.Process: it has no events of its own.
func (c *collector) Next() lookahead.Key { return lookahead.NeverKey }

// Promise implements lookahead.Process.
func (c *collector) Promise() lookahead.Key { return lookahead.NeverKey }

// Advance implements lookahead.Process.
func (c *collector) Advance(lookahead.Key, *lookahead.Outbox) {}

// Receive implements lookahead.Process.
func (c *collector) Receive(m *lookahead.Message, _ *lookahead.Outbox) {
	switch {
	case m.Kind == kindDispatched:
		c.left[readDispatched(m)] = m.Stamp.At
	case m.Kind != kindOutcome:
		if c.tracer != nil {
			c.tracer.take(m)
		}
	case c.emit != nil || c.tracer != nil:
		readOutcome(m, &c.outcome)
		c.accept(&c.outcome)
		if c.tracer != nil {
			c.tracer.end(m.Stamp.At, &c.outcome)
		}
	}
}

// gated makes rows say what requests did at a gateway; nil: there is none.
func (c *collector) gated(g *setup.Gateway) {
	if c.row.names.gateway = g; g != nil && c.emit != nil {
		c.left = map[int64]vtime.Time{}
	}
}

// recordUndelivered receives a message that was undelivered when the run was
// cancelled. Events from known on were not executed. The tracer receives the message
// only if it is before known, so the trace is a prefix of that of the complete run.
func (c *collector) recordUndelivered(m *lookahead.Message, known lookahead.Key) {
	tracer := c.tracer
	if known.Less(m.Stamp.Key()) {
		c.tracer = nil
	}
	c.Receive(m, nil)
	c.tracer = tracer
}

// accept emits the row of o and the rows of held outcomes that follow it, or holds o
// until all earlier requests have an outcome.
func (c *collector) accept(o *metrics.Outcome) {
	switch {
	case c.emit == nil:
		return
	case c.part: // the requests between its own are of others
		c.emitRow(o)
		return
	}
	if o.ID != c.next {
		if c.held == nil {
			c.held = map[int64]metrics.Outcome{}
		}
		c.held[o.ID] = *o
		return
	}
	c.emitRow(o)
	for c.next++; ; c.next++ {
		h, ok := c.held[c.next]
		if !ok {
			return
		}
		delete(c.held, c.next)
		c.emitRow(&h)
	}
}

// emitRow emits the row of one outcome.
func (c *collector) emitRow(o *metrics.Outcome) {
	c.row.Outcome, c.row.options, c.row.dispatched = o, &c.options[o.Pool], vtime.Never
	if at, ok := c.left[o.ID]; ok {
		if delete(c.left, o.ID); at >= o.Admitted { // else in an attempt before the last one
			c.row.dispatched = at
		}
	}
	c.emit(&c.row)
}
