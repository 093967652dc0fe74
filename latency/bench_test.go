package latency

import "testing"

var sink float64

// typicalLimits are vLLM's on an H100 with the KV cache of an 8B model.
var typicalLimits = EngineLimits{MaxBatchedTokens: 8192, MaxSeqs: 1024, BlockSize: 16, GPUBlocks: 28000, ChunkedPrefill: true}

func features(t testing.TB, d *Deployment, e EngineLimits) *Features {
	t.Helper()
	f, err := NewFeatures(d, e)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func physics(t testing.TB, f *Features, alpha AlphaVector, beta BetaVector) *Physics {
	t.Helper()
	m, err := NewPhysics(f, alpha, beta)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// plausible coefficients: efficiencies between a half and one, 2 ms per step.
var (
	plausibleAlpha = AlphaVector{0.001, 0.001, 0.1, 0.004, 0.01, 0.001, -0.001, 0.001, 0.01, 0.001, 0.002}
	plausibleBeta  = BetaVector{1.6, 1.8, 1.3, 1.2, 1.4, 0.001, 0.0005, 0.001, 1.1, 0.001, 0.0005, 0.02, 1, 1, 0.0003, 0.002}
)

// benchModels are the models that BenchmarkStep and BenchmarkQueueing compare.
func benchModels(b *testing.B) []struct {
	name  string
	model Model
} {
	dense, moe := deployment(b, "llama-3.1-8b", "H100", 2), deployment(b, "mixtral-8x7b", "H100", 2)
	llama, err := NewRoofline(dense, DefaultRoofline(nil))
	if err != nil {
		b.Fatal(err)
	}
	mixtral, err := NewRoofline(moe, DefaultRoofline(nil))
	if err != nil {
		b.Fatal(err)
	}
	return []struct {
		name  string
		model Model
	}{
		{"blackbox", Blackbox{Alpha: [3]float64{1601.35, 3.51, 1805.54}, Beta: [3]float64{6910.42, 17.67, 2.84}}},
		{"roofline/dense", llama},
		{"roofline/MoE", mixtral},
		{"physics/dense", physics(b, features(b, dense, typicalLimits), plausibleAlpha, plausibleBeta)},
		{"physics/MoE", physics(b, features(b, moe, typicalLimits), plausibleAlpha, plausibleBeta)},
	}
}

func BenchmarkStep(b *testing.B) {
	for _, c := range benchModels(b) {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			batch := Batch{PrefillTokens: 512, PrefillRequests: 1, PrefillPairs: 131328, DecodeTokens: 64, DecodeRequests: 64, DecodeContext: 40960, SampledRows: 65}
			sum := 0.0
			for b.Loop() {
				batch.DecodeContext += 64
				sum += c.model.Step(&batch)
			}
			sink = sum
		})
	}
}

func BenchmarkQueueing(b *testing.B) {
	for _, c := range benchModels(b) {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			in := QueueInput{Input: 512, Running: 24, UsedBlocks: 2000, FreeBlocks: 26000, CachedTokens: 100, PromptTokens: 2000}
			sum := 0.0
			for b.Loop() {
				in.Waiting = (in.Waiting + 1) & 63
				sum += c.model.Queueing(in)
			}
			sink = sum
		})
	}
}

func BenchmarkFloor(b *testing.B) {
	for _, c := range benchModels(b) {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			floor, sum := c.model.(Floor), 0.0
			for b.Loop() {
				sum += floor.MinQueueing(512) + floor.MinStep()
			}
			sink = sum
		})
	}
}
