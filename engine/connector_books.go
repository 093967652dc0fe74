package engine

import (
	"cmp"
	"fmt"

	"blis/metrics"
	"blis/vtime"
)

// What a connector counts, checks and forgets.

// tierIntegrals are the integrals of a connector over time.
type tierIntegrals struct {
	until  vtime.Time // they are up to this time
	series []*metrics.TimeSeries
}

// integrate brings the integrals up to now, since when there were so many entries and held blocks.
func (c *connector) integrate(now vtime.Time, entries, held int64) {
	dt := int64(now.Sub(c.integrals.until))
	c.counts.UsedMicros += dt * entries
	c.counts.HeldMicros += dt * held
	if d := c.disaggregation; d != nil {
		d.counts.HeldMicros += dt * held
	}
	for _, s := range c.integrals.series {
		s.Gauges[metrics.EntriesGauge].Hold(now, entries)
		s.Gauges[metrics.HeldGauge].Hold(now, held)
	}
	c.integrals.until = now
}

// bookAdmission counts what the tier saved slot i, which is admitted with known tokens.
func (c *connector) bookAdmission(i, known int32) {
	if c.disaggregation.bookAdmission(i) || !c.tiered {
		return
	}
	if o, s := c.at(i), c.requests.at(i); !s.Preempted {
		s.cachedCPU, s.cachedStorage = o.loaded-o.fromStorage, o.fromStorage
		c.counts.CachedTokens += int64(s.cachedCPU)
		c.counts.StorageTokens += int64(o.fromStorage)
		c.counts.MissedTokens += int64(known - o.hit)
	}
}

// evicted returns the entries that the CPU tier of e has evicted, also before restarts of the instance.
func evicted(e *Engine) int64 {
	if c := e.connector; c.tiered {
		return e.books.evicted + c.cfg.Tier.Evicted()
	}
	return 0
}

// drop forgets everything that is under way: the instance is taken away at now.
func (c *connector) drop(now vtime.Time) {
	c.close(now)
	for i := range c.slots {
		o := c.at(int32(i))
		if o.load == loading {
			if !c.disaggregation.endPull(int32(i)) {
				c.cfg.Tier.EndLoad(&o.seq, o.loadFrom, o.loadTo)
			}
		}
		if o.stored {
			c.cfg.Tier.Written(&o.seq, nil)
		}
		o.load, o.stored, o.stores = noLoad, false, 0
		if c.requests.at(int32(i)).phase == holding {
			c.release(int32(i))
		}
	}
	c.disaggregation.drop(now)
	c.lazy.drop()
	c.store.drop()
	c.load.drop()
	c.chosen, c.ended, c.passed, c.endings = nil, nil, nil, 0
	c.dropStorage()
}

// check verifies the books of the tier.
func (c *connector) check() error {
	writers, blocks := c.lazy.writers()
	reading := 0
	for i := range c.slots {
		s, o := c.requests.at(int32(i)), c.at(int32(i))
		if o.stored {
			writers = append(writers, &o.seq)
		}
		if o.load == loading && !c.disaggregation.isPulling(int32(i)) {
			reading += int(o.loadTo - o.loadFrom)
		}
		if s.phase == holding {
			blocks += int64(s.seq.Held())
		}
	}
	if blocks != c.held {
		return fmt.Errorf("%d blocks are held for transfers by the slots, %d by the books", blocks, c.held)
	}
	for n := range c.storages.ops {
		if op := &c.storages.ops[n]; op.used && op.kind == StorageRead {
			writers = append(writers, &op.seq)
		}
	}
	if err := cmp.Or(c.checkTransfers(), c.disaggregation.check()); err != nil || !c.tiered {
		return err
	}
	return c.cfg.Tier.Check(writers, reading, c.storages.copied)
}
