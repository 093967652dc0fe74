package actors

import (
	"context"
	"strings"
	"testing"
)

// notesOf are the notes of a configuration that hold a text.
func notesOf(t *testing.T, c Config, text string) (list []string, setup Setup) {
	t.Helper()
	_, setup, err := Check(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range setup.Notes {
		if strings.Contains(n, text) {
			list = append(list, n)
		}
	}
	return list, setup
}

// A loop over TP changes the latency model between 4 and 8, and the run at 8 says
// so.
func TestAutoIsOneRulerOrSaysSo(t *testing.T) {
	at := func(tp int) Config {
		c := DefaultConfig()
		c.Model, c.TP = "Llama-2-70b-hf", tp
		return c
	}
	for _, x := range []struct {
		name       string
		config     Config
		model, set string
		note       string // "": none
	}{
		{"TP 4", at(4), "physics", "h100", ""},
		{"TP 8", at(8), "roofline", "", "auto takes roofline: physics h100 covers all of this run but TP 8 (measured: 1 to 4). Do not compare it with runs that get physics h100: give all of them --latency-model roofline"},
		{"TP 8, one model for all", func() Config { c := at(8); c.LatencyModel = "roofline"; return c }(), "roofline", "", ""},
		{"a set of one TP", func() Config { c := at(2); c.Model = "Llama-2-7b-hf"; return c }(), "physics", "h100", "auto takes physics h100: physics h100-llama-2-7b covers all of this run but TP 2 (measured: 1). Do not compare it with runs that get physics h100-llama-2-7b: give all of them --coefficients h100"},
		{"by default", DefaultConfig(), "physics", "h100", ""},
		{"blackbox", func() Config { c := DefaultConfig(); c.LatencyModel = "blackbox"; return c }(), "blackbox", "meta-llama/llama-3.1-8b-instruct on H100, TP 1", ""},
		{"vectors", func() Config {
			c := DefaultConfig()
			c.AlphaCoeffs, c.BetaCoeffs = []float64{1, 2, 3}, []float64{4, 5, 6}
			return c
		}(), "blackbox", "given", ""},
	} {
		notes, setup := notesOf(t, x.config, "auto takes")
		if setup.LatencyModel != x.model || setup.CoefficientSet != x.set {
			t.Errorf("%s: %s %q, want %s %q", x.name, setup.LatencyModel, setup.CoefficientSet, x.model, x.set)
		}
		if got := strings.Join(notes, "\n"); got != x.note {
			t.Errorf("%s: note %q\nwant %q", x.name, got, x.note)
		}
	}
}

// An FP8 cache holds twice the tokens, FP8 weights leave room for more, and what
// vLLM calls auto changes nothing. Steps of other widths than those of h100 take the
// set that was fitted to them too.
func TestWidthsOfARun(t *testing.T) {
	base := DefaultConfig()
	_, usual := notesOf(t, base, "")
	same := base
	same.Dtype, same.KVCacheDtype = "bfloat16", "auto"
	if notes, setup := notesOf(t, same, "bits"); setup.KVBlocks != usual.KVBlocks || setup.Latency != usual.Latency || notes != nil {
		t.Errorf("auto: %d blocks, %s, notes %q", setup.KVBlocks, setup.Latency, notes)
	}
	cache := base
	cache.KVCacheDtype = "fp8"
	notes, setup := notesOf(t, cache, "bits")
	if setup.KVBlocks < 2*usual.KVBlocks || setup.KVBlocks > 2*usual.KVBlocks+1 || setup.CoefficientSet != "hgx" {
		t.Errorf("FP8 cache: %d blocks, usual %d, %s", setup.KVBlocks, usual.KVBlocks, setup.Latency)
	}
	if len(notes) != 2 || notes[0] != "kv-cache-dtype fp8: weights of 16 bits, activations of 16, KV cache of 8 bits" {
		t.Errorf("FP8 cache: notes %q", notes)
	}
	cache.Model = "Llama-2-7b-hf"
	if notes, _ := notesOf(t, cache, "auto takes"); len(notes) != 1 || !strings.HasPrefix(notes[0], "auto takes physics hgx: physics h100-llama-2-7b, h100 cover all of this run but a KV cache of 8 bits. Do not compare") {
		t.Errorf("FP8 cache of a measured model: notes %q", notes)
	}
	weights := base
	weights.Quantization = "fp8"
	if _, setup := notesOf(t, weights, ""); setup.KVBlocks*16*131072 < usual.KVBlocks*16*131072+6_900_000_000 || setup.CoefficientSet != "hgx" {
		t.Errorf("FP8 weights: %d blocks, usual %d, %s", setup.KVBlocks, usual.KVBlocks, setup.Latency)
	}
	old := weights
	old.Hardware = "A100"
	if notes, _ := notesOf(t, old, "16-bit peak"); len(notes) != 1 {
		t.Errorf("A100 has FP8 units: %q", notes)
	}
	box := weights
	box.LatencyModel = "blackbox"
	if notes, _ := notesOf(t, box, "not the time of a step"); len(notes) != 1 {
		t.Error("blackbox knows FP8")
	}
	bad := base
	bad.Dtype, bad.Quantization = "float32", "fp9"
	refusal(t, bad, "dtype is float32", "quantization is \"fp9\"")
}

// Half the bytes to read take half the time to read: one decode of a model, whose layers
// cost what they cost.
func TestQuantizedWeightsAreReadFaster(t *testing.T) {
	mean := func(quantization string) float64 {
		c := DefaultConfig()
		c.LatencyModel, c.Quantization, c.NumInstances, c.NumRequests, c.Rate = "roofline", quantization, 1, 1, 1
		result, err := Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		return result.Report.Overall.TPOT.Mean
	}
	wide, narrow := mean(""), mean("fp8")
	// 13.9 GB of linear layers and 1.05 GB of head over 0.92 · 3.35 TB/s, and 32 layers of 50 µs.
	if wide < 6450 || wide > 6600 || narrow < 4200 || narrow > 4350 {
		t.Errorf("a token takes %.0f µs at 16 bits and %.0f at 8", wide, narrow)
	}
}
