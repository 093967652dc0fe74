package actors

import (
	"cmp"
	"slices"
	"testing"

	"blis/bundle"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
)

// The tests of prefill/decode disaggregation run pairs that are small enough to be worked out by
// hand: blocks of 4 tokens; a step takes 1,000 µs, 10.5 µs per prefill token and 20.25 µs per decode
// token; a hand-over takes 500 µs, a pull of n blocks 200 + 30.5·n µs.

// pdPair is one prefill and one decode instance.
func pdPair() Config {
	c := plain()
	c.Architecture, c.PrefillReplicas, c.DecodeReplicas, c.NumInstances = setup.PD, 1, 1, DefaultConfig().NumInstances
	c.BetaCoeffs = []float64{1000, 10.5, 20.25}
	c.BlockSizeInTokens, c.TotalKVBlocks = 4, 400
	c.PDHandoffLatency, c.PDTransferLatency = 500, 200
	c.PDKVBytesPerToken = 61
	assign(&c, "pd-transfer-bandwidth", "8MB/s") // 4·61 bytes in 30.5 µs
	return c
}

// assign sets settings by name.
func assign(c *Config, pairs ...string) {
	for k := 0; k < len(pairs); k += 2 {
		if err := c.Set(pairs[k], pairs[k+1]); err != nil {
			panic(err)
		}
	}
}

// bothChoices calls f with each time at which the decode instance can be chosen.
func bothChoices(t *testing.T, f func(t *testing.T, choice string)) {
	for _, choice := range []string{"arrival", "handoff"} {
		t.Run(choice, func(t *testing.T) { f(t, choice) })
	}
}

// Nine tokens are prefilled until 1,094, queued for decoding at 1,594, pulled until 1,885; the ninth
// is computed again until 2,895. The prefill instance executes another prefill from 1,500 to 2,668:
// only then does it notice the end of the pull. That one is queued at 3,168, within a step. The pass
// at 3,915 admits it, its pull lasts until 4,237, which the pass at 4,935 notices.
func TestClusterOfWorkedExample(t *testing.T) {
	bothChoices(t, func(t *testing.T, choice string) {
		c := pdPair()
		c.PDDecodeChoice = choice
		s := serve(t, c, request(0, 9, 3), request(1500, 16, 1))
		wantFates(t, s, completed(1885, 2895, 2895+2*1020, 3), completed(4935, 5945, 5945, 1))
		h := s.rows[0].HandOver
		if h.Queued != 0 || h.Scheduled != 0 || h.Ended != 1094 || h.PullStart != 1594 || h.PullEnd != 1885 || h.RemoteTokens != 8 || h.Instance != 0 || s.rows[0].Instance != 1 {
			t.Errorf("hand-over %+v", h)
		}
		pd := s.Report.PD.Overall
		if pd.HandOvers != 2 || pd.Pulled != 1 || pd.Awaiting != 1 {
			t.Errorf("%d hand-overs, %d of them known to be pulled, %d await that: want 2, 1 and 1", pd.HandOvers, pd.Pulled, pd.Awaiting)
		}
	})
}

// A request alone has its first token later than on one instance, by the hand-over, the way through the
// router to an instance that is chosen then, the tokenisation there, the pull, and one step with one
// token.
func TestFirstTokenComesLaterByTheHandOver(t *testing.T) {
	bothChoices(t, func(t *testing.T, choice string) {
		for _, length := range []int32{1, 2, 3, 4, 5, 64, 700, 1024, 1025, 3000} {
			for _, alpha := range []float64{0, 300.7} {
				c := pdPair()
				c.TotalKVBlocks, c.PDDecodeChoice = 2000, choice
				c.AdmissionLatency, c.RoutingLatency, c.AlphaCoeffs = 70, 40, []float64{alpha, alpha / 1000, 13}
				requests := []workload.Request{request(5000, length, 4)}
				s := serve(t, c, requests...)
				m := c
				m.Architecture, m.NumInstances = DefaultConfig().Architecture, 1
				mono := serve(t, m, requests...)
				truncated := func(x float64) vtime.Duration { return vtime.Duration(x) }
				want := 500 + truncated(200+float64(30.5*float64((length+3)/4))) + truncated(alpha+float64(alpha/1000*float64(length))) + 1010
				if choice == "handoff" {
					want += 40
				}
				if got := s.rows[0].FirstToken.Sub(mono.rows[0].FirstToken); got != want {
					t.Errorf("%d tokens, α %v: the first token is %d µs later, want %d", length, alpha, got, want)
				}
				if a, b := s.Report.Overall.TTFT.Mean-mono.Report.Overall.TTFT.Mean, float64(want); a != b {
					t.Errorf("%d tokens, α %v: mean TTFT is %v µs later, want %v", length, alpha, a, b)
				}
			}
		}
	})
}

// Without disaggregation the decode instances serve as many instances of one pool would. Policies
// that draw are left out: each pool has its own draws.
func TestNeverDisaggregatedIsMonolithic(t *testing.T) {
	for _, routing := range []string{"round-robin", "least-loaded", "weighted", "prefix-affinity"} {
		bothChoices(t, func(t *testing.T, choice string) {
			c := DefaultConfig()
			c.NumRequests, c.Rate, c.PrefixTokens, c.RoutingPolicy = 300, 20, 200, routing
			if routing != "round-robin" {
				c.Policies.Routing = bundle.Selection{Type: routing, Params: []policy.Setting{{Name: "tie", Value: "lowest"}}}
			}
			m := c
			m.NumInstances = 3
			c.Architecture, c.PrefillReplicas, c.DecodeReplicas, c.PDDecider, c.PDDecodeChoice = setup.PD, 2, 3, "never", choice
			s, mono := serve(t, c), serve(t, m)
			for i := range s.rows {
				got, want := s.rows[i], mono.rows[i]
				got.Pool, got.Instance = want.Pool, got.Instance-2
				if got != want {
					t.Fatalf("%s: row %d\n got %+v\nwant %+v", routing, i, got, want)
				}
			}
			if pd := s.Report.PD.Overall; *pd.Direct != 300 || *pd.Disaggregated != 0 || pd.HandOvers != 0 {
				t.Errorf("%s: %+v", routing, pd)
			}
		})
	}
}

// With --pd-link fifo the pulls from an instance go one at a time, in the order in which they begin: each
// ends so long after it begins, or after the one before has ended, as it takes. Without, none waits.
func TestPullsFromAnInstanceWaitForEachOther(t *testing.T) {
	bothChoices(t, func(t *testing.T, choice string) {
		for _, link := range []string{"independent", "fifo"} {
			c := pdPair()
			c.PrefillReplicas, c.DecodeReplicas, c.PDDecodeChoice, c.EnablePrefixCaching, c.PDTransferLatency = 2, 3, choice, false, 2000
			c.PDLink = link
			var requests []workload.Request
			for i := range 40 {
				requests = append(requests, request(vtime.Time(i*1300+i*i%7*150), int32(9+i*37%200), 1+int32(i%5)))
			}
			s := serve(t, c, requests...)
			last := map[int32]vtime.Time{} // end, by prefill instance
			order := make([]int, len(s.rows))
			for i := range order {
				order[i] = i
			}
			slices.SortFunc(order, func(a, b int) int {
				x, y := &s.rows[a], &s.rows[b]
				return cmp.Or(cmp.Compare(x.HandOver.PullStart, y.HandOver.PullStart), cmp.Compare(x.Instance, y.Instance))
			})
			waited := 0
			for _, i := range order {
				h := &s.rows[i].HandOver
				from := h.PullStart
				if before := last[h.Instance]; link == "fifo" && before > from {
					from = before
					waited++
				}
				blocks := (s.rows[i].Input + 3) / 4
				if want := from.Add(vtime.Duration(2000 + float64(30.5*float64(blocks)))); h.PullEnd != want {
					t.Errorf("%s: request %d is pulled from %d to %d, want %d", link, s.rows[i].ID, h.PullStart, h.PullEnd, want)
				}
				last[h.Instance] = h.PullEnd
			}
			if link == "fifo" && waited < 10 {
				t.Errorf("%d pulls waited", waited)
			}
		}
	})
}
