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

// lastChance is how long a run may go on being prepared when ctx has ended.
const lastChance = 500 * time.Millisecond

// prepare makes the cluster of a run. It returns when ctx has ended, even while
// it waits for a file that never comes.
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

// sourceError is a fault of what the user gave, found only in the run: of the
// workload while it is pulled, or of forced routing.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// explain turns faults that are the user's into input errors.
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
