package bench

import (
	"context"
	"runtime"

	"blis/actors"
)

// allocationSize is the number of requests n of the figure (mallocs at 2n −
// mallocs at n)/n: what each further request allocates once a run is warm. For
// scenarios that share content it is contentRequests.
const allocationSize = 100_000

// mallocs counts the heap objects that one run allocates, in this process on
// one worker.
func mallocs(ctx context.Context, c actors.Config) (uint64, *actors.Result, error) {
	c.Workers = 1
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := actors.Run(ctx, c)
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs, r, err
}

// allocationsPerRequest measures a scenario of that many requests; for others it gives nil. The digest is the digest of the scenario itself.
func allocationsPerRequest(ctx context.Context, s *Scenario) (perRequest *float64, digest string, err error) {
	n := s.requests()
	if n != allocationSize && n != contentRequests {
		return nil, "", nil
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	first := s.Shortened(1) // what the process sets up once counts for no run
	if _, _, err := mallocs(ctx, first.Config); err != nil {
		return nil, "", err
	}
	once, r, err := mallocs(ctx, s.Config)
	if err != nil {
		return nil, "", err
	}
	double := s.sized(2 * n)
	twice, _, err := mallocs(ctx, double.Config)
	if err != nil {
		return nil, "", err
	}
	figure := (float64(twice) - float64(once)) / float64(n)
	return &figure, r.Digest, nil
}
