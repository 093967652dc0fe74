package draw

import (
	"fmt"

	"blis/vtime"
	"blis/workload"
)

// Arrivals yields the instants of one arrival process. The first arrival is
// one gap after time 0, or after the beginning of the first window.
//
// No gap is rounded by itself, which would bias the rate by up to a
// microsecond per request: the instant is kept as whole microseconds and a
// fraction of one, gaps are added to the fraction, and what is handed out is
// the whole part. So the n-th arrival is the truncated sum of n gaps, times
// never go back, and nothing drifts however long the run. Where every arrival
// has a place of its own (constant, periodic, burst), it is computed from its
// number at an even rate: n·10⁶/rate truncated.
//
// Under a rate that changes, gaps are drawn with mean 1, and a timeWarp maps
// them to virtual time.
type Arrivals struct {
	gaps  gaps
	draws Variates
	rate  float64 // requests per second, the highest if it changes

	number   int64 // arrivals handed out
	whole    int64 // µs
	fraction float64

	// With a rate that changes; else warp is nil.
	warp    *timeWarp
	process ArrivalProcess // of the arrivals, where a window has none of its own
	inUse   ArrivalProcess // the process of gaps
	window  int            // of the last arrival, −1 if there are none
	more    int32          // arrivals of a burst still to be handed out
}

// NewArrivals expects a checked process and rate curve. The curve must not
// change any more.
func NewArrivals(process ArrivalProcess, c *RateCurve, stream *vtime.Stream) Arrivals {
	a := Arrivals{draws: NewVariates(stream), window: -1}
	for _, p := range c.Pieces {
		a.rate = max(a.rate, p.From, p.To)
	}
	if c.flat() {
		a.gaps = newGaps(process, 1e6/a.rate)
		return a
	}
	k := newTimeWarp(c)
	a.warp, a.process, a.inUse = &k, process, process
	a.gaps = newGaps(process, 1)
	return a
}

// Next returns the next arrival. It reports false when none is to come, as the
// rate is 0 for ever, and an error past the end of virtual time.
func (a *Arrivals) Next() (at vtime.Time, more bool, err error) {
	a.number++
	if a.warp != nil {
		return a.nextOfCurve()
	}
	if a.rate == 0 {
		return 0, false, nil
	}
	switch a.gaps.process {
	case Constant, Periodic, Burst:
		return a.nextByNumber()
	}
	sum := a.fraction + a.gaps.draw(&a.draws)
	if !(sum < float64(workload.Latest-vtime.Time(a.whole))) {
		return 0, false, a.past()
	}
	step := int64(sum)
	a.whole += step
	a.fraction = sum - float64(step)
	return vtime.Time(a.whole), true, nil
}

// nextByNumber is Next where arrivals have places.
func (a *Arrivals) nextByNumber() (vtime.Time, bool, error) {
	place := float64(a.number)
	switch g := &a.gaps; g.process {
	case Periodic:
		place += g.jitter(&a.draws)
	case Burst:
		size := int64(g.size)
		place = float64((a.number + size - 1) / size * size)
	}
	us := place * 1e6 / a.rate
	if us >= float64(workload.Latest) { // 2⁶² as a float
		return 0, false, a.past()
	}
	return vtime.Time(us), true, nil
}

// nextOfCurve is Next with a rate that changes.
func (a *Arrivals) nextOfCurve() (vtime.Time, bool, error) {
	k := a.warp
	if a.more > 0 {
		a.more--
		return k.whole, true, nil
	}
	if k.over {
		return 0, false, nil
	}
	if k.window >= 0 {
		a.setProcess(k.curve.Windows[k.window].Process)
	}
	if !k.advance(a.gaps.draw(&a.draws)) {
		if k.over {
			return 0, false, nil
		}
		return 0, false, a.past()
	}
	a.window = k.window
	a.more = a.gaps.size - 1
	return k.whole, true, nil
}

// setProcess draws gaps of the process of a window; nil: of the arrivals.
func (a *Arrivals) setProcess(process *ArrivalProcess) {
	if process == nil {
		process = &a.process
	}
	if *process != a.inUse {
		a.inUse, a.gaps = *process, newGaps(*process, 1)
	}
}

// Window is the index of the curve's window in which the last arrival is, −1
// without windows and before the first arrival.
func (a *Arrivals) Window() int { return a.window }

// Fold returns a hash of the state of the draws.
func (a *Arrivals) Fold() uint64 { return a.draws.Fold() }

func (a *Arrivals) past() error {
	return fmt.Errorf("rate: %v: request %d would arrive after the end of virtual time, 2⁶² µs; want a higher rate or fewer requests", a.rate, a.number)
}
