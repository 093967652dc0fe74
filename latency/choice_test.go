package latency

import (
	"strings"
	"testing"
)

func TestChooseByStatedError(t *testing.T) {
	limits := EngineLimits{MaxBatchedTokens: 8192, MaxSeqs: 1024, BlockSize: 16, GPUBlocks: 20_000, ChunkedPrefill: true}
	unchunked := limits
	unchunked.ChunkedPrefill = false
	for name, c := range map[string]struct {
		model, gpu string
		tp         int
		limits     EngineLimits
		best, next string
	}{
		"a measured model":           {"Llama-2-7b-hf", "H100", 1, limits, "physics h100-llama-2-7b", "physics h100"},
		"its chat variant":           {"Llama-2-7b-chat-hf", "H100", 1, limits, "physics h100-llama-2-7b", "physics h100"},
		"another model of the kind":  {"Llama-3.1-8B-Instruct", "H100", 1, limits, "physics h100", "roofline"},
		"a measured model, other TP": {"Llama-2-70b-hf", "H100", 2, limits, "physics h100", "roofline"},
		"another GPU":                {"Llama-2-7b-hf", "A100", 1, limits, "roofline", ""},
		"more GPUs than measured":    {"Llama-3.1-70B-Instruct", "H100", 8, limits, "roofline", ""},
		"an MoE model":               {"Qwen3-30B-A3B-Instruct-2507", "H100", 2, limits, "physics h100", "roofline"},
		"whole prompts":              {"Llama-2-7b-hf", "H100", 1, unchunked, "roofline", ""},
		"a small GPU":                {"Llama-3.1-8B-Instruct", "RTX4090", 1, limits, "physics rtx4090-llama-3.1-8b", "roofline"},
	} {
		best, next := Choose(deployment(t, c.model, c.gpu, c.tp), c.limits)
		got := ""
		if next != nil {
			got = next.Name()
		}
		if best.Name() != c.best || got != c.next {
			t.Errorf("%s: %s, then %q; want %s, then %q", name, best.Name(), got, c.best, c.next)
		}
		if next != nil && next.Stated.E2E < best.Stated.E2E {
			t.Errorf("%s: %s is stated to be better than %s", name, next.Name(), best.Name())
		}
	}
}

func TestStatedErrorsSayWhatTheyAreOf(t *testing.T) {
	set, err := FindPhysicsSet("H100")
	if err != nil {
		t.Fatal(err)
	}
	d := deployment(t, "Llama-3.1-8B", "H100", 1)
	limits := EngineLimits{MaxBatchedTokens: 8192, MaxSeqs: 1024, BlockSize: 16, GPUBlocks: 20_000, ChunkedPrefill: true}
	if s := set.StatedError(set.Coverage(d, limits, true)); s == nil || s.HeldOut != HeldOutModel || s.Runs != 9 {
		t.Errorf("a model that was not measured: %+v", s)
	}
	// What is another schedule changes no step.
	if s := set.StatedError(set.Coverage(d, limits, false)); s == nil || s.HeldOut != HeldOutModel {
		t.Errorf("without async scheduling: %+v", s)
	}
	one, err := FindPhysicsSet("h100-llama-2-7b")
	if err != nil {
		t.Fatal(err)
	}
	if s := one.StatedError(one.Coverage(d, limits, true)); s != nil {
		t.Errorf("a set of one model says of another: %+v", s)
	}
	if s := one.StatedError(nil); s == nil || s.HeldOut != HeldOutWorkload || !(s.E2E > 0 && s.E2E < 4) {
		t.Errorf("its own model: %+v", s)
	}
	if _, err := FindPhysicsSet("h100-llama-2-7"); err == nil || !strings.Contains(err.Error(), "nearest: h100-llama-2-7b") {
		t.Error(err)
	}
}

// A set that states errors of steps alone, or of some metrics, states nothing of
// a run: what is not said is not 0 %.
func TestErrorsThatAreNotStatedAreNot0(t *testing.T) {
	set := *PhysicsSets()[0]
	label := set.Errors[0].HeldOut
	set.Errors = []HeldOutError{{HeldOut: label, Metric: "step", Statistic: "mean", MedianAPEPercent: 25, Runs: 3}, {HeldOut: label, Metric: "ttft", Statistic: "mean", MedianAPEPercent: 12.5, Runs: 3}}
	if s := set.StatedError(nil); s != nil {
		t.Errorf("%+v", s)
	}
}

// Shipped sets are in order, have names of their own, and cannot give steps that
// take no time.
func TestShippedSets(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range PhysicsSets() {
		if seen[s.Name] || s.Validate() != nil || s.StatedError(nil) == nil {
			t.Errorf("%s: repeated, impossible or without an error", s.Name)
		}
		seen[s.Name] = true
		for i, v := range s.Beta {
			if v < 0 {
				t.Errorf("%s: %s is %v", s.Name, BetaNames[i], v)
			}
		}
		if s.Beta[2] < 1 || s.Beta[4] < 1 {
			t.Errorf("%s reads memory faster than its bandwidth", s.Name)
		}
	}
	if len(seen) != 7 {
		t.Errorf("%d sets, want 7", len(seen))
	}
}
