package engine

import "blis/vtime"

// StoragePort is how storage tiers that are not the instance's own reach it: their answers come
// as messages.
type StoragePort struct{ e *Engine }

// Answer takes in the answer of a storage tier at now, its end. A waiting instance looks at
// it at once.
func (p StoragePort) Answer(a StorageAnswer, now vtime.Time) {
	e, c := p.e, p.e.connector
	if c.storages.dropped { // the instance was taken away
		c.storages.under--
		return
	}
	c.storages.know(a)
	e.passes.wake(now)
}

// Awaits reports whether the instance has something to do once an answer comes that has not.
func (p StoragePort) Awaits() bool {
	c := p.e.connector
	return c != nil && c.storages.awaited() && (p.e.requests.unfinished() || p.e.cfg.Passes.IdleRelease && !c.storages.dropped)
}

// FirstSubmission returns a time before which the instance submits no operation to a storage tier,
// vtime.Never if nothing can make it. Requests ask in formations. What can be written was stored by
// requests that have ended or were preempted.
func (p StoragePort) FirstSubmission() vtime.Time {
	e, c := p.e, p.e.connector
	if c == nil || len(c.storages.list) == 0 {
		return vtime.Never
	}
	at, _ := e.agenda.at.next()
	settled := c.storages.fresh == nil && c.storages.reads == 0 && c.endings == 0 && e.requests.count[holding] == 0
	if settled && len(e.overdue) == 0 && e.batcher.onlyDecodes() && e.passes.quiet() {
		at, _ = e.FirstChange()
	}
	return at
}
