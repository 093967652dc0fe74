package latency

// secondFeatures computes the features of a step that version 2 of the
// specification adds: 17 to 28. Factors are in seconds, per quantity of the
// batch.
type secondFeatures struct {
	layers, expertLayers float64 // 1 µs per layer
	token                float64 // linear layers per token
	row                  float64 // moving a row of an expert's input in the memory of one GPU
	reduceToken          float64 // all-reduces per token
	fp8                  float64 // reading all experts of 8 bits
	dequantised          float64 // converting the weights of every step, and all experts,
	dequantisedExperts   float64 // at 0.1 ps a weight
	exchanged            float64 // dispatch and combination per token
}

// dequantiseTime is the unit of feature 26: the time of one weight, s.
const dequantiseTime = 1e-13

// smallAllReduce is the number of tokens up to which feature 24 grows. vLLM captures
// CUDA graphs up to 512 tokens, and all-reduces of that size are custom kernels that
// send more bytes than a ring does.
const smallAllReduce = 512

func newSecondFeatures(d *Deployment, f *Features) secondFeatures {
	n := d.Model.Counts()
	_, moe := n.split()
	s := secondFeatures{
		layers:       float64(d.Model.Layers) / 1e6,
		expertLayers: float64(moe) / 1e6,
		token:        f.token,
		reduceToken:  f.reduceToken,
	}
	always, inExperts := d.conversions()
	s.dequantised = float64(always * dequantiseTime)
	if moe == 0 {
		return s
	}
	s.row = d.expertRow()
	s.dequantisedExperts = float64(inExperts * dequantiseTime)
	if _, _, chosen := n.widths(); chosen.WeightBits == 8 && chosen.ActivationBits == 8 {
		s.fp8 = f.experts
	}
	s.exchanged = d.exchange()
	return s
}

// beta fills features 17 to 28 of v, which has those of version 1.
func (s *secondFeatures) beta(b *Batch, v *BetaVector) {
	scheduled := b.Scheduled()
	decodes := b.DecodeTokens
	if b.PrefillTokens == 0 {
		decodes = captured(decodes)
	}
	tokens := float64(scheduled)
	v[betaDecodeCompute] = clamp(float64(s.token * float64(decodes)))
	v[betaComputeExcess] = clamp(float64(s.token*tokens) - v[betaWeightStreaming])
	v[betaLayers] = s.layers
	v[betaDecodeLayers] = clamp(float64(s.layers * float64(b.DecodeRequests)))
	v[betaAllReduceBytes] = clamp(float64(s.reduceToken * tokens))
	v[betaSmallAllReduce] = clamp(float64(s.reduceToken * float64(min(scheduled, smallAllReduce))))
	v[betaDequantise] = s.dequantised
	if s.expertLayers == 0 {
		return
	}
	share := v[betaExpertShare]
	v[betaExpertLayers] = s.expertLayers
	v[betaExpertRows] = clamp(float64(s.row * float64(b.DecodeTokens)))
	v[betaExpertRowsPrefill] = clamp(float64(s.row * float64(b.PrefillTokens)))
	v[betaFP8Experts] = clamp(float64(s.fp8 * share))
	v[betaDequantise] = clamp(s.dequantised + float64(s.dequantisedExperts*share))
	v[betaAllToAll] = clamp(float64(s.exchanged * tokens))
}

// captured returns the size of the CUDA graph that runs a step of n decodes: vLLM
// captures 1, 2, 4, every 8 up to 256 and every 16 up to 512. Larger steps run as
// they are.
func captured(n int64) int64 {
	switch {
	case n <= 2 || n > 512:
		return n
	case n <= 4:
		return 4
	case n <= 256:
		return (n + 7) &^ 7
	}
	return (n + 15) &^ 15
}

// secondBounds sets the bounds of features 17 to 28 over all batches that an engine
// forms, of which full are the features of the largest decode. The lower ones are those
// of a decode, or 0 where a batch may be without.
func (f *Features) secondBounds(low, high *BetaVector, full BetaVector) {
	s, e := &f.second, &f.limits
	for _, term := range []int{betaDecodeCompute, betaComputeExcess, betaExpertRows, betaExpertRowsPrefill, betaDecodeLayers} {
		low[term] = 0
	}
	full[betaComputeExcess] = clamp(float64(s.token * float64(e.MaxBatchedTokens)))
	full[betaDecodeLayers] = clamp(float64(s.layers * float64(min(e.MaxBatchedTokens, e.MaxSeqs))))
	full[betaExpertRowsPrefill] = full[betaExpertRows]
	copy(high[BetasOfVersion1:], full[BetasOfVersion1:])
}
