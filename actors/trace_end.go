package actors

import (
	"fmt"

	"blis/metrics"
)

// How a trace ends with the run; recall.go where that was interrupted.

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
