package study

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"sync"

	"blis/actors"
)

// Pool carries out independent tasks on several goroutines.
type Pool struct {
	Workers int // tasks at a time; 0: as many as Go uses cores (GOMAXPROCS)

	// Progress is called after every task that succeeded, with the number that did
	// so far and the number of tasks. Calls do not overlap. nil: not called.
	Progress func(done, all int)
}

// Each calls do for 0 to n−1, in this order as far as there are workers free.
// done says which of them succeeded.
//
// The first error stops everything behind it. What stands before it in the
// list is carried out all the same, so that the error of the task with the smallest
// number is returned, on any number of workers. When ctx is cancelled the error
// is ctx's, unless everything was done by then.
func (p Pool) Each(ctx context.Context, n int, do func(ctx context.Context, i int) error) (done []bool, err error) {
	l := &taskQueue{ctx: ctx, progress: p.Progress, end: n, done: make([]bool, n), cancel: make([]context.CancelFunc, n)}
	var group sync.WaitGroup
	for range min(n, cmp.Or(p.Workers, runtime.GOMAXPROCS(0))) {
		group.Go(func() {
			for {
				i, own, ok := l.claim()
				if !ok {
					return
				}
				l.finish(i, do(own, i))
			}
		})
	}
	group.Wait()
	if l.err == nil && l.count < n {
		return l.done, ctx.Err()
	}
	return l.done, l.err
}

// interrupted reports whether err says that ctx was cancelled, and not that
// something went wrong, which may happen at the same time.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}

// taskQueue is the state of a pool: which tasks are claimed, done and failed.
type taskQueue struct {
	ctx      context.Context
	progress func(done, all int)

	mutex  sync.Mutex
	next   int // first task that has not been claimed
	end    int // first task that need not be carried out: the one that failed
	err    error
	count  int // of done
	done   []bool
	cancel []context.CancelFunc // of tasks that are going on
}

// claim returns the next task, with a context of its own.
func (l *taskQueue) claim() (i int, own context.Context, ok bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.next >= l.end || l.ctx.Err() != nil {
		return 0, nil, false
	}
	i = l.next
	l.next++
	own, l.cancel[i] = context.WithCancel(l.ctx)
	return i, own, true
}

// finish records the end of a task.
func (l *taskQueue) finish(i int, err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.cancel[i]()
	l.cancel[i] = nil
	switch {
	case err == nil:
		l.done[i] = true
		l.count++
		if l.progress != nil {
			l.progress(l.count, len(l.done))
		}
	case i >= l.end: // stopped because of the one at end
	case interrupted(l.ctx, err):
	default:
		l.err, l.end = err, i
		for _, cancel := range l.cancel[i+1:] {
			if cancel != nil {
				cancel()
			}
		}
	}
}

// Job is one run of a study.
type Job struct {
	Name   string               // in errors, like "bundle weighted, seed 43"
	Config func() actors.Config // called when the run begins
}

// Values are the measures of a run, in the order of Measures; nil where one
// could not be measured. A run that did not end has none at all.
type Values []*float64

// RunError is a run of a study that failed.
type RunError struct {
	Name string // of the Job
	Err  error  // of actors.Run
}

// Error is one line: which run, and what its error says.
func (e *RunError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap is the error of the run.
func (e *RunError) Unwrap() error { return e.Err }

// Run carries out the jobs and returns the values of each, in the order of the
// jobs. Their Execution is ignored: every run uses one goroutine and reports no
// progress. Parallel runs share the objects in Custom, so that a Source can serve one
// run only.
//
// Errors: *RunError for the first job that failed. When ctx is cancelled the
// error is ctx's, and values are the values of the runs that had ended.
func Run(ctx context.Context, jobs []Job, pool Pool) ([]Values, error) {
	values := make([]Values, len(jobs))
	_, err := pool.Each(ctx, len(jobs), func(ctx context.Context, i int) error {
		cfg := jobs[i].Config()
		cfg.Execution = actors.Execution{Workers: 1}
		result, err := actors.Run(ctx, cfg)
		if err != nil {
			return &RunError{jobs[i].Name, err}
		}
		values[i] = measure(result)
		return nil
	})
	return values, err
}
