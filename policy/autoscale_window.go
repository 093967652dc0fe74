package policy

import (
	"slices"

	"blis/vtime"
)

// stabilizer keeps replicas from coming and going with every swing of a signal. It
// goes down only to the highest number of replicas desired within one window of
// time, and up only to the lowest number desired within another. The number of
// replicas at the start counts as desired at the first evaluation.
type stabilizer struct {
	down, up window // up holds the negated numbers, so that its largest is the lowest
	begun    bool
}

func newStabilizer(down, up vtime.Duration) stabilizer {
	return stabilizer{down: window{length: down}, up: window{length: up}}
}

// begin is called at each evaluation, also at one without a desired number.
func (s *stabilizer) begin(ctx *AutoscaleContext) {
	if !s.begun {
		s.stabilize(ctx, within(ctx, int64(ctx.Replicas)))
		s.begun = true
	}
}

// stabilize enters the number of replicas desired now and returns the number that
// there should be.
func (s *stabilizer) stabilize(ctx *AutoscaleContext, desired int32) int32 {
	highest := s.down.note(ctx.Now, desired)
	lowest := -s.up.note(ctx.Now, -desired)
	return min(max(ctx.Replicas, lowest), highest)
}

// dated is a number with its time.
type dated struct {
	at vtime.Time
	n  int32
}

// stale returns the number of entries of a list, oldest first, that are at least age
// old.
func stale(list []dated, now vtime.Time, age vtime.Duration) int {
	n := 0
	for n < len(list) && now.Sub(list[n].at) >= age {
		n++
	}
	return n
}

// window knows the largest of the numbers noted within length. It keeps only numbers
// that may still become the largest: each is smaller than the one before it. So it
// has at most as many entries as there are numbers of replicas, however short the
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

// changes sums up the changes that an autoscaler made within the last period:
// replicas added less replicas removed.
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

// recent returns the sum of the changes in (now − period, now].
func (c *changes) recent(now vtime.Time) int32 {
	gone := stale(c.kept, now, c.period)
	for _, change := range c.kept[:gone] {
		c.sum -= change.n
	}
	c.kept = slices.Delete(c.kept, 0, gone)
	return c.sum
}
