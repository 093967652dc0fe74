package actors

import (
	"fmt"
	"slices"

	"blis/metrics"
	"blis/vtime"
)

// FailureResult is what failed in a run, and what became of the requests there.
type FailureResult struct {
	FailureCounts
	Availability *float64          // 1 − failed requests / injected ones; nil: none were injected
	Instances    []InstanceFailure // by instance
}

// InstanceFailure is how often one instance was down, and how long.
type InstanceFailure struct {
	Crashes   int64
	Up, Down  vtime.Duration // of the time in which it was there: ready and not gone
	Detected  int64          // crashes that the router learnt of
	Detection vtime.Duration // from these to that, in all
}

// result closes the book of a run that ended at end. of is the span in which an instance was
// ready.
func (f *failures) result(end vtime.Time, run *metrics.Run, of func(i int) (ready, gone vtime.Time)) (*FailureResult, error) {
	if f == nil {
		return nil, nil
	}
	r := &FailureResult{FailureCounts: f.counts}
	var failed int64
	for _, rec := range slices.Concat(run.Routers, run.Instances) {
		again := rec.TriedAgain()
		r.Recovered += again.Recovered
		failed += again.Failed
	}
	if n := r.Redirected + r.Resent + r.Failed + r.TimedOut; n != r.CutOff+r.Unplaced {
		return nil, fmt.Errorf("%d attempts were lost with their instance and %d found none afterwards, but %d went on or ended", r.CutOff, r.Unplaced, n)
	}
	if failed != r.Failed {
		return nil, fmt.Errorf("%d requests failed, %d reached that state", r.Failed, failed)
	}
	if n := run.Injected; n > 0 {
		share := 1 - float64(r.Failed)/float64(n)
		r.Availability = &share
	}
	for i := range f.list {
		c := &f.list[i]
		ready, gone := of(i)
		down := c.Down
		if c.causes > 0 && !c.Gone {
			down += span(c.DownSince, end)
		}
		r.Instances = append(r.Instances, InstanceFailure{c.Crashes, max(0, span(ready, gone)-down), down, c.Detected, c.Detection})
	}
	return r, nil
}
