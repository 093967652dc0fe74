package latency

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ParseModel reads a Hugging Face config.json: dense and MoE decoders with
// ordinary or latent attention, also those inside a multimodal model. file is
// the name for errors and becomes the Name of the result. One error names every
// bad field, fields that contradict each other among them. Fields that say
// nothing about work are ignored, activation names too: whether an MLP has two
// or three matrices follows from the model type, and a type that is not known
// has three.
//
// NotModelled lists properties in the file that the counts ignore: layers without
// attention, multi-token prediction, image encoders. Rotary scaling does not increase
// max_position_embeddings.
func ParseModel(data []byte, file string) (ModelSpec, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(data, &top); err != nil {
		return ModelSpec{}, jsonError(err, data, file)
	}
	c := config{levels: []map[string]json.RawMessage{top}}
	for _, name := range []string{"text_config", "llm_config", "language_config"} {
		if raw, ok := top[name]; ok && string(raw) != "null" {
			var text map[string]json.RawMessage
			if json.Unmarshal(raw, &text) != nil {
				c.problems.add(name, "is not an object")
			}
			c.levels = []map[string]json.RawMessage{text, top}
			break
		}
	}
	c.kind = c.text("model_type")
	s := c.spec()
	s.Name, s.Source = file, "config.json"
	checkModel(&s, &c.problems)
	if err := c.err(file); err != nil {
		return ModelSpec{}, err
	}
	s.NotModelled = c.notModelled(&s)
	return s, nil
}

// jsonError adds the line to an error of the JSON decoder.
func jsonError(err error, data []byte, file string) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
		return fmt.Errorf("%s:%d: not valid JSON: %v", file, line, err)
	}
	return fmt.Errorf("%s: want a JSON object with the fields of a Hugging Face config.json", file)
}

// Facts of transformers' configuration classes that their files may leave out.
var (
	// An MLP of two matrices.
	plainMLP = strings.Fields("apertus arcee bloom codegen falcon gpt2 gpt_bigcode gpt_neo gpt_neox gptj mpt nemotron opt persimmon phi starcoder2")
	// An MLP of 4h.
	fourfoldMLP = strings.Fields("bloom codegen falcon gpt2 gpt_bigcode gpt_neo gptj mpt")
	// Head and embeddings are one matrix.
	tied = strings.Fields("bloom cohere cohere2 falcon gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text gpt2 gpt_bigcode gpt_neo mpt opt starcoder2")
	// One KV head.
	singleKV = strings.Fields("falcon gpt_bigcode")
	// Other numbers.
	classDefaults = map[string]map[string]int64{
		"gemma":  {"head_dim": 256},
		"gemma2": {"head_dim": 256},
		"gemma3_text": {"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 262208,
			"max_position_embeddings": 131072},
	}
	// Names that the first repositories of a type used.
	kindAliases = map[string]string{"RefinedWeb": "falcon", "RefinedWebModel": "falcon"}
)

func (c *config) spec() ModelSpec {
	if alias, ok := kindAliases[c.kind]; ok {
		c.kind = alias
	}
	if c.flag(false, "is_encoder_decoder") {
		c.problems.add("is_encoder_decoder", "is true, want a model that only decodes")
	}
	s := ModelSpec{
		Hidden:       c.needed("hidden_size", "n_embd", "n_embed", "d_model"),
		Layers:       c.needed("num_hidden_layers", "n_layer", "n_layers"),
		Heads:        c.needed("num_attention_heads", "n_head", "n_heads"),
		Intermediate: c.integer(0, "intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"),
		Vocab:        c.needed("vocab_size"),
		MaxPosition:  c.integer(0, "max_position_embeddings", "n_positions", "max_seq_len", "seq_length"),
		MLPMatrices:  3,
	}
	if slices.Contains(plainMLP, c.kind) {
		s.MLPMatrices = 2
	}
	switch {
	case s.Intermediate == 0 && slices.Contains(fourfoldMLP, c.kind):
		s.Intermediate = 4 * s.Hidden
	case c.kind == "qwen": // the first Qwen counts gate and up together
		s.Intermediate /= 2
	}
	s.TiedEmbeddings = c.flag(slices.Contains(tied, c.kind), "tie_word_embeddings")
	c.elements(&s)
	c.attention(&s)
	c.windows(&s)
	c.experts(&s)
	c.quantisation(&s)
	if s.Intermediate == 0 && (s.Experts == 0 || s.DenseLayers > 0) {
		c.needed("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size")
	}
	return s
}

// attention reads heads and their widths.
func (c *config) attention(s *ModelSpec) {
	s.LatentRank = c.integer(0, "kv_lora_rank")
	if s.LatentRank != 0 {
		c.latent(s)
		return
	}
	var given []string
	for _, name := range []string{"q_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim"} {
		if c.integer(0, name) != 0 { // 0 is how a type with both kinds says that it is the ordinary one
			given = append(given, name)
		}
	}
	if given != nil {
		c.problems.add("kv_lora_rank", "is missing beside %s, which are fields of latent attention", strings.Join(given, " and "))
	}
	s.KVHeads = c.kvHeads(s)
	s.HeadDim = c.headDim(s)
}

// latent reads the fields of latent attention. KV heads and head_dim, which
// these files may have too, mean nothing there: the first is the number of
// heads, the second the part with positions.
func (c *config) latent(s *ModelSpec) {
	s.QueryRank = c.integer(0, "q_lora_rank")
	for _, f := range []struct {
		name string
		to   *int64
	}{{"qk_nope_head_dim", &s.NopeDim}, {"qk_rope_head_dim", &s.RopeDim}, {"v_head_dim", &s.ValueDim}} {
		if c.find(f.name) == nil {
			c.problems.add(f.name, "is missing, kv_lora_rank needs it")
		}
		*f.to = c.integer(0, f.name)
	}
	s.KVHeads, s.HeadDim = 1, s.NopeDim+s.RopeDim
}

// kvHeads reads the number of KV heads. Falcon and StarCoder have a switch for
// a single one that wins over any number, but for Falcon's later architecture.
func (c *config) kvHeads(s *ModelSpec) int64 {
	usual := max(1, s.Heads) // a missing number of heads is not reported twice
	single := slices.Contains(singleKV, c.kind)
	if c.flag(single, "multi_query") && !(c.kind == "falcon" && c.flag(false, "new_decoder_architecture")) {
		usual = 1
		if single {
			return 1
		}
	}
	return c.integer(usual, "num_key_value_heads", "num_kv_heads", "n_head_kv")
}

// headDim is head_dim, else h/heads, which must then come out even.
func (c *config) headDim(s *ModelSpec) int64 {
	dim := c.integer(0, "head_dim")
	switch {
	case dim != 0:
		return dim
	case s.Heads <= 0 || s.Hidden <= 0:
		return 1 // what is wrong with these is said elsewhere
	case s.Hidden%s.Heads != 0:
		c.problems.add("head_dim", "is not given and hidden_size %d is no multiple of num_attention_heads %d", s.Hidden, s.Heads)
	}
	return max(1, s.Hidden/s.Heads)
}

// elements reads the type of weights and activations. As in vLLM, float32
// checkpoints are served in 16 bits by default.
func (c *config) elements(s *ModelSpec) {
	name := c.text("torch_dtype", "dtype")
	switch strings.TrimPrefix(name, "torch.") {
	case "", "auto", "bfloat16", "float16", "half", "float32", "float":
	default:
		c.problems.add("torch_dtype", "is %q, want bfloat16, float16 or float32", excerptText(name))
	}
	s.ElementBytes, s.WeightBits, s.ActivationBits, s.KVElementBytes = 2, 16, 16, 2
}
