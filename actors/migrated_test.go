package actors

import (
	"slices"
	"testing"

	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
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
			c.AutoscaleInterval, c.DrainPolicy = 20_000, setup.DrainRedirect
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

// hints is round-robin that notes the hint of every request that it routes.
type hints struct {
	next int
	seen []float64
}

func (*hints) Observes() policy.Signals { return policy.NoSignals }

func (h *hints) Route(req *policy.Request, _ float64, _ *policy.RouterState, view *policy.View, _ vtime.Time) policy.RoutingDecision {
	h.seen = append(h.seen, req.Hint)
	for !view.Routable(h.next % view.Len()) {
		h.next++
	}
	h.next++
	return policy.RoutingDecision{Target: (h.next - 1) % view.Len(), Reason: policy.ByPolicy}
}

// TestMigratedRequestsHaveNoHint: the request that is given back gets the
// memory of the one that was routed last, and nothing that was in it.
func TestMigratedRequestsHaveNoHint(t *testing.T) {
	c := scaled(2, 1)
	c.DrainPolicy = setup.DrainRedirect
	var last *hints
	c.Custom.Routing = func(policy.Env) policy.Routing {
		last = &hints{}
		return last
	}
	hinted := func(r workload.Request, hint float64) workload.Request {
		r.Hint = hint
		return r
	}
	serve(t, c, hinted(request(0, 10, 25), 1), hinted(request(0, 10, 20), 2), hinted(request(5000, 10, 1), 3))
	if want := []float64{1, 2, 3, 0}; !slices.Equal(last.seen, want) {
		t.Errorf("hints %v, want %v", last.seen, want)
	}
}
