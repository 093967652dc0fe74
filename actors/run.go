package actors

import "context"

// Run simulates a cluster. The result is a function of the configuration
// alone: not of the machine, the number of workers or anything else in
// Execution.
//
// Errors: *InputError for what the user gave, *latency.DoesNotFit when the
// model leaves no room for a cache, *engine.Livelock and *lookahead.Fault for
// a run that failed. When ctx is cancelled the error is ctx's, and the result
// is what ended until then, marked Partial. An error of Tracing.Consumer changes
// nothing but the trace and comes with the result.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	p, err := newPlan(cfg)
	if err != nil {
		return nil, err
	}
	c, err := newCluster(p)
	if err != nil {
		return nil, err
	}
	return c.run(ctx)
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
