package latency

import (
	"math"
	"testing"
)

// published is a model as its publisher describes it: config.json (the fields
// about work, typed from the public file) and what the publisher says of its
// size.
type published struct {
	name   string
	config string
	kind   AttentionKind

	billions float64 // parameters
	active   float64 // billions of them per token; 0: all
	noInput  bool    // the publisher's active count is without the embeddings
	kv       int64   // KV bytes per token at TP 1
}

var publishedModels = []published{
	{"Llama-3.1-8B", `{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
		"vocab_size": 128256, "max_position_embeddings": 131072, "torch_dtype": "bfloat16", "tie_word_embeddings": false, "hidden_act": "silu", "rope_scaling": {"factor": 8.0}}`,
		GroupedQuery, 8.030, 0, false, 2 * 32 * 1024 * 2},
	{"Llama-3.2-1B, tied", `{"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
		"intermediate_size": 8192, "vocab_size": 128256, "tie_word_embeddings": true}`,
		GroupedQuery, 1.236, 0, false, 2 * 16 * 512 * 2},
	{"Llama-2-7b, no num_key_value_heads, odd activation", `{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
		"intermediate_size": 11008, "vocab_size": 32000, "torch_dtype": "float16", "hidden_act": "xielu"}`,
		MultiHead, 6.738, 0, false, 2 * 32 * 4096 * 2},
	{"Mistral-Nemo-Instruct-2407, explicit head_dim", `{"model_type": "mistral", "hidden_size": 5120, "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8,
		"head_dim": 128, "intermediate_size": 14336, "vocab_size": 131072, "max_position_embeddings": 1024000, "sliding_window": null, "torch_dtype": "bfloat16"}`,
		GroupedQuery, 12.248, 0, false, 2 * 40 * 1024 * 2},
	{"gemma-2b", `{"model_type": "gemma", "hidden_size": 2048, "num_hidden_layers": 18, "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256,
		"intermediate_size": 16384, "vocab_size": 256000}`,
		MultiQuery, 2.506, 0, false, 2 * 18 * 256 * 2},
	{"gemma-2-9b, tied by its type", `{"model_type": "gemma2", "hidden_size": 3584, "num_hidden_layers": 42, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256,
		"intermediate_size": 14336, "vocab_size": 256000, "max_position_embeddings": 8192, "sliding_window": 4096}`,
		GroupedQuery, 9.242, 0, false, 2 * 42 * 2048 * 2},
	{"gemma-3-4b, text part, most fields left to the type", `{"model_type": "gemma3", "vision_config": {"hidden_size": 1152}, "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
		"intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024}}`,
		GroupedQuery, 3.880, 0, false, 2 * 34 * 1024 * 2},
	{"gemma-3-12b, text part, no head_dim", `{"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 3840, "intermediate_size": 15360,
		"num_attention_heads": 16, "num_hidden_layers": 48, "num_key_value_heads": 8, "sliding_window": 1024}}`,
		GroupedQuery, 11.766, 0, false, 2 * 48 * 2048 * 2},
	{"Phi-2", `{"model_type": "phi", "hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": null, "intermediate_size": 10240, "vocab_size": 51200}`,
		MultiHead, 2.780, 0, false, 2 * 32 * 2560 * 2},
	{"Phi-3-mini-4k", `{"model_type": "phi3", "hidden_size": 3072, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 8192, "vocab_size": 32064,
		"max_position_embeddings": 4096, "sliding_window": 2047}`,
		MultiHead, 3.821, 0, false, 2 * 32 * 3072 * 2},
	{"Falcon-7B, one KV head though the file says 71", `{"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71, "num_kv_heads": 71, "multi_query": true,
		"new_decoder_architecture": false, "vocab_size": 65024, "torch_dtype": "bfloat16"}`,
		MultiQuery, 6.922, 0, false, 2 * 32 * 64 * 2},
	{"Falcon-40B, first name of its type", `{"model_type": "RefinedWeb", "hidden_size": 8192, "n_layer": 60, "n_head": 128, "n_head_kv": 8, "new_decoder_architecture": true, "multi_query": true,
		"vocab_size": 65024}`,
		GroupedQuery, 41.303, 0, false, 2 * 60 * 8 * 64 * 2},
	{"GPT-2, tables of positions not counted", `{"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "n_inner": null, "vocab_size": 50257}`,
		MultiHead, 0.1244, 0, false, 2 * 12 * 768 * 2},
	{"OPT-6.7B", `{"model_type": "opt", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "ffn_dim": 16384, "vocab_size": 50272, "max_position_embeddings": 2048}`,
		MultiHead, 6.658, 0, false, 2 * 32 * 4096 * 2},
	{"StarCoder", `{"model_type": "gpt_bigcode", "n_embd": 6144, "n_head": 48, "n_inner": 24576, "n_layer": 40, "n_positions": 8192, "vocab_size": 49152}`,
		MultiQuery, 15.517, 0, false, 2 * 40 * 128 * 2},
	{"StarCoder2-15B", `{"model_type": "starcoder2", "hidden_size": 6144, "num_hidden_layers": 40, "num_attention_heads": 48, "num_key_value_heads": 4, "intermediate_size": 24576, "vocab_size": 49152,
		"tie_word_embeddings": false, "max_position_embeddings": 16384, "sliding_window": 4096}`,
		GroupedQuery, 15.958, 0, false, 2 * 40 * 512 * 2},
	{"GPT-NeoX-20B", `{"model_type": "gpt_neox", "hidden_size": 6144, "intermediate_size": 24576, "num_attention_heads": 64, "num_hidden_layers": 44, "vocab_size": 50432, "tie_word_embeddings": false}`,
		MultiHead, 20.556, 0, false, 2 * 44 * 6144 * 2},
	{"Qwen-7B, gate and up counted together", `{"model_type": "qwen", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 22016, "vocab_size": 151936,
		"seq_length": 8192, "tie_word_embeddings": false}`,
		MultiHead, 7.721, 0, false, 2 * 32 * 4096 * 2},

	{"Mixtral-8x7B", `{"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "num_local_experts": 8,
		"num_experts_per_tok": 2, "vocab_size": 32000, "torch_dtype": "bfloat16", "sliding_window": null}`,
		GroupedQuery, 46.703, 12.9, false, 2 * 32 * 1024 * 2},
	{"Qwen1.5-MoE-A2.7B", `{"model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 24, "num_attention_heads": 16, "num_key_value_heads": 16, "vocab_size": 151936,
		"decoder_sparse_step": 1, "num_experts": 60, "num_experts_per_tok": 4, "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632, "use_sliding_window": false, "sliding_window": 32768}`,
		MultiHead, 14.316, 2.7, false, 2 * 24 * 2048 * 2},
	{"Qwen3-30B-A3B", `{"model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144,
		"moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8, "decoder_sparse_step": 1, "mlp_only_layers": [], "vocab_size": 151936, "tie_word_embeddings": false}`,
		GroupedQuery, 30.532, 3.3, false, 2 * 48 * 512 * 2},
	{"DeepSeek-MoE-16B, ordinary attention", `{"model_type": "deepseek", "hidden_size": 2048, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 10944,
		"moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1, "moe_layer_freq": 1, "vocab_size": 102400}`,
		MultiHead, 16.376, 2.8, false, 2 * 28 * 2048 * 2},
	{"Llama-4-Scout, text part", `{"model_type": "llama4", "vision_config": {"hidden_size": 1408}, "torch_dtype": "bfloat16", "text_config": {"model_type": "llama4_text", "hidden_size": 5120,
		"num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192, "intermediate_size_mlp": 16384, "interleave_moe_layer_step": 1,
		"num_local_experts": 16, "num_experts_per_tok": 1, "vocab_size": 202048, "attention_chunk_size": 8192}}`,
		GroupedQuery, 107.77, 17.2, false, 2 * 48 * 1024 * 2},
	{"Llama-4-Maverick, text part, every second layer dense", `{"text_config": {"model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8,
		"head_dim": 128, "intermediate_size": 8192, "intermediate_size_mlp": 16384, "interleave_moe_layer_step": 2, "num_local_experts": 128, "num_experts_per_tok": 1, "vocab_size": 202048}}`,
		GroupedQuery, 400.7, 17.2, false, 2 * 48 * 1024 * 2},
	{"gpt-oss-120b, MXFP4", `{"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 36, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880,
		"num_local_experts": 128, "num_experts_per_tok": 4, "experts_per_token": 4, "vocab_size": 201088, "quantization_config": {"quant_method": "mxfp4"}}`,
		GroupedQuery, 116.83, 5.13, true, 2 * 36 * 512 * 2},

	{"DeepSeek-V2-Lite", `{"model_type": "deepseek_v2", "hidden_size": 2048, "num_hidden_layers": 27, "num_attention_heads": 16, "num_key_value_heads": 16, "q_lora_rank": null, "kv_lora_rank": 512,
		"qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "head_dim": 64, "intermediate_size": 10944, "moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2,
		"num_experts_per_tok": 6, "first_k_dense_replace": 1, "moe_layer_freq": 1, "vocab_size": 102400, "max_position_embeddings": 163840}`,
		Latent, 15.706, 2.4, true, 27 * 576 * 2},
	{"DeepSeek-V2", `{"model_type": "deepseek_v2", "hidden_size": 5120, "num_hidden_layers": 60, "num_attention_heads": 128, "num_key_value_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512,
		"qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 12288, "moe_intermediate_size": 1536, "n_routed_experts": 160, "n_shared_experts": 2,
		"num_experts_per_tok": 6, "first_k_dense_replace": 1, "moe_layer_freq": 1, "vocab_size": 102400}`,
		Latent, 235.741, 21, true, 60 * 576 * 2},
	{"DeepSeek-V3, FP8", deepseekV3, Latent, 671.026, 36.6, true, 61 * 576 * 2},
	{"Kimi-K2", `{"model_type": "kimi_k2", "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 64, "num_key_value_heads": 64, "q_lora_rank": 1536, "kv_lora_rank": 512,
		"qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 384, "n_shared_experts": 1,
		"num_experts_per_tok": 8, "first_k_dense_replace": 1, "moe_layer_freq": 1, "vocab_size": 163840, "quantization_config": {"quant_method": "fp8"}}`,
		Latent, 1026.4, 32, true, 61 * 576 * 2},
}

const deepseekV3 = `{"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512,
	"qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
	"num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1, "num_nextn_predict_layers": 1, "vocab_size": 129280, "max_position_embeddings": 163840, "torch_dtype": "bfloat16",
	"tie_word_embeddings": false, "quantization_config": {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}}`

// The published sizes check that every field landed in its place. Totals are
// within 1 % (biases, tables of positions and norms of heads are not counted),
// active counts, which are published with two digits, within 3 %.
func TestSizesOfPublishedModels(t *testing.T) {
	for _, m := range publishedModels {
		t.Run(m.name, func(t *testing.T) {
			s, err := ParseModel([]byte(m.config), "config.json")
			if err != nil {
				t.Fatal(err)
			}
			if got := float64(s.Counts().Parameters()) / 1e9; math.Abs(got-m.billions) > 0.01*m.billions {
				t.Errorf("%.4f billion parameters, published %.4f", got, m.billions)
			}
			active := float64(s.Counts().ActiveParameters()) / 1e9
			if m.noInput {
				active -= float64(s.Counts().headWeights()) / 1e9
			}
			if m.active == 0 && s.Counts().ActiveParameters() != s.Counts().Parameters() || m.active != 0 && math.Abs(active-m.active) > 0.03*m.active {
				t.Errorf("%.4f billion active, published %.4f", active, m.active)
			}
			if got := s.Counts().KVBytesPerToken(1); got != m.kv {
				t.Errorf("%d KV bytes per token, want %d", got, m.kv)
			}
			if s.Attention() != m.kind {
				t.Errorf("attention is %s, want %s", s.Attention(), m.kind)
			}
		})
	}
}

// Exact counts that publishers give, of models with neither biases nor norms of
// heads. DeepSeek's 671,026,419,200 has a bias for each of 58·256 experts.
func TestExactSizesOfLatentAttention(t *testing.T) {
	for _, m := range publishedModels {
		s, err := ParseModel([]byte(m.config), "config.json")
		if err != nil {
			t.Fatal(err)
		}
		want, known := map[string]int64{"DeepSeek-V2-Lite": 15_706_484_224, "DeepSeek-V2": 235_741_434_880, "DeepSeek-V3, FP8": 671_026_419_200 - 58*256}[m.name]
		if known && s.Counts().Parameters() != want {
			t.Errorf("%s has %d parameters, want %d", m.name, s.Counts().Parameters(), want)
		}
	}
}

// The sizes of quantised checkpoints as Hugging Face lists their files, in GB
// (powers of ten), within 1 %: weights, scales and zero points.
func TestSizesOfQuantisedCheckpoints(t *testing.T) {
	llama2 := `"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000`
	llama3 := `"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256`
	qwen := `"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064`
	for _, c := range []struct {
		name, shape, quantisation string
		gb                        float64 // 0: not published
		weight, activation, kv    int64
		scale                     float64
	}{
		{"none", llama3, `null`, 16.06, 16, 16, 2, 0},
		{"AWQ with zero points (Qwen2.5-7B-Instruct-AWQ)", qwen, `{"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true, "version": "gemm"}`, 5.57, 4, 16, 2, 20.0 / 128},
		{"older AWQ names", qwen, `{"quant_method": "awq", "w_bit": 4, "q_group_size": 128, "zero_point": true}`, 5.57, 4, 16, 2, 20.0 / 128},
		{"GPTQ (TheBloke/Llama-2-7B-GPTQ)", llama2, `{"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": true, "desc_act": false}`, 3.90, 4, 16, 2, 16.0 / 128},
		{"GPTQ without groups", llama2, `{"quant_method": "gptq", "bits": 8, "group_size": -1, "sym": false}`, 0, 8, 16, 2, 0},
		{"FP8 (Llama-3.1-8B-Instruct-FP8)", llama3, `{"quant_method": "fp8", "activation_scheme": "static"}`, 9.08, 8, 8, 2, 0},
		{"FBGEMM FP8", llama3, `{"quant_method": "fbgemm_fp8", "modules_to_not_convert": ["lm_head"]}`, 9.08, 8, 8, 2, 0},
		{"compressed-tensors, FP8 with FP8 KV cache", llama3, `{"quant_method": "compressed-tensors", "kv_cache_scheme": {"num_bits": 8, "type": "float"}, "ignore": ["lm_head"], "config_groups":
			{"group_0": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float", "strategy": "tensor"}, "input_activations": {"num_bits": 8, "type": "float"}}}}`, 9.08, 8, 8, 1, 0},
		{"compressed-tensors, no KV scheme", llama3, `{"quant_method": "compressed-tensors", "kv_cache_scheme": null, "config_groups": {"a": {"weights": {"num_bits": 8}, "input_activations": {"num_bits": 8}}}}`, 9.08, 8, 8, 2, 0},
		{"compressed-tensors, 4 bits in groups (w4a16)", llama3, `{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 128, "symmetric": true}}}}`, 0, 4, 16, 2, 16.0 / 128},
		{"compressed-tensors, the widest group counts", llama3, `{"config_groups": {"a": {"weights": {"num_bits": 4}}, "b": {"weights": {"num_bits": 8}, "input_activations": {"num_bits": 8}}, "c": {"weights": null}}}`, 0, 8, 8, 2, 0},
		{"bitsandbytes, NF4", llama3, `{"quant_method": "bitsandbytes", "load_in_4bit": true, "load_in_8bit": false}`, 0, 4, 16, 2, 0.5},
		{"bitsandbytes, NF4 twice (unsloth/Meta-Llama-3.1-8B-bnb-4bit)", llama3, `{"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_use_double_quant": true}`, 5.70, 4, 16, 2, 0.125},
		{"bitsandbytes, 8 bits", llama3, `{"quant_method": "bitsandbytes", "load_in_8bit": true}`, 0, 8, 16, 2, 0},
		{"MXFP4", llama3, `{"quant_method": "mxfp4"}`, 0, 4, 16, 2, 0.25},
		{"modelopt, FP8 and its KV cache", llama3, `{"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}`, 9.08, 8, 8, 1, 0},
		{"modelopt, older form, NVFP4", llama3, `{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": null, "group_size": 16}}`, 0, 4, 4, 2, 0.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := ParseModel([]byte(`{`+c.shape+`, "quantization_config": `+c.quantisation+`}`), "config.json")
			if err != nil {
				t.Fatal(err)
			}
			if wrong := want("weight bits", s.WeightBits, c.weight) + want("activation bits", s.ActivationBits, c.activation) + want("KV bytes", s.KVElementBytes, c.kv); wrong != "" || s.ScaleBits != c.scale {
				t.Errorf("%sscales %v bits, want %v", wrong, s.ScaleBits, c.scale)
			}
			if got := float64(s.Counts().ResidentWeightBytes()) / 1e9; c.gb != 0 && math.Abs(got-c.gb) > 0.01*c.gb {
				t.Errorf("weights take %.3f GB, published %.2f", got, c.gb)
			}
			if s.NotModelled != nil {
				t.Errorf("not modelled: %q", s.NotModelled)
			}
		})
	}
}
