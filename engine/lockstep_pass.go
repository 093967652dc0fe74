package engine

import (
	"fmt"

	"blis/vtime"
)

// Passes of a rank in lock-step: one for each step of the group, which ends with it.

// endInGroup ends the first open pass, whose step has ended.
func (l *passLoop) endInGroup(now vtime.Time) {
	c, p := l.e.connector, l.pop()
	c.disaggregation.fail(p, now)
	c.act(p, now)
	l.e.publish(now)
	if c.hook != nil {
		c.hook.ended(p, now)
	}
}

// formInGroup forms the pass of the next step. A rank without requests forms only the one that
// notices who ended, and in other steps none.
func (l *passLoop) formInGroup(now vtime.Time) {
	f := &l.e.inFlight
	if !l.due(now) {
		l.blank()
		l.n++
		f.blank(now)
		f.push()
		return
	}
	for {
		p := l.form(now)
		if p.batch {
			return
		}
		if p.preempted || l.brings() || !l.e.requests.unfinished() || len(l.e.overdue) > 0 {
			break
		}
		if !l.e.connector.breakDeadlock() {
			l.mayWait(now)
			break
		}
		l.n-- // the pass did nothing
	}
	f.push() // a dummy
}

// mayWait panics if the rank, which scheduled and noticed nothing, waits for nothing either.
func (l *passLoop) mayWait(now vtime.Time) {
	c := l.e.connector
	if c.next() == vtime.Never && c.disaggregation.expires() == vtime.Never && !c.unnoticed() && !c.storages.awaited() && !c.disaggregation.awaited() {
		stuck(l.e, now, ", and no transfer is under way")
	}
}

// stuck panics because the instance has requests and nothing to do.
func stuck(e *Engine, now vtime.Time, more string) {
	panic(fmt.Sprintf("engine: instance %d at %v: %d running and %d waiting requests, nothing can be scheduled%s", e.index, now, e.requests.running(), e.requests.waiting(), more))
}
