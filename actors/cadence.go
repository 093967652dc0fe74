package actors

import (
	"blis/lookahead"
	"blis/vtime"
)

// cadence is the interval at which signals are refreshed, at its multiples and on
// all instances at once. Refresh k is the event (k·cadence, ClassRefresh).
type cadence vtime.Duration

// Cadences that are no interval: immediate signals are always as instances
// publish them, on-demand signals as the engine has them when the router decides.
const (
	immediate cadence = 0
	onDemand  cadence = -1
)

// after is the number of the first refresh that sees an event at t of a class
// before the refresh's: the smallest k ≥ 0 with k·cadence ≥ t.
func (c cadence) after(t vtime.Time) int64 {
	if t <= 0 {
		return 0
	}
	return (int64(t)-1)/int64(c) + 1
}

// before is the number of the last refresh before a decision at t, −1 when
// there was none.
func (c cadence) before(t vtime.Time) int64 { return c.after(t) - 1 }

// key is the Key of refresh k ≥ 0, never if that is beyond all times.
func (c cadence) key(k int64) lookahead.Key {
	if k > int64(vtime.Never)/int64(c) {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: vtime.Time(k * int64(c)), Class: vtime.ClassRefresh}
}

// bound narrows an observation at o.At to what signals of this cadence allow. The
// decision sees refresh k, the last one before o.At. Instances with an event
// before refresh k must execute it first. No instance may pass refresh k+2 before
// the router has passed k+1: snapshots keep three refreshes.
func (c cadence) bound(o *lookahead.Observation) {
	if c == immediate {
		o.Until, o.StateBefore, o.LeafLimit = o.At.Next(), o.At, o.At
		return
	}
	k := c.before(o.At.At)
	o.Until = lookahead.Earliest(o.Until, c.key(k+1).Next())
	o.LeafLimit = lookahead.Earliest(o.LeafLimit, c.key(k+2))
	if k >= 0 && o.StateBefore.Less(c.key(k).Next()) {
		o.StateBefore = c.key(k).Next()
	}
}

// due reports whether there is a refresh at now, later than refresh seen.
func (c cadence) due(seen int64, now vtime.Time) bool {
	return c != immediate && int64(now)%int64(c) == 0 && c.after(now) > seen
}
