package latency

// groupFeatures computes the features of a step of engines that share experts and step together, of
// which the batch says what all of them schedule: Batch.GroupTokens. The experts are spread over the GPUs
// of all engines, which have G/d tokens each. Attention, dense layers, shared experts and the head are
// those of the engine's own tokens. In MoE layers the tokens of all are gathered before the experts, and
// their results scattered behind them, in place of an all-reduce of the engine's own. Factors are in
// seconds.
type groupFeatures struct {
	engines             float64
	plain, expert       float64 // linear layers per token: without and of the experts that it chooses
	reduce, reduceToken float64 // all-reduces per step, with the latency of gather and scatter; per token of the engine
	gather              float64 // per token of all engines
}

func newGroupFeatures(d *Deployment, f *Features) groupFeatures {
	n := d.Model.Counts()
	_, moe := n.split()
	g := groupFeatures{engines: float64(d.ranks())}
	g.expert = d.chosenFLOPs() / d.ComputeCeiling()
	g.plain = f.token - g.expert
	g.expert = float64(g.expert * d.imbalance())
	if moe == 0 {
		return g
	}
	width := float64(d.Model.Hidden * d.Model.ElementBytes)
	fixed, perByte := d.allReduce()
	start, perGathered := d.gather()
	own, gathered := float64(2*d.Model.Layers-moe), float64(moe)
	g.reduce = (float64(own*fixed) + float64(gathered*start)) / 1e6
	g.reduceToken = own * perByte * width / 1e6
	g.gather = gathered * perGathered * width / 1e6
	return g
}

// beta changes v, which has all features of b by the engine's own tokens, to those of a step with the
// other engines.
func (g *groupFeatures) beta(f *Features, b *Batch, v *BetaVector) {
	decodes := b.DecodeTokens
	if b.PrefillTokens == 0 {
		decodes = captured(decodes)
	}
	tokens := float64(b.Scheduled())
	prefill := float64(b.GroupPrefill) / g.engines
	decode := float64(b.GroupTokens-b.GroupPrefill) / g.engines
	v[betaLinearCompute] = clamp(float64(g.plain*float64(b.PrefillTokens)) + float64(g.expert*prefill) + float64(f.row*float64(b.SampledRows)))
	v[betaAllReduce] = clamp(g.reduce + float64(g.reduceToken*tokens))
	v[betaDecodeCompute] = clamp(float64(g.plain*float64(decodes)) + float64(g.expert*decode))
	v[betaComputeExcess] = clamp(float64(g.plain*tokens) + float64(g.expert*(prefill+decode)) - v[betaWeightStreaming])
	v[betaAllReduceBytes] = clamp(float64(g.reduceToken * tokens))
	v[betaSmallAllReduce] = clamp(float64(g.reduceToken * float64(min(b.Scheduled(), smallAllReduce))))
	v[betaExpertRows] = clamp(float64(f.second.row * decode))
	v[betaExpertRowsPrefill] = clamp(float64(f.second.row * prefill))
	v[betaAllToAll] = clamp(float64(g.gather * float64(b.GroupTokens)))
}

// chosenFLOPs is the part of layerFLOPs of the experts that a token chooses.
func (d *Deployment) chosenFLOPs() float64 {
	n := d.Model.Counts()
	_, _, experts := n.widths()
	_, chosen := n.mlpLayerFLOPs()
	return float64(chosen) * d.ComputeCeiling() / d.peak(experts.ActivationBits)
}
