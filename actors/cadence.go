package actors

import (
	"blis/lookahead"
	"blis/vtime"
)

// cadence is the interval at which signals are refreshed, all instances at
// once, at its multiples. Refresh k is the event (k·cadence, class 12).
type cadence vtime.Duration

// Cadences that are no interval: signals that are always as instances publish
// them, and those that the router asks for when it decides.
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

// bound narrows an observation at o.At down to what signals of this cadence
// allow. Nobody needs to pass the refresh that the decision sees but one that
// has an event before it, and none may pass the one after the next before the
// router has passed the next.
func (c cadence) bound(o *lookahead.Observation) {
	if c == immediate {
		o.Until, o.StateBefore, o.LeafLimit = o.At.Next(), o.At, o.At
		return
	}
	k := c.before(o.At.At)
	o.Until = earlier(o.Until, c.key(k+1).Next())
	o.LeafLimit = earlier(o.LeafLimit, c.key(k+2))
	if k >= 0 && o.StateBefore.Less(c.key(k).Next()) {
		o.StateBefore = c.key(k).Next()
	}
}

// due reports whether there is a refresh at now, later than the one seen.
func (c cadence) due(seen int64, now vtime.Time) bool {
	return c != immediate && int64(now)%int64(c) == 0 && c.after(now) > seen
}
