package latency

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"blis/vtime"
)

// naiveStep is the twin of Roofline.Step: the formulas of docs/latency.md as
// they stand there, in seconds, from the descriptions, nothing prepared.
func naiveStep(d *Deployment, o RooflineOptions, b *Batch) float64 {
	s, g, tp := d.Model, d.GPU, float64(d.TP)
	h, q, kv, f := float64(s.Hidden), float64(s.Heads*s.HeadDim), float64(s.KVHeads*s.HeadDim), float64(s.Intermediate)
	np, layers, v := float64(s.MLPMatrices), float64(s.Layers), float64(s.Vocab)
	all, mlp, experts := naiveWidths(s)
	bytes := func(w PartWidth) float64 { return (float64(w.WeightBits) + w.ScaleBits) / 8 }
	peak := naivePeak(g, all)
	tokens := float64(b.PrefillTokens + b.DecodeTokens)

	attention := 2*h*(q+2*kv) + 2*q*h
	prefillPair, decodePair, kvWidth, copies := 4*q, 4*q, 2*kv, math.Max(1, tp/float64(s.KVHeads))
	if s.LatentRank > 0 {
		heads, rq, rkv, dn, dr, dv := float64(s.Heads), float64(s.QueryRank), float64(s.LatentRank), float64(s.NopeDim), float64(s.RopeDim), float64(s.ValueDim)
		attention = 2 * (h*rq + rq*heads*(dn+dr) + h*(rkv+dr) + rkv*heads*(dn+dv) + heads*dv*h)
		if rq == 0 {
			attention += 2 * h * heads * (dn + dr)
		}
		prefillPair, decodePair, kvWidth, copies = 2*heads*(dn+dr+dv), 2*heads*(2*rkv+dr), rkv+dr, tp
	}
	perToken, streamed, converted, moe := 0.0, h*v*float64(s.ElementBytes), 0.0, 0.0
	convert := func(weights float64, w PartWidth) {
		integer := w.ActivationBits > w.WeightBits && !(w.isMXFP4() && g.FP4 > 0)
		if w.WeightBits < 16 && (integer || w.WeightBits == 4 && g.FP4 == 0) {
			converted += weights / tp
		}
	}
	for layer := range s.Layers {
		perToken += attention
		streamed += attention / 2 * bytes(all)
		convert(attention/2, all)
		if s.Experts == 0 || layer < s.DenseLayers {
			perToken += np * 2 * h * f * peak / naivePeak(g, mlp)
			streamed += np * h * f * bytes(mlp)
			convert(np*h*f, mlp)
			continue
		}
		moe++
		e, k, fe, shared := float64(s.Experts), float64(s.ActiveExperts), float64(s.ExpertIntermediate), float64(s.SharedIntermediate)
		touched := 1 - math.Pow(1-k/e, tokens)
		if d.ExpertParallel && tp > 1 {
			touched = math.Min(1, touched+math.Sqrt(2*math.Log(tp)*touched*(1-touched)*tp/e))
		}
		perToken += k*np*2*h*fe*peak/naivePeak(g, experts) + 2*h*e + np*2*h*shared*peak/naivePeak(g, mlp)
		streamed += np*h*fe*e*touched*bytes(experts) + np*h*shared*bytes(mlp)
		convert(np*h*fe*e*touched, experts)
		convert(np*h*shared, mlp)
	}
	decodeRows := math.Min(float64(b.SampledRows), float64(b.DecodeRequests))
	prefillRows := float64(b.SampledRows) - decodeRows
	pairs, context, read := naiveKeys(s, b)
	prefill := 1 / (peak * tp * o.PrefillMFU)
	decode := 1 / (peak * tp * o.DecodeMFU)
	reading := 1 / (g.Bandwidth * tp * o.HBMEfficiency)
	kvBytes := layers * kvWidth * float64(s.KVElementBytes) * copies

	step := math.Max((float64(b.PrefillTokens)*perToken+prefillRows*2*h*v)*prefill, streamed*reading)
	step += layers*prefillPair*pairs*prefill + (read-context)*kvBytes*reading
	step += context * math.Max(kvBytes*reading, layers*decodePair*decode)
	step += (float64(b.DecodeTokens)*perToken + decodeRows*2*h*v) * decode
	step += (layers*o.LayerOverhead + moe*o.MoEOverhead + layers*float64(b.DecodeRequests)*o.DecodeOverhead) / 1e6
	rows := moe * float64(s.ActiveExperts) * h * float64(s.ElementBytes) / g.Bandwidth
	if d.ExpertParallel {
		rows /= tp
	}
	step += rows * (float64(b.DecodeTokens)*o.DecodeRows + float64(b.PrefillTokens)*o.PrefillRows)
	step += converted * o.Conversion / 1e12
	if d.TP > 1 {
		start := map[int]float64{2: g.AllReduceLatency[0], 4: g.AllReduceLatency[1], 8: g.AllReduceLatency[2]}[d.TP] / 1e6
		link := g.Link
		if link == 0 {
			link = 0.35 * g.PCIe
		}
		sent := tokens*o.LinkTime + math.Min(tokens, 512)*(o.SmallLinkTime-o.LinkTime)
		step += 2 * layers * (start + 2*(tp-1)/tp*sent*h*float64(s.ElementBytes)/link)
	}
	return step * 1e6
}

// naiveWidths are the widths of attention, of MLPs and of experts.
func naiveWidths(s *ModelSpec) (all, mlp, experts PartWidth) {
	all = PartWidth{s.WeightBits, s.ScaleBits, s.ActivationBits}
	mlp = all
	if s.MLPWidth.WeightBits != 0 {
		mlp = s.MLPWidth
	}
	experts = mlp
	if s.ExpertWidth.WeightBits != 0 {
		experts = s.ExpertWidth
	}
	return all, mlp, experts
}

func naivePeak(g *Hardware, w PartWidth) float64 {
	switch {
	case w.ActivationBits == 8 && g.FP8 > 0:
		return g.FP8
	case w.ActivationBits == 4 && g.FP4 > 0:
		return g.FP4
	}
	return g.BF16
}

// naiveKeys are the pairs in prefill, those in decode and the keys that are read, as
// means over the layers, each with its window.
func naiveKeys(s *ModelSpec, b *Batch) (pairs, context, read float64) {
	for layer := range s.Layers {
		p, c, r := float64(b.PrefillPairs), float64(b.DecodeContext), float64(b.PrefillContext)
		if layer < s.WindowLayers {
			w := float64(s.Window)
			p, c, r = math.Min(p, w*float64(b.PrefillTokens)), math.Min(c, w*float64(b.DecodeTokens)), math.Min(r, w*float64(b.PrefillRequests))
		}
		pairs, context, read = pairs+p, context+c, read+c+r
	}
	n := float64(s.Layers)
	return pairs / n, context / n, read / n
}

func TestRooflineAgreesWithItsNaiveTwin(t *testing.T) {
	models, gpus := AllModels(), AllHardware()
	scout, err := ParseModel([]byte(`{"model_type": "deepseek_moe", "hidden_size": 2048, "num_hidden_layers": 28, "num_attention_heads": 16, "intermediate_size": 10944, "vocab_size": 102400,
		"moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
		"quantization_config": {"quant_method": "fp8"}}`), "shared experts and a dense layer")
	if err != nil {
		t.Fatal(err)
	}
	awq, err := ParseModel([]byte(overlay(t, mlaConfig, `{"quantization_config": {"bits": 4, "group_size": 64}}`)), "latent attention, scales")
	if err != nil {
		t.Fatal(err)
	}
	models = append(models, scout, awq)
	random := vtime.NewStream(7, "roofline twin")
	for m := range models {
		for g := range gpus {
			for _, tp := range []int{1, 2, 4, 8} {
				d := &Deployment{Model: &models[m], GPU: &gpus[g], TP: tp, ExpertParallel: random.Int64N(2) == 1}
				if d.Validate() == nil {
					compareWithTwin(t, d, random)
				}
			}
		}
	}
}

// compareWithTwin runs random batches, those bound by compute and those bound
// by memory, under random options.
func compareWithTwin(t *testing.T, d *Deployment, random *vtime.Stream) {
	for range 30 {
		o := RooflineOptions{
			PrefillMFU: 0.1 + 0.9*random.Float64(), DecodeMFU: 0.1 + 0.9*random.Float64(), HBMEfficiency: 0.1 + 0.9*random.Float64(),
			LayerOverhead: 50 * random.Float64(), MoEOverhead: 50 * random.Float64(), DecodeOverhead: random.Float64(),
			DecodeRows: 30 * random.Float64(), PrefillRows: 30 * random.Float64(), Conversion: random.Float64(), LinkTime: 2 * random.Float64(),
		}
		o.SmallLinkTime = o.LinkTime + 2*random.Float64()
		r, err := NewRoofline(d, o)
		if err != nil {
			t.Fatal(err)
		}
		chunk, computed, decodes := max(0, random.Int64N(8192)-2000), random.Int64N(9000), 1+random.Int64N(1<<random.Int64N(11))
		b := Batch{
			PrefillTokens: chunk, PrefillRequests: min(1, chunk), PrefillPairs: chunk*computed + chunk*(chunk+1)/2, PrefillContext: min(1, chunk) * computed,
			DecodeTokens: decodes, DecodeRequests: decodes, DecodeContext: decodes * (1 + random.Int64N(9000)),
			SampledRows: random.Int64N(decodes + min(1, chunk) + 1),
		}
		if got, want := r.Step(&b), naiveStep(d, o, &b); math.Abs(got-want) > 1e-11*want {
			t.Fatalf("seed 7: %s, %+v, %+v: %v µs, want %v", d, o, b, got, want)
		}
	}
}

// Golden values for Llama-3.1-8B on one H100, worked out in another language.
func TestRooflineSteps(t *testing.T) {
	r, err := NewRoofline(deployment(t, "llama-3.1-8b", "H100", 1), DefaultRoofline(mustGPU(t, "H100")))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		batch Batch
		want  float64
	}{
		"one decode":       {Batch{DecodeTokens: 1, DecodeRequests: 1, DecodeContext: 513, SampledRows: 1}, 6510.185730043733},
		"64 decodes":       {Batch{DecodeTokens: 64, DecodeRequests: 64, DecodeContext: 64 * 640, SampledRows: 64}, 9388.02909268871},
		"512-token prompt": {Batch{PrefillTokens: 512, PrefillRequests: 1, PrefillPairs: 131328, SampledRows: 1}, 12826.14909879443},
		"both":             {Batch{PrefillTokens: 512, PrefillRequests: 1, PrefillPairs: 131328, DecodeTokens: 64, DecodeRequests: 64, DecodeContext: 64 * 640, SampledRows: 65}, 15744.185698296897},
	} {
		if got := r.Step(&c.batch); math.Abs(got-c.want) > 1e-12*c.want {
			t.Errorf("%s: %v µs, want %v", name, got, c.want)
		}
	}
	if r.Queueing(QueueInput{Input: 9000, Waiting: 5}) != 4400 || r.TokenOverhead() != 0 || r.RequestOverhead() != 0 {
		t.Error("front end and overheads")
	}
}

// Real vLLM servers on H100: decode steps as base + slope·n (Llama-2-7B TP 1:
// 5.95 ms + 128 to 162 µs per request of some 700 tokens; CodeLlama-34B TP 2
// 13.6 ms; Llama-2-70B TP 4 14.6 to 16.9 ms; Mixtral TP 2 14.5 to 18.2 ms at
// the usual batch) and lone prefills. The roofline is a rough model: 25 %.
func TestRooflineIsNearMeasuredServers(t *testing.T) {
	decode := func(n, context int64) Batch {
		return Batch{DecodeTokens: n, DecodeRequests: n, DecodeContext: n * context, SampledRows: n}
	}
	prefill := func(n int64) Batch {
		return Batch{PrefillTokens: n, PrefillRequests: 1, PrefillPairs: n * (n + 1) / 2, SampledRows: 1}
	}
	for name, c := range map[string]struct {
		model string
		tp    int
		batch Batch
		ms    float64
	}{
		"7B, 20 decodes":      {"llama-2-7b", 1, decode(20, 700), 5.95 + 20*0.145},
		"34B, 20 decodes":     {"codellama-34b", 2, decode(20, 700), 13.6 + 20*0.041},
		"70B, 20 decodes":     {"llama-2-70b", 4, decode(20, 700), 15.8 + 20*0.08},
		"Mixtral, 20 decodes": {"mixtral-8x7b", 2, decode(20, 700), 16.4 + 20*0.08},
		"7B, 1,566 tokens":    {"llama-2-7b", 1, prefill(1566), 39.8},
		"7B, 3,500 tokens":    {"llama-2-7b", 1, prefill(3500), 78.2},
	} {
		r, err := NewRoofline(deployment(t, c.model, "H100", c.tp), DefaultRoofline(mustGPU(t, "H100")))
		if err != nil {
			t.Fatal(err)
		}
		got := r.Step(&c.batch) / 1e3
		t.Logf("%s: %.1f ms, measured %.1f (%+.0f %%)", name, got, c.ms, 100*(got/c.ms-1))
		if math.Abs(got/c.ms-1) > 0.25 {
			t.Errorf("%s: %.1f ms, measured %.1f", name, got, c.ms)
		}
	}
}

func TestRooflineOptionsAreChecked(t *testing.T) {
	d := deployment(t, "llama-3.1-8b", "H100", 1)
	_, err := NewRoofline(d, RooflineOptions{
		DecodeMFU: 1.1, HBMEfficiency: math.NaN(), LayerOverhead: -1, MoEOverhead: -2, DecodeOverhead: -3, DecodeRows: -4, PrefillRows: -5, Conversion: -6,
		LinkTime: 2, SmallLinkTime: 1, FrontEnd: math.Inf(1),
	})
	want := "roofline of meta-llama/Llama-3.1-8B on H100 at TP 1: prefill MFU is 0, want above 0 and at most 1; decode MFU is 1.1, want above 0 and at most 1; " +
		"HBM efficiency is NaN, want above 0 and at most 1; overhead per layer is -1, want a finite number, 0 or more; " +
		"overhead per MoE layer is -2, want a finite number, 0 or more; overhead per decoding request is -3, want a finite number, 0 or more; " +
		"rows of experts in decode is -4, want a finite number, 0 or more; rows of experts in prefill is -5, want a finite number, 0 or more; " +
		"conversion is -6, want a finite number, 0 or more; small link time is 1, want at least the link time, 2; front end is +Inf, want a finite number, 0 or more"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// Measured runs of vLLM 0.15 on H100 (their logs): within 5 %.
func TestKVBlocksOfMeasuredRuns(t *testing.T) {
	for _, c := range []struct {
		model string
		tp    int
		want  int64
	}{{"llama-2-7b", 1, 7462}, {"codellama-34b", 2, 26602}, {"llama-2-70b", 4, 31356}, {"mixtral-8x7b", 2, 27510}} {
		got, err := deployment(t, c.model, "H100", c.tp).KVBlocks(DefaultMemory())
		if err != nil {
			t.Fatal(err)
		}
		off := float64(got)/float64(c.want) - 1
		t.Logf("%s TP %d: %d blocks, measured %d (%+.1f %%)", c.model, c.tp, got, c.want, 100*off)
		if math.Abs(off) > 0.05 {
			t.Errorf("%s TP %d: %d blocks, measured %d", c.model, c.tp, got, c.want)
		}
	}
	// By hand: ⌊(79.19·2³⁰·0.9 − 16,060,522,496 − 10⁹) / (131,072·16)⌋.
	if got, err := deployment(t, "llama-3.1-8b", "H100", 1).KVBlocks(DefaultMemory()); got != 28355 || err != nil {
		t.Errorf("Llama-3.1-8B TP 1: %d, %v", got, err)
	}
	// ⌊(2·79.19·2³⁰·0.9 − 67,487,940,608 − 2·10⁹) / (196,608·16)⌋.
	if got, err := deployment(t, "codellama-34b", "H100", 2).KVBlocks(DefaultMemory()); got != 26564 || err != nil {
		t.Errorf("CodeLlama-34B TP 2: %d, %v", got, err)
	}
}

func TestModelThatDoesNotFit(t *testing.T) {
	_, err := deployment(t, "llama-3.1-70b", "H100", 1).KVBlocks(DefaultMemory())
	var e *DoesNotFit
	if !errors.As(err, &e) || e.Model != "meta-llama/Llama-3.1-70B" || e.GPU != "H100" || e.TP != 1 || e.Needed != 2*70_553_706_496+1_000_000_000+16*327_680 || e.Available != 76526653538 {
		t.Fatalf("%#v", err)
	}
	want := "meta-llama/Llama-3.1-70B does not fit on H100 at TP 1: it needs 132.35 GiB for weights, activations and one KV block, there are 71.27 GiB; 2 of these GPUs would do (--tp 2)"
	if err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	// The border: room for one block, and one byte less.
	d := deployment(t, "llama-3.1-8b", "H100", 1)
	d.GPU.Memory = 16_060_522_496 + 5e9 + 32*131_072
	tight := Memory{Utilization: 1, Activations: 5e9, BlockSize: 32}
	if got, err := d.KVBlocks(tight); got != 1 || err != nil {
		t.Errorf("room for one block: %d, %v", got, err)
	}
	d.GPU.Memory--
	if got, err := d.KVBlocks(tight); got != 0 || !errors.As(err, &e) || e.Needed != e.Available+1 {
		t.Errorf("one byte short: %d, %v", got, err)
	}
	// More activations than memory are the same message, not a negative count.
	m := DefaultMemory()
	m.Activations = 1 << 40
	if _, err := deployment(t, "llama-3.1-8b", "H100", 1).KVBlocks(m); !errors.As(err, &e) {
		t.Error(err)
	}
	_, err = deployment(t, "llama-3.1-8b", "H100", 1).KVBlocks(Memory{Utilization: 1.5, Activations: -1})
	if want := "meta-llama/Llama-3.1-8B on H100 at TP 1: gpu-memory-utilization is 1.5, want above 0 and at most 1; activation-memory is -1, want 0 to 1125899906842624; block-size is 0, want 1 to 1048576"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// The lookahead of a partition is MinStep: no step may be shorter by a single bit.
func TestNoStepOfRooflineIsBelowItsFloor(t *testing.T) {
	models, gpus := AllModels(), AllHardware()
	rapid.Check(t, func(t *rapid.T) {
		d := &Deployment{
			Model: rapid.SampledFrom(pointers(models)).Draw(t, "model"), GPU: rapid.SampledFrom(pointers(gpus)).Draw(t, "gpu"),
			TP: rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "tp"), ExpertParallel: rapid.Bool().Draw(t, "expert parallel"),
		}
		if d.Validate() != nil {
			t.Skip()
		}
		r, err := NewRoofline(d, DefaultRoofline(d.GPU))
		if err != nil {
			t.Fatal(err)
		}
		tokens := rapid.Int64Range(0, 1<<20)
		b := Batch{
			PrefillTokens: tokens.Draw(t, "prefill"), PrefillRequests: 1, PrefillPairs: tokens.Draw(t, "pairs"), PrefillContext: tokens.Draw(t, "prefill context"),
			DecodeTokens: tokens.Draw(t, "decodes"), DecodeContext: tokens.Draw(t, "decode context"), SampledRows: tokens.Draw(t, "rows"),
		}
		b.DecodeRequests = b.DecodeTokens
		if nothing := r.Step(&Batch{}); nothing != r.MinStep() {
			t.Fatalf("%s: a step over nothing takes %v µs, the floor is %v", d, nothing, r.MinStep())
		}
		if step := r.Step(&b); step < r.MinStep() {
			t.Fatalf("%s, %+v: %v µs, below %v", d, b, step, r.MinStep())
		}
	})
}

func pointers[T any](list []T) (all []*T) {
	for i := range list {
		all = append(all, &list[i])
	}
	return all
}

// What a step costs beside reading weights does not hide behind it: a decode's compute,
// layers, and links, whatever the bandwidth.
func TestRooflineHidesNoDecodeBehindMemory(t *testing.T) {
	d := deployment(t, "llama-3.1-70b", "A100-80", 4)
	r, err := NewRoofline(d, DefaultRoofline(d.GPU))
	if err != nil {
		t.Fatal(err)
	}
	one := Batch{DecodeTokens: 1, DecodeRequests: 1, DecodeContext: 64000, SampledRows: 1}
	many := Batch{DecodeTokens: 64, DecodeRequests: 64, DecodeContext: 64000, SampledRows: 64}
	compute := 63 * float64(d.Model.Counts().linearFLOPs()) / (4 * 312e12) * 1e6
	if more := r.Step(&many) - r.Step(&one); more < compute || more > 2*compute {
		t.Errorf("63 more decodes over as many keys take %v µs, want their %v µs of compute and somewhat more", more, compute)
	}
	if got, want := r.MinStep(), float64(r.weights)+80*50+160*6; math.Abs(got-want) > 1e-9 {
		t.Errorf("a step takes at least %v µs, want %v", got, want)
	}
}
