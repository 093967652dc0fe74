package calibrate

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"blis/actors"
	"blis/calibrate/measured"
	"blis/metrics"
)

// drawLoop is a random closed loop on one of the rigs, on engines that form batches
// ahead or not, with a cache that may be too small for all users.
func drawLoop(t *rapid.T) *ClosedLoopSample {
	d := rigs[rapid.IntRange(0, len(rigs)-1).Draw(t, "rig")]
	p := &measured.ClosedLoop{
		Line: 2, Model: d.model, GPU: "H100", EngineVersion: rapid.SampledFrom([]string{"0.11.0", "0.15.1", "0.19.0"}).Draw(t, "version"),
		Input: rapid.Int32Range(1, 3000).Draw(t, "input"), Output: rapid.Int32Range(2, 200).Draw(t, "output"),
		Concurrency: rapid.Int32Range(1, 40).Draw(t, "users"), TP: d.tp, PP: 1, AttentionDP: 1, TTFT: 1e5, TPOT: 1e4,
	}
	s, err := NewClosedLoopSample(p, Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "small cache") { // preemptions
		tokens := int64(p.Input+p.Output) * (1 + int64(p.Concurrency)/3)
		s.Server.Config.TotalKVBlocks = 1 + tokens/int64(s.Server.Config.BlockSizeInTokens)
	}
	s.Server.Config.MaxNumSeqs = max(1, p.Concurrency-rapid.SampledFrom([]int32{0, 0, 5}).Draw(t, "seats too few"))
	s.Server.Config.MaxNumBatchedTokens = max(p.Concurrency, rapid.SampledFrom([]int32{256, 2048, 8192}).Draw(t, "budget"))
	return s
}

// A closed loop without a cluster around the engine is, request by request, a run of
// a cluster of one instance with so many users who do not think. rapid prints the
// seed of a failure.
func TestClosedLoopIsARunWithUsers(t *testing.T) {
	preempted := 0
	rapid.Check(t, func(t *rapid.T) {
		preempted += comparesWithRun(t, drawLoop(t), drawCoefficients(t))
	})
	if thorough() && !t.Failed() && preempted == 0 {
		t.Error("no request was preempted")
	}
}

// The same for loops that are always the same.
func TestSomeClosedLoopsAreRunsWithUsers(t *testing.T) {
	for seed := range 5 {
		comparesWithRun(t, rapid.Custom(drawLoop).Example(seed), rapid.Custom(drawCoefficients).Example(seed))
	}
}

// comparesWithRun compares the replay of s with a run of a cluster, and returns the number of
// requests that were preempted there.
func comparesWithRun(t fatal, s *ClosedLoopSample, coefficients *Coefficients) (preempted int) {
	t.Helper()
	m, err := s.Model(coefficients)
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.replay(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.Server.Config
	cfg.Custom.Latency, cfg.Concurrency, cfg.NumRequests = m, s.Users, l.sent
	cfg.PromptTokens, cfg.PromptTokensStdev, cfg.PromptTokensMax = float64(s.Point.Input), 0, 1<<20
	cfg.OutputTokens, cfg.OutputTokensStdev, cfg.OutputTokensMax = float64(s.Point.Output), 0, 1<<20
	cfg.PromptTokensMin, cfg.OutputTokensMin = 1, 1
	type times struct{ ttft, e2e float64 }
	got, want := make([]times, len(l.list)), make([]times, len(l.list))
	cfg.Row = func(r *actors.Row) {
		if r.Preemptions > 0 {
			preempted++
		}
		if r.ID >= int64(len(want)) {
			return
		}
		ttft, ok := r.TTFT()
		e2e, okay := r.E2E()
		if !ok || !okay || r.State != metrics.Completed {
			t.Errorf("request %d: %+v", r.ID, r)
		}
		want[r.ID] = times{float64(ttft), float64(e2e)}
	}
	if _, err := actors.Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	for i, p := range l.list {
		if got[i] = (times{p.TTFT, p.E2E}); i < l.first && !p.Completed {
			want[i] = times{} // of the warm-up, and overtaken
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d users: replay %v\ncluster %v", s.Users, got, want)
	}
	if p, err := s.Predict(m); err != nil || p != l.mean() || p.Requests != 3*int(s.Users) {
		t.Errorf("%+v, %v; want %+v", p, err, l.mean())
	}
	return preempted
}

// What the fit to closed loops rests on: TPOT is the sum over features, but for less
// than a microsecond of each step.
func TestClosedLoopIsALinearEquation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, c := drawLoop(t), drawCoefficients(t)
		m, err := s.Model(c)
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.Record(c)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Predict(m)
		if err != nil || p.TPOT/1e6 != o.Predicted || o.Measured != s.Point.TPOT/1e6 {
			t.Errorf("recorded %+v, predicted %+v, %v", o, p, err)
		}
		// A token may wait for several steps: those in which others are prefilled.
		if lost := dot(o.Features[:], c.Beta[:]) - o.Predicted; lost < -1e-9 || lost > 1e-6*float64(2+s.Point.Input/16) {
			t.Errorf("TPOT %v s, by the sum over features %v more", o.Predicted, lost)
		}
	})
}

// loopPoint is a closed loop on a server that fits.
func loopPoint() measured.ClosedLoop {
	return measured.ClosedLoop{
		Line: 7, Model: "meta-llama/Llama-3.1-70B", GPU: "H100", Input: 1000, Output: 100, Concurrency: 9, TP: 4, PP: 1, AttentionDP: 1, TTFT: 1e5, TPOT: 1e4,
	}
}

func TestServersOfClosedLoops(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*measured.ClosedLoop)
		users  int32
		bits   int64 // of weights
		want   string
	}{
		{"as described", func(*measured.ClosedLoop) {}, 9, 16, ""},
		{"bf16", func(p *measured.ClosedLoop) { p.Precision = "bf16" }, 9, 16, ""},
		{"fp8", func(p *measured.ClosedLoop) { p.Precision, p.TP = "fp8", 2 }, 9, 8, ""},
		{"NVFP4 by the method", func(p *measured.ClosedLoop) { p.Precision, p.GEMMQuant, p.MoEQuant = "fp4", "nvfp4", "nvfp4" }, 9, 4, ""},
		{"INT4", func(p *measured.ClosedLoop) { p.GEMMQuant = "int4_wo" }, 9, 4, ""},
		{"two schedulers", func(p *measured.ClosedLoop) { p.AttentionDP = 2 }, 5, 16, ""},
		{"many users", func(p *measured.ClosedLoop) { p.Concurrency = 2000 }, 2000, 16, ""},
		{"unknown model", func(p *measured.ClosedLoop) { p.Model = "a/b" }, 0, 0, `unknown model "a/b"`},
		{"unknown GPU", func(p *measured.ClosedLoop) { p.GPU = "X9" }, 0, 0, `unknown GPU "X9"`},
		{"unknown weights", func(p *measured.ClosedLoop) { p.GEMMQuant = "int3" }, 0, 0, `quantization is "int3"`},
		{"pipeline", func(p *measured.ClosedLoop) { p.PP = 2 }, 0, 0, "2 pipeline stages are not simulated"},
		{"too large", func(p *measured.ClosedLoop) { p.TP = 1 }, 0, 0, "meta-llama/Llama-3.1-70B on H100 at TP 1 does not fit into memory"},
		{"heads", func(p *measured.ClosedLoop) { p.TP = 3 }, 0, 0, "tp is 3, want a divisor of the 64 attention heads"},
		{"long requests", func(p *measured.ClosedLoop) { p.Input = 1 << 29 }, 0, 0, "requests are longer than the KV cache of"},
		{"experts of two kinds", func(p *measured.ClosedLoop) {
			p.Model, p.GEMMQuant, p.MoEQuant = "mistralai/Mixtral-8x7B-v0.1", "fp8", "nvfp4"
		}, 0, 0, `gemm_quant "fp8" and moe_quant "nvfp4"`},
	} {
		p := loopPoint()
		c.change(&p)
		s, err := NewClosedLoopSample(&p, Overrides{})
		if err != nil || c.want != "" {
			if err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.name, err, c.want)
			}
			continue
		}
		cfg := &s.Server.Config
		if s.Users != c.users || s.Server.Deployment.Model.WeightBits != c.bits || int64(cfg.MaxNumSeqs) < int64(c.users) || cfg.MaxNumSeqs < 1024 ||
			s.Server.Limits.GPUBlocks != cfg.TotalKVBlocks || cfg.EnablePrefixCaching || !*cfg.AsyncScheduling || !cfg.SchedulerReserveFullISL {
			t.Errorf("%s: %d users, weights of %d bits, %+v", c.name, s.Users, s.Server.Deployment.Model.WeightBits, cfg.Args)
		}
	}
}

func TestCrowdedLoops(t *testing.T) {
	for users, crowded := range map[int32]bool{1: false, 100: false, 2000: true} {
		p := loopPoint()
		p.Concurrency = users
		s, err := NewClosedLoopSample(&p, Overrides{})
		if err != nil || s.Crowded() != crowded {
			t.Errorf("%d users of %d tokens in %d blocks: crowded %v, %v", users, p.Input+p.Output, s.Server.Config.TotalKVBlocks, s.Crowded(), err)
		}
	}
}

// With attention data parallelism a scheduler's GPUs hold a share of the experts, so
// more of their memory is KV cache.
func TestSchedulersShareExperts(t *testing.T) {
	blocks := func(schedulers int) int64 {
		p := loopPoint()
		p.Model, p.TP, p.AttentionDP = "mistralai/Mixtral-8x7B-v0.1", 2, schedulers
		s, err := NewClosedLoopSample(&p, Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		return s.Server.Config.TotalKVBlocks
	}
	// Each has one GPU: all weights of attention, but half of the experts.
	if one, two := blocks(1), blocks(2); 2*two < one*9/10 || 2*two >= one {
		t.Errorf("%d KV blocks with one scheduler of two GPUs, %d with each of two", one, two)
	}
}

// More users make steps longer, and a steady state does not depend on how many
// rounds are simulated beyond the warm-up.
func TestTPOTOfClosedLoopsGrowsWithUsers(t *testing.T) {
	last := 0.0
	for _, users := range []int32{1, 4, 16, 64} {
		p := loopPoint()
		p.Concurrency = users
		s, err := NewClosedLoopSample(&p, Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Model(truth())
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Predict(m)
		if err != nil || got.TPOT <= last || got.TTFT <= 0 || math.IsInf(got.TPOT, 0) {
			t.Errorf("%d users: %+v, %v", users, got, err)
		}
		last = got.TPOT
	}
}
