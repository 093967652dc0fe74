package actors

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"blis/engine"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// lasting is a client of one request of 200 steps; refused one of a user who sends n
// requests of one token, each 1,001 µs after the end of the one before.
func lasting() traffic.Client {
	return traffic.Client{ID: "lasting", Class: "standard", Times: []vtime.Time{0}, Input: draw.Exactly(10), Output: draw.Exactly(200)}
}

func refused(n int64) traffic.Client {
	return traffic.Client{ID: "refused", Class: "standard", Users: 1, Requests: n, Think: draw.Always(1001), Pause: draw.Always(traffic.LeastPause), Input: draw.Exactly(10), Output: draw.Exactly(1)}
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
// what follows reads the instances after the pause.
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

// Whatever a cluster does to requests, what follows from one comes when its
// client has the answer as the metrics define it, E2E after its arrival, and has
// thought; and from one without an answer, when that is known and its user has
// paused.
func TestWhatFollowsComesAfterE2EAndThought(t *testing.T) {
	const token, request = 31, 37 // of allFields
	seen, redirected, refused := 0, 0, 0
	for seed := range uint64(150) {
		d := newDice(seed, 0x66)
		thinks := []vtime.Duration{0, 1, pick[vtime.Duration](d, 100, 700, 5000)}
		pause := pick(d, traffic.LeastPause, 1001, 3000)
		var clients []traffic.Client
		for i, think := range thinks {
			clients = append(clients,
				traffic.Client{ID: fmt.Sprint("chat-", i), Tenant: fmt.Sprint("chat-", i), Class: "standard", Process: draw.ArrivalProcess{Kind: draw.Poisson}, Rate: draw.Flat(500), Requests: 15,
					Input: d.length(1, 40), Output: d.length(0, 30),
					Kinds: []traffic.Kind{{Share: 1, Session: &traffic.Session{Rounds: d.length(2, 5), Think: draw.Always(think), Context: traffic.Accumulate}}}},
				traffic.Client{ID: fmt.Sprint("user-", i), Tenant: fmt.Sprint("user-", i), Class: "standard", Users: 1, Requests: 10, Think: draw.Always(think), Pause: draw.Always(pause), Input: d.length(1, 40), Output: d.length(0, 30)})
			if d.chance(0.3) {
				clients[len(clients)-2].Timeout, clients[len(clients)-1].Timeout = 30_000, 30_000
			}
		}
		source, err := traffic.New(traffic.Config{Seed: seed, Clients: clients})
		if err != nil {
			t.Fatal(err)
		}
		c := drawTrial(seed).Config
		c.NumRequests, c.Horizon, c.Timeout, c.ForceRouting, c.MeasureFrom, c.MeasureTo = 1, 0, 0, "", 0, 0
		c.Custom.Source, c.Custom.Latency = source, allFields{}
		c.MaxReplicas, c.MinReplicas, c.AutoscaleInterval, c.DrainPolicy = c.NumInstances+3, 1, 700, setup.DrainRedirect
		c.Custom.Autoscale = func(policy.Env) policy.Autoscale { return noisyAutoscaler{policy.QueueDepth} }
		last := map[string]metrics.Outcome{}
		c.Row = func(r *Row) {
			name, think := r.TenantName(), thinks[r.TenantName()[5]-'0']
			chain := fmt.Sprint(name, r.Session)
			before, follows := last[chain]
			last[chain] = *r.Outcome
			if !follows {
				return
			}
			seen++
			from, wait := before.Finished, max(1, think)
			if e2e, ok := before.E2E(token, request); ok {
				from = before.Arrival.Add(e2e)
			} else if refused++; r.Session != 0 {
				t.Errorf("seed %d: round %d follows one that is %v", seed, r.Round, before.State)
			} else {
				wait = max(pause, think)
			}
			if before.Redirects > 0 {
				redirected++
			}
			if want := from.Add(wait); r.Arrival != want {
				t.Errorf("seed %d: %s: request %d at %v, want %v, after %+v", seed, name, r.ID, r.Arrival, want, before)
			}
		}
		if _, err := Run(context.Background(), c); err != nil {
			var livelock *engine.Livelock
			if !errors.As(err, &livelock) {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
	if seen < 2000 || redirected < 20 || refused < 50 {
		t.Errorf("%d followed, %d of them one that was redirected, %d one without an answer", seen, redirected, refused)
	}
}
