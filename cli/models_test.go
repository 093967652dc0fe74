package cli

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"blis/actors"
	"blis/latency"
)

// The whole of what is printed, so that a change of it is seen.
const mixtralShown = `model      mistralai/Mixtral-8x7B-Instruct-v0.1
source     https://huggingface.co/mistralai/Mixtral-8x7B-Instruct-v0.1
           (config.json)
size       46.7 billion parameters, 12.9 billion of them in use for a token
           (embeddings included)
shape      32 layers, hidden 4,096, vocabulary 32,000, context of 32,768 tokens
attention  GQA: 32 heads of 128 on 8 KV heads
MLP        gated, 3 matrices; 8 experts of width 14,336, 2 per token
widths     weights 16 bits, activations 16, KV cache 16, embeddings 16

a token    25.2 GFLOP in the layers, 262 MFLOP in the head, where it yields the
           next one
           524 kFLOP for each key that it attends to
           128 KiB of KV cache (131,072 bytes)
weights    87.0 GiB, of which a step reads 23.7 GiB for one token, 86.7 GiB for
           8,192

GPU        H100: 79.2 GiB, 90 % for the engine, 1GB of it for activations;
           blocks of 16 tokens
           NVIDIA H100 Tensor Core GPU data sheet, SXM; memory: as PyTorch
           prints it (80 GB nominal)

  TP     weights/GPU        KV/token     KV blocks        tokens
   1        87.0 GiB         128 KiB  does not fit             –
   2        43.5 GiB         128 KiB        27,488       439,808
   4        21.7 GiB         128 KiB        99,516     1,592,256
   8        10.9 GiB         128 KiB       243,572     3,897,152

TP 1       does not fit: 87.9 GiB are needed for weights, activations and one KV
           block, there are 71.3 GiB; 2 of these GPUs would do (--tp 2)
`

func TestModelShownAsText(t *testing.T) {
	if got := done(t, "models", "show", "mixtral-8x7b-instruct-v0.1").out; got != mixtralShown {
		t.Errorf("printed\n%s", got)
	}
	if !strings.Contains(read(t, "../docs/models.md"), "```\n"+mixtralShown+"```\n") {
		t.Error("docs/models.md shows something else")
	}
}

// What the text says of models of every kind.
func TestWhatIsSaidOfModels(t *testing.T) {
	window := file(t, "config.json", `{"model_type": "starcoder2", "hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 1, "intermediate_size": 2048,
		"vocab_size": 1000, "max_position_embeddings": 8192, "sliding_window": 4096, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true}}`)
	gpus := "../examples/ownmodel/gpus.yaml"
	for _, c := range []struct {
		args, has []string
		hasNot    string
	}{
		{[]string{"DeepSeek-V3", "--hardware", "H200", "--tp", "8"}, []string{
			"671 billion parameters, 37.6 billion", "MLA: 128 heads of 128 + 64 (without and with position), values of 128, from a vector of 1,536 for queries and one of 512 for keys and values; 512 + 64 numbers cached",
			"256 experts of width 2,048, 8 per token and shared ones of width 2,048 in all; 3 of the 61 layers dense, of width 18,432", "weights 8 bits, activations 8,",
			"5.00 MFLOP for each key that it attends to in prefill, 17.0 MFLOP in decode", "68.6 KiB of KV cache (70,272 bytes)", "549 KiB 44,447 711,152", "note multi-token prediction: its layers (1) are left out",
		}, "not fit:"},
		{[]string{"DeepSeek-V2-Lite"}, []string{"from a vector of 512 for keys and values, queries directly"}, "note"},
		{[]string{"Qwen2.5-7B", "--tp", "4"}, []string{"28 heads of 128 on 4 KV heads", "8 – – – –", "TP 8 not possible: tp is 8, want a divisor of the 28 attention heads"}, "not fit"},
		{[]string{"llama-2-7b", "--tp", "16"}, []string{"MHA: 32 heads of 128 on 32 KV heads", "16 803 MiB 512 KiB"}, "experts"},
		{[]string{"llama-3.1-8b", "--activation-memory", "1TiB"}, []string{"no number of these GPUs would do"}, "--tp"},
		{[]string{"llama-3.1-8b", "--activation-memory", "0", "--block-size", "32", "--gpu-memory-utilization", "0.855"}, []string{"85.5 % for the engine, 0 of it for activations; blocks of 32 tokens"}, "fit"},
		{[]string{window}, []string{"model " + window, "MQA: 8 heads of 64 on 1 KV head; 4 of the 4 layers see the last 4,096 tokens", "plain, 2 matrices of width 2,048", "weights 4 bits and 0.156 of scales, activations 16, KV cache 16, embeddings 16, tied to the head"}, "source "},
		{[]string{"gpt-oss-120b"}, []string{"18 of the 36 layers see the last 128 tokens", "weights 16 bits, activations 16; those of experts 4 bits and 0.250 of scales, activations 16; KV cache 16",
			"72.0 KiB of KV cache (73,728 bytes)", "2 30.3 GiB 37.3 KiB"}, "note"},
		{[]string{"nvidia/Kimi-K2.5-NVFP4", "--hardware", "B300"}, []string{"weights 16 bits, activations 16; those of MLPs 4 bits and 0.500 of scales, activations 4; KV cache 8", "note what reads images"}, "experts 4"},
		{[]string{filepath.Dir(window), "--hardware-config", gpus, "--hardware", "mygpu"}, []string{"model " + window, "GPU MyGPU: 23.5 GiB", "data sheet of the card"}, "fit"},
	} {
		out := strings.Join(strings.Fields(done(t, append([]string{"models", "show"}, c.args...)...).out), " ")
		for _, want := range c.has {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in\n%s", c.args, want, out)
			}
		}
		if strings.Contains(out, c.hasNot) {
			t.Errorf("%v: %q in\n%s", c.args, c.hasNot, out)
		}
	}
}

// The JSON has what package latency counts, and what a run would have.
func TestModelShownAsJSON(t *testing.T) {
	shown := resultOf(t, done(t, "models", "show", "DeepSeek-V2-Lite", "--tp", "16", "--format", "json").out)
	s, err := latency.FindModel("DeepSeek-V2-Lite")
	if err != nil {
		t.Fatal(err)
	}
	part := func(name string) map[string]any { return shown[name].(map[string]any) }
	for name, c := range map[string][2]any{
		"parameters":   {shown["parameters"], float64(s.Counts().Parameters())},
		"active":       {shown["active_parameters"], float64(s.Counts().ActiveParameters())},
		"kind":         {part("attention")["kind"], "MLA"},
		"latent rank":  {part("attention")["kv_lora_rank"], 512.0},
		"dense layers": {part("mlp")["dense_layers"], 1.0},
		"layers":       {part("per_token")["layer_flops"], float64(s.Counts().LayerFLOPs())},
		"head":         {part("per_token")["head_flops"], float64(s.Counts().HeadFLOPs())},
		"prefill":      {part("per_token")["prefill_flops_per_key"], float64(s.Counts().PrefillPairFLOPs())},
		"decode":       {part("per_token")["decode_flops_per_key"], float64(s.Counts().DecodePairFLOPs())},
		"resident":     {part("weight_bytes")["resident"], float64(s.Counts().ResidentWeightBytes())},
		"one":          {part("weight_bytes")["streamed_by_one_token"], s.Counts().StreamedWeightBytes(1)},
		"many":         {part("weight_bytes")["streamed_by_many_tokens"], s.Counts().StreamedWeightBytes(8192)},
		"smallest":     {shown["smallest_tp"], 1.0},
		"degrees":      {len(shown["capacity"].([]any)), 5},
		"GPU":          {part("gpu")["memory_bytes"], 85029615043.0},
	} {
		if c[0] != c[1] {
			t.Errorf("%s is %v, want %v", name, c[0], c[1])
		}
	}
	cfg := actors.DefaultConfig()
	cfg.Model = "DeepSeek-V2-Lite"
	for _, row := range shown["capacity"].([]any) {
		row := row.(map[string]any)
		cfg.TP = int(row["tp"].(float64))
		_, setup, err := actors.Check(cfg)
		if err != nil || row["kv_blocks"] != float64(setup.KVBlocks) || row["kv_tokens"] != 16*float64(setup.KVBlocks) {
			t.Errorf("TP %d: %v blocks shown, a run has %d, %v", cfg.TP, row["kv_blocks"], setup.KVBlocks, err)
		}
	}
	none := resultOf(t, done(t, "models", "show", "Llama-3.1-70B", "--activation-memory", "1TiB", "--format", "json").out)
	row := none["capacity"].([]any)[0].(map[string]any)
	if none["smallest_tp"] != nil || row["kv_blocks"] != nil || row["needed_bytes"].(float64) <= row["available_bytes"].(float64) {
		t.Errorf("%v", none)
	}
}

// What the command shares with blis run has the same defaults and names.
func TestFlagsOfModelsShowAreThoseOfRun(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.NamedMapper("path", kong.MapperFunc(decodePath)))
	if err != nil {
		t.Fatal(err)
	}
	command, err := parser.Parse([]string{"models", "show", "x"})
	if err != nil {
		t.Fatal(err)
	}
	defaults := actors.DefaultConfig()
	settings := 0
	for _, f := range command.Flags() {
		usual := settingOf(&defaults, f.Name)
		if usual == nil { // help and format
			continue
		}
		settings++
		if got := f.Target.Interface(); !reflect.DeepEqual(got, usual) {
			t.Errorf("--%s is %v, of a run %v", f.Name, got, usual)
		}
	}
	if settings != 9 {
		t.Errorf("%d flags are those of a run, want 9", settings)
	}
}

func TestModelsListIsTheDefault(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		short, long := done(t, "models", "--format", format).out, done(t, "models", "list", "--format", format).out
		if short != long || !strings.Contains(short, "deepseek-ai/DeepSeek-V3") {
			t.Errorf("as %s: %q", format, short)
		}
	}
}

func TestModelSetsListsWhatIsShipped(t *testing.T) {
	text := done(t, "models", "sets").out
	for _, s := range latency.PhysicsSets() {
		if !strings.Contains(text, "\n"+s.Name+" ") {
			t.Errorf("%s is not in\n%s", s.Name, text)
		}
	}
	var items []struct {
		Name string    `json:"name"`
		Beta []float64 `json:"beta"`
	}
	if err := json.Unmarshal([]byte(done(t, "models", "sets", "--format", "json").out), &items); err != nil || len(items) != len(latency.PhysicsSets()) || len(items[0].Beta) != len(latency.BetaNames) {
		t.Errorf("%v, %v", items, err)
	}
}

// settingOf is the value of a setting in a configuration.
func settingOf(c *actors.Config, name string) any {
	for _, e := range entries(c) {
		if e.name == name {
			return e.value
		}
	}
	return nil
}
