package setup

import (
	"math"
	"strings"
	"testing"

	"blis/engine"
)

// The bytes of an entry are those of keys and values of all layers, whatever the number
// of query heads; latent attention has its latent, FP8 half of it.
func TestBytesOfAnEntry(t *testing.T) {
	for _, c := range []struct {
		flags []string
		block float64 // bytes of 16 tokens
	}{
		{[]string{"model", "Llama-3.1-8B-Instruct"}, 2 * 32 * 8 * 128 * 2 * 16},
		{[]string{"model", "Llama-3.1-8B-Instruct", "kv-cache-dtype", "fp8"}, 2 * 32 * 8 * 128 * 16},
		{[]string{"model", "Llama-3.1-70B-Instruct", "tp", "4"}, 2 * 80 * 8 * 128 * 2 * 16},
		{[]string{"model", "DeepSeek-V3.1", "tp", "16", "hardware", "H200"}, 61 * (512 + 64) * 2 * 16 * 16}, // every GPU has the latent
	} {
		cfg := DefaultConfig()
		for i := 0; i < len(c.flags); i += 2 {
			if err := cfg.Set(c.flags[i], c.flags[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		cfg.KVCPUSize = 1 << 40
		p, err := Resolve(cfg)
		if err != nil {
			t.Fatal(c.flags, err)
		}
		tier, gpu := p.Pools[0].CPUTier, p.Pools[0].GPU
		if want := int(math.Floor((1 << 40) / c.block)); tier.Capacity != want {
			t.Errorf("%v: %d entries in 1 TiB, want %d", c.flags, tier.Capacity, want)
		}
		if want := c.block / (0.75 * gpu.PCIe * float64(p.Pools[0].TP)) * 1e6; math.Abs(tier.Transfer.PerBlock/want-1) > 1e-12 || tier.Transfer.Base != 500 {
			t.Errorf("%v: %+v, want 500 and %v µs", c.flags, tier.Transfer, want)
		}
	}
}

// The example of docs/kv-tiers.md: 4,096 tokens of Llama-3.1-8B on H100 are 256 blocks of
// 2 MiB, and take 0.5 + 11.2 ms.
func TestTransferOfTheExample(t *testing.T) {
	cfg := DefaultConfig()
	cfg.KVCPUSize = 512 << 20
	p, err := Resolve(cfg)
	if err != nil {
		t.Fatal(err)
	}
	tier := p.Pools[0].CPUTier
	if ms := float64(tier.Transfer.PerBlock*256) / 1e3; tier.Capacity != 256 || tier.Transfer.Base != 500 || math.Abs(ms-11.2) > 0.05 {
		t.Errorf("%d entries, %v µs and %v ms", tier.Capacity, tier.Transfer.Base, ms)
	}
}

// Tokens per µs follow from the bytes of a token on all GPUs, or are given.
func TestBandwidthOfMovingBlocks(t *testing.T) {
	for _, c := range []struct {
		flags  string
		tokens float64
	}{
		{"", 0.75 * 64e9 / (2 * 32 * 8 * 128 * 2) / 1e6}, // of H100
		{"kv-transfer-bandwidth=13107200kB/s", 0.1},
		{"kv-transfer-bandwidth=1GB/s model=Llama-3.1-70B-Instruct tp=4", 4e9 / (2 * 80 * 8 * 128 * 2) / 1e6},
		{"kv-transfer-bandwidth=100 model=Llama-3.1-70B-Instruct tp=4", 100},
		{"kv-transfer-bandwidth=0.5 kv-offload-block-size=64 kv-eviction=arc", 0.5},
	} {
		cfg := DefaultConfig()
		cfg.KVCPUBlocks, cfg.KVOffloadPolicy, cfg.KVOffloadThreshold = 700, ThresholdOffload, 0.8
		for flag := range strings.FieldsSeq(c.flags) {
			name, value, _ := strings.Cut(flag, "=")
			if err := cfg.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		p, err := Resolve(cfg)
		if err != nil {
			t.Fatal(c.flags, err)
		}
		var e engine.Config
		p.Pools[0].CPUTier.AddTo(&e, nil)
		if x := e.Threshold; e.Offload != nil || x.Share != 0.8 || x.Base != 500 || math.Abs(x.Bandwidth/c.tokens-1) > 1e-12 || p.Pools[0].CPUTier.EntryTokens != 16 {
			t.Errorf("%q: %+v, want %v tokens per µs", c.flags, x, c.tokens)
		}
		if notes := strings.Join(p.Summary.Notes, "\n"); !strings.Contains(notes, "the GPU's hit rate is worse") ||
			strings.Contains(notes, "kv-offload-block-size, kv-eviction have no effect") != strings.Contains(c.flags, "arc") {
			t.Errorf("%q: notes %s", c.flags, notes)
		}
		again := DefaultConfig()
		if err := again.Set("kv-transfer-bandwidth", p.Config.KVTransferBandwidth.String()); err != nil || again.KVTransferBandwidth != p.Config.KVTransferBandwidth {
			t.Errorf("%q: %v is read as %+v, %v", c.flags, p.Config.KVTransferBandwidth, again.KVTransferBandwidth, err)
		}
		if args := ServeArguments(&p.Config, p.Config.Model); strings.Contains(strings.Join(args, " "), "kv-transfer") {
			t.Errorf("vLLM has no threshold: %v", args)
		}
	}
}

// Eager is another name of write-through, which has no threshold.
func TestEagerIsWriteThrough(t *testing.T) {
	cfg := DefaultConfig()
	cfg.KVCPUBlocks, cfg.KVOffloadPolicy, cfg.KVOffloadThreshold = 700, "eager", 0.8
	p, err := Resolve(cfg)
	if err != nil || p.Config.KVOffloadPolicy != WriteThrough || p.Pools[0].CPUTier.Share != 0 {
		t.Errorf("%+v, %v", p.Config.KVTier, err)
	}
	if notes := strings.Join(p.Summary.Notes, "\n"); !strings.Contains(notes, "kv-offload-threshold has no effect: kv-offload-policy is") {
		t.Errorf("notes %s", notes)
	}
}

func TestBadTiersAreRefused(t *testing.T) {
	for flags, want := range map[string]string{
		"kv-cpu-blocks=-1":                                                        "--kv-cpu-blocks is -1",
		"kv-cpu-blocks=3000000000":                                                "--kv-cpu-blocks is 3000000000",
		"kv-cpu-size=-1GiB":                                                       "not an amount of memory",
		"kv-cpu-size=64 blocks":                                                   "not an amount of memory",
		"kv-cpu-size=1kB":                                                         "want at least 2MiB",
		"kv-cpu-size=1GiB kv-cpu-blocks=7":                                        "one of it and --kv-cpu-blocks",
		"kv-cpu-blocks=7 kv-offload-block-size=24":                                "a multiple of --block-size-in-tokens 16",
		"kv-cpu-blocks=7 kv-offload-block-size=-16":                               "a multiple of --block-size-in-tokens 16",
		"kv-cpu-blocks=7 kv-eviction=fifo":                                        "want one of lru, arc, lfu, priority",
		"kv-cpu-blocks=7 kv-store-threshold=1":                                    "at least 2",
		"kv-cpu-blocks=7 kv-store-threshold=-2":                                   "at least 2",
		"kv-cpu-blocks=7 kv-transfer-bandwidth=100":                               "want a rate, like 48GB/s, 30GiB/s or 500MB/s; a number without a unit",
		"kv-transfer-bandwidth=100":                                               "goes with --kv-offload-policy threshold alone",
		"kv-cpu-blocks=7 kv-offload-policy=threshold kv-transfer-bandwidth=-100":  "not a rate: want 48GB/s, or with --kv-offload-policy threshold 1e-06 to 1e+12 tokens per µs",
		"kv-cpu-blocks=7 kv-offload-policy=threshold kv-transfer-bandwidth=NaN":   "not a rate",
		"kv-cpu-blocks=7 kv-offload-policy=threshold kv-transfer-bandwidth=0.0":   "not a rate",
		"kv-cpu-blocks=7 kv-offload-policy=sometimes":                             "want one of write-through, eager, lazy, threshold",
		"kv-cpu-blocks=7 kv-offload-policy=threshold kv-offload-threshold=0":      "--kv-offload-threshold is 0: want a share of the KV blocks, above 0 and at most 1",
		"kv-cpu-blocks=7 kv-offload-policy=threshold kv-offload-threshold=1.5":    "--kv-offload-threshold is 1.5",
		"kv-cpu-blocks=7 kv-offload-threshold=-0.1":                               "--kv-offload-threshold is -0.1",
		"kv-offload-threshold=NaN":                                                "--kv-offload-threshold is NaN",
		"kv-cpu-blocks=7 kv-offload-policy=threshold enable-prefix-caching=false": "write-through without prefix caching: blocks without a key do not move",
		"kv-cpu-blocks=7 kv-offload-policy=threshold kv-storage=nvme":             "none with --kv-offload-policy threshold",
		"kv-cpu-blocks=7 kv-transfer-bandwidth=-3GB/s":                            "not a rate",
		"kv-cpu-blocks=7 kv-transfer-bandwidth=0GB/s":                             "not a rate",
		"kv-cpu-blocks=7 kv-transfer-latency=-1":                                  "--kv-transfer-latency",
		"kv-cpu-blocks=7 kv-idle-poll=1ms":                                        "want 0 with async scheduling",
		"kv-cpu-blocks=7 kv-idle-poll=1ms async-scheduling=true":                  "0 with --async-scheduling",
		"kv-cpu-blocks=7 kv-idle-poll=-1ms async-scheduling=false seed=3":         "--kv-idle-poll",
		"kv-cpu-blocks=7 kv-offload-policy=lazy kv-offload-block-size=32":         "that of a KV block",
		"kv-cpu-blocks=7 kv-offload-policy=lazy kv-storage=nvme":                  "none with --kv-offload-policy lazy",
		"kv-cpu-blocks=7 kv-offload-policy=lazy kv-store-threshold=2":             "0 with --kv-offload-policy lazy",
		"kv-cpu-blocks=7 kv-offload-policy=lazy kv-offload-prompt-only=true":      "false with --kv-offload-policy lazy",
		"kv-cpu-blocks=7 kv-offload-policy=lazy enable-prefix-caching=false":      "write-through without prefix caching",
	} {
		cfg, err := DefaultConfig(), error(nil)
		for _, flag := range strings.Split(flags, " ") {
			name, value, ok := strings.Cut(flag, "=")
			if !ok {
				continue // the rest of a value with a space
			}
			if name == "kv-cpu-size" && strings.Contains(flags, "64 blocks") {
				value = "64 blocks"
			}
			if err = cfg.Set(name, value); err != nil {
				break
			}
		}
		if err == nil {
			_, err = Resolve(cfg)
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", flags, err, want)
		}
	}
}
