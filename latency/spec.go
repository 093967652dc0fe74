package latency

// ModelSpec describes a transformer well enough to count its work. All counts
// are of the whole model, whatever the number of GPUs it is split over.
//
// Symbols of the formulas below: h hidden, n_l layers, q = heads·head
// dimension, kv = KV heads·head dimension, f intermediate size, n_p matrices
// per MLP, E experts, k of them active per token, V vocabulary, b bytes per
// weight.
type ModelSpec struct {
	Name    string   // Hugging Face id, or the file that it was read from
	Aliases []string // other names that FindModel knows it by
	Source  string   // where the numbers come from

	Hidden  int64 // h
	Layers  int64 // n_l
	Heads   int64 // query heads
	KVHeads int64 // 1 for MQA, = Heads for MHA
	HeadDim int64 // need not be h/Heads

	Intermediate int64 // f of a dense layer
	MLPMatrices  int64 // n_p: 3 gated (SwiGLU, GeGLU), 2 plain

	Experts            int64 // E; 0: dense
	ActiveExperts      int64 // k
	ExpertIntermediate int64 // f of one expert
	SharedIntermediate int64 // f of all shared experts together, always computed
	DenseLayers        int64 // layers of an MoE model that have a dense MLP

	Vocab          int64 // V
	TiedEmbeddings bool  // the head is the embedding matrix, stored once

	ElementBytes   int64 // of embeddings, head and activations
	WeightBits     int64 // of the weights of attention and MLP; below 8·ElementBytes when quantised
	ActivationBits int64 // of the operands of their products: 8 uses the FP8 peak
	KVElementBytes int64 // of one number in the KV cache

	MaxPosition int64 // max_position_embeddings; 0 when the description has none
}

// Limits that keep every count below within int64 and float64's exact range;
// the largest models of 2025 are below a hundredth of them.
const (
	maxHidden, maxLayers, maxHeads, maxHeadDim = 1 << 17, 1 << 11, 1 << 12, 1 << 13
	maxIntermediate, maxExperts, maxVocab      = 1 << 22, 1 << 12, 1 << 24
	maxParameters                              = 1e14
)

// Validate returns one error that names every impossible field, by its name in
// config.json.
func (s *ModelSpec) Validate() error {
	var p problems
	s.check(&p)
	return p.err("model " + s.Name)
}

func (s *ModelSpec) check(p *problems) {
	p.between("hidden_size", s.Hidden, 1, maxHidden)
	p.between("num_hidden_layers", s.Layers, 1, maxLayers)
	p.between("num_attention_heads", s.Heads, 1, maxHeads)
	p.between("num_key_value_heads", s.KVHeads, 1, maxHeads)
	if s.Heads > 0 && s.KVHeads > 0 && s.Heads%s.KVHeads != 0 {
		p.add("num_key_value_heads", "is %d, want a divisor of num_attention_heads %d", s.KVHeads, s.Heads)
	}
	p.between("head_dim", s.HeadDim, 1, maxHeadDim)
	p.between("vocab_size", s.Vocab, 1, maxVocab)
	if s.Experts == 0 || s.DenseLayers > 0 {
		p.between("intermediate_size", s.Intermediate, 1, maxIntermediate)
	}
	p.between("MLP matrices", s.MLPMatrices, 2, 3)
	p.between("num_local_experts", s.Experts, 0, maxExperts)
	if s.Experts > 0 {
		p.between("num_experts_per_tok", s.ActiveExperts, 1, s.Experts)
		p.between("moe_intermediate_size", s.ExpertIntermediate, 1, maxIntermediate)
		p.between("shared expert intermediate size", s.SharedIntermediate, 0, maxIntermediate)
		p.between("dense layers", s.DenseLayers, 0, max(0, s.Layers))
	}
	p.between("bytes per element", s.ElementBytes, 1, 8)
	p.between("bits per weight", s.WeightBits, 1, 64)
	p.between("bits per activation", s.ActivationBits, 4, 64)
	p.between("bytes per KV element", s.KVElementBytes, 1, 8)
	p.between("max_position_embeddings", s.MaxPosition, 0, 1<<31-1)
	if n := s.parameterEstimate(); len(p.texts) == 0 && n > maxParameters {
		p.add("parameters", "would be %.3g in all, want at most %.0g", n, float64(maxParameters))
	}
}

// q and kv are the widths of the queries and of keys or values.
func (s *ModelSpec) q() int64  { return s.Heads * s.HeadDim }
func (s *ModelSpec) kv() int64 { return s.KVHeads * s.HeadDim }

// split returns the numbers of dense and of MoE layers.
func (s *ModelSpec) split() (dense, moe int64) {
	if s.Experts == 0 {
		return s.Layers, 0
	}
	return s.DenseLayers, s.Layers - s.DenseLayers
}

// Weights per matrix group, in elements.
func (s *ModelSpec) attentionWeights() int64 { return s.Hidden*(s.q()+2*s.kv()) + s.q()*s.Hidden }
func (s *ModelSpec) denseWeights() int64     { return s.MLPMatrices * s.Hidden * s.Intermediate }
func (s *ModelSpec) sharedWeights() int64    { return s.MLPMatrices * s.Hidden * s.SharedIntermediate }
func (s *ModelSpec) expertWeights() int64    { return s.MLPMatrices * s.Hidden * s.ExpertIntermediate }
func (s *ModelSpec) routerWeights() int64    { return s.Hidden * s.Experts }
func (s *ModelSpec) headWeights() int64      { return s.Hidden * s.Vocab }

// AttentionFLOPs is the work of the projections of one layer for one token:
// 2h(q + 2kv) + 2qh. The products of queries and keys are not in it.
func (s *ModelSpec) AttentionFLOPs() int64 { return 2 * s.attentionWeights() }

// MLPFLOPs is the work of one layer's MLP for one token: n_p·2hf, and for an
// MoE layer k·n_p·2h·f_expert + 2hE plus its shared experts.
func (s *ModelSpec) MLPFLOPs() int64 {
	if s.Experts == 0 {
		return 2 * s.denseWeights()
	}
	return 2 * (s.ActiveExperts*s.expertWeights() + s.sharedWeights() + s.routerWeights())
}

// HeadFLOPs is the work of the output head for one row: 2hV.
func (s *ModelSpec) HeadFLOPs() int64 { return 2 * s.headWeights() }

// LayerFLOPs is the work of all layers for one token, without the head.
func (s *ModelSpec) LayerFLOPs() int64 {
	dense, moe := s.split()
	flops := s.Layers*s.AttentionFLOPs() + dense*2*s.denseWeights()
	if moe > 0 {
		flops += moe * s.MLPFLOPs()
	}
	return flops
}

// LinearFLOPs is LayerFLOPs with the head.
func (s *ModelSpec) LinearFLOPs() int64 { return s.LayerFLOPs() + s.HeadFLOPs() }

// PrefillPairFLOPs and DecodePairFLOPs are the work of attention per pair of
// query and key over all layers: 4·n_l·q, a multiplication and an addition
// each for scores and values.
func (s *ModelSpec) PrefillPairFLOPs() int64 { return 4 * s.Layers * s.q() }

// DecodePairFLOPs is the same in decode.
func (s *ModelSpec) DecodePairFLOPs() int64 { return 4 * s.Layers * s.q() }

// KVBytesPerToken is what one token takes in the KV caches of all tp GPUs
// together: 2·n_l·kv·b_kv, and tp/KVHeads times that when there are more GPUs
// than KV heads and heads are replicated.
func (s *ModelSpec) KVBytesPerToken(tp int) int64 {
	bytes := 2 * s.Layers * s.kv() * s.KVElementBytes
	if int64(tp) > s.KVHeads {
		bytes = bytes / s.KVHeads * int64(tp)
	}
	return bytes
}

// Parameters is the number of weights: projections, MLPs, all experts and
// their routers, norms, embeddings and, unless tied, the head. Biases are left
// out.
func (s *ModelSpec) Parameters() int64 {
	return s.layerWeights() + s.plainWeights()
}

// layerWeights are the weights that quantisation applies to.
func (s *ModelSpec) layerWeights() int64 {
	dense, moe := s.split()
	return s.Layers*s.attentionWeights() + dense*s.denseWeights() + moe*(s.Experts*s.expertWeights()+s.sharedWeights())
}

// plainWeights are those that it leaves alone: embeddings, head, routers, norms.
func (s *ModelSpec) plainWeights() int64 {
	_, moe := s.split()
	n := s.headWeights() + moe*s.routerWeights() + (2*s.Layers+1)*s.Hidden
	if !s.TiedEmbeddings {
		n += s.headWeights()
	}
	return n
}

// parameterEstimate is Parameters in float64, safe for absurd sizes. It is only
// compared with a bound, so its last bits do not matter.
func (s *ModelSpec) parameterEstimate() float64 {
	h := float64(s.Hidden)
	experts := float64(float64(s.Experts) * float64(s.ExpertIntermediate))
	perLayer := float64(h*float64(2*(s.q()+s.kv()))) + float64(h*float64(s.MLPMatrices)*(float64(s.Intermediate+s.SharedIntermediate)+experts))
	return float64(float64(s.Layers)*perLayer) + float64(2*h*float64(s.Vocab))
}

// ResidentWeightBytes is the memory that the weights take on all GPUs
// together, everything counted. Scales of quantised weights are left out.
func (s *ModelSpec) ResidentWeightBytes() int64 {
	return (s.layerWeights()*s.WeightBits+7)/8 + s.plainWeights()*s.ElementBytes
}

// StreamedWeightBytes is what a step over b scheduled tokens reads of the
// weights: every layer once, the head, and of the experts the share that b
// tokens are expected to touch, 1 − (1 − k/E)^b. 0 tokens read nothing.
func (s *ModelSpec) StreamedWeightBytes(b int64) float64 {
	if b <= 0 {
		return 0
	}
	return s.alwaysStreamed() + float64(s.expertBytes()*s.expertShare(b))
}

// alwaysStreamed are the weight bytes of every step that are not experts'.
func (s *ModelSpec) alwaysStreamed() float64 {
	dense, moe := s.split()
	layers := s.Layers*s.attentionWeights() + dense*s.denseWeights() + moe*s.sharedWeights()
	return float64(float64(layers)*float64(s.WeightBits)/8) + float64(s.headWeights()*s.ElementBytes)
}

// expertBytes are the weight bytes of all experts of all layers.
func (s *ModelSpec) expertBytes() float64 {
	_, moe := s.split()
	return float64(moe*s.Experts*s.expertWeights()) * float64(s.WeightBits) / 8
}

// expertShare is the expected share of experts that b tokens touch.
func (s *ModelSpec) expertShare(b int64) float64 {
	if s.Experts == 0 {
		return 0
	}
	return 1 - float64(power(1-float64(s.ActiveExperts)/float64(s.Experts), b))
}

// power is x^n by squaring: only multiplications, so the same bits everywhere,
// which math.Pow does not promise.
func power(x float64, n int64) float64 {
	result := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result = float64(result * x)
		}
		x = float64(x * x)
	}
	return result
}
