package actors

import (
	"blis/lookahead"
	"blis/metrics"
)

// collectorID is its process.
const collectorID = lookahead.FirstSink

// collector is the actor that hears what became of every request. It sends
// nothing. When somebody wants rows it hands them out in order of arrival,
// holding back those that ended before an earlier request did. When somebody
// traces, it also hears of decisions, and hands everything to the tracer as it
// comes.
type collector struct {
	tracer  *tracer    // nil: nobody traces
	emit    func(*Row) // nil: nobody wants rows
	row     Row
	next    int64 // request whose row comes next
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

// recall takes a message that waited when the run was cancelled. It is traced if
// nothing could have come before it: so a trace that was interrupted is the
// beginning of the whole one.
func (c *collector) recall(m *lookahead.Message, known lookahead.Key) {
	tracer := c.tracer
	if known.Less(m.Stamp.Key()) {
		c.tracer = nil
	}
	c.Receive(m, nil)
	c.tracer = tracer
}

// accept takes one outcome and emits the rows whose turn it is.
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

// print hands out the row of one outcome.
func (c *collector) print(o *metrics.Outcome) {
	c.row.Outcome = o
	c.emit(&c.row)
}
