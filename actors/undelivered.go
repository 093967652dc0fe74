package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/vtime"
)

// Messages that were on their way when a run was cancelled.

// takeUndelivered takes the messages of a cancelled run that no process received:
// their requests are pending, and the collector receives their outcomes.
func (c *cluster) takeUndelivered() error {
	var d engine.Delivery
	known := c.known()
	return c.simulation.Undelivered(func(to lookahead.ProcessID, m *lookahead.Message) {
		var of *transfer
		if to == collectorID { // its messages come after all others
			c.collector.takeUndelivered(m, known)
			return
		}
		known = lookahead.Earliest(known, m.Stamp.Key())
		switch m.Kind {
		case kindDelivery:
			readDelivery(&m.Body, &d)
		case kindResumed:
			of = &transfer{from: int32(to - lookahead.FirstLeaf)}
			readResumed(&m.Body, &d, &of.Progress)
		case kindReturned:
			of = new(transfer)
			readReturned(&m.Body, &d, of)
		default:
			return
		}
		c.router.describe(&d, metrics.Pending, metrics.NoReason, vtime.Never)
		c.router.describeTransfer(of)
		c.router.recorder.Record(&c.router.outcome)
		c.collector.accept(&c.router.outcome)
	})
}

// known is the Key of the earliest event that a cancelled run has left, without
// messages in mailboxes. Anything that it would still have sent is later.
func (c *cluster) known() lookahead.Key {
	k := lookahead.Earliest(lookahead.Earliest(c.router.Next(), c.router.NextPeriodic()), c.autoscaler.NextPeriodic())
	for _, n := range c.instances {
		k = lookahead.Earliest(k, n.Next())
	}
	return k
}
