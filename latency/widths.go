package latency

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Widths are vLLM's flags for the widths of numbers, where they differ from the
// description of the model. Empty and "auto" leave the description as it is.
type Widths struct {
	Dtype        string // of weights and activations that are not quantised
	Quantization string // method for the weights
	KVCacheDtype string // of the KV cache
}

// Methods of quantisation whose width follows from their name. The scales of
// the groups are the defaults of the method's tools.
var quantizations = []struct {
	names       []string
	weights     int64
	scales      float64 // bits per weight
	activations int64   // 0: as they were
	experts     bool    // of an MoE model the experts alone
}{
	{names: []string{"fp8", "fbgemm_fp8", "ptpc_fp8", "fp8_per_tensor", "fp8_per_block", "fp8_per_channel", "modelopt"}, weights: 8, activations: 8},
	{names: []string{"mxfp8", "modelopt_mxfp8"}, weights: 8, scales: 8.0 / 32, activations: 8},
	{names: []string{"int8_per_channel_weight_only"}, weights: 8},
	{names: []string{"awq", "awq_marlin", "auto_awq"}, weights: 4, scales: scaleBits(4, 128, true)},
	{names: []string{"gptq", "gptq_marlin", "auto_gptq"}, weights: 4, scales: scaleBits(4, 128, false)},
	{names: []string{"bitsandbytes"}, weights: 4, scales: 32.0 / 64},
	{names: []string{"mxfp4"}, weights: 4, scales: 8.0 / 32, experts: true},
	{names: []string{"modelopt_fp4", "nvfp4"}, weights: 4, scales: 8.0 / 16, activations: 4},
}

// ofCheckpoint are methods that keep what the checkpoint has.
var ofCheckpoint = []string{"compressed-tensors", "experts_int8", "gguf", "gpt_oss_mxfp4", "inc", "modelopt_mixed", "moe_wna16", "online", "quark", "torchao"}

// kvDtypes are the types of a KV cache and their bytes.
var kvDtypes = []struct {
	names []string
	bytes int64
}{
	{[]string{"bfloat16", "float16", "half"}, 2},
	{[]string{"fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc"}, 1},
}

// Served returns the model with the widths of a server with these flags: s itself if
// they change nothing. Quantisation of 16-bit weights gives the widths of the
// method. A model that is described as quantised does not change for any method,
// because vLLM serves only the method of the checkpoint. One error names every
// width that is not known.
func (s *ModelSpec) Served(w Widths) (ModelSpec, error) {
	var p problems
	served := *s
	switch dtype := word(w.Dtype); dtype {
	case "", "auto", "bfloat16", "float16", "half":
	case "float", "float32":
		p.add("dtype", "is %s: weights of 32 bits are not modelled, want auto, bfloat16 or float16", dtype)
	default:
		p.add("dtype", "is %q, want auto, bfloat16, float16 or half", w.Dtype)
	}
	quantize(&served, word(w.Quantization), &p)
	keepKV(&served, word(w.KVCacheDtype), &p)
	if err := p.err("model " + s.Name); err != nil {
		return *s, err
	}
	attention, mlp, experts := s.Counts().widths()
	servedAttention, servedMLP, servedExperts := served.Counts().widths()
	served.Reshaped = servedAttention != attention || servedMLP != mlp || servedExperts != experts || served.KVElementBytes != s.KVElementBytes
	return served, nil
}

// quantize gives s the widths of a method.
func quantize(s *ModelSpec, method string, p *problems) {
	if method == "" || method == "auto" || method == "none" {
		return
	}
	as := -1
	known := ofCheckpoint
	for i, q := range quantizations {
		known = append(known[:len(known):len(known)], q.names...)
		if slices.Contains(q.names, method) {
			as = i
		}
	}
	switch {
	case as < 0 && !slices.Contains(known, method):
		p.add("quantization", "is %q, want one of vLLM's methods: %s", method, strings.Join(known, ", "))
	case quantised(s): // the description has it
	case as < 0:
		p.add("quantization", "is %s: how wide its weights are is written in the checkpoint: give its config.json with --model-config-folder", method)
	default:
		q := quantizations[as]
		width := PartWidth{q.weights, q.scales, cmp.Or(q.activations, s.ActivationBits)}
		if q.experts && s.Experts > 0 {
			s.ExpertWidth = width
			return
		}
		s.WeightBits, s.ScaleBits, s.ActivationBits = width.WeightBits, width.ScaleBits, width.ActivationBits
	}
}

// quantised reports whether weights of a part have fewer bits than activations that
// are not quantised.
func quantised(s *ModelSpec) bool {
	attention, mlp, experts := s.Counts().widths()
	return min(attention.WeightBits, mlp.WeightBits, experts.WeightBits) < 8*s.ElementBytes
}

// keepKV gives the KV cache of s the width of a type.
func keepKV(s *ModelSpec, dtype string, p *problems) {
	if dtype == "" || dtype == "auto" {
		return
	}
	var known []string
	for _, t := range kvDtypes {
		if slices.Contains(t.names, dtype) {
			s.KVElementBytes = t.bytes
			return
		}
		known = append(known, t.names...)
	}
	if dtype == "fp8_ds_mla" {
		p.add("kv-cache-dtype", "is fp8_ds_mla: its layout of 656 bytes per token and layer is not modelled; fp8 has 576 of them")
		return
	}
	p.add("kv-cache-dtype", "is %q, want auto, %s", dtype, strings.Join(known, ", "))
}

// WidthsText returns the widths of the numbers of the model: "weights of 8 bits,
// activations of 8, KV cache of 16". Parts with other widths follow theirs: "weights
// of 16 bits (experts 4), …".
func (s *ModelSpec) WidthsText() string {
	_, mlp, experts := s.Counts().widths()
	other := func(all, mlp, experts int64) string {
		var list []string
		if mlp != all && s.MLPWidth != (PartWidth{}) {
			list = append(list, fmt.Sprintf("MLPs %d", mlp))
		}
		if experts != mlp && s.Experts > 0 {
			list = append(list, fmt.Sprintf("experts %d", experts))
		}
		if list == nil {
			return ""
		}
		return " (" + strings.Join(list, ", ") + ")"
	}
	return fmt.Sprintf("weights of %d bits%s, activations of %d%s, KV cache of %d",
		s.WeightBits, other(s.WeightBits, mlp.WeightBits, experts.WeightBits),
		s.ActivationBits, other(s.ActivationBits, mlp.ActivationBits, experts.ActivationBits), 8*s.KVElementBytes)
}

// otherWidths is WidthsText of the numbers of s that have not 16 bits, as the
// measured sets have.
func otherWidths(s *ModelSpec) string {
	_, mlp, experts := s.Counts().widths()
	type width struct {
		of   string
		bits int64
	}
	widths := []width{{"weights", s.WeightBits}, {"activations", s.ActivationBits}}
	if s.MLPWidth != (PartWidth{}) {
		widths = append(widths, width{"weights of MLPs", mlp.WeightBits}, width{"activations of MLPs", mlp.ActivationBits})
	}
	if s.ExpertWidth != (PartWidth{}) {
		widths = append(widths, width{"weights of experts", experts.WeightBits}, width{"activations of experts", experts.ActivationBits})
	}
	var list []string
	for _, w := range append(widths, width{"a KV cache", 8 * s.KVElementBytes}) {
		if w.bits != 16 {
			list = append(list, fmt.Sprintf("%s of %d bits", w.of, w.bits))
		}
	}
	return strings.Join(list, " and ")
}

// Precision returns the bits of weights and of activations in most of the model, as
// "w8a8" or "w4a16": of the experts of an MoE model, else of attention.
func (s *ModelSpec) Precision() string {
	width, _, experts := s.Counts().widths()
	if s.Experts > 0 {
		width = experts
	}
	return fmt.Sprintf("w%da%d", width.WeightBits, width.ActivationBits)
}

// word returns a name in the form in which names are compared.
func word(text string) string { return strings.ToLower(strings.TrimSpace(text)) }
