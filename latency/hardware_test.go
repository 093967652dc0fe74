package latency

import (
	"math"
	"strings"
	"testing"
)

func TestBuiltinHardware(t *testing.T) {
	g := mustGPU(t, "h100")
	want := Hardware{BF16: 989e12, FP8: 1979e12, Bandwidth: 3.35e12, Link: 450e9, PCIe: 64e9, Memory: 85029615043, AllReduceLatency: [3]float64{5, 6, 8}}
	if g.BF16 != want.BF16 || g.FP8 != want.FP8 || g.Bandwidth != want.Bandwidth || g.Link != want.Link || g.PCIe != want.PCIe || g.Memory != want.Memory || g.AllReduceLatency != want.AllReduceLatency {
		t.Errorf("H100 is %+v", g)
	}
	if a := mustGPU(t, "a100"); a.Name != "A100-80" {
		t.Errorf("A100 is %s", a.Name)
	}
	if g := mustGPU(t, "GeForce-RTX-4090"); g.Memory != 25250627584 || g.BF16 != 165.2e12 || g.Bandwidth != 1.008e12 || g.Link != 0 || g.PCIe != 32e9 {
		t.Errorf("RTX 4090 is %+v", g)
	}
	names := ""
	for _, g := range AllHardware() {
		names += g.Name + " "
		if g.Source == "" {
			t.Errorf("%s has no source", g.Name)
		}
	}
	if names != "A100-80 B200 B300 H100 H200 L40S MI300X RTX-PRO-6000 RTX4090 " {
		t.Errorf("built in: %s", names)
	}
}

func TestDefaultLimitsFollowVLLM(t *testing.T) {
	for name, want := range map[string][2]int64{
		"H100": {8192, 1024}, "H200": {8192, 1024}, "B200": {8192, 1024}, "B300": {8192, 1024}, "MI300X": {8192, 1024},
		"A100-80": {2048, 256}, "L40S": {2048, 256}, "RTX4090": {2048, 256}, "RTX-PRO-6000": {8192, 1024},
	} {
		tokens, seats := DefaultLimits(mustGPU(t, name))
		if [2]int64{tokens, seats} != want {
			t.Errorf("%s: %d, %d, want %v", name, tokens, seats, want)
		}
	}
	if tokens, seats := DefaultLimits(nil); tokens != 2048 || seats != 256 {
		t.Errorf("no GPU: %d, %d", tokens, seats)
	}
}

func TestUnknownGPUListsTheNearest(t *testing.T) {
	_, err := FindHardware("H110")
	if err == nil || !strings.HasPrefix(err.Error(), `unknown GPU "H110"; nearest: H100; there are `) || !strings.Contains(err.Error(), "--hardware-config") {
		t.Error(err)
	}
}

const ownGPU = `# comment
gpus:
  - name: X1
    aliases: [x-one]
    bf16_tflops: 100
    hbm_tb_per_s: 1.5
    memory_gib: 24
    pcie_gb_per_s: 32
    source: me
`

func TestOwnHardware(t *testing.T) {
	list, err := ParseHardware([]byte(ownGPU), "own.yaml")
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	g, err := FindHardware("X-ONE", list...)
	if err != nil || g.Memory != 24<<30 || g.Bandwidth != 1.5e12 || g.AllReduceLatency != [3]float64{12, 18, 24} {
		t.Errorf("%+v, %v", g, err)
	}
	// A user's entry replaces the built-in one of its name.
	list[0].Name = "H100"
	if g, _ := FindHardware("h100", list...); g.BF16 != 100e12 {
		t.Error("the built-in H100 won over the user's")
	}
}

func TestHardwareErrorsNameFileAndLine(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"unknown field":  {strings.Replace(ownGPU, "memory_gib", "memory_gb", 1), `own.yaml:7: gpus[0].memory_gb: unknown field "memory_gb", the nearest is "memory_gib" (there are: name, `},
		"wrong type":     {strings.Replace(ownGPU, "1.5", "fast", 1), `own.yaml:6: gpus[0].hbm_tb_per_s: "fast" is not allowed, want a number`},
		"repeated field": {ownGPU + "    source: you\n", "own.yaml:10: gpus[0].source: is given twice, first on line 9, want it once"},
		"several fields": {strings.NewReplacer("1.5", "-1.5", "24", "0").Replace(ownGPU), "own.yaml:3: GPU X1: hbm_tb_per_s is -1.5e+12, want a finite number above 0; memory_gib is 0, want above 0"},
		"NaN":            {strings.Replace(ownGPU, "24", ".nan", 1), "own.yaml:3: GPU X1: memory_gib"},
		"no name":        {strings.Replace(ownGPU, "name: X1", "source: x", 1), "own.yaml:"},
		"repeated name":  {ownGPU + strings.TrimPrefix(ownGPU, "# comment\ngpus:\n"), "own.yaml:10: GPU X1: name is taken by another entry"},
		"empty":          {"", "own.yaml:1: no GPUs"},
		"other document": {"a: b\n", `own.yaml:1: a: unknown field "a" (there are: gpus)`},
		"empty entry":    {"gpus:\n  -\n", "own.yaml:"},
		"syntax":         {"gpus: [", "own.yaml:1: not valid YAML: sequence end token"},
		"list of text":   {"gpus: [H100]", `own.yaml:1: gpus[0]: "H100" is not allowed, want a mapping of name, `},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseHardware([]byte(c.file), "own.yaml")
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %v", err)
			}
		})
	}
}

// allReduceTime returns the time of an all-reduce of some bytes, µs.
func (d *Deployment) allReduceTime(bytes float64) float64 {
	fixed, perByte := d.allReduce()
	return fixed + float64(perByte*bytes)
}

func TestAllReduce(t *testing.T) {
	// 1 MB at TP 2 over 450 GB/s: 5 µs + 1e6/450e9 s; at TP 4 the factor is 1.5, at TP 8 1.75.
	for tp, want := range map[int]float64{1: 0, 2: 5 + 1e6/450e3, 4: 6 + 1.5e6/450e3, 8: 8 + 1.75e6/450e3, 16: 8 + 1.875e6/450e3} {
		d := Deployment{Model: mustModel(t, "llama-3.1-8b"), GPU: mustGPU(t, "H100"), TP: tp}
		if got := d.allReduceTime(1e6); math.Abs(got-want) > 1e-12 {
			t.Errorf("TP %d: %v µs, want %v", tp, got, want)
		}
	}
	d := Deployment{Model: mustModel(t, "llama-3.1-8b"), GPU: mustGPU(t, "L40S"), TP: 2} // no link: PCIe at 35 %
	if got, want := d.allReduceTime(1e6), 12+1e6/11.2e3; math.Abs(got-want) > 1e-12 {
		t.Errorf("L40S: %v µs, want %v", got, want)
	}
}

// Efficiencies of a file reach roofline, and stand for what its kernels reach.
func TestEfficienciesOfAGPU(t *testing.T) {
	text := strings.Replace(ownGPU, "    pcie_gb_per_s:", "    compute_efficiency: 0.4\n    memory_efficiency: 0.7\n    pcie_all_reduce_efficiency: 0.3\n    pcie_gb_per_s:", 1)
	list, err := ParseHardware([]byte(text), "own.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultRoofline(nil)
	want.PrefillMFU, want.HBMEfficiency = 0.4, 0.7
	if got := DefaultRoofline(&list[0]); got != want || list[0].PCIeAllReduceEfficiency != 0.3 {
		t.Errorf("%+v, want %+v", got, want)
	}
	if DefaultRoofline(mustGPU(t, "L40S")) != DefaultRoofline(nil) {
		t.Error("L40S was not measured, but is not as all GPUs are")
	}
	for _, field := range []string{"compute_efficiency: 0.4", "memory_efficiency: 0.7", "pcie_all_reduce_efficiency: 0.3"} {
		name, _, _ := strings.Cut(field, ":")
		if _, err := ParseHardware([]byte(strings.Replace(text, field, name+": 1.5", 1)), "own.yaml"); err == nil || !strings.Contains(err.Error(), name+" is 1.5") {
			t.Errorf("%s of 1.5: %v", name, err)
		}
	}
}

func TestFP8PeakOnlyForEightBitOperands(t *testing.T) {
	s := *mustModel(t, "llama-3.1-8b")
	s.WeightBits = 4 // weights alone do not change the arithmetic
	if got := (&Deployment{Model: &s, GPU: mustGPU(t, "H100"), TP: 2}).ComputeCeiling(); got != 2*989e12 {
		t.Errorf("w4a16: %v", got)
	}
	s.WeightBits, s.ActivationBits = 8, 8
	if got := (&Deployment{Model: &s, GPU: mustGPU(t, "H100"), TP: 2}).ComputeCeiling(); got != 2*1979e12 {
		t.Errorf("w8a8: %v", got)
	}
	if got := (&Deployment{Model: &s, GPU: mustGPU(t, "A100"), TP: 1}).ComputeCeiling(); got != 312e12 {
		t.Errorf("w8a8 on A100, which has no FP8: %v", got)
	}
}

// Operands of 4 bits use the FP4 peak. A GPU without it computes them in 16 bits.
func TestFP4PeakOnlyForFourBitOperands(t *testing.T) {
	s := *mustModel(t, "llama-3.1-8b")
	s.WeightBits, s.ActivationBits = 4, 4
	for gpu, want := range map[string]float64{"B200": 9000e12, "B300": 13500e12, "H100": 989e12, "A100": 312e12} {
		if got := (&Deployment{Model: &s, GPU: mustGPU(t, gpu), TP: 1}).ComputeCeiling(); got != want {
			t.Errorf("w4a4 on %s: %v, want %v", gpu, got, want)
		}
	}
	s.ActivationBits = 16
	if got := (&Deployment{Model: &s, GPU: mustGPU(t, "B200"), TP: 1}).ComputeCeiling(); got != 2250e12 {
		t.Errorf("w4a16 on B200: %v", got)
	}
}

// Whatever the bytes, there are valid GPUs or an error of one line.
func FuzzParseHardware(f *testing.F) {
	f.Add([]byte(ownGPU))
	f.Add([]byte("{\"H100\": {\"TFlopsPeak\": 989.5, \"BwPeakTBs\": 3.35, \"memory_gb\": 80, \"sm_count\": 132}}"))
	f.Add([]byte("gpus:\n  - &a\n    name: *a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := ParseHardware(data, "f")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			return
		}
		for _, g := range list {
			if err := g.Validate(); err != nil || g.Name == "" {
				t.Errorf("%+v: %v", g, err)
			}
		}
	})
}
