package latency

import (
	"slices"
	"strings"
	"testing"
)

func TestCoverageNamesWhatWasNotMeasured(t *testing.T) {
	set := parsedSet(t)
	type run struct {
		model, gpu string
		tp         int
		tokens     int64
		async      bool
		chunked    bool
	}
	for name, c := range map[string]struct {
		run  run
		want []string
	}{
		"covered":               {run{"llama-2-7b", "H100-SXM", 2, 8192, true, true}, nil},
		"chat model of a base":  {run{"Llama-3.1-8B-Instruct", "H100", 1, 2048, true, true}, nil},
		"another model":         {run{"llama-2-70b", "H100", 4, 4096, true, true}, []string{"model family not measured: meta-llama/Llama-2-70b-hf is not among meta-llama/Llama-2-7b-hf, meta-llama/Llama-3.1-8B"}},
		"another kind of model": {run{"mixtral-8x7b", "H100", 4, 4096, true, true}, []string{"moe models not measured, only dense"}},
		"another GPU":           {run{"llama-2-7b", "A100", 4, 4096, true, true}, []string{"GPU A100-80 is not among H100"}},
		"TP":                    {run{"llama-2-7b", "H100", 8, 4096, true, true}, []string{"TP 8 is outside 1 to 4"}},
		"small steps":           {run{"llama-2-7b", "H100", 4, 2047, true, true}, []string{"max-num-batched-tokens 2047 is outside 2048 to 8192"}},
		"large steps":           {run{"llama-2-7b", "H100", 4, 8193, true, true}, []string{"max-num-batched-tokens 8193 is outside 2048 to 8192"}},
		"scheduling":            {run{"llama-2-7b", "H100", 4, 8192, false, false}, []string{"async scheduling is off, measured on", "chunked prefill is off, measured on"}},
		"nothing fits": {run{"mixtral-8x7b", "L40S", 8, 16, false, false}, []string{
			"moe models not measured, only dense", "GPU L40S is not among H100", "TP 8 is outside 1 to 4", "max-num-batched-tokens 16 is outside 2048 to 8192",
			"async scheduling is off, measured on", "chunked prefill is off, measured on",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			limits := typicalLimits
			limits.MaxBatchedTokens, limits.ChunkedPrefill = c.run.tokens, c.run.chunked
			got := set.Coverage(deployment(t, c.run.model, c.run.gpu, c.run.tp), limits, c.run.async)
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// A model from a config.json is known by its sizes, whatever its name, and a
// set that does not say how large steps were does not judge them.
func TestCoverageKnowsModelsBySizeAndJudgesNoUnknownRange(t *testing.T) {
	set := parsedSet(t)
	set.TrainedOn.BatchedTokensMin, set.TrainedOn.BatchedTokensMax = 0, 0
	s := *mustModel(t, "llama-3.1-8b")
	s.Name, s.Aliases = "models/mine/config.json", nil
	d := &Deployment{Model: &s, GPU: mustGPU(t, "H100"), TP: 1}
	limits := typicalLimits
	limits.MaxBatchedTokens = 1 << 20
	if got := set.Coverage(d, limits, true); got != nil {
		t.Errorf("%q", got)
	}
	s.WeightBits = 8
	if got := set.Coverage(d, limits, true); len(got) != 2 || !strings.HasPrefix(got[0], ModelNotMeasured) || got[1] != "only 16-bit weights, activations and KV caches were measured, not weights of 8 bits" {
		t.Errorf("quantised: %q", got)
	}
	if set.StatedError(d, set.Coverage(d, limits, true)) != nil {
		t.Error("an error is stated for quantised weights")
	}
	s.WeightBits = 16
	// A user's file may call anything an H100.
	slow := *mustGPU(t, "H100")
	slow.Bandwidth /= 4
	if got := set.Coverage(&Deployment{Model: &s, GPU: &slow, TP: 1}, limits, true); len(got) != 1 || got[0] != "GPU H100 is described otherwise than the one that was measured" {
		t.Errorf("another H100: %q", got)
	}
	latent := *mustModel(t, "DeepSeek-V2-Lite")
	if got := set.Coverage(&Deployment{Model: &latent, GPU: mustGPU(t, "H100"), TP: 1}, limits, true); !slices.Contains(got, "multi-head latent attention not measured") {
		t.Errorf("latent attention: %q", got)
	}
	if got := set.Coverage(&Deployment{Model: mustModel(t, "gpt-oss-20b"), GPU: mustGPU(t, "H100"), TP: 1}, limits, true); !slices.Contains(got, "sliding window not measured") ||
		!slices.Contains(got, "only 16-bit weights, activations and KV caches were measured, not weights of experts of 4 bits") {
		t.Errorf("a window, and experts of 4 bits: %q", got)
	}
	// Names that BLIS does not know count too.
	s.Name = "lab/Secret-8B"
	set.TrainedOn.Models = []string{"lab/secret-8b"}
	if got := set.Coverage(d, limits, true); got != nil {
		t.Errorf("by name: %q", got)
	}
}
