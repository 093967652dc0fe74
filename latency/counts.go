package latency

import "math"

// Counts computes operations, weights and bytes from the shape of a model.
type Counts struct{ of *ModelSpec }

// Counts returns the counts of the model. They follow changes of s.
func (s *ModelSpec) Counts() Counts { return Counts{s} }

// q and kv are the widths of the queries and of keys or values.
func (c Counts) q() int64  { return c.of.Heads * c.of.HeadDim }
func (c Counts) kv() int64 { return c.of.KVHeads * c.of.HeadDim }

// split returns the numbers of dense and of MoE layers.
func (c Counts) split() (dense, moe int64) {
	if c.of.Experts == 0 {
		return c.of.Layers, 0
	}
	return c.of.DenseLayers, c.of.Layers - c.of.DenseLayers
}

// attentionWeights is the number of weights of the projections of one layer. With
// latent attention a token is projected down (to r_q and to r_kv + d_r) and up
// again to the heads.
func (c Counts) attentionWeights() int64 {
	if c.of.LatentRank == 0 {
		return c.of.Hidden*(c.q()+2*c.kv()) + c.q()*c.of.Hidden
	}
	queries := c.of.Hidden * c.q()
	if c.of.QueryRank > 0 {
		queries = c.of.QueryRank * (c.of.Hidden + c.q())
	}
	return queries + c.of.Hidden*(c.of.LatentRank+c.of.RopeDim) + c.of.LatentRank*c.of.Heads*(c.of.NopeDim+c.of.ValueDim) + c.of.Heads*c.of.ValueDim*c.of.Hidden
}

// Weights per matrix group, in elements.
func (c Counts) denseWeights() int64 { return c.of.MLPMatrices * c.of.Hidden * c.of.Intermediate }
func (c Counts) sharedWeights() int64 {
	return c.of.MLPMatrices * c.of.Hidden * c.of.SharedIntermediate
}
func (c Counts) expertWeights() int64 {
	return c.of.MLPMatrices * c.of.Hidden * c.of.ExpertIntermediate
}
func (c Counts) routerWeights() int64 { return c.of.Hidden * c.of.Experts }
func (c Counts) headWeights() int64   { return c.of.Hidden * c.of.Vocab }

// attentionFLOPs is the work of the projections of one layer for one token:
// 2h(q + 2kv) + 2qh, with latent attention
// 2[h·r_q + r_q·n_h(d_n+d_r) + h(r_kv+d_r) + r_kv·n_h(d_n+d_v) + n_h·d_v·h], or
// h·n_h(d_n+d_r) for the first two terms where queries are projected in one
// step. The products of queries and keys are not in it.
func (c Counts) attentionFLOPs() int64 { return 2 * c.attentionWeights() }

// mlpFLOPs is the work of one layer's MLP for one token: n_p·2hf, and for an
// MoE layer k·n_p·2h·f_expert + 2hE plus its shared experts.
func (c Counts) mlpFLOPs() int64 {
	if c.of.Experts == 0 {
		return 2 * c.denseWeights()
	}
	return 2 * (c.of.ActiveExperts*c.expertWeights() + c.sharedWeights() + c.routerWeights())
}

// HeadFLOPs is the work of the output head for one row: 2hV.
func (c Counts) HeadFLOPs() int64 { return 2 * c.headWeights() }

// LayerFLOPs is the work of all layers for one token, without the head.
func (c Counts) LayerFLOPs() int64 {
	dense, moe := c.split()
	flops := c.of.Layers*c.attentionFLOPs() + dense*2*c.denseWeights()
	if moe > 0 {
		flops += moe * c.mlpFLOPs()
	}
	return flops
}

// mlpLayerFLOPs are the parts of LayerFLOPs of dense MLPs and shared experts, and of
// the experts that a token chooses.
func (c Counts) mlpLayerFLOPs() (plain, chosen int64) {
	dense, moe := c.split()
	return 2 * (dense*c.denseWeights() + moe*c.sharedWeights()), 2 * moe * c.of.ActiveExperts * c.expertWeights()
}

// linearFLOPs is LayerFLOPs with the head.
func (c Counts) linearFLOPs() int64 { return c.LayerFLOPs() + c.HeadFLOPs() }

// PrefillPairFLOPs is the work of attention per pair of query and key over all
// layers in prefill: 4·n_l·q, a multiplication and an addition each for scores
// and values. Latent attention first makes keys and values of the heads:
// 2·n_l·n_h(d_n + d_r + d_v). Making them anew for a prompt's part that is
// cached or was prefilled in an earlier step is left out.
func (c Counts) PrefillPairFLOPs() int64 {
	if c.of.LatentRank == 0 {
		return 4 * c.of.Layers * c.q()
	}
	return 2 * c.of.Layers * c.of.Heads * (c.of.NopeDim + c.of.RopeDim + c.of.ValueDim)
}

// DecodePairFLOPs is the same in decode, where latent attention works on the
// latent vectors themselves: 2·n_l·n_h(2r_kv + d_r).
func (c Counts) DecodePairFLOPs() int64 {
	if c.of.LatentRank == 0 {
		return 4 * c.of.Layers * c.q()
	}
	return 2 * c.of.Layers * c.of.Heads * (2*c.of.LatentRank + c.of.RopeDim)
}

// KVBytesPerToken returns the bytes of one token in the KV caches of all tp GPUs
// together: 2·n_l·kv·b_kv, and tp/KVHeads times as many if there are more GPUs than
// KV heads, which are then copied. With latent attention every GPU has the whole
// n_l·(r_kv + d_r)·b_kv.
func (c Counts) KVBytesPerToken(tp int) int64 {
	width := 2 * c.kv()
	if c.of.LatentRank != 0 {
		width = c.of.LatentRank + c.of.RopeDim // and KVHeads is 1
	}
	bytes := c.of.Layers * width * c.of.KVElementBytes
	if int64(tp) > c.of.KVHeads {
		bytes = bytes / c.of.KVHeads * int64(tp)
	}
	return bytes
}

// Parameters is the number of weights: projections, MLPs, all experts and
// their routers, two norms per layer and the norms of latent vectors, embeddings
// and, unless tied, the head. Biases and tables of positions are left out.
func (c Counts) Parameters() int64 {
	return c.layerWeights() + c.plainWeights()
}

// ActiveParameters is Parameters without the experts that one token does not
// use. The embeddings are in it; some publishers leave them out.
func (c Counts) ActiveParameters() int64 {
	_, moe := c.split()
	return c.Parameters() - moe*(c.of.Experts-c.of.ActiveExperts)*c.expertWeights()
}

// layerWeights is the number of weights that quantisation applies to.
func (c Counts) layerWeights() int64 {
	attention, mlp, experts := c.parts()
	return attention + mlp + experts
}

// parts are the numbers of weights of attention, of dense MLPs and shared experts,
// and of experts, over all layers.
func (c Counts) parts() (attention, mlp, experts int64) {
	dense, moe := c.split()
	return c.of.Layers * c.attentionWeights(), dense*c.denseWeights() + moe*c.sharedWeights(), moe * c.of.Experts * c.expertWeights()
}

// plainWeights is the number of weights that are never quantised: embeddings, head,
// routers, norms.
func (c Counts) plainWeights() int64 {
	_, moe := c.split()
	n := c.headWeights() + moe*c.routerWeights() + (2*c.of.Layers+1)*c.of.Hidden + c.of.Layers*(c.of.QueryRank+c.of.LatentRank)
	if !c.of.TiedEmbeddings {
		n += c.headWeights()
	}
	return n
}

// parameterEstimate is Parameters in float64, safe for absurd sizes. It is only
// compared with a bound, so its last bits do not matter.
func (c Counts) parameterEstimate() float64 {
	h := float64(c.of.Hidden)
	experts := float64(float64(c.of.Experts) * float64(c.of.ExpertIntermediate))
	perLayer := float64(c.attentionWeights()) + float64(h*float64(c.of.MLPMatrices)*(float64(c.of.Intermediate+c.of.SharedIntermediate)+experts))
	return float64(float64(c.of.Layers)*perLayer) + float64(2*h*float64(c.of.Vocab))
}

// ResidentWeightBytes is the memory that the weights take on all GPUs
// together, everything counted once: what GPUs keep twice (the projections to
// latent vectors, of KV heads that are fewer than the GPUs, routers, norms) is
// left out.
func (c Counts) ResidentWeightBytes() int64 {
	attention, mlp, experts := c.parts()
	attentionWidth, mlpWidth, expertWidth := c.widths()
	if expertWidth == mlpWidth {
		mlp, experts = mlp+experts, 0
	}
	if mlpWidth == attentionWidth {
		attention, mlp = attention+mlp, 0
	}
	return weightBytes(attention, attentionWidth) + weightBytes(mlp, mlpWidth) + weightBytes(experts, expertWidth) + c.plainWeights()*c.of.ElementBytes
}

// widths returns the widths of attention, of dense MLPs and shared experts, and of
// experts.
func (c Counts) widths() (attention, mlp, experts PartWidth) {
	attention = PartWidth{c.of.WeightBits, c.of.ScaleBits, c.of.ActivationBits}
	mlp, experts = c.of.MLPWidth, c.of.ExpertWidth
	if mlp == (PartWidth{}) {
		mlp = attention
	}
	if experts == (PartWidth{}) {
		experts = mlp
	}
	return attention, mlp, experts
}

// weightBytes is the memory of n weights of a width, with their scales.
func weightBytes(n int64, w PartWidth) int64 {
	return (n*w.WeightBits+7)/8 + int64(math.Ceil(float64(float64(n)*w.ScaleBits)/8))
}

// StreamedWeightBytes returns the bytes of weights that a step over b scheduled
// tokens reads: every layer once, the head, and the expected share of experts that b
// tokens use, 1 − (1 − k/E)^b. 0 tokens read nothing.
func (c Counts) StreamedWeightBytes(b int64) float64 {
	if b <= 0 {
		return 0
	}
	return c.alwaysStreamed() + float64(c.expertBytes()*c.expertShare(b))
}

// alwaysStreamed are the weight bytes of every step that are not experts'.
func (c Counts) alwaysStreamed() float64 {
	attention, mlp, _ := c.parts()
	attentionWidth, mlpWidth, _ := c.widths()
	if mlpWidth == attentionWidth {
		attention, mlp = attention+mlp, 0
	}
	layers := float64(float64(attention)*attentionWidth.bits()/8) + float64(float64(mlp)*mlpWidth.bits()/8)
	return layers + float64(c.headWeights()*c.of.ElementBytes)
}

// expertBytes are the weight bytes of all experts of all layers.
func (c Counts) expertBytes() float64 {
	_, _, experts := c.parts()
	_, _, width := c.widths()
	return float64(experts) * width.bits() / 8
}

// expertShare returns the expected share of experts that b tokens use.
func (c Counts) expertShare(b int64) float64 {
	if c.of.Experts == 0 {
		return 0
	}
	return 1 - float64(power(1-float64(c.of.ActiveExperts)/float64(c.of.Experts), b))
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

// features are all counts and fields that the features of physics depend on.
func (c Counts) features() [28]float64 {
	attention, mlp, experts := c.widths()
	inAttention, inMLPs, inExperts := c.parts()
	_, moe := c.split()
	return [...]float64{
		float64(c.LayerFLOPs()), float64(c.HeadFLOPs()), float64(c.PrefillPairFLOPs()), float64(c.DecodePairFLOPs()),
		float64(c.KVBytesPerToken(1)), c.alwaysStreamed(), c.expertBytes(), float64(c.of.Experts), float64(c.of.ActiveExperts),
		float64(c.of.Heads), float64(c.of.KVHeads), float64(c.of.Hidden * c.of.ElementBytes),
		float64(c.of.ActivationBits), float64(mlp.ActivationBits), float64(experts.ActivationBits),
		float64(c.of.WindowLayers), float64(c.of.Window),
		float64(c.of.Layers), float64(moe), float64(inAttention), float64(inMLPs), float64(inExperts),
		float64(attention.WeightBits), float64(mlp.WeightBits), float64(experts.WeightBits),
		attention.ScaleBits, mlp.ScaleBits, experts.ScaleBits,
	}
}
