package latency

import "math"

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

// attentionWeights is the number of weights of the projections of one layer. With
// latent attention a token is projected down (to r_q and to r_kv + d_r) and up
// again to the heads.
func (s *ModelSpec) attentionWeights() int64 {
	if s.LatentRank == 0 {
		return s.Hidden*(s.q()+2*s.kv()) + s.q()*s.Hidden
	}
	queries := s.Hidden * s.q()
	if s.QueryRank > 0 {
		queries = s.QueryRank * (s.Hidden + s.q())
	}
	return queries + s.Hidden*(s.LatentRank+s.RopeDim) + s.LatentRank*s.Heads*(s.NopeDim+s.ValueDim) + s.Heads*s.ValueDim*s.Hidden
}

// Weights per matrix group, in elements.
func (s *ModelSpec) denseWeights() int64  { return s.MLPMatrices * s.Hidden * s.Intermediate }
func (s *ModelSpec) sharedWeights() int64 { return s.MLPMatrices * s.Hidden * s.SharedIntermediate }
func (s *ModelSpec) expertWeights() int64 { return s.MLPMatrices * s.Hidden * s.ExpertIntermediate }
func (s *ModelSpec) routerWeights() int64 { return s.Hidden * s.Experts }
func (s *ModelSpec) headWeights() int64   { return s.Hidden * s.Vocab }

// AttentionFLOPs is the work of the projections of one layer for one token:
// 2h(q + 2kv) + 2qh, with latent attention
// 2[h·r_q + r_q·n_h(d_n+d_r) + h(r_kv+d_r) + r_kv·n_h(d_n+d_v) + n_h·d_v·h], or
// h·n_h(d_n+d_r) for the first two terms where queries are projected in one
// step. The products of queries and keys are not in it.
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

// PrefillPairFLOPs is the work of attention per pair of query and key over all
// layers in prefill: 4·n_l·q, a multiplication and an addition each for scores
// and values. Latent attention first makes keys and values of the heads:
// 2·n_l·n_h(d_n + d_r + d_v). Making them anew for a prompt's part that is
// cached or was prefilled in an earlier step is left out.
func (s *ModelSpec) PrefillPairFLOPs() int64 {
	if s.LatentRank == 0 {
		return 4 * s.Layers * s.q()
	}
	return 2 * s.Layers * s.Heads * (s.NopeDim + s.RopeDim + s.ValueDim)
}

// DecodePairFLOPs is the same in decode, where latent attention works on the
// latent vectors themselves: 2·n_l·n_h(2r_kv + d_r).
func (s *ModelSpec) DecodePairFLOPs() int64 {
	if s.LatentRank == 0 {
		return 4 * s.Layers * s.q()
	}
	return 2 * s.Layers * s.Heads * (2*s.LatentRank + s.RopeDim)
}

// KVBytesPerToken is what one token takes in the KV caches of all tp GPUs
// together: 2·n_l·kv·b_kv, and tp/KVHeads times that when there are more GPUs
// than KV heads and heads are replicated. With latent attention every GPU has
// the whole n_l·(r_kv + d_r)·b_kv.
func (s *ModelSpec) KVBytesPerToken(tp int) int64 {
	width := 2 * s.kv()
	if s.LatentRank != 0 {
		width = s.LatentRank + s.RopeDim // and KVHeads is 1
	}
	bytes := s.Layers * width * s.KVElementBytes
	if int64(tp) > s.KVHeads {
		bytes = bytes / s.KVHeads * int64(tp)
	}
	return bytes
}

// Parameters is the number of weights: projections, MLPs, all experts and
// their routers, two norms per layer and the norms of latent vectors, embeddings
// and, unless tied, the head. Biases and tables of positions are left out.
func (s *ModelSpec) Parameters() int64 {
	return s.layerWeights() + s.plainWeights()
}

// ActiveParameters is Parameters without the experts that one token does not
// use. The embeddings are in it; some publishers leave them out.
func (s *ModelSpec) ActiveParameters() int64 {
	_, moe := s.split()
	return s.Parameters() - moe*(s.Experts-s.ActiveExperts)*s.expertWeights()
}

// layerWeights are the weights that quantisation applies to.
func (s *ModelSpec) layerWeights() int64 {
	dense, moe := s.split()
	return s.Layers*s.attentionWeights() + dense*s.denseWeights() + moe*(s.Experts*s.expertWeights()+s.sharedWeights())
}

// plainWeights are those that it leaves alone: embeddings, head, routers, norms.
func (s *ModelSpec) plainWeights() int64 {
	_, moe := s.split()
	n := s.headWeights() + moe*s.routerWeights() + (2*s.Layers+1)*s.Hidden + s.Layers*(s.QueryRank+s.LatentRank)
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
	perLayer := float64(s.attentionWeights()) + float64(h*float64(s.MLPMatrices)*(float64(s.Intermediate+s.SharedIntermediate)+experts))
	return float64(float64(s.Layers)*perLayer) + float64(2*h*float64(s.Vocab))
}

// ResidentWeightBytes is the memory that the weights take on all GPUs
// together, everything counted once: what GPUs keep twice (the projections to
// latent vectors, of KV heads that are fewer than the GPUs, routers, norms) is
// left out.
func (s *ModelSpec) ResidentWeightBytes() int64 {
	n := s.layerWeights()
	scales := math.Ceil(float64(float64(n)*s.ScaleBits) / 8)
	return (n*s.WeightBits+7)/8 + int64(scales) + s.plainWeights()*s.ElementBytes
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
	return float64(float64(layers)*s.bitsPerWeight()/8) + float64(s.headWeights()*s.ElementBytes)
}

// expertBytes are the weight bytes of all experts of all layers.
func (s *ModelSpec) expertBytes() float64 {
	_, moe := s.split()
	return float64(moe*s.Experts*s.expertWeights()) * s.bitsPerWeight() / 8
}

// bitsPerWeight is what a weight of attention or MLP takes with its share of
// the scales.
func (s *ModelSpec) bitsPerWeight() float64 { return float64(s.WeightBits) + s.ScaleBits }

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
