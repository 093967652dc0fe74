package actors

import (
	"testing"

	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
)

// pdScaled is pdPair with checks every 10,000 that want these numbers of prefill and decode
// instances; there are as many at first.
func pdScaled(prefill, decode []int32) Config {
	c := pdPair()
	c.PrefillReplicas, c.DecodeReplicas, c.AutoscaleInterval = int(prefill[0]), int(decode[0]), 10_000
	c.MinReplicas, c.MaxReplicas = 1, 4
	c.ProvisioningDelay, c.ModelLoadTime = setup.RandomDuration{Mean: 3000}, setup.RandomDuration{Mean: 2000}
	made := 0
	c.Custom.Autoscale = func(policy.Env) policy.Autoscale {
		targets := prefill
		if made++; made%2 == 0 {
			targets = decode
		}
		return &script{append([]int32(nil), targets[1:]...)}
	}
	return c
}

// replica returns what became of an instance of a pool.
func (s *served) replica(t *testing.T, pool string, i int) Replica {
	t.Helper()
	for _, p := range s.PoolScaling {
		if p.Pool == pool {
			return p.Replicas[i]
		}
	}
	t.Fatalf("no pool %s in %v", pool, s.PoolScaling)
	return Replica{}
}

// A prefill instance that drains from 10,000 on is there until its last blocks were let go: those of a
// prompt that it computed before, and of one that it still computes. Only a server that looks at pulls
// while it is idle gets that far.
func TestPrefillInstanceDrains(t *testing.T) {
	c := pdScaled([]int32{2, 1}, []int32{1, 1})
	c.KVIdleRelease = true
	// The second and the fourth are on the instance that goes: 1,000 + 10.5·200 and 10.5·100.
	s := serve(t, c, request(9000, 8, 40), request(9000, 200, 40), request(9100, 8, 40), request(9900, 100, 40), request(11_000, 8, 40))
	last := s.rows[3].HandOver
	if last.Instance != 1 || last.Ended < 12_100 || last.PullEnd == never {
		t.Fatalf("%+v", last)
	}
	if s.rows[4].HandOver.Instance != 0 {
		t.Errorf("a later request has its prompt computed on instance %d", s.rows[4].HandOver.Instance)
	}
	if r := s.replica(t, "prefill", 1); r.Draining != 10_000 || r.Gone != last.PullEnd {
		t.Errorf("drains at %v and is gone at %v, want 10,000 and %v", r.Draining, r.Gone, last.PullEnd)
	}
	if n := s.count(metrics.Completed); n != 5 {
		t.Errorf("states %v", s.Report.Overall.States)
	}
}

// A decode instance that drains gets nothing more: a request for which it was chosen at arrival goes
// to another. What it has pulled, or pulls, it finishes.
func TestDecodeInstanceDrains(t *testing.T) {
	bothChoices(t, func(t *testing.T, choice string) {
		c := pdScaled([]int32{1, 1}, []int32{2, 1})
		c.PDDecodeChoice, c.PDTransferLatency = choice, 2000
		c.RoutingLatency = 25
		s := serve(t, c, request(0, 9, 30), request(5000, 9, 10), request(8000, 9, 5), request(9400, 300, 5))
		for i, want := range []int32{1, 2, 1, 1} {
			if got := s.rows[i].Instance; got != want {
				t.Errorf("request %d is on instance %d, want %d", i, got, want)
			}
		}
		late := s.rows[3]
		if want := late.HandOver.Ended.Add(c.PDHandoffLatency).Add(25); late.Queued != want {
			t.Errorf("the last request is queued at %v, want %v: it has to be routed anew", late.Queued, want)
		}
		gone := s.rows[1].Finished
		if choice == "arrival" {
			gone = max(gone, late.Queued.Add(-25)) // until then it was to be there
		}
		if r := s.replica(t, "decode", 1); r.Draining != 10_000 || r.Gone != gone {
			t.Errorf("drains at %v and is gone at %v, want 10,000 and %v", r.Draining, r.Gone, gone)
		}
		if n := s.count(metrics.Completed); n != 4 {
			t.Errorf("states %v", s.Report.Overall.States)
		}
	})
}

// A pull that is under way as its instance begins to drain ends, and its request completes there.
func TestDrainingInstancePulls(t *testing.T) {
	c := pdScaled([]int32{1, 1}, []int32{2, 1})
	c.PDTransferLatency = 5000
	s := serve(t, c, request(0, 9, 40), request(6000, 9, 10))
	o := s.rows[1]
	if o.Instance != 2 || o.HandOver.PullStart >= 10_000 || o.HandOver.PullEnd <= 10_000 || o.State != metrics.Completed {
		t.Errorf("%+v", o)
	}
	if r := s.replica(t, "decode", 1); r.Gone != o.Finished {
		t.Errorf("gone at %v, want %v", r.Gone, o.Finished)
	}
}

// Instances that go at once take with them what they compute, the KV that awaits its pull there, and
// what they decode; those that give requests back take the KV.
func TestInstancesGoWithTheirKV(t *testing.T) {
	for _, drain := range []string{setup.DrainImmediate, setup.DrainRedirect} {
		bothChoices(t, func(t *testing.T, choice string) {
			c := pdScaled([]int32{2, 1}, []int32{1, 1})
			c.PDDecodeChoice, c.DrainPolicy, c.PDTransferLatency = choice, drain, 8000
			s := serve(t, c, request(0, 9, 4), request(7000, 9, 4), request(9000, 9, 4), request(9500, 400, 4), request(30_000, 9, 1))
			if r := s.replica(t, "prefill", 1); r.Draining != 10_000 || r.Gone != 10_001 {
				t.Errorf("%s: drains at %v and is gone at %v, want 10,000 and 10,001", drain, r.Draining, r.Gone)
			}
			if pd := s.Report.PD.Overall; pd.Lost != 1 {
				t.Errorf("%s: %+v", drain, pd)
			}
			moved := s.rows[3]
			if drain == setup.DrainImmediate {
				if moved.State != metrics.Aborted || moved.Finished != 10_001 {
					t.Errorf("%+v", moved)
				}
				return
			}
			// It was lost as a prefill. That it is handed over is decided again, and its prompt computed anew.
			if h := moved.HandOver; moved.State != metrics.Completed || moved.Redirects != 1 || moved.Instance != 2 || moved.Generated != 4 || h.Instance != 0 || h.Queued != 10_002 || h.RemoteTokens != 399 {
				t.Errorf("%+v", moved)
			}
		})
	}
}

// A pull fails with the instance that it reads, which goes at 10,000; its memory is freed when another one is asked for.
func TestPullFailsWithItsSource(t *testing.T) {
	for _, routing := range []string{"round-robin", "least-loaded"} {
		c := pdScaled([]int32{2, 1, 2}, []int32{1, 1})
		c.DrainPolicy, c.PDTransferLatency, c.RoutingPolicy = setup.DrainImmediate, 25_000, routing
		s := serve(t, c, request(0, 9, 4), request(1, 9, 4), request(45_000, 9, 4))
		if o := s.rows[1]; o.HandOver.Instance != 1 || o.HandOver.PullEnd != 10_001 || s.fates()[1] != pullLost(10_001) {
			t.Errorf("%+v", o)
		}
		if pd := s.Report.PD.Overall; pd.Lost != 1 || pd.FailedPulls != 1 {
			t.Errorf("%+v", pd)
		}
		if n := s.count(metrics.Completed); n != 2 {
			t.Errorf("%s: states %v", routing, s.Report.Overall.States)
		}
	}
}

// atStep is a load that changes at 20 s: before, a small request each 100 ms, then n of these too.
func atStep(n int, input, output int32) (list []workload.Request) {
	for at := vtime.Time(50_000); at < 60_000_000; at += 100_000 {
		list = append(list, request(at, 20, 2))
		for range n {
			if at > 20_000_000 {
				list = append(list, request(at, input, output))
			}
		}
	}
	return list
}

// Prefill and decode instances scale apart. (With many more long outputs the prefill instances would
// too: their KV awaits its pull until the decode instances have room.)
func TestPoolsScaleApart(t *testing.T) {
	for _, x := range []struct {
		name                      string
		n                         int
		input, output             int32
		prefillGrows, decodeGrows bool
	}{
		{"short prompts, long outputs", 2, 20, 300, false, true},
		{"long prompts, one token", 9, 900, 1, true, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := pdPair()
			c.TotalKVBlocks, c.MaxNumSeqs = 4000, 64
			c.BetaCoeffs = []float64{5000, 12, 200}
			c.AutoscalePolicy, c.AutoscaleInterval, c.MinReplicas, c.MaxReplicas = "threshold", 2_000_000, 1, 6
			c.ProvisioningDelay, c.ModelLoadTime = setup.RandomDuration{Mean: 1_000_000}, setup.RandomDuration{Mean: 1_000_000}
			c.PDHoldTimeout = 10_000_000
			s, err := serveOn(t, c, Execution{}, workload.Labels{}, atStep(x.n, x.input, x.output))
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range s.PoolScaling {
				want := p.Pool == "prefill" && x.prefillGrows || p.Pool == "decode" && x.decodeGrows
				if grew := p.Peak > 1; grew != want {
					t.Errorf("%s has up to %d instances, want more than one: %v", p.Pool, p.Peak, want)
				}
			}
		})
	}
}
