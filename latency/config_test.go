package latency

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The shape of a model is read from its config.json; the published number of
// parameters (in billions) checks that every field landed in its place.
func TestConfigsOfEveryKind(t *testing.T) {
	for name, c := range map[string]struct {
		config   string
		billions float64
		check    func(ModelSpec) string // what is wrong, or ""
	}{
		"dense with GQA": {`{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
			"intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 131072, "torch_dtype": "bfloat16", "tie_word_embeddings": false,
			"hidden_act": "silu", "rope_scaling": {"factor": 8.0}}`, 8.030, nil},
		"explicit head_dim (Mistral-Nemo)": {`{"model_type": "mistral", "hidden_size": 5120, "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8,
			"head_dim": 128, "intermediate_size": 14336, "vocab_size": 131072, "max_position_embeddings": 1024000, "torch_dtype": "bfloat16"}`, 12.248,
			func(s ModelSpec) string { return want("q", s.q(), 4096) }},
		"MHA without num_key_value_heads, unknown activation": {`{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
			"intermediate_size": 11008, "vocab_size": 32000, "torch_dtype": "float16", "hidden_act": "xielu"}`, 6.738,
			func(s ModelSpec) string { return want("KV heads", s.KVHeads, 32) }},
		"MQA with a plain, unstated MLP (Falcon-7B)": {`{"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71, "multi_query": true,
			"vocab_size": 65024, "torch_dtype": "bfloat16"}`, 6.922,
			func(s ModelSpec) string { return want("KV heads", s.KVHeads, 1) + want("matrices", s.MLPMatrices, 2) }},
		"older field names (GPT-2)": {`{"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "n_inner": null, "vocab_size": 50257}`, 0.1236,
			func(s ModelSpec) string { return want("max position", s.MaxPosition, 1024) }},
		"MoE (Mixtral)": {`{"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
			"intermediate_size": 14336, "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000, "torch_dtype": "bfloat16"}`, 46.703, nil},
		"MoE with small experts (Qwen3-30B-A3B)": {`{"model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4,
			"head_dim": 128, "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8, "decoder_sparse_step": 1,
			"mlp_only_layers": [], "vocab_size": 151936, "torch_dtype": "bfloat16"}`, 30.532, nil},
		"MoE with a shared expert inside a multimodal model (Llama-4-Scout)": {`{"model_type": "llama4", "vision_config": {"hidden_size": 1408}, "torch_dtype": "bfloat16", "text_config":
			{"model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
			"intermediate_size": 8192, "intermediate_size_mlp": 16384, "interleave_moe_layer_step": 1, "num_local_experts": 16, "num_experts_per_tok": 1, "vocab_size": 202048}}`, 107.77, nil},
		"every second layer dense (Llama-4-Maverick)": {`{"text_config": {"model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
			"intermediate_size": 8192, "intermediate_size_mlp": 16384, "interleave_moe_layer_step": 2, "num_local_experts": 128, "num_experts_per_tok": 1, "vocab_size": 202048}}`, 400.7,
			func(s ModelSpec) string { return want("dense layers", s.DenseLayers, 24) }},
		"MXFP4 experts (gpt-oss-120b)": {`{"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 36, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
			"intermediate_size": 2880, "num_local_experts": 128, "num_experts_per_tok": 4, "vocab_size": 201088, "quantization_config": {"quant_method": "mxfp4"}}`, 116.83,
			func(s ModelSpec) string {
				return want("bits", s.WeightBits, 4) + want("activations", s.ActivationBits, 16)
			}},
		"tied by the type's default, 8 bits both (compressed-tensors)": {`{"model_type": "gemma2", "hidden_size": 3584, "num_hidden_layers": 42, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256,
			"intermediate_size": 14336, "vocab_size": 256000, "quantization_config": {"quant_method": "compressed-tensors",
			"config_groups": {"group_0": {"weights": {"num_bits": 8}, "input_activations": {"num_bits": 8}}}}}`, 9.242,
			func(s ModelSpec) string {
				return want("bits", s.WeightBits, 8) + want("activations", s.ActivationBits, 8)
			}},
		"AWQ": {`{"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
			"intermediate_size": 18944, "vocab_size": 152064, "quantization_config": {"quant_method": "awq", "bits": 4}}`, 7.616,
			func(s ModelSpec) string { return want("bits", s.WeightBits, 4) }},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ParseModel([]byte(c.config), "config.json")
			if err != nil {
				t.Fatal(err)
			}
			if got := float64(s.Parameters()) / 1e9; math.Abs(got-c.billions) > 0.002*c.billions {
				t.Errorf("%.4f billion parameters, published %.4f", got, c.billions)
			}
			if c.check != nil {
				if wrong := c.check(s); wrong != "" {
					t.Error(wrong)
				}
			}
		})
	}
}

func want(what string, got, want int64) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("%s %d, want %d. ", what, got, want)
}

// A built-in entry and the config.json it was taken from say the same.
func TestConfigEqualsBuiltin(t *testing.T) {
	for _, b := range AllModels() {
		fields := map[string]any{
			"hidden_size": b.Hidden, "num_hidden_layers": b.Layers, "num_attention_heads": b.Heads, "num_key_value_heads": b.KVHeads,
			"intermediate_size": b.Intermediate, "vocab_size": b.Vocab, "max_position_embeddings": b.MaxPosition, "torch_dtype": "bfloat16",
		}
		if b.Experts > 0 {
			fields["num_local_experts"], fields["num_experts_per_tok"] = b.Experts, b.ActiveExperts
		}
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseModel(text, b.Name)
		if err != nil {
			t.Fatal(err)
		}
		s.Aliases, s.Source = b.Aliases, b.Source
		if diff := cmp.Diff(b, s); diff != "" {
			t.Errorf("%s: built in (-), parsed (+)\n%s", b.Name, diff)
		}
	}
}

func TestConfigErrorsNameFileAndEveryField(t *testing.T) {
	for name, c := range map[string]struct{ config, want string }{
		"several fields": {`{"hidden_size": "big", "num_hidden_layers": 1.5, "num_attention_heads": 0, "vocab_size": -1, "intermediate_size": [1, 2], "torch_dtype": "int3"}`,
			`m.json: hidden_size is "big", want an integer; num_hidden_layers is 1.5, want an integer; intermediate_size is [1, 2], want an integer; ` +
				`torch_dtype is "int3", want bfloat16, float16 or float32; num_attention_heads is 0, want 1 to 4096; vocab_size is -1, want 1 to 16777216`},
		"wrong type of dtype":     {`{"torch_dtype": "int3"}`, `torch_dtype is "int3", want bfloat16, float16 or float32`},
		"empty object":            {`{}`, `m.json: hidden_size is 0, want 1 to 131072; num_hidden_layers is 0`},
		"syntax":                  {"{\n\"hidden_size\": 1,\n}", `m.json:3: not valid JSON: `},
		"no object":               {`[1]`, `m.json: want a JSON object`},
		"empty":                   {``, `m.json:1: not valid JSON: `},
		"head_dim undefined":      {`{"hidden_size": 100, "num_attention_heads": 3}`, `head_dim is not given and hidden_size 100 is no multiple of num_attention_heads 3`},
		"MLA":                     {`{"kv_lora_rank": 512}`, `kv_lora_rank means multi-head latent attention, which is not modelled`},
		"quantised somehow":       {`{"quantization_config": {"quant_method": "magic"}}`, `quantization_config gives no width`},
		"KV heads":                {`{"num_attention_heads": 32, "num_key_value_heads": 5}`, `num_key_value_heads is 5, want a divisor of num_attention_heads 32`},
		"too many experts active": {`{"num_local_experts": 4, "num_experts_per_tok": 5}`, `num_experts_per_tok is 5, want 1 to 4`},
		"absurd": {`{"hidden_size": 131072, "num_hidden_layers": 2048, "num_attention_heads": 4096, "head_dim": 8192, "intermediate_size": 4194304, "vocab_size": 1000}`,
			`m.json: parameters would be 3.94e+16 in all, want at most 1e+14`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseModel([]byte(c.config), "m.json")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Error("more than one line")
			}
		})
	}
}

// Whatever the bytes, there is a model that passes its own validation and
// whose counts are positive, or an error.
func FuzzParseModel(f *testing.F) {
	f.Add([]byte(`{"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000}`))
	f.Add([]byte(`{"text_config": {"num_local_experts": 9223372036854775807, "n_shared_experts": 9223372036854775807, "moe_intermediate_size": 7}}`))
	f.Add([]byte(`{"hidden_size": 1e999, "quantization_config": {"config_groups": {"a": null}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseModel(data, "f")
		if err != nil {
			return
		}
		if s.Validate() != nil || s.LinearFLOPs() <= 0 || s.ResidentWeightBytes() <= 0 || !(s.StreamedWeightBytes(1) > 0) || s.KVBytesPerToken(1) <= 0 {
			t.Errorf("%+v", s)
		}
	})
}
