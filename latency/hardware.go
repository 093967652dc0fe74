package latency

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	_ "embed"

	"blis/yamldoc"
)

// Hardware describes one GPU and its links to other GPUs and to the host.
type Hardware struct {
	Name    string
	Aliases []string
	Source  string

	BF16      float64 // dense peak, FLOP/s
	FP8       float64 // dense peak, FLOP/s; 0: no such units, BF16 counts
	FP4       float64 // dense peak, FLOP/s; 0: no such units, BF16 counts
	Bandwidth float64 // of the memory, bytes/s
	Memory    int64   // bytes, as the driver reports them
	Link      float64 // GPU to GPU, one way, bytes/s; 0: none, PCIe counts
	PCIe      float64 // one way, bytes/s

	// PCIeEfficiency is the share of PCIe's rate that transfers reach, above 0 and
	// at most 1; 0: 0.75.
	PCIeEfficiency float64

	// PCIeAllReduceEfficiency is the share of PCIe's rate that an all-reduce reaches
	// between GPUs without links, above 0 and at most 1; 0: 0.35.
	PCIeAllReduceEfficiency float64

	// ComputeEfficiency is the share of the peak that prefill reaches, MemoryEfficiency
	// that of the bandwidth that kernels reach, for roofline; above 0 and at most 1. 0:
	// not measured, as DefaultRoofline has it of all GPUs.
	ComputeEfficiency, MemoryEfficiency float64

	// AllReduceLatency is the time of an all-reduce of nothing over 2, 4 and 8
	// GPUs, µs.
	AllReduceLatency [3]float64

	// Unused names the fields of its file that the simulation does not use.
	Unused []string
}

// Peak returns the dense peak for operands of so many bits, FLOP/s. A GPU without
// units for 4 or 8 bits computes in 16, as vLLM does there with weights alone in
// fewer bits.
func (g *Hardware) Peak(bits int64) float64 {
	switch {
	case bits <= 4 && g.FP4 > 0:
		return g.FP4
	case bits > 4 && bits <= 8 && g.FP8 > 0:
		return g.FP8
	}
	return g.BF16
}

// PCIeRate returns the rate that transfers over PCIe reach, bytes/s.
func (g *Hardware) PCIeRate() float64 {
	efficiency := g.PCIeEfficiency
	if efficiency == 0 {
		efficiency = pcieEfficiency
	}
	return float64(g.PCIe * efficiency)
}

// Validate returns one error that names every impossible field.
func (g *Hardware) Validate() error {
	var p problems
	g.check(&p)
	return p.err("GPU " + g.Name)
}

func (g *Hardware) check(p *problems) {
	p.positive("bf16_tflops", g.BF16)
	p.notNegative("fp8_tflops", g.FP8)
	p.notNegative("fp4_tflops", g.FP4)
	p.positive("hbm_tb_per_s", g.Bandwidth)
	if g.Memory < 1 || g.Memory > 1<<50 {
		p.add("memory_gib", "is %.4g, want above 0 and at most 1048576", float64(g.Memory)/(1<<30))
	}
	p.notNegative("link_gb_per_s", g.Link)
	p.positive("pcie_gb_per_s", g.PCIe)
	if g.PCIeEfficiency != 0 {
		p.share("pcie_efficiency", g.PCIeEfficiency)
	}
	if g.PCIeAllReduceEfficiency != 0 {
		p.share("pcie_all_reduce_efficiency", g.PCIeAllReduceEfficiency)
	}
	if g.ComputeEfficiency != 0 {
		p.share("compute_efficiency", g.ComputeEfficiency)
	}
	if g.MemoryEfficiency != 0 {
		p.share("memory_efficiency", g.MemoryEfficiency)
	}
	for i, v := range g.AllReduceLatency {
		p.notNegative([3]string{"all_reduce_us.tp2", "all_reduce_us.tp4", "all_reduce_us.tp8"}[i], v)
	}
}

// DefaultLimits returns the defaults of vLLM's server for max-num-batched-tokens
// (tokens per step) and max-num-seqs (requests per step):
// 8,192 and 1,024 on GPUs of 70 GiB and more except the A100, else 2,048 and 256.
// gpu is nil if no GPU is named.
func DefaultLimits(gpu *Hardware) (tokens, maxSeqs int64) {
	if gpu != nil && gpu.Memory >= 70<<30 && !strings.Contains(strings.ToLower(gpu.Name), "a100") {
		return 8192, 1024
	}
	return 2048, 256
}

//go:embed data/hardware.yaml
var hardwareYAML []byte

// builtinHardware are the entries of the embedded file, a GPU each.
var builtinHardware = sync.OnceValue(func() []embedded[Hardware] {
	return embeddedList(hardwareYAML, "hardware.yaml", parseHardwareYAML)
})

// AllHardware lists the built-in GPUs in order of name.
func AllHardware() []Hardware {
	list := all(builtinHardware())
	slices.SortFunc(list, func(a, b Hardware) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// FindHardware returns the GPU with this name or alias, whatever its case.
// Entries of extra, from a user's file, come before the built-in ones. The
// error for an unknown name lists the nearest and all that are known.
func FindHardware(name string, extra ...Hardware) (Hardware, error) {
	for i := range extra {
		if extra[i].is(name) {
			return extra[i], nil
		}
	}
	if g, ok := find(builtinHardware(), name, (*Hardware).is); ok {
		return g, nil
	}
	var known []string
	for _, g := range slices.Concat(extra, AllHardware()) {
		known = append(known, g.Name)
	}
	return Hardware{}, &Unknown{
		Kind: "GPU", Name: name, Nearest: nearest(name, known, 3),
		Remedy: "there are " + strings.Join(known, ", ") + "; describe others in a file given with --hardware-config",
	}
}

func (g *Hardware) is(name string) bool {
	return strings.EqualFold(g.Name, name) || slices.ContainsFunc(g.Aliases, func(a string) bool { return strings.EqualFold(a, name) })
}

// gpuEntry is one GPU in the units of its file.
type gpuEntry struct {
	Name         string   `yaml:"name"`
	Aliases      []string `yaml:"aliases"`
	BF16TFLOPS   float64  `yaml:"bf16_tflops"`
	FP8TFLOPS    float64  `yaml:"fp8_tflops"`
	FP4TFLOPS    float64  `yaml:"fp4_tflops"`
	HBMTBPerS    float64  `yaml:"hbm_tb_per_s"`
	MemoryGiB    float64  `yaml:"memory_gib"`
	LinkGBPerS   float64  `yaml:"link_gb_per_s"`
	PCIeGBPerS   float64  `yaml:"pcie_gb_per_s"`
	PCIeShare    float64  `yaml:"pcie_efficiency"`
	RingShare    float64  `yaml:"pcie_all_reduce_efficiency"`
	ComputeShare float64  `yaml:"compute_efficiency"`
	MemoryShare  float64  `yaml:"memory_efficiency"`
	AllReduceUS  *tpTimes `yaml:"all_reduce_us"`
	Source       string   `yaml:"source"`
	MemorySource string   `yaml:"memory_source"`
}

type tpTimes struct {
	TP2 float64 `yaml:"tp2"`
	TP4 float64 `yaml:"tp4"`
	TP8 float64 `yaml:"tp8"`
}

// ParseHardware reads a list of GPUs in the format of data/hardware.yaml.
// Unknown fields, missing and impossible values are errors with file and line;
// all bad fields of an entry are named at once. all_reduce_us may be left out:
// then it is 5, 6 and 8 µs, as measured on H100, without links 12, 18 and 24. JSON files of the public
// simulator are read too (docs/models.md).
func ParseHardware(data []byte, file string) ([]Hardware, error) {
	if isJSONHardware(data) {
		return parseJSONHardware(data, file)
	}
	return parseHardwareYAML(data, file)
}

func parseHardwareYAML(data []byte, file string) ([]Hardware, error) {
	var doc struct {
		GPUs []*yamldoc.Node `yaml:"gpus"`
	}
	if err := decodeYAML(data, file, &doc); err != nil {
		return nil, err
	}
	if len(doc.GPUs) == 0 {
		return nil, locate(file, 1, "no GPUs: want a list under gpus, each with name, bf16_tflops, hbm_tb_per_s, memory_gib, pcie_gb_per_s")
	}
	var list []Hardware
	for i, node := range doc.GPUs {
		var e gpuEntry
		if node == nil {
			return nil, locate(file, 1, "an entry of gpus is empty")
		}
		at := yamldoc.Place{Field: fmt.Sprintf("gpus[%d]", i)}
		if err := yamldoc.Decode(file, at, node, &e); err != nil {
			return nil, err
		}
		g := e.hardware()
		var p problems
		if e.Name == "" {
			p.add("name", "is missing")
		}
		for _, other := range list {
			if e.Name != "" && other.is(e.Name) {
				p.add("name", "is taken by another entry")
			}
		}
		g.check(&p)
		if err := p.err("GPU " + e.Name); err != nil {
			return nil, locate(file, node.Line, err.Error())
		}
		list = append(list, g)
	}
	return list, nil
}

// usualAllReduce are latencies of all-reduces, µs, as data/hardware.yaml has them of GPUs
// with links and without.
func usualAllReduce(links bool) [3]float64 {
	if links {
		return [3]float64{5, 6, 8}
	}
	return [3]float64{12, 18, 24}
}

func (e *gpuEntry) hardware() Hardware {
	latency := usualAllReduce(e.LinkGBPerS != 0)
	if e.AllReduceUS != nil {
		latency = [3]float64{e.AllReduceUS.TP2, e.AllReduceUS.TP4, e.AllReduceUS.TP8}
	}
	memory := math.Round(e.MemoryGiB * (1 << 30))
	if !(memory >= 0 && memory <= 1<<51) { // NaN and what int64 cannot hold; check refuses both
		memory = 1 << 51
	}
	source := e.Source
	if e.MemorySource != "" {
		source += "; memory: " + e.MemorySource
	}
	return Hardware{
		Name: e.Name, Aliases: e.Aliases, Source: source,
		BF16: float64(e.BF16TFLOPS * 1e12), FP8: float64(e.FP8TFLOPS * 1e12), FP4: float64(e.FP4TFLOPS * 1e12),
		Bandwidth: float64(e.HBMTBPerS * 1e12), Memory: int64(memory),
		Link: float64(e.LinkGBPerS * 1e9), PCIe: float64(e.PCIeGBPerS * 1e9),
		PCIeEfficiency: e.PCIeShare, PCIeAllReduceEfficiency: e.RingShare,
		ComputeEfficiency: e.ComputeShare, MemoryEfficiency: e.MemoryShare, AllReduceLatency: latency,
	}
}
