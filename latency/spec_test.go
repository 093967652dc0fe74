package latency

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// mustModel and mustGPU return built-in descriptions.
func mustModel(t testing.TB, name string) *ModelSpec {
	t.Helper()
	s, err := FindModel(name)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

func mustGPU(t testing.TB, name string) *Hardware {
	t.Helper()
	g, err := FindHardware(name)
	if err != nil {
		t.Fatal(err)
	}
	return &g
}

func deployment(t testing.TB, model, gpu string, tp int) *Deployment {
	t.Helper()
	d := &Deployment{Model: mustModel(t, model), GPU: mustGPU(t, gpu), TP: tp}
	if err := d.Validate(); err != nil {
		t.Fatal(err)
	}
	return d
}

// Golden values of Llama-3.1-8B on one H100, computed independently of this
// code.
func TestConstantsOfLlama8B(t *testing.T) {
	d := deployment(t, "meta-llama/Llama-3.1-8B", "H100", 1)
	s := d.Model
	for name, c := range map[string][2]int64{
		"attention FLOPs per layer": {s.Counts().attentionFLOPs(), 83_886_080},
		"MLP FLOPs per layer":       {s.Counts().mlpFLOPs(), 352_321_536},
		"head FLOPs":                {s.Counts().HeadFLOPs(), 1_050_673_152},
		"layer FLOPs per token":     {s.Counts().LayerFLOPs(), 13_958_643_712},
		"linear FLOPs per token":    {s.Counts().linearFLOPs(), 15_009_316_864},
		"pair FLOPs":                {s.Counts().PrefillPairFLOPs(), 524_288},
		"KV bytes per token":        {d.KVBytesPerToken(), 131_072},
		"KV bytes per token, TP 8":  {s.Counts().KVBytesPerToken(8), 131_072},
		"KV bytes per token, TP 16": {s.Counts().KVBytesPerToken(16), 262_144},
		"parameters":                {s.Counts().Parameters(), 8_030_261_248},
		"resident weight bytes":     {s.Counts().ResidentWeightBytes(), 16_060_522_496},
	} {
		if c[0] != c[1] {
			t.Errorf("%s = %d, want %d", name, c[0], c[1])
		}
	}
	for name, c := range map[string][2]float64{
		"streamed bytes of one token":     {s.Counts().StreamedWeightBytes(1), 15_009_316_864},
		"streamed bytes of many tokens":   {s.Counts().StreamedWeightBytes(8192), 15_009_316_864},
		"streamed bytes of nothing":       {s.Counts().StreamedWeightBytes(0), 0},
		"time to stream them, s":          {s.Counts().StreamedWeightBytes(512) / d.BandwidthCeiling(), 4.480393093731343e-3},
		"time of a full step, s":          {max(8192*float64(s.Counts().linearFLOPs())/d.ComputeCeiling(), s.Counts().StreamedWeightBytes(8192)/d.BandwidthCeiling()), 0.12432388650140344},
		"attention of a 512-token prompt": {float64(s.Counts().PrefillPairFLOPs()*512*513/2) / d.ComputeCeiling(), 6.961950906370071e-05},
	} {
		if math.Abs(c[0]-c[1]) > 1e-15*c[1] {
			t.Errorf("%s = %v, want %v", name, c[0], c[1])
		}
	}
}

// The parameter counts that the models' publishers state. Biases are left
// out, which is what Qwen and Falcon differ by.
func TestParameterCountsMatchThePublishedOnes(t *testing.T) {
	for name, want := range map[string]int64{
		"Llama-3.1-70B":         70_553_706_496,
		"Llama-2-7b-hf":         6_738_415_616,
		"Llama-2-70b-hf":        68_976_648_192,
		"CodeLlama-34b-hf":      33_743_970_304,
		"Mixtral-8x7B-v0.1":     46_702_792_704,
		"Qwen2.5-7B":            7_615_616_512 - 28*(28+2*4)*128, // less its query, key and value biases
		"llama-3.1-8b-instruct": 8_030_261_248,
	} {
		if got := mustModel(t, name).Counts().Parameters(); got != want {
			t.Errorf("%s has %d parameters, want %d", name, got, want)
		}
	}
}

// Mixtral, 2 of 8 experts: figures worked out by hand.
func TestExpertsOfMixtral(t *testing.T) {
	s := mustModel(t, "mixtral-8x7b")
	if got, want := s.Counts().mlpFLOPs(), int64(2*3*2*4096*14336+2*4096*8); got != want {
		t.Errorf("MLP FLOPs %d, want %d", got, want)
	}
	const attention, expert, head = 32 * (4096*6144 + 4096*4096) * 2.0, 32 * 3 * 4096 * 14336 * 2.0, 4096 * 32000 * 2.0
	for b, touched := range map[int64]float64{1: 2, 2: 3.5, 3: 4.625, 1000: 8} {
		if got, want := s.Counts().StreamedWeightBytes(b), attention+head+expert*touched; got != want {
			t.Errorf("%d tokens stream %v bytes, want %v", b, got, want)
		}
	}
}

func TestPowerAgreesWithMathPow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, n := rapid.Float64Range(0, 1).Draw(t, "x"), rapid.Int64Range(0, 20000).Draw(t, "n")
		got, want := power(x, n), math.Pow(x, float64(n))
		if math.Abs(got-want) > 1e-11*want+1e-300 {
			t.Fatalf("power(%v, %d) = %v, want %v", x, n, got, want)
		}
	})
}

func TestOneErrorNamesEveryBadField(t *testing.T) {
	s := *mustModel(t, "mixtral-8x7b")
	s.Heads, s.Vocab, s.ActiveExperts, s.Name = 0, 0, 9, "broken"
	g := *mustGPU(t, "H100")
	g.BF16, g.Bandwidth = math.NaN(), math.Inf(1)
	d := &Deployment{Model: &s, GPU: &g, TP: 0}
	want := "broken on H100 at TP 0: num_attention_heads is 0, want 1 to 4096; vocab_size is 0, want 1 to 16777216; " +
		"num_experts_per_tok is 9, want 1 to 8; bf16_tflops is NaN, want a finite number above 0; " +
		"hbm_tb_per_s is +Inf, want a finite number above 0; tp is 0, want 1 to 1024"
	if err := d.Validate(); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := NewRoofline(d, DefaultRoofline(nil)); err == nil || err.Error() != "roofline of "+want {
		t.Errorf("NewRoofline: %v", err)
	}
	if _, err := d.KVBlocks(DefaultMemory()); err == nil || err.Error() != want {
		t.Errorf("KVBlocks: %v", err)
	}
}

func TestTPMustDivideTheHeads(t *testing.T) {
	for tp, ok := range map[int]bool{1: true, 2: true, 4: true, 8: true, 16: true, 32: true, -1: false, 0: false, 3: false, 5: false, 64: false} {
		d := &Deployment{Model: mustModel(t, "llama-3.1-8b"), GPU: mustGPU(t, "H100"), TP: tp}
		if err := d.Validate(); (err == nil) != ok {
			t.Errorf("TP %d: %v", tp, err)
		}
	}
	// 24 query heads on 6 KV heads: 4 divides the queries, but not the KV heads, nor they it.
	s := *mustModel(t, "llama-3.1-8b")
	s.Heads, s.KVHeads = 24, 6
	if err := (&Deployment{Model: &s, GPU: mustGPU(t, "H100"), TP: 4}).Validate(); err == nil {
		t.Error("TP 4 over 6 KV heads passed")
	}
}
