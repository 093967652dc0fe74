package actors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"blis/engine"
	"blis/policy"
	"blis/setup"
)

// Run simulates a cluster. The result is a function of the configuration
// alone: not of the machine, the number of workers or anything else in
// Execution.
//
// Errors: *InputError for what the user gave, *latency.DoesNotFit when the
// model leaves no room for a cache, *engine.Livelock, *ClosedGate and *lookahead.Fault
// for a run that failed. When ctx is cancelled the error is ctx's, and the result
// is what ended until then, marked Partial; nil while the run was being prepared,
// which reads files that may be pipes. An error of Tracing.Consumer changes
// nothing but the trace and comes with the result.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	r, err := prepare(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return r.run(ctx)
}

// lastChance is how long the preparation of a run may still take when ctx has ended.
const lastChance = 500 * time.Millisecond

// resolve makes the plan of a run.
func resolve(cfg Config) (*setup.Plan, error) {
	return setup.Resolve(cfg.Config, cfg.Execution.check, cfg.Tracing.check)
}

// prepare makes the clusters of a run. It returns soon after ctx has ended, even
// while it waits for a file that never comes.
func prepare(ctx context.Context, cfg Config) (runner, error) {
	type outcome struct {
		runner   runner
		err      error
		panicked any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panicked = recover()
			done <- o
		}()
		var p *setup.Plan
		if p, o.err = resolve(cfg); o.err == nil {
			o.runner, o.err = newRunner(p, cfg.Execution)
		}
	}()
	var late <-chan time.Time
	ended := ctx.Done()
	for {
		select {
		case o := <-done:
			if o.panicked != nil {
				panic(o.panicked)
			}
			return o.runner, o.err
		case <-ended:
			ended, late = nil, time.After(lastChance)
		case <-late:
			return nil, ctx.Err()
		}
	}
}

// Check derives and checks everything that Run would before it starts, and
// returns the effective configuration.
func Check(cfg Config) (Config, Setup, error) {
	p, err := resolve(cfg)
	if err != nil {
		return cfg, Setup{}, err
	}
	if _, err := newRunner(p, cfg.Execution); err != nil {
		return cfg, Setup{}, err
	}
	return Config{p.Config, cfg.Execution}, p.Summary, nil
}

// sourceError is an error in the user's input that only the run finds: in the
// workload while it is pulled, or in forced routing.
type sourceError struct{ err error }

// Error implements error.
func (e *sourceError) Error() string { return e.err.Error() }

// Unwrap returns the error itself.
func (e *sourceError) Unwrap() error { return e.err }

func inputErrorf(format string, args ...any) error {
	return &InputError{Text: fmt.Sprintf(format, args...)}
}

// explain turns errors in the user's input into an InputError.
func explain(err error) error {
	var source *sourceError
	var long *engine.TooLong
	var fault policy.Fault
	var closed *ClosedGate
	switch {
	case errors.As(err, &closed):
		return closed
	case errors.As(err, &fault):
		return setup.Caused(fault)
	case errors.As(err, &source):
		return &InputError{Text: source.err.Error()}
	case errors.As(err, &long):
		return &InputError{Text: long.Error()}
	}
	return err
}
