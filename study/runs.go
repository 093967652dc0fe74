package study

import (
	"context"

	"blis/actors"
)

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
// jobs. Nothing of their Execution counts: every run goes on one goroutine, and
// reports no progress. Objects in Custom are shared by runs that go on at the same
// time, and a Source could serve only one of them.
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
