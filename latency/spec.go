package latency

// ModelSpec describes a transformer well enough to count its work. All counts
// are of the whole model, whatever the number of GPUs it is split over.
//
// Symbols of the formulas: h hidden, n_l layers, n_h heads, q = heads·head
// dimension, kv = KV heads·head dimension, f intermediate size, n_p matrices
// per MLP, E experts, k of them active per token, V vocabulary, b bytes per
// weight; of latent attention r_q, r_kv the ranks and d_n, d_r, d_v the parts
// of a head.
type ModelSpec struct {
	Name    string   // Hugging Face id, or the file that it was read from
	Aliases []string // other names that FindModel knows it by
	Source  string   // where the numbers come from

	// NotModelled names properties of the model that the counts ignore, a few words
	// each for the user: "sliding window of 4096 tokens: …".
	NotModelled []string

	Hidden  int64 // h
	Layers  int64 // n_l
	Heads   int64 // n_h, query heads
	KVHeads int64 // 1 for MQA and for latent attention, = Heads for MHA
	HeadDim int64 // of queries and keys; need not be h/Heads

	// Multi-head latent attention (DeepSeek's MLA): keys and values of all heads
	// are made from one short vector per token, and only that vector and a key
	// for the position are in the KV cache. LatentRank 0 is ordinary attention,
	// and the others are 0 then.
	LatentRank int64 // r_kv, width of that vector
	QueryRank  int64 // r_q; 0: queries are projected in one step
	NopeDim    int64 // d_n, the part of HeadDim without rotary position
	RopeDim    int64 // d_r, the part with it; all heads share its key
	ValueDim   int64 // d_v

	// Sliding windows. A token of WindowLayers layers attends to at most Window keys,
	// its own among them. Both are 0 for a model without.
	WindowLayers int64
	Window       int64 // tokens

	Intermediate int64 // f of a dense layer
	MLPMatrices  int64 // n_p: 3 gated (SwiGLU, GeGLU), 2 plain

	Experts            int64 // E; 0: dense
	ActiveExperts      int64 // k
	ExpertIntermediate int64 // f of one expert
	SharedIntermediate int64 // f of all shared experts together, always computed
	DenseLayers        int64 // layers of an MoE model that have a dense MLP

	Vocab          int64 // V
	TiedEmbeddings bool  // the head is the embedding matrix, stored once

	ElementBytes   int64   // of embeddings, head and activations
	WeightBits     int64   // of the weights of attention and MLP; below 8·ElementBytes when quantised
	ScaleBits      float64 // per such weight, of scales and zero points that a group shares
	ActivationBits int64   // of the operands of their products: 8 uses the FP8 peak, 4 the FP4 peak
	KVElementBytes int64   // of one number in the KV cache

	// Parts of the layers with other widths than WeightBits, ScaleBits and
	// ActivationBits: many checkpoints quantise the experts alone.
	MLPWidth    PartWidth // of dense MLPs and shared experts; zero: as attention
	ExpertWidth PartWidth // of the experts that tokens choose; zero: as dense MLPs

	MaxPosition int64 // max_position_embeddings; 0 when the description has none

	// Reshaped: flags changed widths of the description (Served), so that a set for
	// the name of the model need not be for this model.
	Reshaped bool
}

// PartWidth is how wide the weights of a part of the layers are, and the operands of
// their products. Its fields are as in ModelSpec. The zero value stands for the
// widths of another part.
type PartWidth struct {
	WeightBits     int64
	ScaleBits      float64
	ActivationBits int64
}

// bits returns the bits of a weight with its share of the scales.
func (w PartWidth) bits() float64 { return float64(w.WeightBits) + w.ScaleBits }

// isMXFP4 reports whether weights are in the format MXFP4, with one scale of 8 bits
// for 32 of them. Integers with one scale of 16 bits for 64 look the same.
func (w PartWidth) isMXFP4() bool { return w.WeightBits == 4 && w.ScaleBits == 8.0/32 }

// AttentionKind says which queries of a model share keys and values.
type AttentionKind string

// Kinds of attention.
const (
	MultiHead    AttentionKind = "MHA" // each query head has its own
	GroupedQuery AttentionKind = "GQA" // several query heads share a KV head
	MultiQuery   AttentionKind = "MQA" // all query heads share one
	Latent       AttentionKind = "MLA" // all are made from one latent vector
)

// Attention is the kind of attention.
func (s *ModelSpec) Attention() AttentionKind {
	switch {
	case s.LatentRank != 0:
		return Latent
	case s.KVHeads == s.Heads:
		return MultiHead
	case s.KVHeads == 1:
		return MultiQuery
	}
	return GroupedQuery
}

// Limits that keep every count within int64 and float64's exact range; the
// largest models of 2025 are below a hundredth of them.
const (
	maxHidden, maxLayers, maxHeads, maxHeadDim = 1 << 17, 1 << 11, 1 << 12, 1 << 13
	maxIntermediate, maxExperts, maxVocab      = 1 << 22, 1 << 12, 1 << 24
	maxRank                                    = 1 << 16
	maxWindow                                  = 1<<31 - 1
	maxParameters                              = 1e14
)

// Validate returns one error that names every impossible field, by its name in
// config.json.
func (s *ModelSpec) Validate() error {
	var p problems
	checkModel(s, &p)
	return p.err("model " + s.Name)
}

func checkModel(s *ModelSpec, p *problems) {
	p.between("hidden_size", s.Hidden, 1, maxHidden)
	p.between("num_hidden_layers", s.Layers, 1, maxLayers)
	p.between("num_attention_heads", s.Heads, 1, maxHeads)
	checkAttention(s, p)
	checkWindow(s, p)
	p.between("vocab_size", s.Vocab, 1, maxVocab)
	if s.Experts == 0 || s.DenseLayers > 0 {
		p.between("intermediate_size", s.Intermediate, 1, maxIntermediate)
	}
	p.between("MLP matrices", s.MLPMatrices, 2, 3)
	checkExperts(s, p)
	p.between("bytes per element", s.ElementBytes, 1, 8)
	checkWidth("", PartWidth{s.WeightBits, s.ScaleBits, s.ActivationBits}, p)
	if s.MLPWidth != (PartWidth{}) {
		checkWidth("MLP: ", s.MLPWidth, p)
	}
	if s.ExpertWidth != (PartWidth{}) {
		checkWidth("experts: ", s.ExpertWidth, p)
	}
	p.between("bytes per KV element", s.KVElementBytes, 1, 8)
	p.between("max_position_embeddings", s.MaxPosition, 0, 1<<31-1)
	if n := s.Counts().parameterEstimate(); len(p.texts) == 0 && n > maxParameters {
		p.add("parameters", "would be %.3g in all, want at most %.0g", n, float64(maxParameters))
	}
}

// checkWidth checks the widths of the part that the prefix names.
func checkWidth(part string, w PartWidth, p *problems) {
	p.between(part+"bits per weight", w.WeightBits, 1, 64)
	p.notNegative(part+"bits of scales per weight", w.ScaleBits)
	if w.ScaleBits > 64 {
		p.add(part+"bits of scales per weight", "is %g, want at most 64", w.ScaleBits)
	}
	p.between(part+"bits per activation", w.ActivationBits, 4, 64)
}

func checkAttention(s *ModelSpec, p *problems) {
	if s.LatentRank == 0 {
		p.between("num_key_value_heads", s.KVHeads, 1, maxHeads)
		if s.Heads > 0 && s.KVHeads > 0 && s.Heads%s.KVHeads != 0 {
			p.add("num_key_value_heads", "is %d, want a divisor of num_attention_heads %d", s.KVHeads, s.Heads)
		}
		p.between("head_dim", s.HeadDim, 1, maxHeadDim)
		if s.QueryRank|s.NopeDim|s.RopeDim|s.ValueDim != 0 {
			p.add("kv_lora_rank", "is 0, but other fields of latent attention are not")
		}
		return
	}
	p.between("kv_lora_rank", s.LatentRank, 1, maxRank)
	p.between("q_lora_rank", s.QueryRank, 0, maxRank)
	p.between("qk_nope_head_dim", s.NopeDim, 1, maxHeadDim)
	p.between("qk_rope_head_dim", s.RopeDim, 1, maxHeadDim)
	p.between("v_head_dim", s.ValueDim, 1, maxHeadDim)
	// These two follow from the others. They are here for readers to which the
	// kind does not matter.
	if s.KVHeads != 1 {
		p.add("num_key_value_heads", "is %d, want 1: all heads share the latent vector", s.KVHeads)
	}
	if s.HeadDim != s.NopeDim+s.RopeDim {
		p.add("head_dim", "is %d, want qk_nope_head_dim + qk_rope_head_dim", s.HeadDim)
	}
}

func checkWindow(s *ModelSpec, p *problems) {
	p.between("layers with a sliding window", s.WindowLayers, 0, max(0, s.Layers))
	switch {
	case s.WindowLayers > 0:
		p.between("sliding_window", s.Window, 1, maxWindow)
	case s.Window != 0:
		p.add("sliding_window", "is %d, but no layer has a window", s.Window)
	}
}

func checkExperts(s *ModelSpec, p *problems) {
	p.between("num_local_experts", s.Experts, 0, maxExperts)
	if s.Experts <= 0 {
		return
	}
	p.between("num_experts_per_tok", s.ActiveExperts, 1, s.Experts)
	p.between("moe_intermediate_size", s.ExpertIntermediate, 1, maxIntermediate)
	p.between("shared expert intermediate size", s.SharedIntermediate, 0, maxIntermediate)
	p.between("dense layers", s.DenseLayers, 0, max(0, s.Layers-1))
}

// Kind is "dense" or "moe".
func (s *ModelSpec) Kind() string {
	if s.Experts > 0 {
		return "moe"
	}
	return "dense"
}
