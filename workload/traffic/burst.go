package traffic

import (
	"blis/vtime"
	"blis/workload/draw"
)

// burstSize is what makes prompts in a burst longer.
type burstSize struct {
	bursts draw.Bursts
	before vtime.Time // the last arrival; vtime.Never: there was none
	in     bool       // the present one is in a burst …
	share  float64    // … as this part of all are
}

// noteArrival takes note of the client's next arrival.
func (c *client) noteArrival(at vtime.Time) {
	b := &c.bursts
	if b.before != vtime.Never { // the first is neither in a burst nor outside
		b.in, b.share = b.bursts.In(c.arrivals.Window(), b.before, at)
	}
	b.before = at
}

// prompt draws the input of what an arrival begins with. With BurstSize there are
// two draws, of which a burst has the longer one and other times the shorter one,
// with a chance each: as many draws are made longer as shorter, so that lengths all
// together are distributed as single draws are.
func (c *client) prompt(l *draw.Length, v *draw.Variates) int32 {
	n := l.Sample(v)
	if c.config.BurstSize == 0 {
		return n
	}
	other, u := l.Sample(v), v.Uniform()
	share := c.bursts.share
	switch {
	case c.bursts.in && u*share < c.config.BurstSize*min(share, 1-share):
		return max(n, other)
	case !c.bursts.in && u*(1-share) < c.config.BurstSize*min(share, 1-share):
		return min(n, other)
	}
	return n
}
