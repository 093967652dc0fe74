package actors

import (
	"blis/lookahead"
	"blis/metrics"
)

// collectorID is the process of the collector.
const collectorID = lookahead.FirstSink

// collector is the actor that receives the outcome of every request. It sends
// nothing. With emit it hands out rows in order of arrival, and holds outcomes
// until all earlier requests have one. With a tracer it also receives decisions,
// and hands everything on as it comes.
type collector struct {
	tracer  *tracer    // nil: the run is not traced
	emit    func(*Row) // nil: no rows
	row     Row
	next    int64 // request whose row comes next; none below is in held
	held    map[int64]metrics.Outcome
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

// takeUndelivered takes a message that waited when the run was cancelled. The
// tracer gets it only if nothing could have come before it, so the trace of a
// cancelled run is the beginning of the whole one. Events from known on were not
// executed.
func (c *collector) takeUndelivered(m *lookahead.Message, known lookahead.Key) {
	tracer := c.tracer
	if known.Less(m.Stamp.Key()) {
		c.tracer = nil
	}
	c.Receive(m, nil)
	c.tracer = tracer
}

// accept takes one outcome and emits all rows that come next.
func (c *collector) accept(o *metrics.Outcome) {
	if c.emit == nil {
		return
	}
	if o.ID != c.next {
		if c.held == nil {
			c.held = map[int64]metrics.Outcome{}
		}
		c.held[o.ID] = *o
		return
	}
	c.print(o)
	for c.next++; ; c.next++ {
		h, ok := c.held[c.next]
		if !ok {
			return
		}
		delete(c.held, c.next)
		c.print(&h)
	}
}

// print emits the row of one outcome.
func (c *collector) print(o *metrics.Outcome) {
	c.row.Outcome = o
	c.emit(&c.row)
}
