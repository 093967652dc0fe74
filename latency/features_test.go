package latency

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"pgregory.net/rapid"

	"blis/vtime"
)

// featureCase is an entry of testdata/physics_features.json.
type featureCase struct {
	Name, Model, GPU string
	TP               int
	ExpertParallel   bool
	DataParallel     int
	Widths           *[3]PartWidth // of attention, MLPs and experts; nil: 16 bits
	Shape            *struct{ Hidden, Layers, Heads, KVHeads, HeadDim, Intermediate, Vocab int64 }
	Limits           EngineLimits
	Batch            *Batch
	Beta             []float64
	Queue            *QueueInput
	Alpha            []float64
}

func featureCases(t *testing.T) []featureCase {
	t.Helper()
	data, err := os.ReadFile("testdata/physics_features.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		About string
		Cases []featureCase
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc.Cases
}

func (c *featureCase) features(t *testing.T) *Features {
	t.Helper()
	d := &Deployment{Model: c.model(t), GPU: mustGPU(t, c.GPU), TP: c.TP, ExpertParallel: c.ExpertParallel, DataParallel: DataParallel{Ranks: c.DataParallel}}
	return features(t, d, c.Limits)
}

func (c *featureCase) model(t *testing.T) *ModelSpec {
	t.Helper()
	if c.Shape != nil {
		return &ModelSpec{
			Name: c.Model, Hidden: c.Shape.Hidden, Layers: c.Shape.Layers, Heads: c.Shape.Heads, KVHeads: c.Shape.KVHeads, HeadDim: c.Shape.HeadDim,
			Intermediate: c.Shape.Intermediate, MLPMatrices: 3, Vocab: c.Shape.Vocab, ElementBytes: 2, WeightBits: 16, ActivationBits: 16, KVElementBytes: 2,
		}
	}
	s := *mustModel(t, c.Model)
	if w := c.Widths; w != nil {
		s.WeightBits, s.ScaleBits, s.ActivationBits = w[0].WeightBits, w[0].ScaleBits, w[0].ActivationBits
		s.MLPWidth, s.ExpertWidth = w[1], w[2]
	}
	return &s
}

// near compares vectors: 10⁻¹⁰ of the value wanted, and 0 is 0.
func near(t *testing.T, where string, names []string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d features, want %d", where, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-10*math.Abs(want[i])+1e-300) {
			t.Errorf("%s: feature %d, %s, is %v, want %v", where, i+1, names[i], got[i], want[i])
		}
	}
}

func TestFeaturesMatchTheIndependentComputation(t *testing.T) {
	cases := featureCases(t)
	if len(cases) < 50 {
		t.Errorf("%d cases, want 50 and more", len(cases))
	}
	for _, c := range cases {
		where := fmt.Sprintf("%s (%s on %s at TP %d)", c.Name, c.Model, c.GPU, c.TP)
		f := c.features(t)
		if c.Batch != nil {
			got := f.Beta(c.Batch)
			near(t, where, BetaNames[:], got[:], c.Beta)
		}
		if c.Queue != nil {
			got := f.Alpha(*c.Queue)
			near(t, where, AlphaNames[:], got[:], c.Alpha)
		}
	}
}

// Golden values, computed independently of this code; those of the constants
// are in TestConstantsOfLlama8B.
func TestFeaturesOfOneWholePrompt(t *testing.T) {
	f := features(t, deployment(t, "llama-3.1-8b", "H100", 1), EngineLimits{MaxBatchedTokens: 8192, MaxSeqs: 256, BlockSize: 16, GPUBlocks: 10000})
	b := f.Beta(&Batch{PrefillTokens: 512, PrefillRequests: 1, PrefillPairs: 131328, SampledRows: 1})
	a := f.Alpha(QueueInput{Running: 24, UsedBlocks: 7200, FreeBlocks: 2800, Waiting: 8})
	for name, c := range map[string][2]float64{
		"β1":                 {b[0], 7.2273774051526795e-3},
		"β2":                 {b[1], 6.961950906370071e-5},
		"β3":                 {b[2], 4.480393093731343e-3},
		"roofline step time": {f.fullStep, 0.12432388650140344},
		"g":                  {a[10], 0.74625},
		"α5":                 {a[4], 0.20385124610699107},
	} {
		if math.Abs(c[0]-c[1]) > 5e-16*c[1] {
			t.Errorf("%s is %v, want %v", name, c[0], c[1])
		}
	}
}

// Work is counted for the whole model and ceilings for all GPUs: twice the
// GPUs take half the time, to the last bit, as long as no KV head is held twice.
func TestTwiceTheGPUsHalveTheTimeFeatures(t *testing.T) {
	b := &Batch{PrefillTokens: 700, DecodeTokens: 60, PrefillRequests: 1, DecodeRequests: 60, PrefillPairs: 345678, PrefillContext: 99, DecodeContext: 54321, SampledRows: 61}
	for _, model := range []string{"llama-3.1-8b", "llama-2-7b", "mixtral-8x7b", "llama-2-70b"} {
		for tp := 1; tp <= 4; tp *= 2 {
			one := features(t, deployment(t, model, "A100", tp), typicalLimits).Beta(b)
			two := features(t, deployment(t, model, "A100", 2*tp), typicalLimits).Beta(b)
			for i := range 5 {
				if one[i] != 2*two[i] || one[i] == 0 {
					t.Errorf("%s: %s is %v at TP %d and %v at TP %d", model, BetaNames[i], one[i], tp, two[i], 2*tp)
				}
			}
		}
	}
	// Beyond that β5 stays: every GPU reads what it holds.
	s := *mustModel(t, "llama-3.1-8b")
	s.KVHeads = 1
	one := features(t, &Deployment{Model: &s, GPU: mustGPU(t, "A100"), TP: 1}, typicalLimits).Beta(b)
	two := features(t, &Deployment{Model: &s, GPU: mustGPU(t, "A100"), TP: 2}, typicalLimits).Beta(b)
	if one[4] != two[4] || one[0] != 2*two[0] {
		t.Errorf("one KV head: β5 %v and %v, β1 %v and %v", one[4], two[4], one[0], two[0])
	}
}

// naiveBeta is the twin of Features.Beta: one formula after another, from the
// descriptions, nothing prepared.
func naiveBeta(d *Deployment, e EngineLimits, b *Batch) BetaVector {
	s, compute, read := d.Model, d.ComputeCeiling(), d.BandwidthCeiling()
	n := b.Scheduled()
	block := float64(d.KVBytesPerToken() * e.BlockSize)
	pairs, context, reads := naiveKeys(s, b)
	v := BetaVector{
		float64(b.PrefillTokens)*naiveLayers(d) + float64(b.SampledRows)*float64(s.Counts().HeadFLOPs())/compute,
		float64(s.Counts().PrefillPairFLOPs()) * pairs / compute,
		0,
		float64(s.Counts().DecodePairFLOPs()) * context / compute,
		float64(d.KVBytesPerToken()) * reads / read,
		float64(n) / float64(e.MaxBatchedTokens),
		float64(b.PrefillTokens) / math.Max(1e-6, float64(n)),
		0,
		2 * float64(s.Layers) * d.allReduceTime(float64(n*s.Hidden*s.ElementBytes)) / 1e6,
		float64(s.KVHeads) / float64(s.Heads),
		1 / math.Max(1, float64(n)),
		b.PreemptionEMA,
		float64(b.Transferred) * block / (0.75 * d.GPU.PCIe * float64(d.TP)),
		float64(b.CPUBlocks) * block / (0.75 * d.GPU.PCIe * float64(d.TP)),
		0,
		1,
	}
	if n > 0 {
		v[2] = s.Counts().alwaysStreamed()/read + naiveExpertTime(d, n)
	}
	v[7] = naiveShare(d, n)
	if e.CPUBlocks == 0 {
		v[12], v[13] = 0, 0
	}
	if e.ChunkedPrefill && b.PrefillTokens > 0 && b.DecodeTokens > 0 {
		v[14] = 1
	}
	copy(v[16:], naiveSecond(d, b))
	for i := range v {
		v[i] = math.Min(math.Max(v[i], 0), 100)
	}
	return v
}

// naiveLayers is the time of the linear layers for a token, s: each part at its peak.
func naiveLayers(d *Deployment) float64 {
	all, mlp, experts := naiveWidths(d.Model)
	plain, chosen := d.Model.Counts().mlpLayerFLOPs()
	rest := d.Model.Counts().LayerFLOPs() - plain - chosen
	seconds := float64(rest)/naivePeak(d.GPU, all) + float64(plain)/naivePeak(d.GPU, mlp) + float64(chosen)/naivePeak(d.GPU, experts)
	return seconds / float64(d.TP)
}

func TestBetaAgreesWithItsNaiveTwin(t *testing.T) {
	models, gpus := AllModels(), AllHardware()
	many, err := ParseModel([]byte(`{"model_type": "deepseek_moe", "hidden_size": 2048, "num_hidden_layers": 28, "num_attention_heads": 16, "intermediate_size": 10944, "vocab_size": 102400,
		"moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
		"quantization_config": {"quant_method": "fp8"}}`), "shared experts and a dense layer")
	if err != nil {
		t.Fatal(err)
	}
	models = append(models, many)
	const seed = 11
	random := vtime.NewStream(seed, "features twin")
	for m := range models {
		for g := range gpus {
			for _, tp := range []int{1, 2, 4, 8, 16} {
				d := &Deployment{Model: &models[m], GPU: &gpus[g], TP: tp}
				if d.Validate() != nil {
					continue
				}
				for range 20 {
					e, b := randomLimits(random), Batch{}
					randomBatch(random, e, &b)
					randomSharing(random, d)
					got, want := features(t, d, e).Beta(&b), naiveBeta(d, e, &b)
					if math.Abs(got[17]-want[17]) < 1e-12*got[2] {
						got[17] = want[17] // the difference of nearly equal times
					}
					near(t, fmt.Sprintf("seed %d: %s, experts %v over %d engines, %+v, %+v", seed, d, d.ExpertParallel, d.DataParallel.Ranks, e, b), BetaNames[:], got[:], want[:])
				}
			}
		}
	}
}

func randomLimits(r *vtime.Stream) EngineLimits {
	e := EngineLimits{MaxBatchedTokens: 1 + r.Int64N(1<<(1+r.Int64N(16))), MaxSeqs: 1 + r.Int64N(1<<(1+r.Int64N(11))), BlockSize: 1 + r.Int64N(512), GPUBlocks: 1 + r.Int64N(100000), ChunkedPrefill: r.Int64N(2) == 0}
	e.CPUBlocks = max(0, r.Int64N(20000)-10000)
	return e
}

// randomBatch is one that an engine with these limits could form.
func randomBatch(r *vtime.Stream, e EngineLimits, b *Batch) {
	tokens := 1 + r.Int64N(e.MaxBatchedTokens)
	decodes := min(r.Int64N(tokens+1), e.MaxSeqs)
	chunk := tokens - decodes
	if r.Int64N(3) == 0 || decodes == 0 && chunk == 0 {
		decodes, chunk = 0, tokens
	}
	computed := r.Int64N(1 << (1 + r.Int64N(17)))
	*b = Batch{
		PrefillTokens: chunk, PrefillRequests: min(1, chunk), PrefillPairs: chunk*computed + chunk*(chunk+1)/2, PrefillContext: min(1, chunk) * computed,
		DecodeTokens: decodes, DecodeRequests: decodes, DecodeContext: decodes * (1 + r.Int64N(1<<(1+r.Int64N(17)))),
		SampledRows: r.Int64N(min(e.MaxSeqs, decodes+min(1, chunk)) + 1), PreemptionEMA: r.Float64(),
		Transferred: r.Int64N(1000), CPUBlocks: r.Int64N(1000),
	}
}

// Whatever is in a batch or a state, a feature is a number within [0, 100].
func TestFeaturesOfAnythingAreWithinBounds(t *testing.T) {
	list := []*Features{
		features(t, deployment(t, "llama-3.1-8b", "H100", 2), typicalLimits),
		features(t, deployment(t, "mixtral-8x7b", "A100", 8), EngineLimits{MaxBatchedTokens: 1, MaxSeqs: 1, BlockSize: 1, GPUBlocks: 1, CPUBlocks: 1 << 40}),
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-2, 2), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}))
		x := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324, math.Copysign(0, -1)}))
		var b Batch
		for _, field := range []*int64{
			&b.PrefillTokens, &b.DecodeTokens, &b.PrefillRequests, &b.DecodeRequests, &b.PrefillPairs, &b.PrefillContext,
			&b.DecodeContext, &b.DecodeBlocks, &b.Preempted, &b.Transferred, &b.CPUBlocks, &b.SampledRows,
		} {
			*field = n.Draw(t, "batch")
		}
		b.PreemptionEMA = x.Draw(t, "EMA")
		var q QueueInput
		for _, field := range []*int64{&q.Input, &q.Running, &q.Waiting, &q.UsedBlocks, &q.FreeBlocks, &q.CachedTokens, &q.PromptTokens} {
			*field = n.Draw(t, "state")
		}
		q.PreemptionEMA = b.PreemptionEMA
		for _, f := range list {
			beta, alpha := f.Beta(&b), f.Alpha(q)
			for i, v := range append(beta[:], alpha[:]...) {
				if !(v >= 0 && v <= 100) {
					t.Fatalf("element %d of %v and %v", i, beta, alpha)
				}
			}
		}
	})
}

func TestFeaturesArePure(t *testing.T) {
	f := features(t, deployment(t, "mixtral-8x7b", "H100", 2), typicalLimits)
	before := *f
	b := Batch{PrefillTokens: 512, DecodeTokens: 7, PrefillPairs: 131328, DecodeContext: 999, SampledRows: 8, PreemptionEMA: 0.25}
	q := QueueInput{Input: 77, Running: 5, Waiting: 3, UsedBlocks: 10, FreeBlocks: 90, PreemptionEMA: 0.25}
	copied := b
	beta, alpha := f.Beta(&b), f.Alpha(q)
	f.Beta(&Batch{DecodeTokens: 9000, PreemptionEMA: math.NaN()})
	if again := f.Beta(&b); again != beta || f.Alpha(q) != alpha || b != copied || *f != before {
		t.Error("a second call has other answers, or the first has changed something")
	}
}

func TestNewFeaturesNamesEveryBadField(t *testing.T) {
	s := *mustModel(t, "llama-3.1-8b")
	s.Heads, s.Name = 0, "broken"
	_, err := NewFeatures(&Deployment{Model: &s, GPU: mustGPU(t, "H100"), TP: 0}, EngineLimits{MaxSeqs: -1, CPUBlocks: -1})
	want := "features of broken on H100 at TP 0: num_attention_heads is 0, want 1 to 4096; tp is 0, want 1 to 1024; " +
		"max-num-batched-tokens is 0, want 1 to 1099511627776; max-num-seqs is -1, want 1 to 1099511627776; block-size is 0, want 1 to 1048576; " +
		"GPU blocks is 0, want 1 to 1099511627776; CPU blocks is -1, want 0 to 1099511627776"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := NewFeatures(&Deployment{Model: mustModel(t, "llama-3.1-8b"), GPU: mustGPU(t, "H100"), TP: 3}, typicalLimits); err == nil {
		t.Error("TP 3 over 32 heads passed")
	}
}

// The kept squares give the share of experts to the bit.
func TestTouchedSharesAreThoseOfTheSpec(t *testing.T) {
	for _, c := range [][2]int64{{8, 2}, {64, 6}, {256, 8}, {4096, 1}, {4, 4}, {1, 1}, {0, 0}} {
		s := &ModelSpec{Experts: c[0], ActiveExperts: c[1]}
		var u expertShares
		if s.Experts > 0 {
			u = expertShares{ranks: 1}
			u.touch(1 - float64(s.ActiveExperts)/float64(s.Experts))
		}
		for n := int64(0); n < 200_000; n += 1 + n/64 {
			if got, want := u.share(n), s.Counts().expertShare(n); got != want {
				t.Fatalf("%d of %d experts, %d tokens: %v, want %v", c[1], c[0], n, got, want)
			}
		}
		for _, n := range []int64{-1, math.MinInt64, math.MaxInt64} {
			if got, want := u.share(n), s.Counts().expertShare(n); got != want {
				t.Fatalf("%d of %d experts, %d tokens: %v, want %v", c[1], c[0], n, got, want)
			}
		}
	}
}

func TestLog1pAgreesWithPackageMath(t *testing.T) {
	check := func(n int64) {
		if got, want := log1p(n), math.Log1p(float64(n)); math.Abs(got-want) > 1e-15*want {
			t.Fatalf("log1p(%d) = %v, package math has %v", n, got, want)
		}
	}
	for n := range int64(100_000) {
		check(n)
	}
	for shift := range 63 { // where the exponent changes
		for off := int64(-2); off <= 2; off++ {
			check(max(0, 1<<shift+off))
		}
		check(int64(math.Sqrt2 * float64(uint64(1)<<shift))) // and where the series is longest
	}
	check(math.MaxInt64)
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200_000 {
		check(r.Int64() >> r.IntN(63))
	}
	for _, n := range []int64{0, -1, -7, math.MinInt64} {
		if log1p(n) != 0 {
			t.Errorf("log1p(%d) = %v, want 0", n, log1p(n))
		}
	}
}

// Bits, not values: machines must agree. CI compiles for two.
func TestLog1pHasTheseBits(t *testing.T) {
	hash := uint64(0)
	for n := int64(1); n < 1<<40; n += 1 + n/97 {
		hash = hash*0x9e3779b97f4a7c15 + math.Float64bits(log1p(n))
	}
	if want := uint64(0xdd1fb27fceb95b3c); hash != want {
		t.Errorf("hash of the bits = %#x, want %#x", hash, want)
	}
}
