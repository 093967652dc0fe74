package actors

import (
	"context"
	"errors"
	"testing"

	"blis/setup"
)

// A run of one event more than allowed fails on every execution, and one of just as
// many succeeds.
func TestMaxEventsIsExactOnEveryExecution(t *testing.T) {
	c := Config{Config: setup.DefaultConfig()}
	r, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	events := r.Report.Injected + r.Report.Overall.Resources.Counters.Steps
	for _, x := range []Execution{{Workers: 1}, {Workers: 3}, {Sequential: true}, {Workers: 1, StepByStep: true}} {
		c.Execution = x
		c.MaxEvents = events
		if _, err := Run(context.Background(), c); err != nil {
			t.Errorf("%+v: %v", x, err)
		}
		c.MaxEvents = events - 1
		var many *TooManyEvents
		if _, err := Run(context.Background(), c); !errors.As(err, &many) || many.Limit != events-1 {
			t.Errorf("%+v: %v, want too many events", x, err)
		}
	}
}

// A long run is stopped soon.
func TestTooManyEventsEndARunEarly(t *testing.T) {
	c := Config{Config: setup.DefaultConfig(), Execution: Execution{Workers: 1, MaxEvents: 100_000}}
	c.NumRequests = 1 << 40
	var many *TooManyEvents
	if _, err := Run(context.Background(), c); !errors.As(err, &many) {
		t.Error(err)
	}
	c.MaxEvents, c.NumRequests = 0, 10
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
