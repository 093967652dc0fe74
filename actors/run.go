package actors

import (
	"context"
	"errors"
	"time"

	"blis/engine"
)

// Run simulates a cluster. The result is a function of the configuration
// alone: not of the machine, the number of workers or anything else in
// Execution.
//
// Errors: *InputError for what the user gave, *latency.DoesNotFit when the
// model leaves no room for a cache, *engine.Livelock and *lookahead.Fault for
// a run that failed. When ctx is cancelled the error is ctx's, and the result
// is what ended until then, marked Partial; nil while the run was being prepared,
// which reads files that may be pipes. An error of Tracing.Consumer changes
// nothing but the trace and comes with the result.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	c, err := prepare(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return c.run(ctx)
}

// lastChance is how long the preparation of a run may still take when ctx has ended.
const lastChance = 500 * time.Millisecond

// prepare makes the cluster of a run. It returns soon after ctx has ended, even
// while it waits for a file that never comes.
func prepare(ctx context.Context, cfg Config) (*cluster, error) {
	type outcome struct {
		cluster  *cluster
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
		var p *plan
		if p, o.err = newPlan(cfg); o.err == nil {
			o.cluster, o.err = newCluster(p)
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
			return o.cluster, o.err
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
	p, err := newPlan(cfg)
	if err != nil {
		return cfg, Setup{}, err
	}
	if _, err := newCluster(p); err != nil {
		return cfg, Setup{}, err
	}
	return p.config, p.setup, nil
}

// sourceError is an error in the user's input that only the run finds: in the
// workload while it is pulled, or in forced routing.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// explain turns errors in the user's input into an InputError.
func explain(err error) error {
	var source *sourceError
	var long *engine.TooLong
	switch {
	case errors.As(err, &source):
		return &InputError{source.err.Error()}
	case errors.As(err, &long):
		return &InputError{long.Error()}
	}
	return err
}
