package actors

import (
	"testing"

	"blis/trace"
	"blis/vtime"
)

// seenOfOne keeps what routing decisions saw of instance 1.
type seenOfOne struct {
	down, up vtime.Time
	crash    vtime.Time
	seen     []seenLoad
}

type seenLoad struct {
	at                     vtime.Time
	queue, batch, inFlight int32
	used                   int64
}

func (c *seenOfOne) Consume(r trace.Record) error {
	switch r := r.(type) {
	case *trace.Routing:
		for _, x := range r.Candidates {
			if x.Instance == 1 {
				s := seenLoad{r.At, *x.QueueDepth, *x.BatchSize, *x.InFlight, 0}
				if x.UsedBlocks != nil {
					s.used = *x.UsedBlocks
				}
				c.seen = append(c.seen, s)
			}
		}
	case *trace.Failure:
		switch r.Event {
		case "crash":
			c.crash = r.At
		case "down":
			c.down = r.At
		case "up":
			c.up = r.At
		}
	}
	return nil
}

// What an instance published stays while it is down, but for its requests in flight. The first
// router that hears of it again sees an empty instance.
func TestDownInstanceShowsWhatItPublished(t *testing.T) {
	for _, refresh := range []vtime.Duration{0, 500 * vtime.Millisecond} {
		cfg := fourInstances("failures:\n  - {crash: instance-1, at: 4s, for: 3s}\nhealth_check: {interval: 1s, failures: 3, successes: 1}\n")
		cfg.RoutingPolicy, cfg.RoutingScorers, cfg.SnapshotRefreshInterval = "weighted", "queue-depth:1,kv-utilization:1", refresh
		cfg.NumRequests = 1000
		var c seenOfOne
		cfg.Tracing = Tracing{Level: trace.Decisions, Consumer: &c, Counterfactual: 4}
		rowsOf(t, cfg)
		var first, last *seenLoad
		for i := range c.seen {
			s := &c.seen[i]
			switch {
			case s.at <= c.crash+1:
				continue
			case s.at <= c.down:
				if first == nil {
					first = s
				}
				last = s
				if s.queue != first.queue || s.batch != first.batch || s.used != first.used {
					t.Fatalf("refresh %v: %+v after %+v", refresh, *s, *first)
				}
			case s.at < c.up:
				t.Fatalf("refresh %v: a candidate at %v, known to be down from %v to %v", refresh, s.at, c.down, c.up)
			case s.at < c.up.Add(10*vtime.Millisecond) && s.batch >= first.batch:
				t.Fatalf("refresh %v: %+v after the repair, %+v before", refresh, *s, *first)
			}
		}
		if first == nil || first == last || first.batch == 0 || first.used == 0 || last.inFlight > 3 {
			t.Errorf("refresh %v: seen %+v to %+v", refresh, first, last)
		}
	}
}
