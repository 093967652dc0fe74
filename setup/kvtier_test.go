package setup

import (
	"math"
	"strings"
	"testing"
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
		tier, gpu := p.Pool.CPUTier, p.Pool.GPU
		if want := int(math.Floor((1 << 40) / c.block)); tier.Capacity != want {
			t.Errorf("%v: %d entries in 1 TiB, want %d", c.flags, tier.Capacity, want)
		}
		if want := c.block / (0.75 * gpu.PCIe * float64(p.Pool.TP)) * 1e6; math.Abs(tier.Transfer.PerBlock/want-1) > 1e-12 || tier.Transfer.Base != 500 {
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
	tier := p.Pool.CPUTier
	if ms := float64(tier.Transfer.PerBlock*256) / 1e3; tier.Capacity != 256 || tier.Transfer.Base != 500 || math.Abs(ms-11.2) > 0.05 {
		t.Errorf("%d entries, %v µs and %v ms", tier.Capacity, tier.Transfer.Base, ms)
	}
}

func TestBadTiersAreRefused(t *testing.T) {
	for flags, want := range map[string]string{
		"kv-cpu-blocks=-1":                                                   "--kv-cpu-blocks is -1",
		"kv-cpu-blocks=3000000000":                                           "--kv-cpu-blocks is 3000000000",
		"kv-cpu-size=-1GiB":                                                  "not an amount of memory",
		"kv-cpu-size=64 blocks":                                              "not an amount of memory",
		"kv-cpu-size=1kB":                                                    "want at least 2MiB",
		"kv-cpu-size=1GiB kv-cpu-blocks=7":                                   "one of it and --kv-cpu-blocks",
		"kv-cpu-blocks=7 kv-offload-block-size=24":                           "a multiple of --block-size-in-tokens 16",
		"kv-cpu-blocks=7 kv-offload-block-size=-16":                          "a multiple of --block-size-in-tokens 16",
		"kv-cpu-blocks=7 kv-eviction=fifo":                                   "want one of lru, arc, lfu, priority",
		"kv-cpu-blocks=7 kv-store-threshold=1":                               "at least 2",
		"kv-cpu-blocks=7 kv-store-threshold=-2":                              "at least 2",
		"kv-cpu-blocks=7 kv-offload-policy=threshold":                        "want one of write-through, lazy",
		"kv-cpu-blocks=7 kv-offload-policy=lazy kv-offload-block-size=32":    "that of a KV block",
		"kv-cpu-blocks=7 kv-offload-policy=lazy kv-storage=nvme":             "none with --kv-offload-policy lazy",
		"kv-cpu-blocks=7 kv-offload-policy=lazy kv-store-threshold=2":        "0 with --kv-offload-policy lazy",
		"kv-cpu-blocks=7 kv-offload-policy=lazy kv-offload-prompt-only=true": "false with --kv-offload-policy lazy",
		"kv-cpu-blocks=7 kv-offload-policy=lazy enable-prefix-caching=false": "write-through without prefix caching",
		"kv-cpu-blocks=7 kv-transfer-bandwidth=100":                          "not a rate",
		"kv-cpu-blocks=7 kv-transfer-bandwidth=-3GB/s":                       "not a rate",
		"kv-cpu-blocks=7 kv-transfer-bandwidth=0GB/s":                        "not a rate",
		"kv-cpu-blocks=7 kv-transfer-latency=-1":                             "--kv-transfer-latency",
		"kv-cpu-blocks=7 kv-idle-poll=1ms":                                   "want 0 with async scheduling",
		"kv-cpu-blocks=7 kv-idle-poll=1ms async-scheduling=true":             "0 with --async-scheduling",
		"kv-cpu-blocks=7 kv-idle-poll=-1ms async-scheduling=false seed=3":    "--kv-idle-poll",
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
