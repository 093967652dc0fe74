package actors

import (
	"testing"

	"blis/metrics"
	"blis/vtime"
)

// TestExpectedHitsStayWithMovedRequests: the second request found what was
// expected and is given back at 20,001. Its time or the run is over before it
// is routed again at 35,001: what was expected of it stays true.
func TestExpectedHitsStayWithMovedRequests(t *testing.T) {
	for _, x := range []struct {
		name     string
		deadline vtime.Time
		horizon  vtime.Duration
		state    metrics.State
	}{
		{"timed out at the router", 25_000, 0, metrics.TimedOut},
		{"waits for its routing at the end", never, 25_000, metrics.Queued},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := scaled(2, 1)
			c.RoutingPolicy, c.ForceRouting = "prefix-affinity", "0=1,1=1"
			c.AutoscaleInterval, c.DrainPolicy = 20_000, drainRedirect
			c.RoutingLatency, c.Horizon = 15_000, x.horizon
			s := serve(t, c, sharing(1, request(0, 64, 2)), due(x.deadline, sharing(1, request(3000, 64, 30))))
			o := s.rows[1]
			if o.State != x.state || o.Redirects != 1 || o.Cached != 48 || o.Expected != 48 {
				t.Errorf("%v, redirected %d times, found %d, expected %d; want %v, 1, 48, 48", o.State, o.Redirects, o.Cached, o.Expected, x.state)
			}
			if n := *s.Report.Anomalies.ShadowDivergence; n != 0 {
				t.Errorf("%d divergences, want none", n)
			}
		})
	}
}

// TestEventsBeyondAllTimes has blocks stored so late that the router would hear
// of them after the last instant there is: it never does.
func TestEventsBeyondAllTimes(t *testing.T) {
	c := plain()
	c.RoutingPolicy, c.PrefixIndex, c.KVEventDelay = "prefix-affinity", "events", 1<<62
	const late = vtime.Time(1<<62 - 1)
	s := serve(t, c, sharing(1, request(0, 64, 1)), sharing(2, request(late, 64, 1)))
	if o := s.rows[1]; o.State != metrics.Completed || s.End != 1<<62+1000 {
		t.Errorf("%v, the run ends at %v; want completed, and the event of the first at %d", o.State, s.End, int64(1<<62+1000))
	}
}
