package metrics

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// tally is what TestRawMetricsAgreeWithCountingByHand counts of some requests.
type tally struct {
	injected, admitted, refused, rejected int
	output                                [4]int64 // tokens by tenant
	traffic                               [4]bool
	ttft, e2e                             twin
}

func (x *tally) jain() *float64 {
	n, sum, squares := 0.0, 0.0, 0.0
	for tenant, tokens := range x.output {
		if x.traffic[tenant] {
			n++
			sum += float64(tokens)
			squares += float64(tokens) * float64(tokens)
		}
	}
	if squares == 0 {
		return nil
	}
	index := sum * sum / n / squares
	return &index
}

func (x *tally) agrees(t *testing.T, name string, s *Scope, withJain bool) {
	t.Helper()
	same := func(what string, got, want *float64) {
		t.Helper()
		if (got == nil) != (want == nil) || got != nil && !near(got, *want) {
			t.Errorf("%s: %s is %v, want %v", name, what, text(got), text(want))
		}
	}
	share := func(a, b int) *float64 {
		if b == 0 {
			return nil
		}
		q := float64(a) / float64(b)
		return &q
	}
	tail := func(samples twin) *float64 {
		slices.Sort(samples)
		if len(samples) == 0 || samples.percentile(50) == 0 {
			return nil
		}
		q := samples.percentile(99) / samples.percentile(50)
		return &q
	}
	if s.Admitted != int64(x.admitted) {
		t.Errorf("%s: %d admitted, want %d", name, s.Admitted, x.admitted)
	}
	same("admission rate", s.AdmissionRate, share(x.admitted, x.admitted+x.refused))
	same("rejected share", s.RejectedShare, share(x.rejected, x.injected))
	same("tail of TTFT", s.TailBlowUp.TTFT, tail(x.ttft))
	same("tail of E2E", s.TailBlowUp.E2E, tail(x.e2e))
	if withJain {
		same("Jain index", s.JainIndex, x.jain())
	} else if s.JainIndex != nil {
		t.Errorf("%s: a Jain index", name)
	}
}

func text(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

// Admission, tails and fairness of every scope against counting by hand. What
// admission made of a request is drawn here, not read off the outcome.
func TestRawMetricsAgreeWithCountingByHand(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 9))
	o := options()
	run := named(Run{Routers: []*Recorder{NewRecorder(o)}, Instances: []*Recorder{NewRecorder(o), NewRecorder(o), NewRecorder(o)}, End: 2e8, Cut: true, Injected: 3000})
	var all tally
	classes, tenants, models := make([]tally, 3), make([]tally, 4), make([]tally, 2)
	for i := range run.Injected {
		x := randomOutcome(r, i)
		if x.Class == 1 {
			x.Tenant %= 2 // a class that not every tenant uses
		}
		refused, undecided := false, false
		switch {
		case x.State == Rejected && r.IntN(3) == 0:
			x.Reason = NoInstance // admitted, then nowhere to go
		case x.State == Rejected:
			refused, x.Admitted = true, never
		case x.State == Pending && r.IntN(2) == 0:
			undecided, x.Admitted, x.Routed, x.HandOver = true, never, never, NoHandOver()
		case x.State == TimedOut && r.IntN(2) == 0:
			undecided, x.Admitted, x.Routed, x.Queued, x.Scheduled = true, never, never, never, never
			x.FirstToken, x.LastToken, x.Generated, x.Cached, x.HandOver = never, never, 0, 0, NoHandOver()
		}
		recorder := run.Routers[0]
		if x.Routed != never {
			x.Instance = r.Int32N(3)
			recorder = run.Instances[x.Instance]
		} else {
			x.Instance = -1
		}
		recorder.Record(&x)
		recordITL(recorder, &x)
		for _, c := range []*tally{&all, &classes[x.Class], &tenants[x.Tenant], &models[x.Model]} {
			c.injected++
			c.traffic[x.Tenant] = true
			switch {
			case refused:
				c.refused++
			case !undecided:
				c.admitted++
			}
			if x.State == Rejected {
				c.rejected++
			}
			if x.Generated > 0 {
				c.ttft.add(int64(x.FirstToken-x.Arrival)+7, 1)
			}
			if x.State == Completed {
				c.output[x.Tenant] += int64(x.Generated)
				c.e2e.add(int64(x.Finished-x.Arrival)+7*int64(x.Generated)+20, 1)
			}
		}
	}
	report, err := Collect(run)
	if err != nil {
		t.Fatal(err)
	}
	all.agrees(t, "overall", &report.Overall, true)
	for i := range classes {
		classes[i].agrees(t, report.PerClass[i].Name, &report.PerClass[i].Scope, true)
	}
	for i := range models {
		models[i].agrees(t, report.PerModel[i].Name, &report.PerModel[i].Scope, true)
	}
	for i := range tenants {
		tenants[i].agrees(t, report.PerTenant[i].Name, &report.PerTenant[i].Scope, false)
	}
	if all.refused == 0 || all.admitted+all.refused == all.injected || all.rejected == all.refused {
		t.Errorf("nothing to see: %+v", all)
	}
}

// A p50 of 0 has no multiple.
func TestTailOfNothing(t *testing.T) {
	if got := newTailBlowUp(&Scope{TTFT: &Summary{P99: 5}, TPOT: &Summary{P50: 2, P99: 5}}); got.TTFT != nil || !near(got.TPOT, 2.5) || got.E2E != nil {
		t.Errorf("%+v", got)
	}
}

// Requests that are not decided on show in the digest.
func TestUndecidedRequestsAreFolded(t *testing.T) {
	fold := func(admitted bool) uint64 {
		x := completed()
		x.State, x.Instance, x.Finished = Pending, -1, never
		x.Routed, x.Queued, x.Scheduled, x.FirstToken, x.LastToken, x.Generated, x.Cached = never, never, never, never, never, 0, 0
		if !admitted {
			x.Admitted = never
		}
		r := NewRecorder(options())
		r.Record(&x)
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
		return r.Fold()
	}
	if fold(true) == fold(false) {
		t.Error("admitted or not, the fold is the same")
	}
}
