package latency

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// A built-in entry and the config.json it was taken from say the same.
func TestConfigEqualsBuiltin(t *testing.T) {
	for _, b := range AllModels() {
		text, err := json.Marshal(configOf(&b))
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseModel(text, b.Name)
		if err != nil {
			t.Fatal(err)
		}
		s.Aliases, s.Source = b.Aliases, b.Source
		if diff := differ(b, s); diff != "" {
			t.Errorf("%s: built in (-), parsed (+)\n%s", b.Name, diff)
		}
	}
	// And entry by entry what the publisher's file says.
	for name, config := range map[string]string{"deepseek-ai/DeepSeek-V3": "DeepSeek-V3, FP8", "deepseek-ai/DeepSeek-V2-Lite": "DeepSeek-V2-Lite", "Qwen/Qwen3-30B-A3B": "Qwen3-30B-A3B",
		"mistralai/Mistral-Nemo-Instruct-2407": "Mistral-Nemo-Instruct-2407, explicit head_dim", "mistralai/Mixtral-8x7B-v0.1": "Mixtral-8x7B"} {
		for _, m := range publishedModels {
			if m.name != config {
				continue
			}
			s, err := ParseModel([]byte(m.config), name)
			if err != nil {
				t.Fatal(err)
			}
			b := mustModel(t, name)
			s.Aliases, s.Source, s.MaxPosition = b.Aliases, b.Source, b.MaxPosition
			if diff := differ(*b, s); diff != "" {
				t.Errorf("%s: built in (-), published (+)\n%s", name, diff)
			}
		}
	}
}

// configOf is a config.json that a spec could have been read from.
func configOf(b *ModelSpec) map[string]any {
	fields := map[string]any{
		"hidden_size": b.Hidden, "num_hidden_layers": b.Layers, "num_attention_heads": b.Heads,
		"intermediate_size": b.Intermediate, "vocab_size": b.Vocab, "max_position_embeddings": b.MaxPosition, "torch_dtype": "bfloat16",
	}
	if b.LatentRank > 0 {
		fields["kv_lora_rank"], fields["qk_nope_head_dim"], fields["qk_rope_head_dim"], fields["v_head_dim"] = b.LatentRank, b.NopeDim, b.RopeDim, b.ValueDim
		fields["q_lora_rank"] = nil
		if b.QueryRank > 0 {
			fields["q_lora_rank"] = b.QueryRank
		}
	} else {
		fields["num_key_value_heads"], fields["head_dim"] = b.KVHeads, b.HeadDim
	}
	if b.Experts > 0 {
		fields["num_local_experts"], fields["num_experts_per_tok"], fields["moe_intermediate_size"] = b.Experts, b.ActiveExperts, b.ExpertIntermediate
		fields["shared_expert_intermediate_size"], fields["first_k_dense_replace"] = b.SharedIntermediate, b.DenseLayers
	}
	configOfWindow(b, fields)
	if q := quantisationOf(b); q != nil {
		fields["quantization_config"] = q
	}
	for _, note := range b.NotModelled {
		var layers int
		switch _, err := fmt.Sscanf(note, "multi-token prediction: its layers (%d)", &layers); {
		case err == nil:
			fields["num_nextn_predict_layers"] = layers
		case strings.Contains(note, "vision_config"):
			fields["vision_config"] = map[string]any{}
		}
	}
	return fields
}

// configOfWindow adds the fields of a sliding window, or of chunks where the spec says
// that these are what counts as one.
func configOfWindow(b *ModelSpec, fields map[string]any) {
	if b.WindowLayers == 0 {
		return
	}
	kind, field := "sliding_attention", "sliding_window"
	if slices.ContainsFunc(b.NotModelled, func(note string) bool { return strings.HasPrefix(note, "attention in chunks") }) {
		kind, field = "chunked_attention", "attention_chunk_size"
	}
	kinds := slices.Repeat([]string{kind}, int(b.WindowLayers))
	fields["layer_types"], fields[field] = append(kinds, slices.Repeat([]string{"full_attention"}, int(b.Layers-b.WindowLayers))...), b.Window
}

// quantisationOf is the quantization_config of a spec, nil without.
func quantisationOf(b *ModelSpec) map[string]any {
	width, ignored := PartWidth{b.WeightBits, b.ScaleBits, b.ActivationBits}, []string{"lm_head"}
	switch none := (PartWidth{}); {
	case b.MLPWidth != none:
		width, ignored = b.MLPWidth, append(ignored, "re:.*self_attn.*")
	case b.ExpertWidth != none:
		width, ignored = b.ExpertWidth, append(ignored, "re:.*self_attn.*", "re:.*shared_experts.*")
	}
	var q map[string]any
	switch width {
	case PartWidth{16, 0, 16}:
		return nil
	case PartWidth{8, 0, 8}:
		q = map[string]any{"quant_method": "fp8"}
	case PartWidth{4, 0.25, 16}:
		q = map[string]any{"quant_method": "mxfp4"}
	case PartWidth{4, 0.5, 4}:
		q = map[string]any{"quant_method": "modelopt", "quant_algo": "NVFP4"}
	default:
		weights := map[string]any{"num_bits": width.WeightBits, "group_size": 16 / width.ScaleBits, "symmetric": true}
		q = map[string]any{"quant_method": "compressed-tensors", "config_groups": map[string]any{"group_0": map[string]any{"weights": weights}}}
	}
	q["ignore"] = ignored
	if b.KVElementBytes == 1 {
		q["kv_cache_scheme"] = map[string]any{"num_bits": 8}
	}
	return q
}

// The sizes that publishers state of built-in models, to the digits that they print:
// billions of parameters in all, and in use for a token (most without the embeddings,
// marked). Checkpoints are in GB of 10⁹ bytes, as their files are listed or, for
// gpt-oss, as its model card has it in GiB. Images' encoders are left out: of 109
// billion in Llama 4 Scout 107.8 remain, and Kimi's 1.04 trillion are 1.03.
func TestSizesOfBuiltinModels(t *testing.T) {
	for _, c := range []struct {
		name             string
		billions, digits float64 // and what the last digit is worth
		active           float64 // 0: all
		noInput          bool
		gb               float64 // of the weights; 0: not checked
		kv               int64   // bytes per token at TP 1
	}{
		{"Llama-3.1-405B", 405.9, 0.1, 0, false, 0, 2 * 126 * 1024 * 2},
		{"nvidia/Llama-3.1-405B-Instruct-FP8", 405.9, 0.1, 0, false, 0, 2 * 126 * 1024},
		{"nvidia/Llama-3.1-70B-Instruct-FP8", 70.6, 0.1, 0, false, 72.7, 2 * 80 * 1024},
		{"nvidia/Llama-3.1-8B-Instruct-FP8", 8.03, 0.01, 0, false, 9.08, 2 * 32 * 1024},
		{"Qwen3-8B", 8.19, 0.01, 0, false, 0, 2 * 36 * 1024 * 2},
		{"Qwen3-14B", 14.77, 0.01, 0, false, 0, 2 * 40 * 1024 * 2},
		{"Qwen3-32B", 32.8, 0.1, 0, false, 0, 2 * 64 * 1024 * 2},
		{"Qwen3-32B-FP8", 32.8, 0.1, 0, false, 0, 2 * 64 * 1024 * 2},
		{"Qwen3-235B-A22B", 235, 1, 22, false, 0, 2 * 94 * 512 * 2},
		{"Qwen3-235B-A22B-FP8", 235, 1, 22, false, 0, 2 * 94 * 512 * 2},
		{"Mixtral-8x22B-v0.1", 141, 1, 39, false, 0, 2 * 56 * 1024 * 2},
		{"Yi-34B", 34.4, 0.1, 0, false, 0, 2 * 60 * 1024 * 2},
		{"Llama-4-Scout-17B-16E-Instruct", 107.8, 0.1, 17, false, 0, 2 * 48 * 1024 * 2},
		{"gpt-oss-20b", 20.9, 0.1, 3.61, true, 12.8 * 1.073741824, 2 * 24 * 512 * 2},
		{"gpt-oss-120b", 116.8, 0.1, 5.13, true, 60.8 * 1.073741824, 2 * 36 * 512 * 2},
		{"MiniMax-M2.5", 229, 1, 10, true, 0, 2 * 62 * 1024 * 2},
		{"Kimi-K2.5", 1030, 10, 32, true, 595, 61 * 576 * 2},
		{"nvidia/Kimi-K2.5-NVFP4", 1030, 10, 32, true, 0, 61 * 576},
		{"DeepSeek-V3.1", 671, 1, 37, true, 0, 61 * 576 * 2},
	} {
		s := mustModel(t, c.name)
		n := s.Counts()
		if got := float64(n.Parameters()) / 1e9; math.Abs(got-c.billions) > 0.5*c.digits {
			t.Errorf("%s has %.4f billion parameters, published %.2f", c.name, got, c.billions)
		}
		active := float64(n.ActiveParameters()) / 1e9
		if c.noInput {
			active -= float64(n.headWeights()) / 1e9
		}
		if want := c.active; want != 0 && math.Abs(active-want) > max(0.5, 0.03*want) || want == 0 && n.ActiveParameters() != n.Parameters() {
			t.Errorf("%s has %.3f billion active, published %.2f", c.name, active, want)
		}
		if got := n.KVBytesPerToken(1); got != c.kv {
			t.Errorf("a token of %s takes %d bytes of KV cache, want %d", c.name, got, c.kv)
		}
		if got := float64(n.ResidentWeightBytes()) / 1e9; c.gb != 0 && math.Abs(got-c.gb) > 0.01*c.gb {
			t.Errorf("the weights of %s take %.2f GB, published %.2f", c.name, got, c.gb)
		}
	}
}
