package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"blis/setup"
)

// A flag of BLIS is never taken for one of vLLM that is without effect or refused.
func TestFlagsOfBLISPassAmongThoseOfVLLM(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.NamedMapper("path", kong.MapperFunc(decodePath)))
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"run", "verify", "compare bundle"} {
		ctx, err := parser.Parse(strings.Fields(command))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ctx.Flags() {
			for _, name := range append([]string{f.Name}, f.Aliases...) {
				flags, notes, err := setup.TranslateServe([]string{"--" + name})
				if err != nil || notes != nil || len(flags) != 1 || !slices.Contains(append([]string{f.Name}, f.Aliases...), strings.TrimLeft(flags[0], "-")) {
					t.Errorf("%s: --%s becomes %q, %q, %v", command, name, flags, notes, err)
				}
			}
		}
	}
}

// Other commands take no flags of vLLM.
func TestFlagsOfVLLMAreForRunsOnly(t *testing.T) {
	if s := blis(t, nil, "models", "vllm", "serve", "x", "--port", "8"); s.code != exitInput || strings.Contains(s.err, "no effect") {
		t.Errorf("exit %d, %q", s.code, s.err)
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
		"--data-parallel-rank 4":        "--data-parallel-rank 4: an instance is simulated with all of its data-parallel ranks: give the line of one that has them all, with --data-parallel-external-lb if each rank is reached on its own",
		"--cpu-offload-gb 10":           "--cpu-offload-gb 10: weights in host memory are not modelled",
		"--swap-space 16":               "--swap-space 16: the V1 engine has no swap space: preempted requests are computed again, here too; leave it out",
		"--kv-transfer-config {}":       "--kv-transfer-config: kv_connector is missing, want OffloadingConnector",
		"--ec-transfer-config {}":       "--ec-transfer-config {}: the transfer of encoder caches is not modelled",
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
	if n, fp8 := blocks("--quantization fp8"); n < 1.1*usual || fp8["setup"].(map[string]any)["coefficient_set"] != "hgx" {
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

// A CPU tier in words of vLLM, or of the public simulator, is the run with flags of BLIS.
func TestCPUTierOfVLLMRunsAsItsFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "offload.json")
	if err := os.WriteFile(file, []byte(`{"cpu_bytes_to_use": 4294967296, "block_size": 32, "eviction_policy": "arc"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	digest := func(line string) string {
		s := done(t, append(strings.Fields("run --num-requests 60 --num-instances 1 --total-kv-blocks 700 --prefix-tokens 400 --format json"), strings.Fields(line)...)...)
		return resultOf(t, s.out)["digest"].(string)
	}
	want := digest("--kv-cpu-size 4GiB --kv-offload-block-size 32 --kv-eviction arc")
	for _, line := range []string{
		`--kv-transfer-config {"kv_connector":"OffloadingConnector","kv_role":"kv_both","kv_connector_extra_config":{"cpu_bytes_to_use":4294967296,"block_size":32,"eviction_policy":"arc"}}`,
		"--kv-offloading-size 4 --kv-offload-block-size 32 --kv-eviction arc",
		"--kv-offload-config " + file,
	} {
		if got := digest(line); got != want {
			t.Errorf("%s: digest %s, want %s", line, got, want)
		}
	}
	if digest("") == want {
		t.Error("a CPU tier changes nothing: the run is too easy for this test")
	}
}

// Bad settings of the CPU tier are one line and exit 2.
func TestBadCPUTiers(t *testing.T) {
	for line, want := range map[string]string{
		"--kv-cpu-blocks -1":                                                "--kv-cpu-blocks is -1: want 0 or more",
		"--kv-cpu-blocks 1e6":                                               "--kv-cpu-blocks",
		"--kv-cpu-size -1GiB":                                               "--kv-cpu-size",
		"--kv-cpu-size 64Gi":                                                "is not an amount of memory",
		"--kv-cpu-size 1kB":                                                 "--kv-cpu-size is 1kB: want at least 2MiB, which an entry of 16 tokens takes",
		"--kv-cpu-size 4GiB --kv-cpu-blocks 9":                              "--kv-cpu-size is 4GiB: want one of it and --kv-cpu-blocks",
		"--kv-offloading-size 4 --kv-cpu-blocks 9":                          "--kv-cpu-size is 4GiB: want one of it and --kv-cpu-blocks",
		"--kv-cpu-blocks 9 --kv-offload-block-size 24":                      "--kv-offload-block-size is 24: want a multiple of --block-size-in-tokens 16",
		"--kv-cpu-blocks 9 --kv-offload-block-size -16":                     "--kv-offload-block-size is -16: want 0 or more",
		"--kv-cpu-blocks 9 --kv-eviction fifo":                              "--kv-eviction",
		"--kv-cpu-blocks 9 --kv-store-threshold 1":                          "--kv-store-threshold is 1: want at least 2, or 0 to store all",
		"--kv-cpu-blocks 9 --kv-transfer-bandwidth 48":                      "want a rate, like 48GB/s",
		"--kv-cpu-blocks 9 --kv-transfer-bandwidth 0B/s":                    "is not a rate: want 48GB/s",
		"--kv-cpu-blocks 9 --kv-transfer-latency -1ms":                      "--kv-transfer-latency",
		"--kv-offloading-backend lmcache":                                   `--kv-offloading-backend: "lmcache" is not modelled, want native`,
		`--kv-transfer-config {"kv_connector":`:                             "is not a JSON object",
		`--kv-transfer-config {"a":1,"kv_connector":"OffloadingConnector"}`: `--kv-transfer-config: a: unknown field "a"`,
	} {
		s := blis(t, nil, append([]string{"run"}, strings.Fields(line)...)...)
		if s.code != exitInput || s.out != "" || !strings.Contains(s.err, want) || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s: exit %d, %q\nwant %s", line, s.code, s.err, want)
		}
	}
}
