package study

import (
	"errors"
	"strings"
	"testing"

	"blis/actors"
	"blis/setup"
)

// sizing is a small question: a trace that is the same every time.
func sizing(t *testing.T) Sizing {
	t.Helper()
	cfg := actors.DefaultConfig()
	cfg.Trace, cfg.Rate, cfg.GPUHourPrice = "../examples/replay/requests.csv", 40, 2
	z := NewSizing(cfg, bounds(t, "p99_ttft=120ms")...)
	z.TP, z.MaxGPUs = []int{1, 2, 4}, 12
	return z
}

// TestSizeIsWhatRunsSay: every candidate has the fewest instances whose run keeps the bounds,
// and the first is the cheapest.
func TestSizeIsWhatRunsSay(t *testing.T) {
	z := sizing(t)
	z.Budgets = []int32{1024, 8192}
	r, err := z.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Candidates) != 6 || r.Winner == nil || !r.Winner.Exact {
		t.Fatalf("%+v", r)
	}
	last := 0.0
	for _, c := range r.Candidates {
		for _, n := range []int{c.Instances, c.Instances - 1} {
			if n == 0 || c.Instances == 0 {
				continue
			}
			cfg := z.Search.Base
			r.Latency.Apply(&cfg.Config)
			cfg.TP, cfg.MaxNumBatchedTokens, cfg.NumInstances = c.TP, c.Budget, n
			result, err := actors.Run(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			kept := z.Search.SLOs[0].Constraint.Of(result.Figures())
			if kept.Pass != (n == c.Instances) {
				t.Errorf("%s: a run of %d instances keeps the bound: %v", c.Name(), n, kept.Pass)
			}
			if n == c.Instances && *kept.Value != c.Measured[0] {
				t.Errorf("%s: %v, a run says %v", c.Name(), c.Measured[0], *kept.Value)
			}
		}
		if c.CostPerHour == nil || *c.CostPerHour != float64(2*c.GPUs) || *c.CostPerHour < last {
			t.Errorf("%s: %d GPUs cost %v after %v", c.Name(), c.GPUs, c.CostPerHour, last)
		}
		last = *c.CostPerHour
	}
}

// TestSizeIsTheSameOnAnyWorkers and GPUs may have prices of their own.
func TestSizeIsTheSameOnAnyWorkers(t *testing.T) {
	var first string
	for _, workers := range []int{1, 3} {
		z := sizing(t)
		z.Search.Pool.Workers, z.Hardware, z.Prices = workers, []string{"H100", "H200"}, map[string]float64{"h200": 1}
		r, err := z.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range r.Candidates {
			names = append(names, c.Name())
		}
		if first == "" {
			first = strings.Join(names, "; ")
		}
		if got := strings.Join(names, "; "); got != first || r.Candidates[0].Hardware != "H200" {
			t.Errorf("on %d workers %s, on one %s: want the same, H200 first", workers, got, first)
		}
	}
}

// TestRandomTrafficCertifiesTheWinner: and no other candidate.
func TestRandomTrafficCertifiesTheWinner(t *testing.T) {
	cfg := quick()
	cfg.Rate = 60
	z := NewSizing(cfg, bounds(t, "p99_ttft=100ms")...)
	z.TP, z.MaxGPUs, z.Search.Length.Requests = []int{1, 2}, 16, 400
	r, err := z.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Candidates) != 2 || !r.Candidates[0].Certified || r.Winner.Exact || int(r.Winner.Holds.Value) != r.Candidates[0].Instances || r.Candidates[0].GPUs > r.Candidates[1].GPUs {
		t.Errorf("%+v", r.Candidates)
	}
}

// TestCandidatesThatCannotRunAreRefused: with the reason, and the others run. If all are, that
// is an error.
func TestCandidatesThatCannotRunAreRefused(t *testing.T) {
	z := sizing(t)
	z.Search.Base.Model, z.TP = "Llama-3.1-70B", []int{1, 4, 3, 16}
	z.Search.SLOs = bounds(t, "p99_ttft=900ms")
	r, err := z.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Candidates) != 1 || r.Candidates[0].TP != 4 || len(r.Refused) != 3 {
		t.Errorf("%+v, refused %v", r.Candidates, r.Refused)
	}
	z.TP = []int{1}
	if _, err := z.Find(t.Context()); err == nil || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("error %v", err)
	}
	z.MaxGPUs = 0
	var input *actors.InputError
	if _, err := z.Find(t.Context()); !errors.As(err, &input) {
		t.Errorf("error %v", err)
	}
}

// TestKnifeEdgeIsMarked: a margin within the stated error of the latency model.
func TestKnifeEdgeIsMarked(t *testing.T) {
	z := sizing(t)
	z.TP = []int{1}
	r, err := z.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	best := r.Candidates[0]
	if best.Edge[0] || !(best.Margins[0] > 0.1) {
		t.Fatalf("%+v", best)
	}
	z.Search.SLOs[0].Bound = best.Measured[0] * 1.02
	if r, err = z.Find(t.Context()); err != nil || !r.Candidates[0].Edge[0] || r.Candidates[0].Instances != best.Instances {
		t.Errorf("%+v, %v: want a knife edge", r.Candidates, err)
	}
}

// TestNoCandidateKeepsTheBound: that is a result, with how far off each is.
func TestNoCandidateKeepsTheBound(t *testing.T) {
	z := sizing(t)
	z.Search.SLOs = bounds(t, "p99_ttft=9ms")
	r, err := z.Find(t.Context())
	if err != nil || r.Winner != nil || r.Candidates[0].Instances != 0 || !(r.Candidates[0].Margins[0] < 0) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestWarmupOfARun: five times the mean E2E of a pilot run.
func TestWarmupOfARun(t *testing.T) {
	cfg := quick()
	cfg.NumRequests, cfg.Rate = 2000, 20
	w, err := Warmup(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := actors.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if ratio := float64(w) / r.Report.Overall.E2E.Mean; !(ratio > 4.5 && ratio < 5.5) {
		t.Errorf("%v, %.2f times the mean E2E of a run: want five", w, ratio)
	}
	cfg.NumRequests = 5
	if _, err := Warmup(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "want more requests") {
		t.Errorf("five requests: error %v", err)
	}
}

// TestSizeOfPrefillAndDecode: with architecture pd a candidate is a ratio too, and its instances are
// those whose run keeps the bounds; one less does not. Pools may have GPUs of their own.
func TestSizeOfPrefillAndDecode(t *testing.T) {
	z := sizing(t)
	z.Search.Base.Architecture, z.TP = setup.PD, []int{1, 2}
	if err := z.Search.Base.Decode.Set("tp", "2"); err != nil {
		t.Fatal(err)
	}
	z.Search.SLOs = bounds(t, "p99_ttft=130ms,p99_tpot=6ms")
	z.Ratios = []setup.PDRatio{{Prefill: 1, Decode: 2}, {Prefill: 2, Decode: 1}}
	r, err := z.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Candidates) != 3 { // of TP 2 both ratios are one of each
		t.Fatalf("%+v", r.Candidates)
	}
	found := 0
	for _, c := range r.Candidates {
		for _, n := range []int{c.Instances, c.Instances - 1} {
			if n < 2 {
				continue
			}
			found++
			cfg := z.Search.Base
			r.Latency.Apply(&cfg.Config)
			prefill, decode := c.Ratio.Share(n)
			cfg.TP, cfg.PrefillReplicas, cfg.DecodeReplicas = c.TP, prefill, decode
			result, err := actors.Run(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			kept := true
			for i := range z.Search.SLOs {
				kept = kept && z.Search.SLOs[i].Constraint.Of(result.Figures()).Pass
			}
			if kept != (n == c.Instances) {
				t.Errorf("%s: a run of %d + %d instances keeps the bounds: %v", c.Name(), prefill, decode, kept)
			}
			if gpus := c.TP*prefill + 2*decode; n == c.Instances && (c.GPUs != gpus || *c.CostPerHour != float64(2*gpus)) {
				t.Errorf("%s: %d GPUs cost %v, want %d", c.Name(), c.GPUs, *c.CostPerHour, gpus)
			}
		}
	}
	t.Logf("%d runs; the best is %s with %d", found, r.Candidates[0].Name(), r.Candidates[0].Instances)
	if found < 5 {
		t.Error("no number of instances fails: want other bounds")
	}
	z.Ratios, z.TP, z.MaxGPUs = nil, []int{1}, 9
	if r, err = z.Find(t.Context()); err != nil || len(r.Candidates) < 3 || len(r.Candidates) > len(usualRatios) {
		t.Errorf("%+v, error %v", r, err)
	}
	z.Search.Base.Architecture = setup.Monolith
	z.Ratios = []setup.PDRatio{{Prefill: 1, Decode: 2}}
	if _, err := z.Find(t.Context()); err == nil || !strings.Contains(err.Error(), "want --architecture pd") {
		t.Errorf("error %v", err)
	}
}
