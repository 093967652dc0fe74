package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// A flag that BLIS has is not taken away, and what a flag of vLLM is here exists.
func TestVLLMFlagsAreApartFromBLISFlags(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.NamedMapper("path", kong.MapperFunc(decodePath)))
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"run", "verify"} {
		ctx, err := parser.Parse([]string{command})
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		switches := map[string]bool{}
		for _, f := range ctx.Flags() {
			for _, name := range append([]string{f.Name}, f.Aliases...) {
				names["--"+name] = true
				switches[name] = f.IsBool()
			}
		}
		for name, f := range serveFlags() {
			switch {
			case f.use == sameThing && !names["--"+f.as]:
				t.Errorf("%s: %s is --%s here, and there is none", command, name, f.as)
			case f.use == sameThing && switches[f.as] != isSwitch(f.as) && f.as != "async-scheduling": // that one is on, off or not given
				t.Errorf("%s: %s: a switch %v", command, name, switches[f.as])
			case f.use != sameThing && names[name]:
				t.Errorf("%s: %s is a flag of BLIS, and stands among those without effect or refused", command, name)
			}
		}
	}
}

func TestServeLine(t *testing.T) {
	model := filepath.Join(t.TempDir(), "llama")
	if err := os.Mkdir(model, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(model, "config.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ line, want, notes string }{
		{"run --rate 3 --tp 2", "run --rate 3 --tp 2", ""},
		{"models vllm serve x --port 8", "models vllm serve x --port 8", ""},
		{"run vllm serve some/model", "run --model=some/model", ""},
		{"run vllm serve --model some/model", "run --model=some/model", ""},
		{"run vllm serve " + model, "run --model-config-folder=" + model, ""},
		{"run python3 -m vllm.entrypoints.openai.api_server --model m --port 1", "run --model=m", "no effect on a simulation: --port"},
		{"run -tp 4 -q fp8", "run --tp=4 --quantization=fp8", ""},
		{"run -tp=4 --tensor_parallel_size=2", "run --tp=4 --tp=2", ""},
		{"run --max-model-len 16k --max-num-batched-tokens=8K", "run --max-model-len=16000 --max-num-batched-tokens=8192", ""},
		{"run --max_model_len 1.5k", "run --max-model-len=1500", ""},
		{"run --max-model-len auto --max-model-len -1", "run --max-model-len=0 --max-model-len=0", ""},
		{"run --enable-chunked-prefill False --enable-prefix-caching", "run --enable-chunked-prefill=false --enable-prefix-caching", ""},
		{"run --scheduler_reserve_full_isl False", "run --scheduler-reserve-full-isl=false", ""},
		{"run --no-enable-prefix-caching --no_async_scheduling", "run --no-enable-prefix-caching --no-async-scheduling", ""},
		{"run --block-size 32 --scheduling-policy priority", "run --block-size-in-tokens=32 --scheduler=priority", ""},
		{"run --host 0.0.0.0 --port=8000 --disable-log-requests --api-key a b --seed 7 --port 9", "run --seed=7", "no effect on a simulation: --host, --port, --disable-log-requests, --api-key"},
		{"run --served-model-name a b c --rate 5", "run --rate 5", "no effect on a simulation: --served-model-name"},
		{"run --no-enable-log-requests --hf-token --rate 5", "run --rate 5", "no effect on a simulation: --no-enable-log-requests, --hf-token"},
		{"run --enforce-eager -O3 -cc.mode 3 --compilation-config {}", "run", "--enforce-eager, -O, -cc, --compilation-config: kernels and processes: step times are of a server with the defaults, with CUDA graphs; what others cost was not measured"},
		{"run --pipeline-parallel-size 1 -dp=1 --cpu-offload-gb 0 --no-enable-lora --swap-space 0", "run", ""},
		{"run --rate 5 -- --port 3", "run --rate 5 -- --port 3", ""},
	} {
		got, notes, err := serveLine(strings.Fields(x.line))
		if err != nil {
			t.Errorf("%s: %v", x.line, err)
			continue
		}
		if strings.Join(got, " ") != x.want || strings.Join(notes, "\n") != x.notes {
			t.Errorf("%s:\n got %s\nwant %s\nnotes %q", x.line, strings.Join(got, " "), x.want, notes)
		}
	}
}

// What is not modelled is refused by its name and with the reason, all of it at
// once.
func TestServeLineRefusesWhatIsNotModelled(t *testing.T) {
	for line, want := range map[string]string{
		"-pp 2":                         "-pp 2: pipeline parallelism is not modelled",
		"--pipeline_parallel_size=2":    "--pipeline-parallel-size 2: pipeline parallelism is not modelled",
		"--enable-lora":                 "--enable-lora: LoRA adapters are not modelled",
		"--speculative-config {}":       "--speculative-config {}: speculative decoding is not modelled",
		"--speculative-config.method x": "--speculative-config x: speculative decoding is not modelled",
		"--data-parallel-size 4":        "--data-parallel-size 4: each data-parallel rank is an instance of its own here: give --num-instances",
		"--cpu-offload-gb 10":           "--cpu-offload-gb 10: weights in host memory are not modelled",
		"--swap-space 16":               "--swap-space 16: the V1 engine has no swap space: preempted requests are computed again, here too; leave it out",
		"--kv-transfer-config {}":       "--kv-transfer-config {}: a KV cache outside of the GPU, and its transfer between instances, are not modelled",
		"--task embed":                  "--task embed: requests that generate are simulated, nothing else",
		"--enable-lora --nnodes 2":      "--enable-lora: LoRA adapters are not modelled; --nnodes 2: an instance lies within one node: links between nodes are not modelled",
		"--dtype float32":               "dtype is float32: weights of 32 bits are not modelled",
		"--quantization gguf":           "quantization is gguf: how wide its weights are is written in the checkpoint: give its config.json with --model-config-folder",
	} {
		s := blis(t, nil, append([]string{"run"}, strings.Fields(line)...)...)
		if s.code != exitInput || s.out != "" || !strings.Contains(s.err, want) || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s: exit %d, %q\nwant %s", line, s.code, s.err, want)
		}
	}
}

// The lines of the case run: auto and bfloat16 change nothing, an FP8 cache holds
// twice the tokens, FP8 weights leave more memory for it.
func TestCaseVLLMServeLine(t *testing.T) {
	blocks := func(line string) (n float64, result map[string]any) {
		s := done(t, append([]string{"run", "--num-requests", "10", "--format", "json"}, strings.Fields(line)...)...)
		result = resultOf(t, s.out)
		return result["kv"].(map[string]any)["blocks_per_instance"].(float64), result
	}
	usual, plain := blocks("")
	if _, auto := blocks("--kv-cache-dtype auto --dtype bfloat16"); auto["digest"] != plain["digest"] {
		t.Error("auto and bfloat16 are another run")
	}
	_, pasted := blocks("--tensor-parallel-size 2 --block-size 32 --scheduling-policy priority --dtype bfloat16")
	if config := pasted["config"].(map[string]any); config["tp"] != 2.0 || config["block-size-in-tokens"] != 32.0 || config["scheduler"] != "priority-fcfs" {
		t.Errorf("%v", config)
	}
	if n, _ := blocks("--kv-cache-dtype fp8"); n < 2*usual || n > 2*usual+1 {
		t.Errorf("%v blocks with an FP8 cache, %v without", n, usual)
	}
	if n, fp8 := blocks("--quantization fp8"); n < 1.1*usual || fp8["setup"].(map[string]any)["latency_model"] != "roofline" {
		t.Errorf("%v blocks with FP8 weights, %v without", n, usual)
	}
}

// A line from the documentation of vLLM, as it stands, with a rate behind it.
func TestServeLineAsPasted(t *testing.T) {
	s := done(t, "run", "vllm", "serve", "meta-llama/Llama-3.1-8B-Instruct", "--host", "0.0.0.0", "--port", "8000", "--tensor-parallel-size", "2",
		"--max-model-len", "16k", "--gpu-memory-utilization", "0.95", "--enforce-eager", "--disable-log-requests", "--num-requests", "10", "--rate", "5", "--format", "json")
	if got := resultOf(t, s.out)["config"].(map[string]any); got["tp"] != 2.0 || got["max-model-len"] != 16000.0 || got["gpu-memory-utilization"] != 0.95 {
		t.Errorf("%v", got)
	}
	for _, want := range []string{"blis: no effect on a simulation: --host, --port, --disable-log-requests\n", "blis: --enforce-eager: kernels"} {
		if !strings.Contains(s.err, want) {
			t.Errorf("%q does not say %q", s.err, want)
		}
	}
}

// The page of all flags has every flag of vLLM.
func TestVLLMFlagsPage(t *testing.T) {
	if !strings.Contains(read(t, flagsPage), serveFlagsPage()) {
		t.Errorf("%s does not have the flags of vLLM as they are: go test ./cli -run FlagsPage -update writes it anew", flagsPage)
	}
}

// serveFlagsPage is the part of the page of all flags that is about vLLM's.
func serveFlagsPage() string {
	var b strings.Builder
	b.WriteString(serveFlagsIntroduction)
	b.WriteString("### What BLIS has\n\n| vLLM | BLIS | |\n|---|---|---|\n")
	for _, s := range sameFlags() {
		name := "`--" + s.name + "`"
		for _, short := range strings.Fields(s.shorts) {
			name += ", `" + short + "`"
		}
		if isSwitch(s.as) {
			name += ", `--no-" + s.name + "`"
		}
		fmt.Fprintf(&b, "| %s | `--%s` | %s |\n", name, s.as, s.remark)
	}
	for _, part := range []struct {
		use         useOf
		title, head string
	}{
		{noEffect, "Without effect", "| flags | of |"},
		{unmeasured, "Without a measured effect", "| flags | |"},
		{refused, "Refused", "| flags | why |"},
	} {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n|---|---|\n", part.title, part.head)
		for _, g := range serveGroups {
			if g.use != part.use {
				continue
			}
			var names []string
			for _, f := range g.list() {
				name := "`--" + f.name + "`"
				for _, short := range f.shorts {
					name += " (`" + short + "`)"
				}
				if f.usual != nil {
					name += " but " + strings.Join(slices.Clone(f.usual[:1]), ", ")
				}
				names = append(names, name)
			}
			fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(names, ", "), g.why)
		}
	}
	return b.String()
}

const serveFlagsIntroduction = `## Flags of vLLM

` + "`blis run`, `blis verify` and `blis compare`" + ` take the flags of ` + "`vllm serve`" + `, so that the line which starts a server also simulates it. Put ` + "`blis run`" + `
in front and what arrives behind:

    blis run vllm serve meta-llama/Llama-3.1-8B-Instruct --port 8000 --tensor-parallel-size 2 --max-model-len 16k --rate 20

Flags are those of vLLM 0.19, and older ones that still stand in scripts. As in vLLM, underscores count as dashes and
` + "`--flag.key value`" + ` is a part of ` + "`--flag`" + `. A flag without effect is left out, and a line on standard error lists all that were. A flag that asks for
something that is not modelled is an error (exit 2), unless it asks for nothing, as ` + "`--pipeline-parallel-size 1`" + ` does.

`
