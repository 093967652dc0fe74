package actors

import (
	"context"
	"testing"
)

// An instance that is read at every decision must not be woken to learn of a
// delivery that is still in its queueing delay: each request wakes it when it is
// queued, when it is admitted and when it ends, as far as these do not coincide.
func TestDeliveriesWakeNobodyBeforeTheyAreQueued(t *testing.T) {
	cfg := DefaultConfig()
	cfg.NumInstances, cfg.NumRequests, cfg.Rate = 64, 5_000, 64*44
	cfg.AlphaCoeffs = []float64{1601.35, 3.51, 1805.54}
	cfg.BetaCoeffs = []float64{6910.42, 17.67, 2.84}
	cfg.RoutingPolicy = "least-loaded"
	r, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if per := float64(r.Stats.Turns) / float64(cfg.NumRequests); per > 2.3 {
		t.Errorf("%.2f turns of instances per request, want at most 2.3", per)
	} else {
		t.Logf("%.2f turns of instances per request", per)
	}
}
