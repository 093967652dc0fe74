package latency

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ParseModel reads a Hugging Face config.json: dense, GQA, MQA and MoE
// decoders, also inside the text_config of a multimodal model. file is the
// name for errors and becomes the Name of the result. One error names every
// bad field. Fields that say nothing about work are ignored, activation names
// among them: whether an MLP has two or three matrices follows from the model
// type.
//
// Counted as full attention: sliding windows and hybrids. Refused: multi-head
// latent attention. Rotary scaling does not lengthen max_position_embeddings.
func ParseModel(data []byte, file string) (ModelSpec, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(data, &top); err != nil {
		return ModelSpec{}, jsonError(err, data, file)
	}
	c := config{levels: []map[string]json.RawMessage{top}}
	if raw, ok := top["text_config"]; ok {
		var text map[string]json.RawMessage
		if json.Unmarshal(raw, &text) != nil {
			c.problems.add("text_config", "is not an object")
		}
		c.levels = []map[string]json.RawMessage{text, top}
	}
	s := c.spec()
	s.Name, s.Source = file, "config.json"
	s.check(&c.problems)
	if err := c.problems.err(file); err != nil {
		return ModelSpec{}, err
	}
	return s, nil
}

// jsonError says on which line the file stops being JSON.
func jsonError(err error, data []byte, file string) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
		return fmt.Errorf("%s:%d: not valid JSON: %v", file, line, err)
	}
	return fmt.Errorf("%s: want a JSON object with the fields of a Hugging Face config.json", file)
}

// config looks fields up in the levels of a config.json, innermost first, and
// notes what is wrong with them.
type config struct {
	levels   []map[string]json.RawMessage
	problems problems
}

// Model types whose MLP has two matrices, and whose configuration class ties
// head and embeddings when the file does not say (transformers' defaults).
var (
	plainMLP = []string{"bloom", "falcon", "gpt2", "gpt_bigcode", "gpt_neo", "gpt_neox", "gptj", "mpt", "opt", "phi", "starcoder2"}
	tied     = []string{"bloom", "cohere", "cohere2", "falcon", "gemma", "gemma2", "gemma3", "gemma3_text", "gpt2", "gpt_bigcode", "opt", "starcoder2"}
)

func (c *config) spec() ModelSpec {
	kind := c.text("model_type")
	s := ModelSpec{
		Hidden:       c.integer(0, "hidden_size", "n_embd", "d_model"),
		Layers:       c.integer(0, "num_hidden_layers", "n_layer", "n_layers"),
		Heads:        c.integer(0, "num_attention_heads", "n_head", "n_heads"),
		Intermediate: c.integer(0, "intermediate_size", "n_inner", "ffn_dim"),
		Vocab:        c.integer(0, "vocab_size"),
		MaxPosition:  c.integer(0, "max_position_embeddings", "n_positions", "max_seq_len", "seq_length"),
		MLPMatrices:  3,
	}
	if slices.Contains(plainMLP, kind) {
		s.MLPMatrices = 2
		if s.Intermediate == 0 { // these types leave it out when it is 4h
			s.Intermediate = 4 * s.Hidden
		}
	}
	kvHeads := max(1, s.Heads) // a missing number of heads is not reported twice
	if c.flag(false, "multi_query") {
		kvHeads = 1
	}
	s.KVHeads = c.integer(kvHeads, "num_key_value_heads", "num_kv_heads", "n_head_kv")
	s.HeadDim = c.headDim(&s)
	s.TiedEmbeddings = c.flag(slices.Contains(tied, kind), "tie_word_embeddings")
	if c.find("kv_lora_rank") != nil {
		c.problems.add("kv_lora_rank", "means multi-head latent attention, which is not modelled")
	}
	c.elements(&s)
	c.quantisation(&s)
	c.experts(&s, kind)
	return s
}

// headDim is head_dim, else h/heads, which must then come out even.
func (c *config) headDim(s *ModelSpec) int64 {
	if s.Heads <= 0 || s.Hidden <= 0 {
		return c.integer(1, "head_dim")
	}
	dim := c.integer(0, "head_dim")
	if dim == 0 && s.Hidden%s.Heads != 0 {
		c.problems.add("head_dim", "is not given and hidden_size %d is no multiple of num_attention_heads %d", s.Hidden, s.Heads)
	}
	if dim == 0 {
		dim = max(1, s.Hidden/s.Heads)
	}
	return dim
}

// elements reads the type of weights and activations. vLLM serves float32
// checkpoints in 16 bits unless told otherwise, and so does this.
func (c *config) elements(s *ModelSpec) {
	name := c.text("torch_dtype", "dtype")
	switch strings.TrimPrefix(name, "torch.") {
	case "", "auto", "bfloat16", "float16", "half", "float32", "float":
	default:
		c.problems.add("torch_dtype", "is %q, want bfloat16, float16 or float32", name)
	}
	s.ElementBytes, s.WeightBits, s.ActivationBits, s.KVElementBytes = 2, 16, 16, 2
}

// quantisation reads the width of quantised weights and of the activations
// that meet them. One width counts for all layers; layers that a scheme skips
// are not told apart.
func (c *config) quantisation(s *ModelSpec) {
	raw := c.find("quantization_config", "compression_config")
	if raw == nil {
		return
	}
	type width struct {
		Bits int64 `json:"num_bits"`
	}
	var q struct {
		Method string `json:"quant_method"`
		Bits   int64  `json:"bits"`
		Load4  bool   `json:"load_in_4bit"`
		Load8  bool   `json:"load_in_8bit"`
		Groups map[string]struct {
			Weights     *width `json:"weights"`
			Activations *width `json:"input_activations"`
		} `json:"config_groups"`
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		c.problems.add("quantization_config", "is not understood: want quant_method with bits or config_groups")
		return
	}
	switch {
	case q.Method == "fp8" || q.Method == "fbgemm_fp8":
		s.WeightBits, s.ActivationBits = 8, 8
	case q.Method == "mxfp4":
		s.WeightBits = 4
	case q.Bits > 0:
		s.WeightBits = q.Bits
	case q.Load4:
		s.WeightBits = 4
	case q.Load8:
		s.WeightBits = 8
	case len(q.Groups) > 0:
		var weights, activations int64
		// In any order: the widest of all groups counts.
		for _, g := range q.Groups {
			if g.Weights != nil {
				weights = max(weights, g.Weights.Bits)
			}
			if g.Activations != nil {
				activations = max(activations, g.Activations.Bits)
			}
		}
		if weights < 1 || weights > 16 {
			c.problems.add("quantization_config", "has weights of %d bits in config_groups, want 1 to 16", weights)
		}
		s.WeightBits = weights
		if activations > 0 {
			s.ActivationBits = activations
		}
	default:
		c.problems.add("quantization_config", "gives no width: want bits, config_groups, or a quant_method among fp8, fbgemm_fp8, mxfp4 (it is %q)", q.Method)
	}
}

// experts reads the MoE fields. Which layers have experts is counted, not
// listed: their order changes no sum.
func (c *config) experts(s *ModelSpec, kind string) {
	s.Experts = c.integer(0, "num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
	if s.Experts == 0 {
		return
	}
	s.ActiveExperts = c.integer(0, "num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_topk", "moe_top_k")
	s.ExpertIntermediate = c.integer(s.Intermediate, "moe_intermediate_size")
	if s.ExpertIntermediate <= 1<<30 {
		s.SharedIntermediate = min(c.integer(0, "n_shared_experts", "num_shared_experts"), 1<<30) * s.ExpertIntermediate
	}
	s.SharedIntermediate = c.integer(s.SharedIntermediate, "shared_expert_intermediate_size")
	s.DenseLayers = c.integer(0, "first_k_dense_replace") + c.listLength("mlp_only_layers")
	if step := c.integer(1, "interleave_moe_layer_step", "decoder_sparse_step"); step > 1 {
		s.DenseLayers = s.Layers - s.Layers/step
	}
	if kind == "llama4_text" || kind == "llama4" { // one shared expert; dense layers have a size of their own
		s.SharedIntermediate = s.ExpertIntermediate
		s.Intermediate = c.integer(s.Intermediate, "intermediate_size_mlp")
	}
}

// find returns the first of the names that has a value, nil when none has.
func (c *config) find(names ...string) json.RawMessage {
	for _, level := range c.levels {
		for _, name := range names {
			if raw, ok := level[name]; ok && string(raw) != "null" {
				return raw
			}
		}
	}
	return nil
}

// integer is the value of the first name that has one; otherwise is what the
// format says when none has. Problems go under the first name.
func (c *config) integer(otherwise int64, names ...string) int64 {
	raw := c.find(names...)
	if raw == nil {
		return otherwise
	}
	v, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		c.problems.add(names[0], "is %s, want an integer", excerpt(raw))
		return otherwise
	}
	return v
}

func (c *config) flag(otherwise bool, name string) bool {
	raw := c.find(name)
	if raw == nil {
		return otherwise
	}
	var v bool
	if json.Unmarshal(raw, &v) != nil {
		c.problems.add(name, "is %s, want true or false", excerpt(raw))
	}
	return v
}

func (c *config) text(names ...string) string {
	raw := c.find(names...)
	if raw == nil {
		return ""
	}
	var v string
	if json.Unmarshal(raw, &v) != nil {
		c.problems.add(names[0], "is %s, want a string", excerpt(raw))
	}
	return v
}

func (c *config) listLength(name string) int64 {
	raw := c.find(name)
	if raw == nil {
		return 0
	}
	var v []json.RawMessage
	if json.Unmarshal(raw, &v) != nil {
		c.problems.add(name, "is %s, want a list", excerpt(raw))
	}
	return int64(len(v))
}

// excerpt keeps an error one line long.
func excerpt(raw json.RawMessage) string {
	s := strings.Join(strings.Fields(string(raw)), " ")
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}
