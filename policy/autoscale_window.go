package policy

import (
	"slices"

	"blis/vtime"
)

// stabilizer brings what an autoscaler would do now together with what it
// would have done a short while ago, so that replicas do not come and go with
// every swing of a signal: it goes down only to the highest number of replicas
// desired within one window, and up only to the lowest within another. The
// number that a run begins with counts as desired at the first evaluation.
type stabilizer struct {
	down, up window // up holds negative numbers: the lowest is the highest of them
	begun    bool
}

func newStabilizer(down, up vtime.Duration) stabilizer {
	return stabilizer{down: window{length: down}, up: window{length: up}}
}

// begin is to be called at each evaluation, also at one that comes to no
// desired number.
func (s *stabilizer) begin(ctx *AutoscaleContext) {
	if !s.begun {
		s.stabilize(ctx, within(ctx, int64(ctx.Replicas)))
		s.begun = true
	}
}

// stabilize notes the number of replicas desired now and says how many there
// should be.
func (s *stabilizer) stabilize(ctx *AutoscaleContext, desired int32) int32 {
	highest := s.down.note(ctx.Now, desired)
	lowest := -s.up.note(ctx.Now, -desired)
	return min(max(ctx.Replicas, lowest), highest)
}

// dated is a number with the time that it is of.
type dated struct {
	at vtime.Time
	n  int32
}

// stale is how many of a list, the oldest first, are at least age old.
func stale(list []dated, now vtime.Time, age vtime.Duration) int {
	n := 0
	for n < len(list) && now.Sub(list[n].at) >= age {
		n++
	}
	return n
}

// window is the largest of the numbers noted within length. It keeps those
// that may still become the largest: each is smaller than the one before it.
// So there are no more of them than numbers of replicas, however short the
// interval between evaluations.
type window struct {
	length vtime.Duration
	kept   []dated
}

// note enters n and returns the largest, n included.
func (w *window) note(now vtime.Time, n int32) int32 {
	w.kept = slices.Delete(w.kept, 0, stale(w.kept, now, w.length))
	for len(w.kept) > 0 && w.kept[len(w.kept)-1].n <= n {
		w.kept = w.kept[:len(w.kept)-1]
	}
	w.kept = append(w.kept, dated{now, n})
	return w.kept[0].n
}

// changes is by how many replicas an autoscaler changed their number within
// the last period: added less removed.
type changes struct {
	period vtime.Duration
	kept   []dated // at most one per evaluation in the period
	sum    int32
}

// add enters a change.
func (c *changes) add(now vtime.Time, by int32) {
	c.kept = append(c.kept, dated{now, by})
	c.sum += by
}

// recent is the sum of the changes in (now − period, now].
func (c *changes) recent(now vtime.Time) int32 {
	gone := stale(c.kept, now, c.period)
	for _, change := range c.kept[:gone] {
		c.sum -= change.n
	}
	c.kept = slices.Delete(c.kept, 0, gone)
	return c.sum
}
