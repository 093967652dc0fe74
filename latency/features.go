package latency

import (
	"math"
	"math/bits"
)

// AlphaVector is the 11 features of the time from delivery to queued, or a
// coefficient for each; element i is number i+1. docs/latency.md has the
// formulas.
type AlphaVector [11]float64

// BetaVector is the 28 features of the time of a step, or a coefficient for
// each; element i is number i+1. The first 16 are all of version 1 of the
// specification; features2.go has the others. docs/latency.md has the formulas.
type BetaVector [28]float64

// AlphaNames are the terms of AlphaVector, for reports.
var AlphaNames = [len(AlphaVector{})]string{
	"seat_use", "kv_usage", "prompt_compute", "constant", "queue_drain", "kv_contention",
	"cache_hits", "kv_demand", "preemption", "offload_capacity", "congestion",
}

// BetaNames are the terms of BetaVector, for reports.
var BetaNames = [len(BetaVector{})]string{
	"linear_compute", "prefill_attention", "weight_streaming", "decode_attention", "kv_read", "batch_fill", "prefill_share", "expert_share",
	"all_reduce", "kv_head_ratio", "inverse_batch", "preemption", "kv_transfer", "offload_read", "mixed_batch", "constant",
	"decode_compute", "compute_excess", "layers", "expert_layers", "all_reduce_bytes", "expert_rows", "expert_rows_prefill",
	"small_all_reduce", "fp8_experts", "dequantise", "all_to_all", "decode_layers",
}

// The terms of AlphaVector as indices.
const (
	alphaSeatUse = iota
	alphaKVUsage
	alphaPromptCompute
	alphaConstant
	alphaQueueDrain // of a congested instance from here on
	alphaKVContention
	alphaCacheHits
	alphaKVDemand
	alphaPreemption
	alphaOffloadCapacity
	alphaCongestion
)

// The terms of BetaVector as indices.
const (
	betaLinearCompute = iota
	betaPrefillAttention
	betaWeightStreaming
	betaDecodeAttention
	betaKVRead
	betaBatchFill
	betaPrefillShare
	betaExpertShare
	betaAllReduce
	betaKVHeadRatio
	betaInverseBatch
	betaPreemption
	betaKVTransfer
	betaOffloadRead
	betaMixedBatch
	betaConstant
	betaDecodeCompute // version 2 from here on
	betaComputeExcess
	betaLayers
	betaExpertLayers
	betaAllReduceBytes
	betaExpertRows
	betaExpertRowsPrefill
	betaSmallAllReduce
	betaFP8Experts
	betaDequantise
	betaAllToAll
	betaDecodeLayers
)

// BetasOfVersion1 is the number of features of a step in version 1 of the
// specification.
const BetasOfVersion1 = betaConstant + 1

const (
	epsilon    = 1e-6 // no denominator is smaller
	maxFeature = 100  // no feature is larger
)

// EngineLimits are the settings of an engine that the features refer to.
type EngineLimits struct {
	MaxBatchedTokens int64 // tokens per step, from 1
	MaxSeqs          int64 // requests in the running list, from 1
	BlockSize        int64 // tokens per KV block, from 1
	GPUBlocks        int64 // KV blocks of the instance, from 1
	CPUBlocks        int64 // KV blocks in host memory; 0: nothing is offloaded
	ChunkedPrefill   bool  // prompts may be prefilled in pieces, beside decodes
}

func (e *EngineLimits) check(p *problems) {
	const most = 1 << 40
	p.between("max-num-batched-tokens", e.MaxBatchedTokens, 1, most)
	p.between("max-num-seqs", e.MaxSeqs, 1, most)
	p.between("block-size", e.BlockSize, 1, 1<<20)
	p.between("GPU blocks", e.GPUBlocks, 1, most)
	p.between("CPU blocks", e.CPUBlocks, 0, most)
}

// Features computes the features of batches and of states of instances, for fits and
// for simulations. All that depends on the configuration alone is in one factor per
// quantity of the batch. Factors are in seconds unless their comment says otherwise.
type Features struct {
	limits EngineLimits

	token, row              float64 // linear layers per prefill token, head per sampled row
	prefillPair, decodePair float64 // attention per pair of query and key
	weights, experts        float64 // reading what every step reads, and all experts
	kvToken                 float64 // reading the KV of one token
	window                  slidingWindow
	reduce, reduceToken     float64 // all-reduces per step, per scheduled token
	transfer                float64 // moving a block over PCIe; 0 without offload
	moe                     bool
	expertShare             expertShares
	fill, headRatio         float64 // shares: one token of the budget; KV heads of heads

	second secondFeatures
	group  groupFeatures

	prompt       float64 // linear layers and head per prompt token
	fullStep     float64 // a full step, by the roofline without efficiencies
	kvBytes      float64 // bytes of a token's KV
	offloadRatio float64 // KV bytes in host memory per KV byte on the GPUs
}

// NewFeatures prepares the features of a deployment under the limits of an
// engine. One error names every bad field of both.
func NewFeatures(d *Deployment, e EngineLimits) (*Features, error) {
	var p problems
	d.check(&p)
	e.check(&p)
	if err := p.err("features of " + d.String()); err != nil {
		return nil, err
	}
	s, n, compute, read := d.Model, d.Model.Counts(), d.ComputeCeiling(), d.BandwidthCeiling()
	f := &Features{
		limits:      e,
		token:       d.layerFLOPs() / compute,
		row:         float64(n.HeadFLOPs()) / compute,
		prefillPair: float64(n.PrefillPairFLOPs()) / compute,
		decodePair:  float64(n.DecodePairFLOPs()) / compute,
		weights:     n.alwaysStreamed() / read,
		experts:     float64(n.expertBytes() / read / float64(d.ranks()) * d.imbalance()),
		window:      newSlidingWindow(s),
		kvBytes:     float64(d.KVBytesPerToken()),
		fill:        1 / float64(e.MaxBatchedTokens),
		headRatio:   float64(s.KVHeads) / float64(s.Heads),
		prompt:      (d.layerFLOPs() + float64(n.HeadFLOPs())) / compute,
		moe:         s.Experts > 0,
	}
	f.kvToken = f.kvBytes / read
	fixed, perByte := d.allReduce() // two in every layer, µs
	perStep := float64(2 * s.Layers)
	f.reduce = perStep * fixed / 1e6
	f.reduceToken = perStep * perByte * float64(s.Hidden*s.ElementBytes) / 1e6
	if f.moe {
		f.expertShare = newExpertShares(d)
	}
	if e.CPUBlocks > 0 {
		f.transfer = f.kvBytes * float64(e.BlockSize) / float64(d.GPU.PCIeRate()*float64(d.TP))
		f.offloadRatio = float64(e.CPUBlocks) / float64(e.GPUBlocks) // of blocks of equal size
	}
	f.group = newGroupFeatures(d, f)
	f.token += f.group.expert - f.group.expert/d.imbalance()
	f.second = newSecondFeatures(d, f)
	f.fullStep = max(float64(f.prompt*float64(e.MaxBatchedTokens)), f.streaming(f.expertShare.ofStep(e.MaxBatchedTokens)))
	return f, nil
}

// Beta returns the features of a step over b, each within [0, 100] for any b.
func (f *Features) Beta(b *Batch) BetaVector {
	var v BetaVector
	f.beta(b, &v)
	f.second.beta(b, &v)
	if b.GroupTokens > 0 {
		f.group.beta(f, b, &v)
	}
	return v
}

// beta fills the features of version 1 in v, which is all 0.
func (f *Features) beta(b *Batch, v *BetaVector) {
	scheduled := b.Scheduled()
	tokens := float64(scheduled)
	inverse := 1 / max(1, tokens)
	share := 0.0
	if scheduled > 0 {
		if f.moe {
			share = f.expertShare.of(b)
			v[betaExpertShare] = share
		}
		v[betaWeightStreaming] = clamp(f.streaming(share))
	}
	v[betaLinearCompute] = clamp(float64(f.token*float64(b.PrefillTokens)) + float64(f.row*float64(b.SampledRows)))
	v[betaPrefillAttention] = clamp(float64(f.prefillPair * f.window.prefillPairs(b)))
	v[betaDecodeAttention] = clamp(float64(f.decodePair * f.window.decodeContext(b)))
	v[betaKVRead] = clamp(float64(f.kvToken * f.window.context(b)))
	v[betaBatchFill] = clamp(float64(f.fill * tokens))
	v[betaPrefillShare] = clamp(float64(inverse * float64(b.PrefillTokens)))
	v[betaAllReduce] = clamp(f.reduce + float64(f.reduceToken*tokens))
	v[betaKVHeadRatio] = f.headRatio
	v[betaInverseBatch] = inverse
	v[betaPreemption] = clamp(b.PreemptionEMA)
	v[betaKVTransfer] = clamp(float64(f.transfer * float64(b.Transferred)))
	v[betaOffloadRead] = clamp(float64(f.transfer * float64(b.CPUBlocks)))
	if f.limits.ChunkedPrefill && b.PrefillTokens > 0 && b.DecodeTokens > 0 {
		v[betaMixedBatch] = 1
	}
	v[betaConstant] = 1
}

// streaming is the time to read the weights when a share of the experts is touched,
// s.
func (f *Features) streaming(share float64) float64 {
	return f.weights + float64(f.experts*share)
}

// Alpha returns the features of the time from delivery to queued, each within
// [0, 100] for any input.
func (f *Features) Alpha(in QueueInput) AlphaVector {
	var v AlphaVector
	f.frontEnd(&in, &v)
	f.congestion(&in, &v)
	return v
}

// frontEnd fills the features of v before those of a congested instance.
func (f *Features) frontEnd(in *QueueInput, v *AlphaVector) {
	used, free := float64(in.UsedBlocks), float64(in.FreeBlocks)
	v[alphaSeatUse] = toUnit(float64(in.Running) / float64(f.limits.MaxSeqs))
	v[alphaKVUsage] = toUnit(used / max(epsilon, used+free))
	v[alphaPromptCompute] = f.promptCompute(in.Input)
	v[alphaConstant] = 1
}

// promptCompute is the feature of a prompt of input tokens.
func (f *Features) promptCompute(input int64) float64 {
	return clamp(float64(f.prompt * float64(input)))
}

// congestion fills the features of a congested instance in v, which has the others.
func (f *Features) congestion(in *QueueInput, v *AlphaVector) {
	e, seatUse, usage := &f.limits, v[alphaSeatUse], v[alphaKVUsage]
	// Rounding can carry the sum an ulp past 1.
	g := min(1, seatUse+usage-float64(seatUse*usage))
	length, waiting := float64(in.Input), float64(in.Waiting)
	hits := toUnit(float64(in.CachedTokens) / max(epsilon, float64(in.PromptTokens)))
	freeBytes := float64(float64(in.FreeBlocks) * float64(e.BlockSize) * f.kvBytes)
	v[alphaQueueDrain] = clamp(float64(g * log1p(in.Waiting) * f.fullStep))
	v[alphaKVContention] = clamp(float64(g*usage*waiting) / float64(e.MaxSeqs))
	v[alphaCacheHits] = clamp(float64(g*hits*length) / float64(e.MaxBatchedTokens))
	v[alphaKVDemand] = clamp(float64(g*length*f.kvBytes) / max(epsilon, freeBytes))
	v[alphaPreemption] = clamp(float64(g * in.PreemptionEMA))
	v[alphaOffloadCapacity] = clamp(float64(g * f.offloadRatio))
	v[alphaCongestion] = g
}

// clamp limits a feature to [0, 100]; NaN becomes 0.
func clamp(x float64) float64 {
	switch { // the builtins min and max take twice the time
	case !(x > 0):
		return 0
	case x > maxFeature:
		return maxFeature
	}
	return x
}

// toUnit limits a share to [0, 1]; NaN becomes 0.
func toUnit(x float64) float64 { return min(clamp(x), 1) }

// expertShares computes the share of a layer's experts that n tokens use, 1 − missⁿ,
// with the same bits as Counts.expertShare. It keeps the squares that power would
// compute each time.
type expertShares struct {
	squares [64]float64 // miss to the power of 1, 2, 4, …
	all     int64       // number of tokens from which on the share rounds to 1; 0: no experts

	ranks  int64   // engines whose tokens use the same experts
	spread float64 // of the most burdened GPU, in standard deviations of its share; 0: slices of experts
}

func newExpertShares(d *Deployment) expertShares {
	t := expertShares{ranks: int64(d.ranks())}
	t.touch(1 - float64(d.Model.ActiveExperts)/float64(d.Model.Experts))
	gpus := int64(d.TP) * t.ranks
	if d.ExpertParallel && gpus > 1 {
		// The largest of n normal numbers is about √(2 ln n) standard deviations above
		// their mean. A GPU has E/n experts, each touched with the same probability.
		t.spread = math.Sqrt(float64(2*log1p(gpus-1)) * float64(gpus) / float64(d.Model.Experts))
	}
	return t
}

func (t *expertShares) touch(miss float64) {
	for i := range t.squares {
		t.squares[i] = miss
		miss = float64(miss * miss)
	}
	// Half of 2⁻⁵³ and below: far enough for the subtraction to give 1.
	const lost = 1.0 / (1 << 55)
	for t.all = 1; power(t.squares[0], t.all) > lost; t.all *= 2 {
	}
}

// of is ofStep for the step b, with the tokens of all engines where it has them.
func (t *expertShares) of(b *Batch) float64 {
	if b.GroupTokens > 0 {
		return t.ofTokens(b.GroupTokens)
	}
	return t.ofStep(b.Scheduled())
}

// ofStep returns the share of its experts that the most burdened GPU reads, in a step
// of n tokens of this engine. It does not fall as n grows: p + s·√(p(1−p)) grows until
// it is 1, at p = 1/(1+s²), and two numbers of tokens below that have p that differ by
// far more than a rounding.
func (t *expertShares) ofStep(n int64) float64 { return t.ofTokens(n * t.ranks) }

// ofTokens is ofStep for n tokens of all engines.
func (t *expertShares) ofTokens(n int64) float64 {
	p := t.share(n)
	if t.spread == 0 {
		return p
	}
	return min(1, p+float64(t.spread*math.Sqrt(float64(p*(1-p)))))
}

func (t *expertShares) share(n int64) float64 {
	if n >= t.all {
		return float64(min(t.all, 1))
	}
	missed := 1.0
	for ; n > 0; n &= n - 1 {
		missed = float64(missed * t.squares[bits.TrailingZeros64(uint64(n))])
	}
	return 1 - missed
}

// log1p is ln(1 + n), 0 for n below 0, with the same bits on every machine.
// Package math promises the same bits of neither Log, which is assembly on amd64,
// nor Log1p, whose products the compiler fuses into sums on arm64. Here every
// product that feeds a sum is rounded first, and Ldexp and conversions are
// exact or round once.
func log1p(n int64) float64 {
	if n <= 0 {
		return 0
	}
	x := float64(uint64(n) + 1)
	// x = m·2ᵉ with m in [√½, √2).
	e := bits.Len64(uint64(n) + 1)
	m := math.Ldexp(x, -e)
	if m < math.Sqrt2/2 {
		m, e = float64(2*m), e-1
	}
	// ln m = 2·artanh s = 2(s + s³/3 + s⁵/5 + …) with s = (m − 1)/(m + 1), at
	// most 0.172, so that what follows s²¹/21 is below 2⁻⁶⁰ of the sum.
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	p := 0.0
	for _, c := range oddReciprocals {
		p = float64((p + c) * z)
	}
	return float64(float64(e)*math.Ln2) + float64(2*(s+float64(p*s)))
}

var oddReciprocals = [...]float64{1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3}
