package study

import (
	"context"
	"errors"
	"math"

	"blis/actors"
	"blis/metrics"
	"blis/vtime"
)

// extent is which requests of a run count: those that arrive in [from, to), or those with
// numbers in [first, last) where last is above 0; all where both are 0.
type extent struct {
	from, to    vtime.Time
	first, last int64
}

// whole reports whether all requests of the workload count.
func (e *extent) whole() bool { return e.to == 0 && e.last == 0 }

// horizon is when a run of the extent ends at the latest.
func (e *extent) horizon() vtime.Time {
	return e.to.Add(max(patience*e.to.Sub(e.from), e.to.Sub(0)))
}

// has reports whether a request counts, and past whether it comes after all that do.
func (e *extent) has(r *actors.Row) (in, past bool) {
	switch {
	case e.last > 0:
		return r.ID >= e.first && r.ID < e.last, r.ID >= e.last
	case e.to > 0:
		return r.Arrival >= e.from && r.Arrival < e.to, r.Arrival >= e.to
	}
	return r.Measured(), false
}

// patience is how long arrivals go on after a window, in windows, and at least as long as the
// run until then: what has not ended by then counts as lost.
const patience = 2

// shortAhead is how many deliveries the router may be ahead of the instances: what it has
// pulled when the last request of the window ends is for nothing.
const shortAhead = 256

// endless is a number of requests that no window reaches.
const endless = 1 << 30

// backlogGrowth is the share of arrivals by which the number of requests in the system may
// grow over a window that passes, and backlogNoise the standard deviations of the number in a
// system that serves as fast as they arrive: in windows of few requests chance is more than
// the share.
const (
	backlogGrowth = 0.05
	backlogNoise  = 4
)

// Window is what became of the requests of one window.
type Window struct {
	Pass     bool
	OfClass  []int64   // of the SLOs: requests that each is about
	Values   []float64 // of the SLOs; infinite: too many were lost, NaN: not measured
	Grew     bool      // the backlog grew by more than 5 % of the arrivals
	Requests int64     // that count
	Lost     int64     // of these: rejected, dropped, timed out, aborted or never ended

	Seconds      float64 // of the window; of the whole workload to its last end
	Arriving     float64 // seconds from the first arrival that counts to the last
	OutputTokens int64   // of completed requests
	MeanE2E      float64 // µs, of completed requests; 0 without any
	EndedEarly   bool    // the workload ended within the window
}

// tally collects the requests of a window while a run goes on.
type tally struct {
	extent   extent
	samples  []sloSample
	window   Window
	done     context.CancelFunc
	complete bool

	// follow counts arrivals until the last request of the window has ended.
	follow  bool
	arrived int64
	ended   vtime.Time // the last of those that count

	e2e           float64
	completed     int64
	firstAt, last vtime.Time // of arrivals that count
	before, after int64      // in the system at the begin and at the end of the window
}

// runWindow runs a configuration until the requests of the extent have ended. The run has one
// goroutine unless the extent is the whole workload.
func runWindow(ctx context.Context, cfg actors.Config, slos []SLO, e extent) (*Window, error) {
	t := &tally{extent: e, samples: newSamples(slos)}
	if err := t.run(ctx, cfg); err != nil {
		return nil, err
	}
	return t.close(), nil
}

// countArrivals returns how many requests arrive until the last one of the extent has ended: a
// run of so many repeats the window.
func countArrivals(ctx context.Context, cfg actors.Config, e extent) (int64, error) {
	t := &tally{extent: e, follow: true}
	err := t.run(ctx, cfg)
	return t.arrived, err
}

// run runs the configuration until the tally is complete, or its workload ends.
func (t *tally) run(ctx context.Context, cfg actors.Config) error {
	own, cancel := context.WithCancel(ctx)
	defer cancel()
	t.done = cancel
	e := &t.extent
	cfg.Row = t.add
	if !e.whole() {
		cfg.Workers, cfg.Ahead = 1, shortAhead
		cfg.Together = true // the run is cancelled after the window: deployments that run apart would not be equally far
		cfg.NumRequests = 4*e.last + 1000
		if e.to > 0 {
			cfg.NumRequests = endless
			cfg.MeasureFrom, cfg.MeasureTo = vtime.Duration(e.from), vtime.Duration(e.to)
			cfg.Horizon = vtime.Duration(e.horizon())
		}
	}
	_, err := actors.Run(own, cfg)
	if err != nil && !(t.complete && errors.Is(err, context.Canceled)) {
		return err
	}
	return ctx.Err()
}

// add takes a request, in order of arrival.
func (t *tally) add(r *actors.Row) {
	if t.complete {
		return
	}
	in, past := t.extent.has(r)
	if past {
		t.past(r)
		return
	}
	t.arrived = r.ID + 1
	t.backlog(r)
	if !in {
		return
	}
	if end := r.Finished; end != vtime.Never {
		t.ended = max(t.ended, end)
	} else { // by the horizon, if there is one
		t.ended = max(t.ended, t.extent.horizon())
	}
	w := &t.window
	if w.Requests == 0 {
		t.firstAt = r.Arrival
	}
	t.last = r.Arrival
	w.Requests++
	for i := range t.samples {
		t.samples[i].add(r)
	}
	if r.State != metrics.Completed {
		w.Lost++
		return
	}
	w.OutputTokens += int64(r.Generated)
	if d, ok := r.E2E(); ok {
		t.e2e += float64(d)
		t.completed++
	}
}

// past takes a request that arrives after the window.
func (t *tally) past(r *actors.Row) {
	if t.follow && r.Arrival <= t.ended {
		t.arrived = r.ID + 1
		return
	}
	t.complete = true
	t.done()
}

// backlog counts the request among those in the system at both ends of the window.
func (t *tally) backlog(r *actors.Row) {
	if t.extent.to == 0 {
		return
	}
	if r.Arrival < t.extent.from && r.Finished >= t.extent.from {
		t.before++
	}
	if r.Arrival < t.extent.to && r.Finished >= t.extent.to {
		t.after++
	}
}

// close judges the window.
func (t *tally) close() *Window {
	w := &t.window
	w.EndedEarly = !t.complete && !t.extent.whole()
	w.Seconds, w.Arriving = t.extent.to.Sub(t.extent.from).Seconds(), t.last.Sub(t.firstAt).Seconds()
	if t.extent.to == 0 {
		w.Seconds = t.ended.Sub(t.firstAt).Seconds()
	}
	if t.completed > 0 {
		w.MeanE2E = t.e2e / float64(t.completed)
	}
	growth, chance := float64(t.after-t.before), math.Sqrt(float64(2*t.before))
	w.Grew = growth > float64(backlogGrowth*float64(w.Requests)) && growth > float64(backlogNoise*chance)
	w.Pass = w.Requests > 0 && !w.Grew
	for i := range t.samples {
		value := t.samples[i].value()
		w.OfClass = append(w.OfClass, t.samples[i].requests)
		w.Values = append(w.Values, value)
		w.Pass = w.Pass && t.samples[i].slo.keeps(value) && !math.IsNaN(value)
	}
	return w
}
