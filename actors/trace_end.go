package actors

import (
	"fmt"

	"blis/lookahead"
	"blis/metrics"
)

// How a trace ends: with the run, or where that was interrupted.

// accept takes what became of a request that had not ended when the run did.
func (c *cluster) accept(o *metrics.Outcome) {
	c.collector.accept(o)
	if c.tracer != nil {
		c.tracer.unfinished = append(c.tracer.unfinished, *o)
	}
}

// traceError is what went wrong with the trace, if anything.
func (c *cluster) traceError() error {
	if c.tracer == nil || c.tracer.err == nil {
		return nil
	}
	return fmt.Errorf("the trace is not complete: %w", c.tracer.err)
}

// known is the Key of the earliest event that a cancelled run has left, but for
// those in mailboxes. What it would have sent is later than its earliest event.
func (c *cluster) known() lookahead.Key {
	k := earlier(earlier(c.router.Next(), c.router.NextPeriodic()), c.autoscaler.NextPeriodic())
	for _, n := range c.instances {
		k = earlier(k, n.Next())
	}
	return k
}

// recall takes a message that waited when the run was cancelled, if nothing
// could have come before it: so a trace that was interrupted is the beginning
// of the whole one.
func (t *tracer) recall(m *lookahead.Message, known lookahead.Key) {
	if !known.Less(m.Stamp.Key()) {
		t.Receive(m, nil)
	}
}
