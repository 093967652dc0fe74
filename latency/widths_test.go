package latency

import (
	"strings"
	"testing"
)

// FP8 weights of a 16-bit model take half the memory, but for embeddings and
// head; an FP8 cache takes half the bytes of a token. Where a flag says what the
// model is anyway it stays the model itself.
func TestServedWidths(t *testing.T) {
	base, err := FindModel("Llama-3.1-8B-Instruct")
	if err != nil {
		t.Fatal(err)
	}
	linear := base.Counts().ResidentWeightBytes() - 2*2*base.Vocab*base.Hidden // untied embeddings and head of 16 bits
	for name, c := range map[string]struct {
		widths      Widths
		weights     int64
		scales      float64
		activations int64
		kv          int64
	}{
		"nothing said":            {Widths{}, 16, 0, 16, 2},
		"auto":                    {Widths{"auto", "", "auto"}, 16, 0, 16, 2},
		"bfloat16":                {Widths{"bfloat16", "none", "bfloat16"}, 16, 0, 16, 2},
		"half":                    {Widths{"half", "", ""}, 16, 0, 16, 2},
		"FP8 weights":             {Widths{"", "fp8", ""}, 8, 0, 8, 2},
		"FP8 of the optimiser":    {Widths{"", "modelopt", ""}, 8, 0, 8, 2},
		"FP8 cache":               {Widths{"", "", "fp8"}, 16, 0, 16, 1},
		"FP8 cache, by its bits":  {Widths{"", "", "fp8_e4m3"}, 16, 0, 16, 1},
		"both":                    {Widths{"bfloat16", "FP8", "fp8_e5m2"}, 8, 0, 8, 1},
		"AWQ: scale and zero":     {Widths{"", "awq", ""}, 4, 20.0 / 128, 16, 2},
		"GPTQ: a scale per 128":   {Widths{"", "gptq_marlin", ""}, 4, 16.0 / 128, 16, 2},
		"bitsandbytes: 32 per 64": {Widths{"", "bitsandbytes", ""}, 4, 0.5, 16, 2},
	} {
		got, err := base.Served(c.widths)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.WeightBits != c.weights || got.ScaleBits != c.scales || got.ActivationBits != c.activations || got.KVElementBytes != c.kv {
			t.Errorf("%s: %s, scales %v", name, got.WidthsText(), got.ScaleBits)
		}
		if same := c.weights == 16 && c.kv == 2; got.Reshaped == same {
			t.Errorf("%s: reshaped %v", name, got.Reshaped)
		}
		if got.Counts().KVBytesPerToken(1) != base.Counts().KVBytesPerToken(1)*c.kv/2 {
			t.Errorf("%s: %d bytes of KV per token, the model has %d", name, got.Counts().KVBytesPerToken(1), base.Counts().KVBytesPerToken(1))
		}
		if c.weights == 8 && c.scales == 0 {
			// Norms keep 16 bits: 65 of 4,096 numbers.
			norms := 2 * (2*base.Layers + 1) * base.Hidden
			if want := base.Counts().ResidentWeightBytes() - (linear-norms)/2; got.Counts().ResidentWeightBytes() < want-norms || got.Counts().ResidentWeightBytes() > want+norms {
				t.Errorf("%s: %d bytes of weights, want about %d", name, got.Counts().ResidentWeightBytes(), want)
			}
		}
	}
}

// What a checkpoint is quantised to stays, whatever the flag says.
func TestServedQuantizedCheckpointStays(t *testing.T) {
	s, err := ParseModel([]byte(`{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 2, "num_attention_heads": 32, "num_key_value_heads": 8,
		"intermediate_size": 14336, "vocab_size": 1000, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 64}}`), "config.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"awq", "awq_marlin", "compressed-tensors", "fp8"} {
		got, err := s.Served(Widths{Quantization: method})
		if err != nil || got.WeightBits != 4 || got.ScaleBits != s.ScaleBits || got.Reshaped {
			t.Errorf("%s: %s, %v", method, got.WidthsText(), err)
		}
	}
}

func TestWidthsThatCannotBe(t *testing.T) {
	base, err := FindModel("Llama-3.1-8B-Instruct")
	if err != nil {
		t.Fatal(err)
	}
	for widths, want := range map[Widths]string{
		{"float32", "", ""}:            "dtype is float32: weights of 32 bits are not modelled, want auto, bfloat16 or float16",
		{"int8", "", ""}:               `dtype is "int8", want auto, bfloat16`,
		{"", "compressed-tensors", ""}: "quantization is compressed-tensors: how wide its weights are is written in the checkpoint: give its config.json with --model-config-folder",
		{"", "fp9", ""}:                `quantization is "fp9", want one of vLLM's methods: `,
		{"", "", "fp8_ds_mla"}:         "kv-cache-dtype is fp8_ds_mla: its layout of 656 bytes",
		{"", "", "int3"}:               `kv-cache-dtype is "int3", want auto, bfloat16, float16, half, fp8,`,
		{"x", "y", "z"}:                `kv-cache-dtype is "z"`,
	} {
		got, err := base.Served(widths)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v\nwant %s", widths, err, want)
		}
		if got.Reshaped {
			t.Errorf("%+v: the model was changed", widths)
		}
	}
}

// Coefficients that were fitted to 16 bits do not cover other widths of a model
// that they know by name.
func TestCoverageOfServedWidths(t *testing.T) {
	set, err := FindPhysicsSet("h100-llama-2-7b")
	if err != nil {
		t.Fatal(err)
	}
	limits := EngineLimits{MaxBatchedTokens: 2048, MaxSeqs: 128, BlockSize: 16, GPUBlocks: 7_000, ChunkedPrefill: true}
	d := deployment(t, "Llama-2-7b-hf", "H100", 1)
	if got := set.Coverage(d, limits, true); got != nil {
		t.Fatalf("%q", got)
	}
	served, err := d.Model.Served(Widths{Quantization: "fp8"})
	if err != nil {
		t.Fatal(err)
	}
	got := set.gaps(&Deployment{Model: &served, GPU: d.GPU, TP: 1}, limits, true)
	if len(got) != 1 || got[0].reason != "only 16-bit weights, activations and KV caches were measured, not weights of 8 bits and activations of 8 bits" || !strings.HasPrefix(got[0].setting, "quantization") {
		t.Errorf("%+v", got)
	}
	if best, _ := Choose(&Deployment{Model: &served, GPU: d.GPU, TP: 1}, limits); best.Name() != "physics hgx" {
		t.Errorf("auto takes %s: want the set that was fitted to weights of 8 bits too", best.Name())
	}
}

// A run that misses a set by one setting is told of it: a loop over that setting
// would change the ruler on the way.
func TestNearMisses(t *testing.T) {
	limits := EngineLimits{MaxBatchedTokens: 8192, MaxSeqs: 1024, BlockSize: 16, GPUBlocks: 20_000, ChunkedPrefill: true}
	whole := limits
	whole.ChunkedPrefill = false
	for name, c := range map[string]struct {
		model, gpu string
		tp         int
		limits     EngineLimits
		want       string // value: sets
	}{
		"covered":               {"Llama-3.1-70B-Instruct", "H100", 4, limits, ""},
		"by default":            {"Llama-3.1-8B-Instruct", "H100", 1, limits, ""},
		"TP":                    {"Llama-3.1-70B-Instruct", "H100", 8, limits, "TP 8 (measured: 1 to 4): h100"},
		"TP, a measured model":  {"Llama-2-70b-hf", "H100", 8, limits, "TP 8 (measured: 1 to 4): h100"},
		"GPU, a measured model": {"Llama-2-70b-hf", "A100", 4, limits, "GPU A100-80: h100-llama-2-70b, h100"},
		"whole prompts of it":   {"Llama-2-70b-hf", "H100", 4, whole, "chunked prefill off: h100-llama-2-70b, h100"},
		"TP of the best set":    {"Llama-2-7b-hf", "H100", 2, limits, "TP 2 (measured: 1): h100-llama-2-7b"},
		"GPU":                   {"Llama-3.1-70B-Instruct", "A100", 4, limits, "GPU A100-80: h100"},
		"GPU and TP":            {"Llama-3.1-70B-Instruct", "A100", 8, limits, "GPU A100-80: hgx"},
		"whole prompts":         {"Llama-3.1-70B-Instruct", "H100", 4, whole, "chunked prefill off: h100"},
		"whole prompts, TP 8":   {"Llama-3.1-70B-Instruct", "H100", 8, whole, ""},
	} {
		d := deployment(t, c.model, c.gpu, c.tp)
		best, _ := Choose(d, c.limits)
		var got []string
		for _, m := range NearMisses(d, c.limits, best) {
			got = append(got, m.Value+": "+strings.Join(m.Sets, ", "))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
