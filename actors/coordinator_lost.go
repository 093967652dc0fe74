package actors

import (
	"slices"

	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/setup"
	"blis/vtime"
)

// What the router tells instances that share the work of prompts when one of them is lost: it crashed, or was taken away.
// The two do not talk to each other, and would not find out otherwise.

// announce keeps the end of a pull of which the instance was told that has the KV.
func (c *coordinator) announce(a announcement, now vtime.Time) {
	if c.announced == nil {
		return
	}
	if len(c.announced) == cap(c.announced) {
		c.announced = slices.DeleteFunc(c.announced, func(a announcement) bool { return a.end <= now })
	}
	c.announced = append(c.announced, a)
}

// isLost reports whether KV is gone: its instance has crashed since it was computed, or was taken away.
func (c *coordinator) isLost(s *engine.KVSource) bool {
	of := readIncarnation(s.From)
	at := c.router.fleet.ranks[of.instance].server
	return at.takenAway || c.router.failures.outlived(at.number, of.number)
}

// lose takes in that an instance is lost at now, with the KV that awaits its pull there and the pulls that it makes.
// Nobody else hears of either.
func (c *coordinator) lose(at *server, now vtime.Time, out *lookahead.Outbox) {
	if c == nil {
		return
	}
	c.router.failures.note(now)
	switch at.pool.role {
	case setup.PrefillRole:
		c.links.clear(at.first, at.pool.plan.Ranks.Ranks)
		for _, other := range c.router.fleet.servers {
			if other.pool == at.pool.deployment.serving && !other.isGone() {
				sendSourceLost(out, other.process(), now, at.first, at.pool.plan.Ranks.Ranks)
			}
		}
	case setup.DecodeRole:
		c.revoke(now, out, func(a *announcement) bool { return a.by == at })
	}
}

// cut takes in that pulls of and to an instance fail that go on at now.
func (c *coordinator) cut(at *server, now vtime.Time, out *lookahead.Outbox) {
	c.links.clear(at.first, at.pool.plan.Ranks.Ranks)
	c.revoke(now, out, func(a *announcement) bool { return a.by == at || c.sourceOf(&a.source).server == at })
}

// revoke tells the instances that have the KV that pulls do not end which go on at now, of those that fail says.
func (c *coordinator) revoke(now vtime.Time, out *lookahead.Outbox, fail func(*announcement) bool) {
	kept := c.announced[:0]
	for i := range c.announced {
		switch a := &c.announced[i]; {
		case a.end <= now:
		case fail(a):
			sendRevoked(out, c.sourceOf(&a.source).process(), now, &a.source)
		default:
			kept = append(kept, *a)
		}
	}
	c.announced = kept
}

// beginAnew forgets what became of d, which was returned or lost, so that it may be handed over: it keeps how often it
// was, and the time of its first routing decision.
func (t *transfer) beginAnew(d *engine.Delivery) {
	routed, redirects := t.Routed, t.Redirects
	t.Progress = noProgress()
	t.Routed, t.Redirects = routed, redirects
	d.HandOver = metrics.NoHandOver()
}

// decideAnew lets request i begin anew that an instance returned, or that was lost with it, and that is routed again, if
// the instance shares the work with others and the client has no token yet: whether it is handed over is decided again.
func decideAnew(r *router, i int32) {
	t := r.held.transfers[i]
	if r.fleet.ranks[t.from].pool.role != setup.Monolithic && t.FirstToken == vtime.Never {
		t.beginAnew(&r.held.requests[i])
	}
}
