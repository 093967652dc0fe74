package latency

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// DeepSeek-V3, worked out by hand from its shape: h 7168, 61 layers, 128 heads,
// r_q 1536, r_kv 512, d_n 128, d_r 64, d_v 128.
func TestConstantsOfLatentAttention(t *testing.T) {
	s := mustModel(t, "DeepSeek-V3")
	const down, up, latent, apart, out = 7168 * 1536, 1536 * 128 * 192, 7168 * 576, 512 * 128 * 256, 128 * 128 * 7168
	for name, c := range map[string][2]int64{
		"attention FLOPs per layer":    {s.Counts().attentionFLOPs(), 2 * (down + up + latent + apart + out)},
		"MLP FLOPs per MoE layer":      {s.Counts().mlpFLOPs(), 2 * (9*3*7168*2048 + 7168*256)},
		"FLOPs of all layers":          {s.Counts().LayerFLOPs(), 61*s.Counts().attentionFLOPs() + 3*2*3*7168*18432 + 58*s.Counts().mlpFLOPs()},
		"FLOPs per pair in prefill":    {s.Counts().PrefillPairFLOPs(), 61 * 2 * 128 * (128 + 64 + 128)},
		"FLOPs per pair in decode":     {s.Counts().DecodePairFLOPs(), 61 * 2 * 128 * (2*512 + 64)},
		"KV bytes per token":           {s.Counts().KVBytesPerToken(1), 61 * 576 * 2},
		"KV bytes per token at TP 8":   {s.Counts().KVBytesPerToken(8), 8 * 61 * 576 * 2},
		"weights, one byte each":       {s.Counts().layerWeights(), 671_026_404_352 - s.Counts().plainWeights()},
		"resident bytes":               {s.Counts().ResidentWeightBytes(), 671_026_404_352 + s.Counts().plainWeights()}, // the plain ones have two
		"query width":                  {s.Counts().q(), 128 * 192},
		"streamed bytes of many tok.s": {int64(s.Counts().StreamedWeightBytes(1 << 20)), s.Counts().layerWeights() + 2*7168*129280},
	} {
		if c[0] != c[1] {
			t.Errorf("%s = %d, want %d", name, c[0], c[1])
		}
	}
	// Without r_q queries are one product.
	lite := mustModel(t, "DeepSeek-V2-Lite")
	if got, want := lite.Counts().attentionFLOPs(), int64(2*(2048*16*192+2048*576+512*16*256+16*128*2048)); got != want {
		t.Errorf("attention FLOPs without r_q are %d, want %d", got, want)
	}
}

// The latent vector is not split: only the query heads must divide.
func TestTPOfLatentAttention(t *testing.T) {
	for tp, ok := range map[int]bool{1: true, 2: true, 16: true, 3: false, 32: false} {
		d := &Deployment{Model: mustModel(t, "DeepSeek-V2-Lite"), GPU: mustGPU(t, "H100"), TP: tp}
		if err := d.Validate(); (err == nil) != ok {
			t.Errorf("TP %d of 16 heads: %v", tp, err)
		}
	}
}

func TestKVBlocksOfLatentAttention(t *testing.T) {
	// By hand: ⌊(79.19·2³⁰·0.9 − 15,706,484,224·2 − 10⁹) / (27·576·2·16)⌋, and at
	// TP 2 twice the memory, but each GPU holds all of the cache.
	for tp, want := range map[int]int64{1: 88_641, 2: 120_201} {
		d := deployment(t, "DeepSeek-V2-Lite", "H100", tp)
		byHand := math.Floor((79.19*(1<<30)*0.9*float64(tp) - 2*15_706_484_224 - 1e9*float64(tp)) / float64(27*576*2*16*tp))
		got, err := d.KVBlocks(DefaultMemory())
		if err != nil || got != int64(byHand) || got != want {
			t.Errorf("TP %d: %d blocks, %v; want %d (%.0f)", tp, got, err, want, byHand)
		}
	}
}

func TestSmallestTP(t *testing.T) {
	for _, c := range []struct {
		model, gpu string
		want       int
	}{
		{"llama-3.1-8b", "H100", 1}, {"llama-3.1-70b", "H100", 2}, {"llama-3.1-70b", "L40S", 4}, {"llama-3.1-8b", "RTX4090", 1}, {"mixtral-8x7b", "RTX4090", 8},
		{"Qwen2.5-7B", "L40S", 1}, {"DeepSeek-V3", "H100", 16}, {"DeepSeek-V3", "H200", 8}, {"DeepSeek-V3", "RTX4090", 32},
	} {
		d := &Deployment{Model: mustModel(t, c.model), GPU: mustGPU(t, c.gpu), TP: 7} // whatever TP it has
		got, err := d.SmallestTP(DefaultMemory())
		if err != nil || got != c.want {
			t.Errorf("%s on %s: TP %d, %v; want %d", c.model, c.gpu, got, err, c.want)
		}
		if d.TP != 7 {
			t.Error("the deployment was changed")
		}
	}
	// More activations than any GPU has: nowhere.
	m := DefaultMemory()
	m.Activations = 1 << 40
	d := &Deployment{Model: mustModel(t, "llama-3.1-8b"), GPU: mustGPU(t, "H100"), TP: 1}
	if got, err := d.SmallestTP(m); got != 0 || err != nil {
		t.Errorf("TP %d, %v; want none", got, err)
	}
	m.Utilization = 2
	var fit *DoesNotFit
	if _, err := d.SmallestTP(m); err == nil || errors.As(err, &fit) || !strings.Contains(err.Error(), "gpu-memory-utilization is 2") {
		t.Error(err)
	}
}

func TestAttentionKinds(t *testing.T) {
	for kv, want := range map[int64]AttentionKind{32: MultiHead, 8: GroupedQuery, 1: MultiQuery} {
		s := *mustModel(t, "llama-3.1-8b")
		s.KVHeads = kv
		if s.Attention() != want {
			t.Errorf("%d of 32: %s, want %s", kv, s.Attention(), want)
		}
	}
	if s := mustModel(t, "DeepSeek-V3"); s.Attention() != Latent {
		t.Error(s.Attention())
	}
}

// A spec that is made by hand is held to the same.
func TestLatentAttentionIsConsistent(t *testing.T) {
	s := *mustModel(t, "DeepSeek-V3")
	s.Name, s.KVHeads, s.HeadDim, s.RopeDim = "mine", 128, 128, 0
	want := "model mine: qk_rope_head_dim is 0, want 1 to 8192; num_key_value_heads is 128, want 1: all heads share the latent vector"
	if err := s.Validate(); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	s = *mustModel(t, "llama-3.1-8b")
	s.Name, s.QueryRank = "mine", 1536
	want = "model mine: kv_lora_rank is 0, but other fields of latent attention are not"
	if err := s.Validate(); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
