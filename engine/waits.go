package engine

import (
	"slices"

	"blis/vtime"
)

// What a connector says of what is under way, and how an instance goes on in which nothing is.

// unnoticed reports whether a transfer is under way, or about to be submitted.
func (c *connector) unnoticed() bool {
	return c.transferring() || c.storages.under > 0 || c.disaggregation.busy()
}

// transferring reports whether a transfer between GPU and tier is under way, or about to be
// submitted.
func (c *connector) transferring() bool {
	return len(c.chosen)+len(c.store.moving)+len(c.load.moving) > 0 || c.lazy != nil && c.lazy.due
}

// quiet reports whether steps of members of the cohort alone do nothing here but store: no load
// is under way, and nobody waits for the end of a store.
func (c *connector) quiet() bool {
	return c.hook == nil && c.lazy == nil && len(c.load.moving) == 0 && c.storages.fresh == nil && c.endings == 0 &&
		c.requests.waiting() == 0 && c.requests.count[holding] == 0 && !c.disaggregation.moves()
}

// stores reports whether a formation of members of the cohort alone has a store to choose, to
// submit or to notice.
func (c *connector) stores(formation int64) bool {
	l := &c.filling
	return c.tiered && len(c.chosen)+len(c.store.moving)+len(l.owing)+len(l.crossings[formation%int64(len(l.crossings))]) > 0
}

// next returns the first end of a transfer, or of an operation of a storage tier, that is known
// and that nobody noticed.
func (c *connector) next() vtime.Time {
	return min(c.store.next(), c.load.next(), c.storages.next(), c.disaggregation.next())
}

// breakDeadlock lets the last waiting request that holds blocks give them back, and
// reports whether there was one.
func (c *connector) breakDeadlock() bool {
	if c.unnoticed() || c.requests.running() > 0 {
		return false
	}
	for _, m := range slices.Backward(c.passed) {
		if !c.requests.is(m, waiting) {
			continue
		}
		if s := c.requests.at(m.slot); s.seq.Held() > 0 {
			c.cache.Preempt(&s.seq)
			s.computed, c.at(m.slot).load = 0, noLoad
			c.counts.DeadlockBreak++
			c.disaggregation.giveBack(m.slot)
			return true
		}
	}
	return false
}

// entriesUsed returns the entries of the CPU tier in use.
func entriesUsed(c *connector) int64 {
	if !c.tiered {
		return 0
	}
	return int64(c.cfg.Tier.Used())
}
