package latency

import (
	"slices"
	"strings"
	"testing"
)

// Both forms of the public simulator's JSON, tabs and all. What they leave out is
// that of the built-in GPU; a memory as it is sold is the one the driver reports.
func TestHardwareJSONOfThePublicSimulator(t *testing.T) {
	h100, a100 := mustGPU(t, "H100"), mustGPU(t, "A100-80")
	like := func(g *Hardware, change func(*Hardware)) Hardware {
		other := *g
		change(&other)
		return other
	}
	for name, c := range map[string]struct {
		text   string
		want   []Hardware
		unused []string // of the first
	}{
		"effective figures": {`{"H100": {"TFlopsEff": 989, "BwEffTBs": 3.35, "memory_gb": 80}, "A100": {"TFlopsEff": 312, "BwEffTBs": 2.039, "memory_gb": 80}}`,
			[]Hardware{*h100, like(a100, func(g *Hardware) { g.Name = "A100" })}, nil},
		"peaks, in tabs": {"{\n\t\"H100\": {\n\t\t\"TFlopsPeak\": 800, \"BwPeakTBs\": 3,\n\t\t\"mfuPrefill\": 0.65, \"perLayerOverhead\": 20.0\n\t}\n}",
			[]Hardware{like(h100, func(g *Hardware) { g.BF16, g.Bandwidth = 800e12, 3e12 })}, []string{"mfuPrefill", "perLayerOverhead"}},
		"long names": {`{"H100": {"memory_bandwidth_gb_s": 3350, "compute_tflops_fp16": 989, "memory_gb": 80, "sm_count": 132}}`, []Hardware{*h100}, []string{"sm_count"}},
		"a GPU of its own": {`{"X9": {"TFlopsPeak": 100, "TFlopsFP8": 200, "BwPeakTBs": 2, "MemoryGiB": 48, "IntraNodeBwGBps": 50, "pcie_bandwidth_gb_s": 32, "pcie_efficiency": 0.5}}`,
			[]Hardware{{Name: "X9", BF16: 100e12, FP8: 200e12, Bandwidth: 2e12, Memory: 48 << 30, Link: 50e9, PCIe: 32e9, PCIeEfficiency: 0.5, AllReduceLatency: [3]float64{5, 6, 8}}}, nil},
		"another memory": {`{"H100": {"memory_gb": 64}}`, []Hardware{like(h100, func(g *Hardware) { g.Memory = 64 << 30 })}, nil},
	} {
		list, err := ParseHardware([]byte(c.text), "hw.json")
		if err != nil || len(list) != len(c.want) {
			t.Errorf("%s: %d GPUs, %v", name, len(list), err)
			continue
		}
		for i, got := range list {
			want := c.want[i]
			if got.Name != want.Name || got.BF16 != want.BF16 || got.FP8 != want.FP8 || got.Bandwidth != want.Bandwidth || got.Memory != want.Memory ||
				got.Link != want.Link || got.PCIe != want.PCIe || got.PCIeEfficiency != want.PCIeEfficiency || got.AllReduceLatency != want.AllReduceLatency {
				t.Errorf("%s: %+v\nwant %+v", name, got, want)
			}
		}
		if !slices.Equal(list[0].Unused, c.unused) {
			t.Errorf("%s: unused %q, want %q", name, list[0].Unused, c.unused)
		}
	}
}

func TestHardwareJSONThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		`{"X9": {"TFlopsPeak": 100, "BwPeakTBs": 2}}`: `hw.json:1: GPU X9: memory_gb or MemoryGiB missing; there is no built-in GPU`,
		"{\n\"X9\": {}}":                                                   `hw.json:2: GPU X9: TFlopsPeak or compute_tflops_fp16, BwPeakTBs or memory_bandwidth_gb_s, memory_gb or MemoryGiB missing`,
		`{"H100": {"TFlopsPeak": 0}}`:                                      `hw.json:1: GPU H100: bf16_tflops is 0`,
		`{"H100": {"TFlopsPeak": -3}}`:                                     `hw.json:1: GPU H100: bf16_tflops is -3`,
		`{"H100": {"TFlopsPeak": "989"}}`:                                  `hw.json:1: GPU H100: TFlopsPeak: want a number`,
		`{"H100": {"TFlopsPeak": 989, "TFlopsEff": 989}}`:                  `hw.json:1: GPU H100: TFlopsPeak and TFlopsEff say the same thing`,
		`{"H100": {"tflops": 989}}`:                                        `hw.json:1: GPU H100: unknown field "tflops": want TFlopsPeak or`,
		`{"H100": 989}`:                                                    `hw.json:1: GPU H100: want an object with numbers`,
		`{"H100": {"memory_gb": -1}}`:                                      `hw.json:1: GPU H100: memory_gb is -1, want above 0`,
		`{"H100": {}, "H100": {}}`:                                         `hw.json:1: GPU H100: is there twice`,
		`{"": {"TFlopsPeak": 1, "BwPeakTBs": 2, "memory_gb": 3}}`:          `hw.json:1: GPU : has no name`,
		`{"X9": {"TFlopsPeak": 1e999, "BwPeakTBs": 2, "memory_gb": 3}}`:    `hw.json:1: GPU X9: `,
		`{"H100": {"pcie_efficiency": 75}}`:                                `hw.json:1: GPU H100: pcie_efficiency is 75, want`,
		`{"H100": {"TFlopsPeak": {"of": 3}}}`:                              `hw.json:1: GPU H100: TFlopsPeak: want a number`,
		`{"gpus": [{"name": "X9", "bf16_tflops": 3}]}`:                     `hw.json:1: GPU X9: `,
		`{"H100": {"TFlopsPeak": 989}`:                                     `hw.json:1: `,
		strings.Repeat(`{"H100":`, 100_000) + strings.Repeat("}", 100_000): `hw.json:`,
	} {
		_, err := ParseHardware([]byte(text), "hw.json")
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.80s: %.300v\nwant %s", text, err, want)
		}
	}
}

// A data sheet that is rounded otherwise describes the same GPU, half of it another.
func TestRoundingIsNoOtherGPU(t *testing.T) {
	set, err := FindPhysicsSet("h100")
	if err != nil {
		t.Fatal(err)
	}
	limits := EngineLimits{MaxBatchedTokens: 8192, MaxSeqs: 1024, BlockSize: 16, GPUBlocks: 20_000, ChunkedPrefill: true}
	for text, want := range map[string]int{
		`{"H100": {"TFlopsPeak": 989.5, "BwPeakTBs": 3.35, "MemoryGiB": 80}}`: 0,
		`{"H100": {"TFlopsPeak": 756, "BwPeakTBs": 2, "MemoryGiB": 80}}`:      1,
	} {
		list, err := ParseHardware([]byte(text), "hw.json")
		if err != nil {
			t.Fatal(err)
		}
		gaps := 0
		for _, g := range set.gaps(&Deployment{Model: mustModel(t, "llama-3.1-8b"), GPU: &list[0], TP: 1}, limits, true) {
			if g.setting == "hardware" {
				gaps++
			}
		}
		if gaps != want {
			t.Errorf("%s: %d gaps, want %d", text, gaps, want)
		}
	}
}

// An all-reduce without links reaches less of PCIe than one transfer: that of
// pcie_all_reduce_efficiency, else 0.35.
func TestPCIeEfficienciesOfAGPU(t *testing.T) {
	l40s := *mustGPU(t, "L40S")
	d := Deployment{Model: mustModel(t, "llama-3.1-8b"), GPU: &l40s, TP: 2}
	for share, rate := range map[float64]float64{0: 0.35 * 32e3, 0.5: 16e3} {
		l40s.PCIeEfficiency, l40s.PCIeAllReduceEfficiency = 1, share
		if got, want := d.allReduceTime(1e6), 12+1e6/rate; got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%v: %v µs, want %v", share, got, want)
		}
	}
	text := strings.Replace(ownGPU, "    pcie_gb_per_s:", "    pcie_efficiency: 0.5\n    pcie_gb_per_s:", 1)
	list, err := ParseHardware([]byte(text), "own.yaml")
	if err != nil || list[0].PCIeEfficiency != 0.5 || list[0].PCIeRate() != list[0].PCIe/2 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := ParseHardware([]byte(strings.Replace(text, "pcie_efficiency: 0.5", "pcie_efficiency: 1.5", 1)), "own.yaml"); err == nil || !strings.Contains(err.Error(), "pcie_efficiency is 1.5") {
		t.Errorf("%v", err)
	}
}
