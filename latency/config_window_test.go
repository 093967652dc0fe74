package latency

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Types say in several ways which of their 12 layers have a window.
func TestWindowsOfConfigs(t *testing.T) {
	alternating := `"layer_types": [` + strings.TrimSuffix(strings.Repeat(`"sliding_attention", "full_attention", `, 6), ", ") + `]`
	for _, c := range []struct {
		name, change   string
		layers, window int64
	}{
		{"none", `{}`, 0, 0},
		{"all layers (Mistral 7B)", `{"model_type": "mistral", "sliding_window": 4096}`, 12, 4096},
		{"no window (Mixtral)", `{"model_type": "mixtral", "sliding_window": null}`, 0, 0},
		{"switched off", `{"sliding_window": 4096, "use_sliding_window": false}`, 0, 0},
		{"off if not on (Qwen3)", `{"model_type": "qwen3", "sliding_window": 4096}`, 0, 0},
		{"the last layers (Qwen2)", `{"model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": true, "max_window_layers": 10}`, 2, 4096},
		{"as long as the context", `{"sliding_window": 8192}`, 0, 0},
		{"listed (gpt-oss)", `{"model_type": "gpt_oss", "sliding_window": 128, ` + alternating + `}`, 6, 128},
		{"not listed (gpt-oss)", `{"model_type": "gpt_oss", "sliding_window": 128}`, 6, 128},
		{"fewer entries than layers", `{"sliding_window": 128, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}`, 2, 128},
		{"more entries than layers", `{"sliding_window": 128, "layer_types": [` + strings.Repeat(`"full_attention", `, 12) + `"sliding_attention"]}`, 0, 0},
		{"every sixth without (Gemma 3)", `{"model_type": "gemma3_text", "sliding_window": 1024}`, 10, 1024},
		{"every fourth without, by its field", `{"model_type": "cohere2", "sliding_window": 512, "sliding_window_pattern": 3}`, 8, 512},
		{"every second (Gemma 2)", `{"model_type": "gemma2", "sliding_window": 4096}`, 6, 4096},
		{"chunks (Llama 4)", `{"model_type": "llama4_text", "attention_chunk_size": 512}`, 9, 512},
		{"chunks, marked", `{"model_type": "llama4_text", "attention_chunk_size": 512, "no_rope_layers": [1,1,1,1,1,0,1,1,1,1,1,0]}`, 10, 512},
		{"chunks, listed", `{"attention_chunk_size": 512, "layer_types": ["chunked_attention", "full_attention"]}`, 1, 512},
		{"a window of no size", `{"sliding_window": 0}`, 0, 0},
		{"beyond all counts", `{"sliding_window": 99999999999, "max_position_embeddings": null}`, 0, 0},
	} {
		s, err := ParseModel([]byte(overlay(t, denseConfig, c.change)), "m.json")
		if err != nil || s.WindowLayers != c.layers || s.Window != c.window {
			t.Errorf("%s: %d layers with a window of %d, %v; want %d, %d", c.name, s.WindowLayers, s.Window, err, c.layers, c.window)
		}
	}
}

// A model inside a multimodal one, as Kimi K2.5 and Llama 4 are written.
func TestWidthsOfNestedConfigs(t *testing.T) {
	text := `"text_config": {"model_type": "deepseek_v3", "hidden_size": 512, "num_hidden_layers": 3, "num_attention_heads": 8, "intermediate_size": 1024, "vocab_size": 1000,
		"kv_lora_rank": 64, "q_lora_rank": 96, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 24, "n_routed_experts": 16, "n_shared_experts": 1, "num_experts_per_tok": 2,
		"moe_intermediate_size": 256, "first_k_dense_replace": 1%s}`
	int4 := `, "quantization_config": {"quant_method": "compressed-tensors", "format": "pack-quantized", "kv_cache_scheme": null,
		"ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"],
		"config_groups": {"group_0": {"targets": ["Linear"], "input_activations": null, "weights": {"num_bits": 4, "group_size": 32, "strategy": "group", "symmetric": true, "type": "int"}}}}`
	fp4 := `"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4", "kv_cache_scheme": {"num_bits": 8, "type": "float"},
		"ignore": ["language_model.lm_head", "language_model.model.layers.0.self_attn*", "language_model.model.layers.1.self_attn*", "language_model.model.layers.2.self_attn*", "vision_tower*", "mm_projector*"],
		"config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 16}, "input_activations": {"num_bits": 4, "group_size": 16}}}}, `
	for _, c := range []struct {
		name, config string
		mlp, experts PartWidth
		kv           int64
	}{
		{"INT4 experts", `{"model_type": "kimi_k25", ` + fmt.Sprintf(text, int4) + `}`, PartWidth{}, PartWidth{4, 16.0 / 32, 16}, 2},
		{"NVFP4 of all but attention", `{"model_type": "kimi_k25", ` + fp4 + fmt.Sprintf(text, "") + `}`, PartWidth{4, 0.5, 4}, PartWidth{}, 1},
	} {
		s, err := ParseModel([]byte(c.config), "m.json")
		if err != nil || s.NotModelled != nil {
			t.Errorf("%s: %v, not modelled %q", c.name, err, s.NotModelled)
		}
		if s.WeightBits != 16 || s.ScaleBits != 0 || s.ActivationBits != 16 || s.MLPWidth != c.mlp || s.ExpertWidth != c.experts || s.KVElementBytes != c.kv {
			t.Errorf("%s: %s; MLPs %v, experts %v", c.name, s.WidthsText(), s.MLPWidth, s.ExpertWidth)
		}
	}
}

// Which parts a list leaves alone. A part counts if it is left alone in all layers.
func TestPartsThatQuantisationLeavesAlone(t *testing.T) {
	each := func(format string) string { // a name for each of 12 layers
		var names []string
		for layer := range 12 {
			names = append(names, fmt.Sprintf(`"`+format+`"`, layer))
		}
		return strings.Join(names, ", ")
	}
	fp8 := PartWidth{8, 0, 8}
	for _, c := range []struct {
		name, base, ignore string
		whole              int64 // bits of attention
		mlp, experts       PartWidth
		noted              bool
	}{
		{"nothing", moeConfig, `"lm_head"`, 8, PartWidth{}, PartWidth{}, false},
		{"attention, by layer", moeConfig, each("model.layers.%d.self_attn"), 16, PartWidth{}, fp8, false},
		{"attention, by layer and projection", moeConfig, each("model.layers.%d.self_attn.q_proj") + ", " + each("model.layers.%d.self_attn.k_proj") + ", " + each("model.layers.%d.self_attn.o_proj"), 16, PartWidth{}, fp8, false},
		{"some projections (DeepSeek-V3.1 in NVFP4)", moeConfig, each("model.layers.%d.self_attn.q_proj"), 8, PartWidth{}, PartWidth{}, true},
		{"the last projection alone", moeConfig, each("model.layers.%d.self_attn.o_proj"), 8, PartWidth{}, PartWidth{}, true},
		{"attention of most layers", moeConfig, `"model.layers.1.self_attn", "model.layers.2.self_attn"`, 8, PartWidth{}, PartWidth{}, true},
		{"attention, by pattern", moeConfig, `"re:.*self_attn.*"`, 16, PartWidth{}, fp8, false},
		{"attention of any number", moeConfig, `"re:model\\.layers\\.\\d+\\.self_attn$"`, 16, PartWidth{}, fp8, false},
		{"attention of a choice of layers", moeConfig, `"re:model.layers.(0|1).self_attn"`, 8, PartWidth{}, PartWidth{}, true},
		{"attention of an encoder", moeConfig, `"vision_tower.layers.0.self_attn", "re:.*vision.*self_attn.*"`, 8, PartWidth{}, PartWidth{}, false},
		{"attention of a dense model", denseConfig, `"re:.*self_attn.*"`, 16, fp8, PartWidth{}, false},
		{"attention, shared experts are quantised", overlay(t, moeConfig, `{"n_shared_experts": 1}`), `"model.layers.*.self_attn"`, 16, fp8, PartWidth{}, false},
		{"attention and shared experts", overlay(t, moeConfig, `{"n_shared_experts": 1}`), `"model.layers.*.self_attn", ` + each("model.layers.%d.mlp.shared_experts*"), 16, PartWidth{}, fp8, false},
		{"shared experts alone", overlay(t, moeConfig, `{"n_shared_experts": 1}`), each("model.layers.%d.mlp.shared_experts.down_proj"), 8, PartWidth{}, PartWidth{}, true},
		{"gates of shared experts", overlay(t, moeConfig, `{"n_shared_experts": 1}`), `"model.layers.*.self_attn", "model.layers.*.mlp.shared_expert_gate"`, 16, fp8, PartWidth{}, false},
	} {
		s, err := ParseModel([]byte(overlay(t, c.base, `{"quantization_config": {"quant_method": "fp8", "ignored_layers": [`+c.ignore+`]}}`)), "m.json")
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if s.WeightBits != c.whole || s.ActivationBits != c.whole || s.MLPWidth != c.mlp || s.ExpertWidth != c.experts {
			t.Errorf("%s: %s; MLPs %v, experts %v", c.name, s.WidthsText(), s.MLPWidth, s.ExpertWidth)
		}
		if want := c.noted; slices.Contains(s.NotModelled, "layers that quantisation leaves alone (ignored_layers): counted as quantised") != want {
			t.Errorf("%s: not modelled: %q", c.name, s.NotModelled)
		}
	}
}

// In vLLM MXFP4 is for experts, whatever the list of others.
func TestMXFP4OfConfigsIsForExperts(t *testing.T) {
	for _, ignored := range []string{`["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]`, `[]`, `null`} {
		s, err := ParseModel([]byte(overlay(t, moeConfig, `{"quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": `+ignored+`}}`)), "m.json")
		if err != nil || s.WeightBits != 16 || s.MLPWidth != (PartWidth{}) || s.ExpertWidth != (PartWidth{4, 0.25, 16}) || s.NotModelled != nil {
			t.Errorf("%s: %s, %v, %q", ignored, s.WidthsText(), err, s.NotModelled)
		}
	}
}
