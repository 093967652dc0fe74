package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/vtime"
)

// What was on its way when a run was cancelled.

// recall takes back what was on its way when the run was cancelled: requests
// that no instance has received are pending, outcomes are heard.
func (c *cluster) recall() error {
	var d engine.Delivery
	var progress engine.Progress
	known := c.known()
	return c.simulation.Undelivered(func(to lookahead.ProcessID, m *lookahead.Message) {
		on := -1
		if to == collectorID { // after all others
			c.collector.recall(m, known)
			return
		}
		known = earlier(known, m.Stamp.Key())
		switch m.Kind {
		case kindDelivery:
			readDelivery(&m.Body, &d)
		case kindResumed:
			on = int(to - lookahead.FirstLeaf)
			readResumed(&m.Body, &d, &progress)
		case kindReturned:
			on = readReturned(&m.Body, &d, &progress)
		default:
			return
		}
		c.router.describe(&d, metrics.Pending, metrics.NoReason, vtime.Never)
		if on >= 0 {
			c.router.describeProgress(movedRequest{&progress, int32(on)})
		}
		c.router.recorder.Record(&c.router.outcome)
		c.collector.accept(&c.router.outcome)
	})
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
