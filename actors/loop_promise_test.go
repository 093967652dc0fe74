package actors

import (
	"testing"

	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// lasting is a client of one request of 200 steps; refused one of a user who sends n
// requests of one token, each a microsecond after the end of the one before.
func lasting() traffic.Client {
	return traffic.Client{ID: "lasting", Class: "standard", Times: []vtime.Time{0}, Input: draw.Exactly(10), Output: draw.Exactly(200)}
}

func refused(n int64) traffic.Client {
	return traffic.Client{ID: "refused", Class: "standard", Users: 1, Requests: n, Input: draw.Exactly(10), Output: draw.Exactly(1)}
}

// nowhere sends the first request to instance 0, and all others nowhere.
type nowhere struct{}

func (nowhere) Observes() policy.Signals { return policy.NoSignals }

func (nowhere) Route(r *policy.Request, _ float64, _ *policy.RouterState, _ *policy.View, _ vtime.Time) policy.RoutingDecision {
	if r.ID == 0 {
		return policy.RoutingDecision{}
	}
	return policy.RoutingDecision{Target: -1}
}

// reader admits everything and takes note of the blocks that instance 0 uses.
type reader struct{ seen *[]int64 }

func (reader) Observes() policy.Signals { return policy.KVUse }

func (p reader) Decide(_ *policy.Request, s *policy.RouterState, _ vtime.Time) policy.AdmissionDecision {
	*p.seen = append(*p.seen, s.View.UsedBlocks(0))
	return policy.AdmissionDecision{Verdict: policy.Admit}
}

// A request for which there is no instance ends at its routing; the admission of
// what follows reads the instances a microsecond later.
func TestWhatFollowsWhenNoInstanceIsFound(t *testing.T) {
	c := plain()
	c.BlockSizeInTokens, c.TotalKVBlocks = 1, 1000
	c.RoutingLatency = 2500
	c.Custom.Routing = func(policy.Env) policy.Routing { return nowhere{} }
	var seen []int64
	c.Custom.Admission = func(policy.Env) policy.Admission {
		seen = nil
		return reader{&seen}
	}
	s := serveTraffic(t, c, lasting(), refused(20))
	for i, used := range seen {
		// The busy one is there from 2,500 on, and fills a block in each step.
		at, want := s.rows[i].Arrival, int64(0)
		if at > 2500 {
			want = 10 + int64(at-2500)/1000
		}
		if used != want {
			t.Errorf("request %d, which came at %v, saw %d blocks used, want %d", i, at, used, want)
		}
	}
	if n := len(seen); n != 21 || s.rows[20].State != metrics.Rejected {
		t.Errorf("%d decisions, the last request %v", n, s.rows[20].State)
	}
}
