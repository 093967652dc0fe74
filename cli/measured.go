package cli

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"blis/calibrate"
	"blis/calibrate/measured"
	"blis/latency"
	"blis/vtime"
)

// measuredFlags are what train and validate say of the servers that were
// measured, where the data do not.
type measuredFlags struct {
	Model             string         `name:"model" group:"Server" help:"Model of --otlp and --steps files that do not name one, and of results of load generators, where it wins over the name in the file."`
	Hardware          string         `name:"hardware" group:"Server" help:"GPU, where the data name none or another; see blis hardware."`
	TP                int            `name:"tp" default:"1" aliases:"tensor-parallel-size" group:"Server" help:"GPUs per instance of --otlp and --steps files that do not say, and of results of load generators."`
	BatchedTokens     int64          `name:"max-num-batched-tokens" default:"0" group:"Server" help:"Token budget of a step for --otlp, --steps and results of load generators; 0: as vLLM's server chooses by GPU."`
	Seqs              int32          `name:"max-num-seqs" default:"0" group:"Server" help:"Maximum number of requests in a batch of the server behind results of load generators; 0: as vLLM's server chooses by GPU."`
	HardwareConfig    string         `name:"hardware-config" type:"path" group:"Server" help:"YAML file with GPUs of your own."`
	ModelConfigFolder string         `name:"model-config-folder" type:"path" group:"Server" help:"Folder with a Hugging Face config.json (or such a file) that describes the model."`
	ClientTimeout     vtime.Duration `name:"client-timeout" type:"timeout" default:"300s" group:"Server" help:"When clients gave up, in runs in which requests failed."`
	Workers           int            `name:"workers" default:"0" group:"Run" help:"Replays side by side; 0: one per core. Changes no result."`
	Format            string         `name:"format" default:"text" enum:"text,json" group:"Output" help:"Form of the result: text or json."`
}

// load reads the measured runs behind the arguments. Its errors are the user's.
func (f *measuredFlags) load(paths []string) (samples []*calibrate.Sample, notes []string, err error) {
	if len(paths) == 0 {
		return nil, nil, nil
	}
	samples, notes, err = calibrate.Load(paths, calibrate.Overrides{
		Model: f.Model, TP: f.TP, MaxBatchedTokens: int32(min(f.BatchedTokens, math.MaxInt32)), MaxSeqs: f.Seqs,
		Hardware: f.Hardware, HardwareConfig: f.HardwareConfig, ModelConfigFolder: f.ModelConfigFolder,
	}, f.ClientTimeout)
	if err != nil {
		return nil, nil, inputOf(err)
	}
	if len(samples) == 0 {
		return nil, nil, &inputError{"no run that can be replayed: " + strings.Join(notes, "; ")}
	}
	return samples, notes, nil
}

// inputOf is a fault of what the user gave, but for a model that does not fit,
// which has its own exit code.
func inputOf(err error) error {
	if errors.As(err, new(*latency.DoesNotFit)) {
		return err
	}
	return &inputError{pathProblem(err)}
}

// check checks the flags that no file is needed for.
func (f *measuredFlags) check() error {
	switch {
	case f.Workers < 0:
		return &inputError{fmt.Sprintf("--workers is %d: want 1 or more, 0 for one per core", f.Workers)}
	case f.ClientTimeout == 0:
		return &inputError{"--client-timeout is 0: want a time above 0: it is after this that requests failed"}
	case f.Seqs < 0:
		return &inputError{fmt.Sprintf("--max-num-seqs is %d: want 1 or more, 0 for what vLLM's server chooses", f.Seqs)}
	case f.BatchedTokens < 0:
		return &inputError{fmt.Sprintf("--max-num-batched-tokens is %d: want 1 or more, 0 for what vLLM's server chooses", f.BatchedTokens)}
	}
	return nil
}

// deployment is what --otlp and --steps files were measured on; what they say
// themselves comes first.
func (f *measuredFlags) deployment(model string, tp int) (*latency.Deployment, latency.EngineLimits, error) {
	none := latency.EngineLimits{}
	if model == "" {
		model = f.Model
	}
	if tp == 0 {
		tp = f.TP
	}
	if model == "" && f.ModelConfigFolder == "" || f.Hardware == "" {
		return nil, none, &inputError{"--model and --hardware: want the model and GPU that --otlp and --steps files were measured on"}
	}
	path := model
	if f.ModelConfigFolder != "" {
		path = f.ModelConfigFolder
	}
	spec, err := openModel(path)
	if err != nil {
		return nil, none, inputOf(err)
	}
	shown := modelShowCmd{Hardware: f.Hardware, HardwareConfig: f.HardwareConfig}
	gpu, err := shown.openHardware()
	if err != nil {
		return nil, none, &inputError{err.Error()}
	}
	d := &latency.Deployment{Model: &spec, GPU: &gpu, TP: tp}
	m := latency.DefaultMemory()
	blocks, err := d.KVBlocks(m)
	if err != nil {
		return nil, none, inputOf(err)
	}
	tokens, seats := latency.DefaultLimits(&gpu)
	if f.BatchedTokens != 0 {
		tokens = f.BatchedTokens
	}
	return d, latency.EngineLimits{MaxBatchedTokens: tokens, MaxSeqs: seats, BlockSize: m.BlockSize, GPUBlocks: blocks, ChunkedPrefill: true}, nil
}

// prefills reads the requests of OTLP files that ran alone. It notes what of
// the spans was not used.
func (f *measuredFlags) prefills(c *console, files []string) ([]calibrate.Prefill, error) {
	if len(files) == 0 {
		return nil, nil
	}
	d, limits, err := f.deployment("", 0)
	if err != nil {
		return nil, err
	}
	var list []calibrate.Prefill
	var notes []string
	for _, file := range files {
		trace, err := measured.ReadOTLP(file)
		if err != nil {
			return nil, inputOf(err)
		}
		some, err := calibrate.Prefills(trace, d, limits)
		if err != nil {
			return nil, &inputError{file + ": " + err.Error()}
		}
		for _, reason := range slices.Sorted(maps.Keys(trace.Skipped)) {
			notes = append(notes, fmt.Sprintf("%s: %d of %d spans not used: %s", file, trace.Skipped[reason], trace.Spans, reason))
		}
		list = append(list, some...)
	}
	for _, text := range notes {
		c.note("%s", text)
	}
	return list, nil
}

// stages shows how far a calibration has come.
func (c *console) stages(what string) (func(done, of int, name string), *progress) {
	p := c.show(what)
	return func(done, of int, _ string) { p.set(int64(done), int64(of)) }, p
}
