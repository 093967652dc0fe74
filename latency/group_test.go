package latency

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"blis/vtime"
)

// isNear reports whether two numbers are equal but for rounding.
func isNear(got, want float64) bool { return math.Abs(got-want) <= 1e-10*math.Abs(want) }

// Mixtral-8x7B (32 layers, all with experts, 8 of which a token uses 2; h 4,096) on two ranks of two H100
// each. A rank decodes 100 requests, both together 300.
func TestGroupFeaturesOfWorkedExample(t *testing.T) {
	d := *deployment(t, "mixtral-8x7b", "H100", 2)
	d.DataParallel.Ranks = 2
	b := &Batch{DecodeTokens: 100, DecodeRequests: 100, SampledRows: 100, DecodeContext: 50_000, GroupTokens: 300}
	const (
		chosen  = 2 * 32 * 2 * 3 * 4096 * 14336       // FLOPs of a token in the experts that it uses
		plain   = 2*32*41_943_040 + 2*32*4096*8       // in attention, and the routers
		experts = 2 * 32 * 8 * 3 * 4096 * 14336       // bytes
		always  = 2*32*41_943_040 + 2*4096*32_000     // with the head
		peak    = 2 * 989e12                          // FLOP/s
		read    = 2 * 3.35e12                         // bytes/s
		ofTwo   = 5 + 100*8192*1.0/450e3              // an all-reduce of the 100 tokens by 2 GPUs, µs
		gather  = 300 * 8192 * 2 * 3.0 / 4 / 450e9    // of the 300 tokens by 4 GPUs, s
		rows    = 32 * 2 * 8192 / 3.35e12 * 2         // of a token, for each GPU's half of the experts of both ranks
		touched = 1                                   // but for 0.75³⁰⁰
		reading = (always + experts*touched/2) / read // of the weights
	)
	v := features(t, &d, typicalLimits).Beta(b)
	for term, want := range map[int]float64{
		betaLinearCompute:     2 * 4096 * 32_000 * 100 / peak,
		betaDecodeCompute:     (104*plain + 150*chosen) / peak,
		betaWeightStreaming:   reading,
		betaComputeExcess:     0,
		betaExpertShare:       touched,
		betaAllReduce:         32 * (ofTwo + 6) / 1e6,
		betaAllReduceBytes:    32 * (ofTwo - 5) / 1e6,
		betaSmallAllReduce:    32 * (ofTwo - 5) / 1e6,
		betaAllToAll:          32 * gather,
		betaExpertRows:        150 * rows,
		betaExpertRowsPrefill: 0,
	} {
		if !isNear(v[term], want) {
			t.Errorf("%s: %v, want %v", BetaNames[term], v[term], want)
		}
	}
	// On 16 ranks of one GPU they cross nodes, at 50 GB/s and 20 µs.
	d.TP, d.DataParallel.Ranks = 1, 16
	v = features(t, &d, typicalLimits).Beta(b)
	if !isNear(v[betaAllReduce], 32*20e-6) || !isNear(v[betaAllToAll], 32*300*8192*2*15.0/16/50e9) {
		t.Errorf("over nodes: all-reduce %v, all-to-all %v", v[betaAllReduce], v[betaAllToAll])
	}
	d.DataParallel.NodeLink = 25e9
	if slow := features(t, &d, typicalLimits).Beta(b); !isNear(slow[betaAllToAll], 2*v[betaAllToAll]) {
		t.Errorf("half the rate between nodes: %v after %v", slow[betaAllToAll], v[betaAllToAll])
	}
}

// A group with equal batches on one GPU each has the features of engines that are taken to have them,
// but for the latency of gather and scatter.
func TestGroupOfEqualBatches(t *testing.T) {
	model, gpu := mustModel(t, "qwen3-30b-a3b"), mustGPU(t, "H100")
	rapid.Check(t, func(t *rapid.T) {
		r := vtime.NewStream(rapid.Uint64().Draw(t, "seed"), "group")
		d := Deployment{Model: model, GPU: gpu, TP: 1, DataParallel: DataParallel{Ranks: 2 + int(r.Int64N(7))}, ExpertParallel: r.Int64N(2) == 0}
		e := randomLimits(r)
		f, err := NewFeatures(&d, e)
		if err != nil {
			t.Fatal(err)
		}
		o := DefaultRoofline(d.GPU)
		o.SmallLinkTime = o.LinkTime
		m, err := NewRoofline(&d, o)
		if err != nil {
			t.Fatal(err)
		}
		start, _ := d.gather()
		latency := float64(d.Model.Layers) * start // µs; each has experts
		var b Batch
		randomBatch(r, e, &b)
		alone, step := f.Beta(&b), m.Step(&b)
		ranks := int64(d.DataParallel.Ranks)
		b.GroupTokens, b.GroupPrefill = ranks*b.Scheduled(), ranks*b.PrefillTokens
		for i, got := range f.Beta(&b) {
			want := alone[i]
			switch i {
			case betaAllReduce:
				want = clamp(latency / 1e6)
			case betaDecodeCompute: // experts have no graphs of their own
				if captured(b.DecodeTokens) != b.DecodeTokens {
					continue
				}
			}
			if math.Abs(got-want) > 1e-9*want+1e-15 {
				t.Fatalf("%s of %+v: %v, want %v", BetaNames[i], b, got, want)
			}
		}
		if got := m.Step(&b); !isNear(got, step+latency) && math.Abs(got-step-latency) > 1e-6 {
			t.Fatalf("roofline of %+v: %v µs, want %v", b, got, step+latency)
		}
	})
}

// Steps of a group are never below the floors, and take longer with each token of others.
func TestGroupStepsRiseFromTheirFloor(t *testing.T) {
	deployments := boundedDeployments(t)
	rapid.Check(t, func(t *rapid.T) {
		r := vtime.NewStream(rapid.Uint64().Draw(t, "seed"), "floor")
		d := *deployments[2+r.Int64N(2)]
		d.DataParallel.Ranks, d.ExpertParallel, d.DataParallel.Imbalance = 2+int(r.Int64N(15)), r.Int64N(2) == 0, 1+r.Float64()
		e := randomLimits(r)
		f, err := NewFeatures(&d, e)
		if err != nil {
			t.Fatal(err)
		}
		fitted, err := NewPhysics(f, AlphaVector{}, randomBetas(r))
		if err != nil {
			t.Fatal(err)
		}
		roofline, err := NewRoofline(&d, DefaultRoofline(d.GPU))
		if err != nil {
			t.Fatal(err)
		}
		low, high := f.betaBounds(true)
		for range 50 {
			var b Batch
			randomBatch(r, e, &b)
			others := r.Int64N(1 + e.MaxBatchedTokens*int64(d.DataParallel.Ranks-1))
			b.GroupTokens = max(b.Scheduled()+others, int64(d.DataParallel.Ranks))
			b.GroupPrefill = b.PrefillTokens + r.Int64N(b.GroupTokens-b.Scheduled()+1)
			for i, v := range f.Beta(&b) {
				if v < low[i] || v > high[i]*(1+1e-12) {
					t.Fatalf("%s of %+v is %v, want %v to %v", BetaNames[i], b, v, low[i], high[i])
				}
			}
			for _, m := range []interface {
				Model
				Floor
			}{fitted, roofline} {
				if step := m.Step(&b); step < m.MinStep() {
					t.Fatalf("%T: step %v µs of %+v, at least %v", m, step, b, m.MinStep())
				}
			}
			more := b
			more.GroupTokens++
			if x, y := roofline.Step(&b), roofline.Step(&more); y < x {
				t.Fatalf("%v µs with another token, %v without", y, x)
			}
		}
	})
}

// With x times the work of experts on one GPU, what is computed, read and moved of them grows so, and
// nothing else does.
func TestImbalanceOfExperts(t *testing.T) {
	even := *deployment(t, "mixtral-8x7b", "H100", 2)
	even.DataParallel.Ranks = 2
	skewed := even
	skewed.DataParallel.Imbalance = 1.5
	for _, b := range []*Batch{
		{PrefillTokens: 300, PrefillRequests: 1, DecodeTokens: 20, DecodeRequests: 20, SampledRows: 21},
		{PrefillTokens: 300, PrefillRequests: 1, DecodeTokens: 20, DecodeRequests: 20, SampledRows: 21, GroupTokens: 400, GroupPrefill: 350},
	} {
		v, w := features(t, &even, typicalLimits).Beta(b), features(t, &skewed, typicalLimits).Beta(b)
		prefill, decode := float64(b.PrefillTokens), float64(b.DecodeTokens)
		if b.GroupTokens > 0 {
			prefill, decode = float64(b.GroupPrefill)/2, float64(b.GroupTokens-b.GroupPrefill)/2
		}
		perToken := 2 * 32 * 2 * 3 * 4096 * 14336 / (2 * 989e12)
		for i := range v {
			want := v[i]
			switch i {
			case betaExpertRows, betaExpertRowsPrefill:
				want *= 1.5
			case betaLinearCompute:
				want += 0.5 * perToken * prefill
			case betaDecodeCompute:
				want += 0.5 * perToken * decode
			case betaWeightStreaming:
				want += 0.5 * 2 * 32 * 8 * 3 * 4096 * 14336 * v[betaExpertShare] / 2 / (2 * 3.35e12)
			case betaComputeExcess:
				continue
			}
			if !isNear(w[i], want) {
				t.Errorf("%s of %+v: %v, want %v", BetaNames[i], *b, w[i], want)
			}
		}
	}
	for x, ok := range map[float64]bool{-1: false, 0: true, 0.5: false, 1: true, 1025: false} {
		even.DataParallel.Imbalance = x
		if err := even.Validate(); (err == nil) != ok {
			t.Errorf("imbalance %v: %v", x, err)
		}
	}
}
