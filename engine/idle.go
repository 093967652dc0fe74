package engine

import "blis/vtime"

// An instance with a CPU tier may still hold blocks while no request is here, and has
// entries. It hears nothing when it is taken away in such a time: what it integrates then is
// put off until a request comes, or until it is known when the instance was gone.

// idleSpan is a time without requests.
type idleSpan struct {
	to            vtime.Time // it begins where the one before ends, or where the books do
	used          int64      // GPU blocks, all held for transfers
	held, entries int64
}

// integrate brings the time integrals up to now.
func (e *Engine) integrate(now vtime.Time) {
	c := e.connector
	if c == nil {
		e.books.integrate(now, e.level())
		if e.threshold != nil {
			e.threshold.integrate(now)
		}
		return
	}
	span := idleSpan{now, int64(e.UsedBlocks()), c.held, entriesUsed(c)}
	if e.requests.count[pending]+e.requests.waiting()+e.requests.running() == 0 {
		if n := len(c.idle); n > 0 && c.idle[n-1] == (idleSpan{c.idle[n-1].to, span.used, span.held, span.entries}) {
			c.idle[n-1].to = now
		} else {
			c.idle = append(c.idle, span)
		}
		return
	}
	c.settle(&e.books, vtime.Never)
	e.books.integrate(now, e.level())
	c.integrate(now, span.entries, span.held)
}

// settle enters what was put off into the books, as far as until.
func (c *connector) settle(k *books, until vtime.Time) {
	for _, s := range c.idle {
		to := min(s.to, until)
		if to < k.upto {
			break
		}
		k.integrate(to, level{used: s.used})
		c.integrate(to, s.entries, s.held)
	}
	c.idle = c.idle[:0]
}

// Finish brings the time integrals up to the end of the run. An instance that was gone before
// had nothing from then on.
func (e *Engine) Finish(end, gone vtime.Time) {
	c := e.connector
	if c == nil {
		e.books.integrate(end, e.level())
		if e.threshold != nil {
			e.threshold.integrate(min(end, gone))
		}
		return
	}
	last := min(end, gone)
	e.integrate(max(end, e.books.upto))
	c.settle(&e.books, last)
	if e.books.upto < end {
		e.books.integrate(end, level{})
	}
	c.close(last)
	e.Tier.Evicted = evicted(e)
}
