package actors

import (
	"context"
	"math"
	"testing"

	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
)

// script is an autoscaler that wants a given number of instances at each check, and at
// the end what it wanted last.
type script struct{ targets []int32 }

func (*script) Observes() policy.Signals { return policy.NoSignals }

func (s *script) Evaluate(c *policy.AutoscaleContext) policy.ScaleDecision {
	target := s.targets[0]
	if len(s.targets) > 1 {
		s.targets = s.targets[1:]
	}
	switch {
	case target > c.Replicas:
		return policy.ScaleDecision{Action: policy.ScaleUp, Target: target, Reason: policy.ByPolicy}
	case target < c.Replicas:
		return policy.ScaleDecision{Action: policy.ScaleDown, Target: target, Reason: policy.ByPolicy}
	}
	return policy.ScaleDecision{Target: target}
}

// scaled is plain with checks every 10,000 that want these numbers of instances.
func scaled(instances int, targets ...int32) Config {
	c := plain()
	c.NumInstances, c.AutoscaleInterval = instances, 10_000
	c.MinReplicas, c.MaxReplicas = 1, 4
	c.ProvisioningDelay, c.ModelLoadTime = setup.RandomDuration{Mean: 3000}, setup.RandomDuration{Mean: 2000}
	c.Custom.Autoscale = func(policy.Env) policy.Autoscale { return &script{append([]int32(nil), targets...)} }
	return c
}

// Asked for at 10,000, there at 13,000, loaded at 15,000, warm at 19,000: until
// then a step takes up to twice as long, less and less: formed at 15,500 it
// takes 1,875, then at 17,375 1,406, at 18,781 1,054, at 19,835 1,000.
func TestInstancesComeInTime(t *testing.T) {
	c := scaled(1, 2)
	c.WarmupDuration, c.WarmupPenalty = 4000, 2
	requests := []workload.Request{request(0, 10, 1), request(14_999, 10, 1), request(15_500, 10, 4), request(30_000, 10, 1)}
	s := serve(t, c, requests...)
	wantFates(t, s, completed(0, 1000, 1000, 1), completed(14_999, 15_999, 15_999, 1), completed(15_500, 17_375, 20_835, 4), completed(30_000, 31_000, 31_000, 1))
	for i, want := range []int32{0, 0, 1, 0} { // in turn, as far as there are any
		if got := s.rows[i].Instance; got != want {
			t.Errorf("request %d is on instance %d, want %d", i, got, want)
		}
	}
	sc := s.Scaling
	if len(sc.Events) != 1 || sc.Events[0] != (ScaleEvent{10_000, 1, 2, policy.ByPolicy}) {
		t.Errorf("scale events %v", sc.Events)
	}
	if r := sc.Replicas[1]; r != (Replica{Asked: 10_000, Billed: 13_000, Ready: 15_000, Warm: 19_000, Draining: never, Gone: never}) {
		t.Errorf("instance 1: %+v", r)
	}
	// 31,000 and 31,000 − 13,000.
	if sc.ReplicaMicros != 49_000 || sc.Peak != 2 || sc.Least != 1 {
		t.Errorf("%v replica-µs, peak %d, least %d; want 49,000, 2, 1", sc.ReplicaMicros, sc.Peak, sc.Least)
	}
}

// An instance that is not to be routed to while it warms gets nothing before.
func TestColdInstancesMayWait(t *testing.T) {
	c := scaled(1, 2)
	c.WarmupDuration, c.WarmupPenalty, c.WarmupRoutable = 4000, 2, false
	s := serve(t, c, request(0, 10, 1), request(18_999, 10, 1), request(19_001, 10, 1), request(19_002, 10, 1))
	for i, want := range []int32{0, 0, 1, 0} {
		if got := s.rows[i].Instance; got != want {
			t.Errorf("request %d is on instance %d, want %d", i, got, want)
		}
	}
}

// A and B decode since 0, on one instance each, a token every 1,000. At 10,000
// there is to be one instance: the newest goes, B's. Nothing is lost, whatever
// becomes of B.
func TestDrain(t *testing.T) {
	aborted := func(at, last vtime.Time, tokens int32) fate {
		return fate{State: "aborted", Scheduled: 0, First: 1000, Last: last, Finished: at, Tokens: tokens}
	}
	for _, c := range []struct {
		name, drain string
		timeout     vtime.Duration
		b           fate
		gone        vtime.Time
	}{
		{"wait", setup.DrainWait, 0, completed(0, 1000, 20_000, 20), 20_000},
		{"wait, long enough", setup.DrainWait, 10_001, completed(0, 1000, 20_000, 20), 20_000},
		{"wait, not for long", setup.DrainWait, 3000, aborted(13_001, 13_000, 13), 13_001},
		{"at once", setup.DrainImmediate, 0, aborted(10_001, 10_000, 10), 10_001},
		// Given back at 10,001, on instance 0 at 10,002, in its batch at 11,000.
		{"elsewhere", setup.DrainRedirect, 0, completed(0, 1000, 21_000, 20), 10_001},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := scaled(2, 1)
			cfg.DrainPolicy, cfg.DrainTimeout = c.drain, c.timeout
			s := serve(t, cfg, request(0, 10, 25), request(0, 10, 20), request(12_000, 10, 1), request(12_000, 10, 1))
			want := []fate{completed(0, 1000, 25_000, 25), c.b, completed(12_000, 13_000, 13_000, 1), completed(12_000, 13_000, 13_000, 1)}
			wantFates(t, s, want...)
			if s.rows[2].Instance != 0 || s.rows[3].Instance != 0 {
				t.Errorf("later requests on instances %d and %d, want 0", s.rows[2].Instance, s.rows[3].Instance)
			}
			if got := s.Scaling.Replicas[1]; got.Draining != 10_000 || got.Gone != c.gone {
				t.Errorf("instance 1 drains at %v and is gone at %v, want 10,000 and %v", got.Draining, got.Gone, c.gone)
			}
			b := &s.rows[1]
			if moved := c.drain == setup.DrainRedirect; moved != (b.Redirects == 1) || moved != (b.Instance == 0) || moved && b.DecodeLost != 1999 {
				t.Errorf("B: %+v", b)
			}
			if n := s.count(metrics.Completed) + s.count(metrics.Aborted); n != 4 {
				t.Errorf("%d of 4 requests completed or aborted", n)
			}
		})
	}
}

// Replicas that are not there yet are the first to be done without, and cost
// nothing if their machine never came.
func TestStartingInstancesGoFirst(t *testing.T) {
	c := scaled(2, 4, 2)
	c.ProvisioningDelay.Mean = 11_000
	s := serve(t, c, request(0, 10, 25), request(0, 10, 25))
	for i, want := range []Replica{
		{Draining: never, Gone: never}, {Draining: never, Gone: never},
		{Asked: 10_000, Billed: never, Ready: never, Warm: never, Draining: 20_000, Gone: 20_000},
		{Asked: 10_000, Billed: never, Ready: never, Warm: never, Draining: 20_000, Gone: 20_000},
	} {
		if got := s.Scaling.Replicas[i]; got != want {
			t.Errorf("instance %d: %+v, want %+v", i, got, want)
		}
	}
	if s.Scaling.ReplicaMicros != 50_000 || s.Scaling.Peak != 4 {
		t.Errorf("%v replica-µs, peak %d", s.Scaling.ReplicaMicros, s.Scaling.Peak)
	}
}

// A machine takes as long as its distribution says, and models load as they do
// where it takes always the same.
func TestProvisioningTimesVary(t *testing.T) {
	const replicas = 400
	lives := func(cv float64) []Replica {
		c := scaled(1, replicas)
		c.MaxReplicas = replicas
		c.ProvisioningDelay, c.ModelLoadTime = setup.RandomDuration{Mean: 30_000, CV: cv}, setup.RandomDuration{Mean: 2000, CV: 0.5}
		return serve(t, c, request(0, 10, 25), request(9_000_000, 10, 25)).Scaling.Replicas[1:]
	}
	constant, varied := lives(0), lives(0.5)
	var sum, squares float64
	for i := range varied {
		x := float64(varied[i].Billed - varied[i].Asked)
		sum, squares = sum+x, squares+x*x
		if c, v := &constant[i], &varied[i]; c.Billed-c.Asked != 30_000 || v.Ready-v.Billed != c.Ready-c.Billed {
			t.Fatalf("instance %d: %+v and %+v", i+1, c, v)
		}
	}
	n := float64(len(varied))
	mean := sum / n
	if cv := math.Sqrt(squares/n-mean*mean) / mean; math.Abs(mean-30_000) > 2000 || math.Abs(cv-0.5) > 0.08 {
		t.Errorf("mean %.0f µs, cv %.3f; want about 30,000 and 0.5", mean, cv)
	}
}

// The run ends with its work: instances on their way keep it going no longer.
func TestScalingKeepsNoRunAlive(t *testing.T) {
	s := serve(t, scaled(1, 2), request(0, 10, 12))
	if s.End != 12_000 || s.Scaling.Replicas[1].Ready != 15_000 || s.Report.Overall.States[metrics.Completed] != 1 {
		t.Errorf("end %v, instance 1 %+v", s.End, s.Scaling.Replicas[1])
	}
}

// Once what an instance had is given back, the others need not wait for it: as
// long as some may be, they run no further than it could be delivered.
func TestNobodyWaitsForWhatWasGivenBack(t *testing.T) {
	cfg := scaled(2, 1)
	cfg.DrainPolicy = setup.DrainRedirect
	source, err := workload.NewSlice([]workload.Request{request(0, 10, 25), request(0, 10, 20), request(0, 10, 25), request(0, 10, 20)}, workload.Labels{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Custom.Source = source
	p, err := resolve(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCluster(p, Execution{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if b := c.router.fleet.pools[0].replicas; b.returned != 2 || b.handingBack != 0 {
		t.Errorf("%d requests given back, %d instances still to give back; want 2 and none", b.returned, b.handingBack)
	}
}
