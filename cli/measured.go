package cli

import (
	"errors"
	"strings"

	"blis/calibrate"
	"blis/latency"
	"blis/vtime"
)

// measuredFlags are the flags of train and validate that describe the measured
// servers where the data do not.
type measuredFlags struct {
	Model             string         `name:"model" group:"Server" help:"Model of --otlp and --steps files that do not name one, and of results of load generators, where it wins over the name in the file. With --closed-loop: the one that --model-config-folder describes."`
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

// overrides are the flags that say what was measured.
func (f *measuredFlags) overrides() calibrate.Overrides {
	return calibrate.Overrides{
		Model: f.Model, TP: f.TP, MaxBatchedTokens: f.BatchedTokens, MaxSeqs: f.Seqs,
		Hardware: f.Hardware, HardwareConfig: f.HardwareConfig, ModelConfigFolder: f.ModelConfigFolder,
	}
}

// load reads the measured runs of the arguments. Its errors are the user's.
func (f *measuredFlags) load(paths []string) (samples []*calibrate.Sample, notes []string, err error) {
	if len(paths) == 0 {
		return nil, nil, nil
	}
	if samples, notes, err = calibrate.Load(paths, f.overrides(), f.ClientTimeout); err != nil {
		return nil, nil, inputOf(err)
	}
	if len(samples) == 0 {
		return nil, nil, inputError("no run that can be replayed: " + strings.Join(notes, "; "))
	}
	return samples, notes, nil
}

// loops reads the benchmarks of --closed-loop files.
func (f *measuredFlags) loops(files []string) (list []*calibrate.ClosedLoopSample, leftOut []calibrate.LeftOutLoops, err error) {
	for _, file := range files {
		samples, out, err := calibrate.LoadClosedLoops(file, f.overrides())
		if err != nil {
			return nil, nil, inputOf(err)
		}
		list, leftOut = append(list, samples...), append(leftOut, out...)
	}
	return list, leftOut, nil
}

// inputOf makes err an error in the user's input, except a model that does not fit:
// this has an exit code of its own.
func inputOf(err error) error {
	if errors.As(err, new(*latency.DoesNotFit)) {
		return err
	}
	return inputError(pathProblem(err))
}

// check checks the flags that can be checked without the files.
func (f *measuredFlags) check() error {
	switch {
	case f.Workers < 0:
		return inputErrorf("--workers is %d: want 1 or more, 0 for one per core", f.Workers)
	case f.ClientTimeout == 0:
		return inputError("--client-timeout is 0: want a time above 0: it is after this that requests failed")
	case f.Seqs < 0:
		return inputErrorf("--max-num-seqs is %d: want 1 or more, 0 for what vLLM's server chooses", f.Seqs)
	case f.BatchedTokens < 0:
		return inputErrorf("--max-num-batched-tokens is %d: want 1 or more, 0 for what vLLM's server chooses", f.BatchedTokens)
	}
	return nil
}

// prefills reads the requests of OTLP files that ran alone, on the server d with
// limits, and prints which spans are not used.
func (f *measuredFlags) prefills(c *console, files []string, d *latency.Deployment, limits latency.EngineLimits) ([]calibrate.Prefill, error) {
	list, notes, err := calibrate.ReadPrefills(files, d, limits)
	if err != nil {
		return nil, inputOf(err)
	}
	for _, text := range notes {
		c.note("%s", text)
	}
	return list, nil
}

// stages shows the progress of a calibration.
func (c *console) stages(what string) (func(done, of int, name string), *progress) {
	p := c.show(what)
	return func(done, of int, _ string) { p.set(int64(done), int64(of)) }, p
}
