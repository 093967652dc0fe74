package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"blis/actors"
	"blis/latency"
	"blis/lookahead"
	"blis/metrics"
	"blis/setup"
	"blis/study/pointlog"
)

// Run carries out the points of todo, indices in the order in which they begin, and calls
// emit with the row of each as it ends. Calls do not overlap, and points run on meanwhile: a
// few rows may wait for it. Points run side by side, each on one goroutine; when fewer are
// left than pool has workers, each gets several. Rows do not depend on that.
//
// The error is the first one of emit, which ends the sweep, or that of ctx when it was
// cancelled: points that had not ended have no row then. A point that fails is a row.
func (p *SweepPlan) Run(ctx context.Context, todo []uint32, pool Pool, emit func(*pointlog.Row) error) error {
	workers := pool.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	within, stop := context.WithCancel(ctx)
	defer stop()
	rows := make(chan *pointlog.Row, mostWaiting)
	var failed error // of emit
	var emitting sync.WaitGroup
	emitting.Go(func() {
		for row := range rows {
			if err := emit(row); err != nil && failed == nil { // rows that follow learn of it too
				failed = err
				stop()
			}
		}
	})
	_, err := pool.Each(within, len(todo), func(ctx context.Context, i int) error {
		row := p.RunPoint(ctx, int64(todo[i]), max(1, workers/(len(todo)-i)))
		if row == nil {
			return ctx.Err()
		}
		rows <- row
		return nil
	})
	close(rows)
	emitting.Wait()
	if failed != nil {
		return failed
	}
	return err
}

// mostWaiting is the number of rows that may wait for emit, which syncs a disk now and then.
const mostWaiting = 32

// RunPoint runs point i on so many goroutines. The row is nil if ctx was cancelled
// before the run ended.
func (p *SweepPlan) RunPoint(ctx context.Context, i int64, workers int) *pointlog.Row {
	row, cfg, err := p.row(i)
	if refusal := cmp.Or(p.Refusal(i), err); refusal != nil {
		return refuse(row, refusal)
	}
	limits := p.Sweep.Limits
	if limits.Events > 0 {
		workers = 1 // a run that goes on is stopped early only there
	}
	within := ctx
	if limits.Wall > 0 {
		var stop context.CancelFunc
		within, stop = context.WithTimeout(ctx, limits.Wall)
		defer stop()
	}
	began := time.Now()
	result, err := runSafely(within, actors.Config{Config: cfg, Execution: actors.Execution{Workers: workers, MaxEvents: limits.Events}})
	row.WallS = math.Round(time.Since(began).Seconds()*1e6) / 1e6
	if err == nil {
		row.succeed(result)
		return &row.Row
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	row.fail(err, limits)
	return &row.Row
}

// pointRow is a row that is being filled in.
type pointRow struct{ pointlog.Row }

// Describe is the row of point i without what a run of it tells.
func (p *SweepPlan) Describe(i int64) *pointlog.Row {
	row, _, _ := p.row(i) // a refused point is described too
	return &row.Row
}

// row is the row of point i before its run, with the configuration to run.
func (p *SweepPlan) row(i int64) (*pointRow, setup.Config, error) {
	c, err := p.Config(i)
	return &pointRow{pointlog.Row{Key: p.points[i].key, Index: i, Axes: p.Coordinates(i), Version: actors.SemanticsVersion,
		Seed: c.Seed, WorkloadSeed: c.WorkloadSeed, LatencyModel: c.LatencyModel, CoefficientSet: c.Coefficients}}, c, err
}

func refuse(r *pointRow, why error) *pointlog.Row {
	r.Status, r.Error = pointlog.Refused, oneLine(why.Error())
	return &r.Row
}

// succeed takes the measures of a run that ended, latencies in ms as in all results.
func (r *pointRow) succeed(result *actors.Result) {
	r.Status, r.Digest = pointlog.OK, result.Digest
	r.LatencyModel, r.CoefficientSet = result.Setup.LatencyModel, result.Setup.CoefficientSet
	values := measure(result)
	for k, m := range Measures() {
		if m.Name == "fitness" && result.Fitness == nil {
			continue
		}
		v := values[k]
		switch {
		case v == nil:
		case math.IsNaN(*v) || math.IsInf(*v, 0):
			v = nil
		case m.Kind == metrics.Latency:
			v = new(*v / 1e3)
		}
		r.Measures = append(r.Measures, pointlog.Measured{Name: m.Name, Value: v})
		if v != nil {
			continue
		}
		if r.Reasons == nil {
			r.Reasons = map[string]string{}
		}
		r.Reasons[m.Name] = "nothing was measured"
	}
}

// fail says how a run ended that did not succeed.
func (r *pointRow) fail(err error, limits SweepLimits) {
	r.Status, r.Cause, r.Error = pointlog.Failed, pointlog.Error, oneLine(err.Error())
	var (
		input    *setup.InputError
		fit      *latency.DoesNotFit
		fault    *lookahead.Fault
		panicked *panicError
		events   *actors.TooManyEvents
	)
	switch {
	case errors.As(err, &input), errors.As(err, &fit):
		r.Status, r.Cause = pointlog.Refused, ""
	case errors.Is(err, context.DeadlineExceeded):
		r.Cause, r.Error = pointlog.Wall, fmt.Sprintf("took longer than limits.wall, %v", limits.Wall)
	case errors.As(err, &events):
		r.Cause = pointlog.Events
	case errors.As(err, &fault):
		r.Cause, r.Stack = pointlog.Panic, string(fault.Stack)
	case errors.As(err, &panicked):
		r.Cause, r.Stack = pointlog.Panic, string(panicked.stack)
	}
}

// panicError is a panic outside of actors.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// runSafely is actors.Run, with a panic as an error: one point of a million must not end
// the others.
func runSafely(ctx context.Context, cfg actors.Config) (result *actors.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, &panicError{v, debug.Stack()}
		}
	}()
	return actors.Run(ctx, cfg)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
