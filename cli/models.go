package cli

import (
	"fmt"
	"io"
	"strings"

	"blis/latency"
	"blis/report"
	"blis/setup"
)

// modelsCmd is blis models.
type modelsCmd struct {
	List modelsListCmd `cmd:"" default:"withargs" help:"List the built-in models (the default)."`
	Sets modelSetsCmd  `cmd:"" help:"List the shipped coefficients of the physics latency model, with what they cover and their errors."`
	Show modelShowCmd  `cmd:"" help:"Say what a model costs per token, and how much of it fits on a GPU."`
}

// modelsListCmd is blis models list.
type modelsListCmd struct{ form }

type modelItem struct {
	Name        string                `json:"name"`
	Aliases     []string              `json:"aliases"`
	Layers      int64                 `json:"layers"`
	Hidden      int64                 `json:"hidden"`
	Attention   latency.AttentionKind `json:"attention"`
	Heads       int64                 `json:"heads"`
	KVHeads     int64                 `json:"kv_heads"`
	Experts     int64                 `json:"experts"`
	Active      int64                 `json:"active_experts"`
	WeightBytes int64                 `json:"weight_bytes"`
	KVBytes     int64                 `json:"kv_bytes_per_token"` // at TP 1
	Context     int64                 `json:"max_position"`
	Fits        []string              `json:"blackbox_coefficients"`
	Source      string                `json:"source"`
}

// Run carries the command out.
func (m *modelsListCmd) Run(c *console) error {
	fits := latency.AllFits()
	items := []modelItem{}
	for _, s := range latency.AllModels() {
		item := modelItem{
			Name: s.Name, Aliases: append([]string{}, s.Aliases...), Layers: s.Layers, Hidden: s.Hidden, Attention: s.Attention(), Heads: s.Heads, KVHeads: s.KVHeads,
			Experts: s.Experts, Active: s.ActiveExperts, WeightBytes: s.Counts().ResidentWeightBytes(), KVBytes: s.Counts().KVBytesPerToken(1),
			Context: s.MaxPosition, Fits: []string{}, Source: s.Source,
		}
		for _, f := range fits {
			if strings.EqualFold(f.Model, s.Name) {
				item.Fits = append(item.Fits, fmt.Sprintf("%s TP %d", f.GPU, f.TP))
			}
		}
		items = append(items, item)
	}
	return m.list(c, items, func(w io.Writer) {
		fmt.Fprintln(w, "MODEL\tWEIGHTS\tKV/TOKEN\tLAYERS\tHIDDEN\tHEADS\tKV HEADS\tEXPERTS\tCONTEXT\tBLACKBOX FITS")
		for _, i := range items {
			kvHeads, experts := fmt.Sprint(i.KVHeads), "–"
			if i.Attention == latency.Latent {
				kvHeads = string(latency.Latent)
			}
			if i.Experts > 0 {
				experts = fmt.Sprintf("%d of %d", i.Active, i.Experts)
			}
			fmt.Fprintf(w, "%s\t%.1f GiB\t%d KiB\t%d\t%d\t%d\t%s\t%s\t%d\t%d\n", i.Name, float64(i.WeightBytes)/(1<<30), i.KVBytes>>10,
				i.Layers, i.Hidden, i.Heads, kvHeads, experts, i.Context, len(i.Fits))
		}
		fmt.Fprintln(w, "\nMore about one: blis models show MODEL. Others: --model-config-folder with a Hugging Face config.json.\nSources and fits: --format json.")
	}, "BLACKBOX FITS", "HIDDEN", "HEADS", "KV HEADS", "LAYERS", "EXPERTS")
}

// modelShowCmd is blis models show. What it shares with blis run has the same
// names and defaults.
type modelShowCmd struct {
	Model string `arg:"" help:"A built-in model, a Hugging Face config.json, or the folder of one."`

	Hardware          string        `name:"hardware" default:"H100" group:"Model" help:"GPU; see blis hardware."`
	TP                int           `name:"tp" default:"1" aliases:"tensor-parallel-size" group:"Model" help:"GPUs per instance (tensor parallelism)."`
	HardwareConfig    string        `name:"hardware-config" type:"path" group:"Model" help:"File with GPUs of your own: YAML, or JSON of the public simulator."`
	Dtype             string        `name:"dtype" default:"auto" group:"Model" help:"As for blis run."`
	Quantization      string        `name:"quantization" group:"Model" help:"Quantisation of a 16-bit model: fp8, awq, gptq, …; as for blis run."`
	KVCacheDtype      string        `name:"kv-cache-dtype" default:"auto" group:"Model" help:"auto, bfloat16 or fp8; as for blis run."`
	BlockSize         int32         `name:"block-size-in-tokens" default:"16" aliases:"block-size" group:"Instances" help:"Tokens per KV block."`
	MemoryUtilization float64       `name:"gpu-memory-utilization" default:"0.9" group:"Instances" help:"Fraction of GPU memory that the engine may use, as in vLLM."`
	ActivationMemory  latency.Bytes `name:"activation-memory" default:"1GB" group:"Instances" help:"GPU memory set aside per GPU for activations and other buffers: 1GB, 800MiB or a number of bytes."`

	Format string `default:"text" enum:"text,json" group:"Output" help:"Form of the result: text or json."`
}

// Help is what blis models show does, with examples.
func (*modelShowCmd) Help() string {
	return `Says what follows from the description of a model and a GPU before anything is simulated: parameters, work and memory traffic per token, and the KV cache that is left at several degrees of tensor parallelism. A model that does not fit is no error here.

Examples:

    blis models show Llama-3.1-70B-Instruct --tp 4
    blis models show Llama-3.1-70B --quantization fp8 --kv-cache-dtype fp8
    blis models show deepseek-ai/DeepSeek-V3 --hardware H200 --tp 8
    blis models show path/to/config.json --hardware RTX4090
    blis models show mymodel/ --hardware-config gpus.yaml --hardware MyGPU`
}

// Run carries the command out.
func (m *modelShowCmd) Run(c *console) error {
	c.warnOfVariables()
	spec, err := setup.OpenModel(m.Model)
	if err != nil {
		return err
	}
	if spec, err = spec.Served(latency.Widths{Dtype: m.Dtype, Quantization: m.Quantization, KVCacheDtype: m.KVCacheDtype}); err != nil {
		return inputError(err.Error())
	}
	gpu, err := setup.OpenHardware(m.Hardware, m.HardwareConfig)
	if err != nil {
		return err
	}
	d := &latency.Deployment{Model: &spec, GPU: &gpu, TP: m.TP}
	shown, err := report.NewModel(d, latency.Memory{Utilization: m.MemoryUtilization, Activations: int64(m.ActivationMemory), BlockSize: int64(m.BlockSize)})
	if err != nil {
		return inputError(err.Error())
	}
	return c.print(shown, m.Format)
}

// modelSetsCmd is blis models sets.
type modelSetsCmd struct{ form }

// setItem is one shipped coefficient set of the physics model.
type setItem struct {
	Name    string                 `json:"name"`
	Trained latency.Training       `json:"trained_on"`
	Errors  []latency.HeldOutError `json:"errors"`
	Notes   []string               `json:"notes"`
	Alpha   latency.AlphaVector    `json:"alpha"`
	Beta    latency.BetaVector     `json:"beta"`
}

// Run carries the command out.
func (m *modelSetsCmd) Run(c *console) error {
	items := []setItem{}
	for _, s := range latency.PhysicsSets() {
		items = append(items, setItem{s.Name, s.TrainedOn, s.Errors, s.Notes, s.Alpha, s.Beta})
	}
	return m.list(c, items, func(w io.Writer) {
		fmt.Fprintln(w, "SET\tGPU\tTP\tENGINE\tE2E\tWORST\tTPOT\tTTFT\tBY\tMODELS")
		for _, s := range latency.PhysicsSets() {
			t := &s.TrainedOn
			var models []string
			for _, id := range t.Models {
				models = append(models, id[strings.LastIndexByte(id, '/')+1:])
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", s.Name, strings.Join(t.GPUs, ", "), degrees(t), t.Engine, report.StatedCells(s.StatedError(nil, nil)), strings.Join(models, ", "))
		}
		for _, r := range latency.RooflineRecords() {
			gpu, tp := strings.Join(r.TrainedOn.GPUs, ", "), degrees(&r.TrainedOn)
			name := "(roofline, " + gpu
			if tp != "1" {
				name += " TP " + tp
			}
			fmt.Fprintf(w, "%s)\t%s\t%s\t\t%s\t\n", name, gpu, tp, report.StatedCells(r.StatedError(nil, nil)))
		}
		fmt.Fprintf(w, "\nErrors are of means over a run: the mean over models of their runs, and the worst run. Other models of the same kind are covered where a set states its leave-one-model-out error. Roofline serves whatever can be described; its error is known on the GPUs above.\nOthers: blis train, and --coefficients with its file. All of it: --format json.\n")
	}, "ENGINE", "BY", "GPU", "TP", "TTFT")
}

// degrees are the TP degrees of the data: 1, or 1–4.
func degrees(t *latency.Training) string {
	if t.TPMax > t.TPMin {
		return fmt.Sprintf("%d–%d", t.TPMin, t.TPMax)
	}
	return fmt.Sprint(t.TPMin)
}
