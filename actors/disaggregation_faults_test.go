package actors

import (
	"testing"

	"blis/bundle"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// A request whose deadline passes between the instances is not sent on. Its blocks are held until the
// hold time-out, which the prefill instance notices with its next request.
func TestDeadlineBetweenTheInstances(t *testing.T) {
	bothChoices(t, func(t *testing.T, choice string) {
		for _, deadline := range []vtime.Time{1094, 1095, 1300, 1593} {
			c := pdPair()
			c.PDDecodeChoice, c.PDHoldTimeout = choice, 6000
			s := serve(t, c, due(deadline, request(0, 9, 3)), request(7093, 9, 1), request(9000, 9, 1))
			fate := fate{State: "timed_out", Scheduled: never, First: never, Last: never, Finished: deadline}
			if got := s.fates()[0]; got != fate {
				t.Errorf("deadline %v:\n got %+v\nwant %+v", deadline, got, fate)
			}
			if o := s.rows[0]; o.Instance != -1 || o.HandOver.Ended != 1094 || o.HandOver.PullStart != never {
				t.Errorf("deadline %v: %+v", deadline, o)
			}
			// At 7,093 the time-out is a microsecond away. The pass behind that step notices it.
			if pd := s.Report.PD.Overall; pd.Pulls != 2 || pd.Expired != 1 || pd.HandOvers != 3 {
				t.Errorf("deadline %v: %+v", deadline, pd)
			}
		}
	})
}

// A deadline that passes while the decode instance tokenises, while the request waits for a seat, or
// during the pull.
func TestDeadlineOnTheDecodeInstance(t *testing.T) {
	c := pdPair()
	assign(&c, "decode", "alpha-coeffs=300,0,0")
	for _, x := range []struct {
		deadline vtime.Time
		seats    int32
		want     fate
		pulls    int64
		told     int64 // that the prefill instance knows of
	}{
		{1700, 8, fate{State: "timed_out", Scheduled: never, First: never, Last: never, Finished: 1700}, 1, 0}, // queued at 1,894
		{2000, 8, fate{State: "timed_out", Scheduled: never, First: never, Last: never, Finished: 2000}, 2, 1}, // pulled until 2,185
	} {
		c.MaxNumSeqs = x.seats
		s := serve(t, c, due(x.deadline, request(0, 9, 3)), request(20_000, 9, 1))
		if got := s.fates()[0]; got != x.want {
			t.Errorf("deadline %v:\n got %+v\nwant %+v", x.deadline, got, x.want)
		}
		if pd := s.Report.PD.Overall; pd.Pulls != x.pulls || pd.Pulled != x.told {
			t.Errorf("deadline %v: %d pulls, %d of them known to the prefill instance; want %d and %d", x.deadline, pd.Pulls, pd.Pulled, x.pulls, x.told)
		}
	}
}

// A request that times out before its pull has begun, since another one has all blocks: the prefill
// instance is told, and lets its blocks go.
func TestRequestLeavesBeforeItsPull(t *testing.T) {
	c := pdPair()
	c.KVIdleRelease = true
	assign(&c, "decode", "total-kv-blocks=10")
	s := serve(t, c, request(0, 20, 20), due(5000, request(100, 20, 3)))
	if o := s.rows[1]; o.State != metrics.TimedOut || o.HandOver.PullStart != never || o.Queued == never || o.Instance != 1 {
		t.Errorf("%+v", o)
	}
	if pd := s.Report.PD.Overall; pd.Left != 1 || pd.ToldLeft != 1 || pd.Pulls != 1 || pd.Awaiting != 0 {
		t.Errorf("%+v", pd)
	}
}

// A pull that fails is noticed like another, at 1,885. The request fails, or its prompt is computed
// again; nobody tells the prefill instance.
func TestFailedPull(t *testing.T) {
	for policy, want := range map[string]fate{ // any order
		"fail":      {State: "failed", Reason: metrics.TransferFailed, Scheduled: never, First: never, Last: never, Finished: 1885},
		"recompute": completed(1885, 2979, 2979+1020, 2),
	} {
		bothChoices(t, func(t *testing.T, choice string) {
			c := pdPair()
			c.PDDecodeChoice, c.PDFailureRate, c.KVLoadFailurePolicy, c.PDHoldTimeout = choice, 1, policy, 2000
			s := serve(t, c, request(0, 9, 2), request(5000, 9, 1))
			if got := s.fates()[0]; got != want {
				t.Errorf("%s:\n got %+v\nwant %+v", policy, got, want)
			}
			if pd := s.Report.PD.Overall; pd.FailedPulls != 2 || pd.Pulled != 0 || pd.Expired != 1 || pd.Tokens != 0 {
				t.Errorf("%s: %+v", policy, pd)
			}
			if h := s.rows[0].HandOver; h.RemoteTokens != 0 || h.PullStart != 1594 || h.PullEnd != 1885 {
				t.Errorf("%s: %+v", policy, h)
			}
		})
	}
}

// Which pulls fail follows from the seed alone.
func TestShareOfPullsFails(t *testing.T) {
	c := DefaultConfig()
	c.Architecture, c.NumRequests, c.Rate, c.PDFailureRate, c.PDHoldTimeout = "pd", 600, 40, 0.25, 1_000_000
	a := serve(t, c)
	if n := a.count(metrics.Failed); n < 110 || n > 190 {
		t.Errorf("%d requests of 600 failed, want about a quarter", n)
	}
	if n := a.Report.PD.Overall.FailedPulls; n != a.count(metrics.Failed) {
		t.Errorf("%d pulls failed, but %d requests", n, a.count(metrics.Failed))
	}
	c.Seed++
	if b := serve(t, c); b.count(metrics.Failed) == a.count(metrics.Failed) {
		t.Logf("as many pulls fail with another seed: %d", b.count(metrics.Failed))
	}
}

// With one prefill that awaits its pull the prefill instance admits nobody: the others wait for the
// end of the first one's pull, at 1,885, and are admitted together.
func TestMaxHeld(t *testing.T) {
	c := pdPair()
	c.PDMaxHeld, c.PDBackpressureThreshold = 1, 1
	s := serve(t, c, request(0, 9, 1), request(10, 9, 1), request(20, 9, 1))
	for i, want := range []vtime.Time{0, 1885, 1885} {
		if got := s.rows[i].HandOver.Scheduled; got != want {
			t.Errorf("prefill %d is scheduled at %v, want %v", i, got, want)
		}
	}
	if n := *s.Report.Anomalies.PDBackpressure; n != 3 {
		t.Errorf("%d hand-overs with backpressure, want 3", n)
	}
	c.PDMaxHeld, c.PDBackpressureThreshold = 0, 2
	s = serve(t, c, request(0, 9, 1), request(10, 9, 1), request(20, 9, 1))
	if a, b := s.rows[1].HandOver.Scheduled, s.rows[2].HandOver.Scheduled; a != 1094 || b != 1094 {
		t.Errorf("without a limit prefills are scheduled at %v and %v, want 1,094", a, b)
	}
	if n := *s.Report.Anomalies.PDBackpressure; n != 2 { // the second and the third, at one instant
		t.Errorf("%d hand-overs with backpressure, want 2", n)
	}
}

// Held blocks make the prefill instance full: nobody pulls, since all pulls take too long.
func TestHeldBlocksFillThePrefillInstance(t *testing.T) {
	c := pdPair()
	c.PDTransferLatency = 1_000_000
	assign(&c, "prefill", "total-kv-blocks=10")
	s := serve(t, c, request(0, 20, 1), request(0, 20, 1), request(0, 20, 1))
	if got := s.rows[2].HandOver.Scheduled; got < 1_000_000 {
		t.Errorf("a third prompt of five blocks of ten is scheduled at %v, before a pull has ended", got)
	}
	if s.count(metrics.Completed) != 3 {
		t.Errorf("states %v", s.Report.Overall.States)
	}
}

// least makes the pools route to the instance with the fewest requests in flight, the first of equals.
func least(c *Config) {
	c.Policies.Routing = bundle.Selection{Type: "weighted", Params: []policy.Setting{{Name: "active-requests", Value: "1"}, {Name: "tie", Value: "lowest"}}}
}

// A request counts on its decode instance from the decision that chose it: at its arrival, or at its
// hand-over. One that does not come there counts no longer.
func TestInFlightOfDecodeInstances(t *testing.T) {
	bothChoices(t, func(t *testing.T, choice string) {
		c := pdPair()
		c.DecodeReplicas, c.PDDecodeChoice = 2, choice
		least(&c)
		// The second arrives while the prefill of the first one lasts. That one leaves between the
		// instances, or on the prefill instance; or stays.
		second := map[string]int32{"arrival": 2, "handoff": 1}[choice]
		for deadline, want := range map[vtime.Time][]int32{1300: {-1, second, 1}, 500: {0, second, 1}, never: {1, 2, 1}} { // any order
			s := serve(t, c, due(deadline, request(0, 9, 3)), request(100, 9, 40), request(9000, 9, 3))
			if choice == "handoff" && deadline != never { // the second one is on the first of them
				want[2] = 2
			}
			for i := range want {
				if got := s.rows[i].Instance; got != want[i] {
					t.Errorf("deadline %v: request %d is on instance %d, want %d", deadline, i, got, want[i])
				}
			}
		}
	})
}

// A request that an instance gives back before its prefill has ended counts no longer on the decode
// instance that was chosen, but on the next one.
func TestInFlightOfGivenBack(t *testing.T) {
	c := pdScaled([]int32{2, 1}, []int32{2, 2})
	c.DrainPolicy = setup.DrainRedirect
	least(&c)
	// The second is on the prefill instance that goes, and was to go on on the second decode instance,
	// which has none when it comes back.
	s := serve(t, c, request(8000, 400, 40), request(9000, 400, 40), request(10_500, 9, 10), request(10_600, 9, 10))
	if s.rows[1].Redirects != 1 {
		t.Fatalf("%+v", s.rows[1])
	}
	for i, want := range []int32{2, 3, 2, 3} {
		if got := s.rows[i].Instance; got != want {
			t.Errorf("request %d is on instance %d, want %d", i, got, want)
		}
	}
}
