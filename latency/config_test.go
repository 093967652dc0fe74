package latency

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func want(what string, got, want int64) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("%s %d, want %d. ", what, got, want)
}

// differ is what is not the same in two specs.
func differ(a, b ModelSpec) string { return cmp.Diff(a, b) }

// Small descriptions without fault, to change one field of.
const (
	denseConfig = `{"hidden_size": 512, "num_hidden_layers": 12, "num_attention_heads": 8, "num_key_value_heads": 4, "intermediate_size": 1024, "vocab_size": 1000, "max_position_embeddings": 8192}`
	moeConfig   = `{"hidden_size": 512, "num_hidden_layers": 12, "num_attention_heads": 8, "intermediate_size": 1024, "vocab_size": 1000, "moe_intermediate_size": 256, "num_experts": 16, "num_experts_per_tok": 2}`
	mlaConfig   = `{"hidden_size": 512, "num_hidden_layers": 12, "num_attention_heads": 8, "intermediate_size": 1024, "vocab_size": 1000, "kv_lora_rank": 64, "q_lora_rank": null,
		"qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 24}`
)

// overlay is a description with the fields of another in place of its own; a
// field that is "-" is taken out.
func overlay(t *testing.T, base, change string) string {
	t.Helper()
	var fields map[string]any
	for _, text := range []string{base, change} {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&fields); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
	for name, v := range fields {
		if v == "-" {
			delete(fields, name)
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestConfigErrorsNameFileAndEveryField(t *testing.T) {
	for name, c := range map[string]struct{ config, want string }{
		"several fields": {`{"hidden_size": "big", "num_hidden_layers": 1.5, "num_attention_heads": 0, "vocab_size": -1, "intermediate_size": [1, 2], "torch_dtype": "int3"}`,
			`hidden_size is "big", want an integer; num_hidden_layers is 1.5, want an integer; intermediate_size is [1, 2], want an integer; ` +
				`torch_dtype is "int3", want bfloat16, float16 or float32; num_attention_heads is 0, want 1 to 4096; vocab_size is -1, want 1 to 16777216`},
		"empty object": {`{}`, `hidden_size is missing; num_hidden_layers is missing; num_attention_heads is missing; vocab_size is missing; intermediate_size is missing`},
		"no object":    {`[1]`, `want a JSON object with the fields of a Hugging Face config.json`},
		"absurd": {`{"hidden_size": 131072, "num_hidden_layers": 2048, "num_attention_heads": 4096, "head_dim": 8192, "intermediate_size": 4194304, "vocab_size": 1000}`,
			`parameters would be 3.94e+16 in all, want at most 1e+14`},
		"part that is no object": {`{"text_config": 7, "hidden_size": 512, "num_hidden_layers": 12, "num_attention_heads": 8, "intermediate_size": 8, "vocab_size": 9}`, `text_config is not an object`},
	} {
		t.Run(name, func(t *testing.T) { refused(t, c.config, "m.json: "+c.want) })
	}
	for name, c := range map[string]struct{ config, want string }{
		"syntax":               {"{\n\"hidden_size\": 1,\n}", `m.json:3: not valid JSON: `},
		"NaN as Python writes": {"{\n\"rope_theta\": NaN}", `m.json:2: not valid JSON: invalid character 'N'`},
		"empty":                {``, `m.json:1: not valid JSON: `},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseModel([]byte(c.config), "m.json"); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// refused checks that a description is refused in these words, on one line.
func refused(t *testing.T, config, want string) {
	t.Helper()
	_, err := ParseModel([]byte(config), "m.json")
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// One field is wrong, or contradicts another: that one is named and no other.
func TestContradictionsNameTheirFields(t *testing.T) {
	for _, c := range []struct{ name, base, change, want string }{
		{"type of dtype", denseConfig, `{"torch_dtype": "int3"}`, `torch_dtype is "int3", want bfloat16, float16 or float32`},
		{"beyond int64", denseConfig, `{"num_hidden_layers": 99999999999999999999}`, `num_hidden_layers is 99999999999999999999, which is out of range`},
		{"huge", denseConfig, `{"vocab_size": 999999999}`, `vocab_size is 999999999, want 1 to 16777216`},
		{"negative", denseConfig, `{"intermediate_size": -4}`, `intermediate_size is -4, want 1 to 4194304`},
		{"no size of the MLP", denseConfig, `{"intermediate_size": null}`, `intermediate_size is missing`},
		{"head_dim does not follow", denseConfig, `{"hidden_size": 100}`, `head_dim is not given and hidden_size 100 is no multiple of num_attention_heads 8`},
		{"KV heads do not divide", denseConfig, `{"num_key_value_heads": 5}`, `num_key_value_heads is 5, want a divisor of num_attention_heads 8`},
		{"reads and writes", denseConfig, `{"is_encoder_decoder": true}`, `is_encoder_decoder is true, want a model that only decodes`},
		{"active experts of none", denseConfig, `{"num_experts_per_tok": 2}`, `num_local_experts is missing beside num_experts_per_tok`},

		{"quantised somehow", denseConfig, `{"quantization_config": {"quant_method": "magic"}}`,
			`quantization_config gives no width: want bits, config_groups, or a quant_method among fp8, fbgemm_fp8, mxfp4 (it is "magic")`},
		{"quantised to text", denseConfig, `{"quantization_config": {"bits": "four"}}`, `quantization_config is not understood: want quant_method with bits or config_groups`},
		{"32 bits", denseConfig, `{"quantization_config": {"bits": 32}}`, `quantization_config has weights of 32 bits, want 1 to 16`},
		{"groups without weights", denseConfig, `{"quantization_config": {"config_groups": {"a": {}}}}`, `quantization_config has weights of 0 bits, want 1 to 16`},
		{"activations of one bit", denseConfig, `{"quantization_config": {"config_groups": {"a": {"weights": {"num_bits": 8}, "input_activations": {"num_bits": 1}}}}}`, `bits per activation is 1, want 4 to 64`},
		{"KV cache of 4 bits", denseConfig, `{"quantization_config": {"bits": 4, "kv_cache_scheme": {"num_bits": 4}}}`, `kv_cache_scheme has 4 bits, want 8 or 16`},

		{"too many active", moeConfig, `{"num_experts_per_tok": 17}`, `num_experts_per_tok is 17, want 1 to 16`},
		{"none active", moeConfig, `{"num_experts_per_tok": null}`, `num_experts_per_tok is missing`},
		{"negative experts", moeConfig, `{"num_experts": -1}`, `num_experts is -1, want 0 to 4096`},
		{"no width of experts", moeConfig, `{"moe_intermediate_size": null, "intermediate_size": null}`, `moe_intermediate_size is missing`},
		{"shared experts beyond counting", moeConfig, `{"n_shared_experts": 9223372036854775807}`, `n_shared_experts is 9223372036854775807, want 0 to 4096`},
		{"all layers dense", moeConfig, `{"first_k_dense_replace": 12}`, `first_k_dense_replace is 12, want 0 to 11`},
		{"all layers dense, one by one", moeConfig, `{"mlp_only_layers": [0,1,2,3,4,5,6,7,8,9,10,11]}`, `dense layers is 12, want 0 to 11`},
		{"period of nothing", moeConfig, `{"decoder_sparse_step": 0}`, `decoder_sparse_step is 0, want 1 or more`},
		{"frequency of fewer layers", moeConfig, `{"moe_layer_freq": [0, 1]}`, `moe_layer_freq has 2 entries, want one for each of num_hidden_layers 12`},
		{"frequency in words", moeConfig, `{"moe_layer_freq": "([0]*1+[1]*11)"}`, `moe_layer_freq is "([0]*1+[1]*11)", want an integer`},
		{"layers in words", moeConfig, `{"mlp_only_layers": ["first"]}`, `mlp_only_layers is ["first"], want a list of integers`},

		{"latent without its parts", mlaConfig, `{"qk_rope_head_dim": "-", "v_head_dim": null}`, `qk_rope_head_dim is missing, kv_lora_rank needs it; v_head_dim is missing, kv_lora_rank needs it`},
		{"parts without latent", denseConfig, `{"q_lora_rank": 64, "qk_rope_head_dim": 16}`, `kv_lora_rank is missing beside q_lora_rank and qk_rope_head_dim, which are fields of latent attention`},
		{"latent of rank -1", mlaConfig, `{"kv_lora_rank": -1}`, `kv_lora_rank is -1, want 1 to 65536`},
		{"parts out of range", mlaConfig, `{"q_lora_rank": 1000000, "qk_nope_head_dim": 0, "v_head_dim": 100000}`,
			`q_lora_rank is 1000000, want 0 to 65536; qk_nope_head_dim is 0, want 1 to 8192; v_head_dim is 100000, want 1 to 8192`},
	} {
		t.Run(c.name, func(t *testing.T) { refused(t, overlay(t, c.base, c.change), "m.json: "+c.want) })
	}
}

// Types say in several ways which layers of an MoE model have no experts.
func TestDenseLayersOfMoEModels(t *testing.T) {
	for _, c := range []struct {
		name, change string
		dense        int64
	}{
		{"none", `{}`, 0},
		{"leading ones", `{"first_k_dense_replace": 3}`, 3},
		{"every second, the first of two has experts", `{"moe_layer_freq": 2}`, 6},
		{"leading ones, then every third", `{"first_k_dense_replace": 1, "moe_layer_freq": 3}`, 9}, // 3, 6, 9
		{"layer by layer", `{"moe_layer_freq": [0,0,1,1,1,1,1,1,1,1,1,1]}`, 2},
		{"every fifth, its last has experts", `{"decoder_sparse_step": 5}`, 10},
		{"listed", `{"mlp_only_layers": [0, 11]}`, 2},
		{"listed and every second", `{"decoder_sparse_step": 2, "mlp_only_layers": [0, 1]}`, 7}, // 1, 3, …, 11 without 1
		{"Llama 4", `{"interleave_moe_layer_step": 2}`, 6},
		{"those with experts are listed", `{"moe_layers": [1, 3, 5]}`, 9},
		{"Jamba", `{"expert_layer_period": 4, "expert_layer_offset": 3}`, 9},
		{"ERNIE", `{"moe_layer_start_index": 2, "moe_layer_end_index": 9, "moe_layer_interval": 1}`, 4},
		{"ERNIE to the end", `{"moe_layer_start_index": 1, "moe_layer_end_index": -1}`, 1},
	} {
		s, err := ParseModel([]byte(overlay(t, moeConfig, c.change)), "m.json")
		if err != nil || s.DenseLayers != c.dense {
			t.Errorf("%s: %d dense layers, %v; want %d", c.name, s.DenseLayers, err, c.dense)
		}
	}
}

func TestSharedExpertsAreAddedUp(t *testing.T) {
	for _, c := range []struct {
		name, change string
		shared       int64
	}{
		{"none", `{}`, 0},
		{"so many of the usual width", `{"n_shared_experts": 2}`, 512},
		{"so many of their own width", `{"num_shared_experts": 2, "moe_shared_expert_intermediate_size": 300}`, 600},
		{"all together", `{"shared_expert_intermediate_size": 5632}`, 5632},
		{"all together, Granite", `{"shared_intermediate_size": 0, "n_shared_experts": 1}`, 0},
		{"a list with equal values", `{"num_shared_experts": [1, 1, 1]}`, 256},
	} {
		s, err := ParseModel([]byte(overlay(t, moeConfig, c.change)), "m.json")
		if err != nil || s.SharedIntermediate != c.shared {
			t.Errorf("%s: width %d, %v; want %d", c.name, s.SharedIntermediate, err, c.shared)
		}
	}
}

// A type that knows both kinds of attention says with zeros that it is the
// ordinary one (DeepSeek-VL2-Tiny).
func TestZeroRanksAreOrdinaryAttention(t *testing.T) {
	s, err := ParseModel([]byte(`{"model_type": "deepseek_vl_v2", "language_config": `+overlay(t, moeConfig,
		`{"kv_lora_rank": null, "q_lora_rank": null, "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "v_head_dim": 0, "use_mla": false}`)+`}`), "m.json")
	if err != nil || s.Attention() != MultiHead || s.HeadDim != 64 || s.KVHeads != 8 {
		t.Errorf("%+v, %v", s, err)
	}
}

// What a file has and the counts do not follow is said.
func TestWhatIsNotModelledIsSaid(t *testing.T) {
	for _, c := range []struct {
		name, base, change string
		want               []string
	}{
		{"nothing", denseConfig, `{"sliding_window": null, "layer_types": ["full_attention", "full_attention"], "tie_word_embeddings": true}`, nil},
		{"window", denseConfig, `{"sliding_window": 4096}`, nil},
		{"window that is off (Qwen2.5)", denseConfig, `{"sliding_window": 4096, "use_sliding_window": false}`, nil},
		{"window as long as the context", denseConfig, `{"sliding_window": 8192}`, nil},
		{"some layers with a window", denseConfig, `{"sliding_window": 128, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}`, nil},
		{"a window and linear layers", denseConfig, `{"sliding_window": 128, "layer_types": ["sliding_attention", "full_attention", "linear_attention"]}`,
			[]string{"1 of 3 layers that do not attend to all keys: counted as full attention"}},
		{"linear layers", denseConfig, `{"layer_types": ["linear_attention", "full_attention"], "full_attention_interval": 4}`,
			[]string{"1 of 2 layers that do not attend to all keys: counted as full attention",
				"layers of other kinds than attention (full_attention_interval): counted as full attention, with its weights and KV cache"}},
		{"chunks of a type that is not known", denseConfig, `{"attention_chunk_size": 512}`, []string{"attention in chunks of 512 tokens: counted as full attention"}},
		{"chunks (Llama 4)", denseConfig, `{"model_type": "llama4_text", "attention_chunk_size": 512}`,
			[]string{"attention in chunks of 512 tokens in 9 of 12 layers: counted as a sliding window of as many"}},
		{"sparse (DeepSeek-V3.2)", mlaConfig, `{"index_topk": 2048}`, []string{"attention to the 2048 best keys only (index_topk): counted as full attention"}},
		{"shared KV", denseConfig, `{"num_kv_shared_layers": 5}`, []string{"5 layers that use the KV cache of others: counted with their own"}},
		{"narrow values", denseConfig, `{"v_head_dim": 32}`, []string{"values of 32 per head: counted as 64, as wide as keys"}},
		{"latent attention has a v_head_dim", mlaConfig, `{}`, nil},
		{"guessing ahead", denseConfig, `{"num_nextn_predict_layers": 1}`, []string{"multi-token prediction: its layers (1) are left out"}},
		{"images", denseConfig, `{"vision_config": {"hidden_size": 1}}`, []string{"what reads images or sound (vision_config): left out, with its weights"}},
		{"layers that stay wide (gpt-oss)", denseConfig, `{"quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn", "lm_head"]}}`, nil},
		{"attention of one layer stays wide", denseConfig, `{"quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["model.layers.3.self_attn", "lm_head"]}}`,
			[]string{"layers that quantisation leaves alone (modules_to_not_convert): counted as quantised"}},
		{"all layers are attention (MiniMax)", denseConfig, `{"attn_type_list": [1, 1, 1], "num_mtp_modules": 3}`, []string{"multi-token prediction: its layers (3) are left out"}},
		{"some layers are no attention (MiniMax)", denseConfig, `{"attn_type_list": [1, 0, 1]}`,
			[]string{"layers of other kinds than attention (attn_type_list): counted as full attention, with its weights and KV cache"}},
		{"head and routers stay wide", denseConfig, `{"quantization_config": {"bits": 4, "ignore": ["lm_head", "re:.*mlp.gate$", "model.embed_tokens", "vision_tower.x"]}}`, nil},
		{"one MLP stays wide", denseConfig, `{"quantization_config": {"bits": 4, "ignore": ["model.layers.0.mlp.gate_proj"]}}`,
			[]string{"layers that quantisation leaves alone (ignore): counted as quantised"}},
		{"odd types are passed over", denseConfig, `{"sliding_window": "x", "layer_types": 7, "index_topk": [], "num_nextn_predict_layers": null}`, nil},
	} {
		s, err := ParseModel([]byte(overlay(t, c.base, c.change)), "m.json")
		if err != nil || !slices.Equal(s.NotModelled, c.want) {
			t.Errorf("%s: %q, %v; want %q", c.name, s.NotModelled, err, c.want)
		}
	}
}

// Whatever the bytes, there is a model that passes its own validation and
// whose counts are positive, or an error of one line.
func FuzzParseModel(f *testing.F) {
	for _, m := range publishedModels {
		f.Add([]byte(m.config))
	}
	f.Add([]byte(mlaConfig))
	f.Add([]byte(`{"text_config": {"num_local_experts": 9223372036854775807, "n_shared_experts": 9223372036854775807, "moe_intermediate_size": 7}}`))
	f.Add([]byte(`{"hidden_size": 1e999, "quantization_config": {"config_groups": {"a": null}}}`))
	f.Add([]byte(`{"kv_lora_rank": 65536, "q_lora_rank": 65536, "qk_nope_head_dim": 8192, "qk_rope_head_dim": 8192, "v_head_dim": 8192, "num_attention_heads": 4096, "hidden_size": 131072}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseModel(data, "f")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			return
		}
		if s.Validate() != nil || s.Counts().linearFLOPs() <= 0 || s.Counts().PrefillPairFLOPs() <= 0 || s.Counts().DecodePairFLOPs() <= 0 || s.Counts().Parameters() < s.Counts().ActiveParameters() ||
			s.Counts().ResidentWeightBytes() <= 0 || !(s.Counts().StreamedWeightBytes(1) > 0) || s.Counts().KVBytesPerToken(1) <= 0 {
			t.Errorf("%+v", s)
		}
	})
}
