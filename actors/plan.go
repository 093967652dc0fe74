package actors

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"blis/input"
	"blis/latency"
	"blis/metrics"
	"blis/policy"
	"blis/workload"
	"blis/workload/spec"
)

// plan is a checked configuration with everything derived that it leaves open.
type plan struct {
	config Config
	setup  Setup

	gpu        latency.Hardware
	deployment latency.Deployment
	model      latency.Model
	set        *latency.PhysicsSet // of coefficients of the model; nil: unknown
	spec       *spec.Spec          // nil: the workload is not a specification
	source     workload.Source
	fresh      map[policy.Signals]cadence // of single signals, where the bundle gives one
	targets    []metrics.ClassTargets
	fitness    metrics.Fitness
}

// newPlan derives and checks. Its errors are errors in the user's input: InputError
// and *latency.DoesNotFit.
func newPlan(c Config) (*plan, error) {
	p := &plan{config: c}
	for _, step := range []func() error{p.openSpec, p.resolvePolicies, p.noteUnused, p.checkInputs, p.resolveCache, p.resolveLimits, p.resolveLatency, p.resolveScaling, p.resolveWorkload, p.noteModels, p.completeBundle} {
		if err := step(); err != nil {
			var fit *latency.DoesNotFit
			var input *InputError
			if errors.As(err, &fit) || errors.As(err, &input) {
				return nil, err
			}
			return nil, &InputError{err.Error()}
		}
	}
	p.setup.Chance = p.chance()
	return p, nil
}

func (p *plan) resolveModel() error {
	c := &p.config
	var extra []latency.Hardware
	if c.HardwareConfig != "" {
		text, err := p.readFile(c.HardwareConfig, input.Settings)
		if err != nil {
			return fileError("hardware-config", err)
		}
		if extra, err = latency.ParseHardware(text, c.HardwareConfig); err != nil {
			return err
		}
	}
	gpu, err := latency.FindHardware(c.Hardware, extra...)
	if err != nil {
		return err
	}
	spec, err := p.modelSpec()
	if err != nil {
		return err
	}
	if spec, err = spec.Served(latency.Widths{Dtype: c.Dtype, Quantization: c.Quantization, KVCacheDtype: c.KVCacheDtype}); err != nil {
		return err
	}
	if len(gpu.Unused) > 0 {
		p.note("hardware-config: %s of %s: not used here", strings.Join(gpu.Unused, ", "), gpu.Name)
	}
	p.gpu = gpu
	p.deployment = latency.Deployment{Model: &spec, GPU: &p.gpu, TP: c.TP}
	p.setup.Model, p.setup.Hardware, p.setup.TP = spec.Name, gpu.Name, c.TP
	if !validTP(c.TP) {
		return nil // checkNumbers says so
	}
	return p.deployment.Validate()
}

func (p *plan) modelSpec() (latency.ModelSpec, error) {
	c := &p.config
	if c.ModelConfigFolder == "" {
		return latency.FindModel(c.Model)
	}
	file := c.ModelConfigFolder
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, "config.json")
	}
	text, err := p.readFile(file, input.Model)
	if err != nil {
		return latency.ModelSpec{}, fileError("model-config-folder", err)
	}
	return latency.ParseModel(text, file)
}

// open opens a file that the configuration names.
func (p *plan) open(path string) (io.ReadCloser, error) {
	if p.config.Open != nil {
		return p.config.Open(path)
	}
	return os.Open(path)
}

// readFile reads a file of at most limit bytes that the configuration names.
func (p *plan) readFile(path string, limit int64) ([]byte, error) {
	f, err := p.open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return input.ReadAll(path, f, limit)
}

// fileError is one line for a file that cannot be read.
func fileError(flag string, err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return inputErrorf("--%s: %s: %v", flag, path.Path, path.Err)
	}
	return inputErrorf("--%s: %v", flag, err)
}

func numbers(list []float64) string {
	text := make([]string, len(list))
	for i, f := range list {
		text[i] = strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strings.Join(text, ",")
}

// noteWidths notes how the flags for the widths of weights and cache changed the
// model.
func (p *plan) noteWidths() {
	c, m := &p.config, p.deployment.Model
	var flags []string
	for _, f := range [][2]string{{"quantization", c.Quantization}, {"kv-cache-dtype", c.KVCacheDtype}} {
		if f[1] != "" && f[1] != "auto" {
			flags = append(flags, f[0]+" "+f[1])
		}
	}
	switch {
	case len(flags) == 0:
		return
	case !m.Reshaped:
		p.note("%s: as the model is described anyway, %s bits", strings.Join(flags, ", "), m.WidthsText())
		return
	}
	peak := ""
	if m.ActivationBits <= 8 && p.gpu.FP8 == 0 {
		peak = "; " + p.gpu.Name + " computes them at its 16-bit peak"
	}
	p.note("%s: %s bits%s", strings.Join(flags, ", "), m.WidthsText(), peak)
}

func (p *plan) resolveCache() error {
	c := &p.config
	p.noteWidths()
	if c.NumGPUBlocksOverride > 0 {
		c.TotalKVBlocks, c.NumGPUBlocksOverride = c.NumGPUBlocksOverride-1, 0
	}
	if c.TotalKVBlocks == 0 {
		m := latency.DefaultMemory()
		m.Utilization, m.Activations, m.BlockSize = c.GPUMemoryUtilization, int64(c.ActivationMemory), int64(c.BlockSizeInTokens)
		n, err := p.deployment.KVBlocks(m)
		if err != nil {
			return err
		}
		c.TotalKVBlocks = min(n, 1<<31-1)
	}
	p.setup.KVBlocks = c.TotalKVBlocks
	for _, text := range p.deployment.Model.NotModelled { // most of these are about the cache
		p.note("%s", text)
	}
	return nil
}

// resolveLimits derives max_num_seqs, the token budget of a step and the
// longest request.
func (p *plan) resolveLimits() error {
	c := &p.config
	if c.MaxModelLen == 0 {
		c.MaxModelLen = int32(min(p.deployment.Model.MaxPosition, math.MaxInt32))
	}
	held := c.TotalKVBlocks * int64(c.BlockSizeInTokens)
	longest := held
	if c.MaxModelLen > 0 {
		longest = min(longest, int64(c.MaxModelLen))
	}
	if int64(c.MaxModelLen) > held {
		p.note("max-model-len %d is more than the KV cache holds: requests end at %d tokens", c.MaxModelLen, held)
	}
	tokens, maxSeqs := latency.DefaultLimits(&p.gpu)
	if c.MaxNumSeqs > 0 {
		maxSeqs = int64(c.MaxNumSeqs)
	}
	if c.MaxNumBatchedTokens > 0 {
		tokens = int64(c.MaxNumBatchedTokens)
	} else {
		if !c.EnableChunkedPrefill {
			tokens = max(tokens, longest)
		}
		tokens = min(tokens, maxSeqs*longest)
	}
	if c.MaxNumSeqs > 0 && tokens < maxSeqs {
		return inputErrorf("--max-num-seqs is %d: want at most the token budget of a step, --max-num-batched-tokens %d", maxSeqs, tokens)
	}
	if c.MaxNumSeqs == 0 {
		maxSeqs = min(maxSeqs, tokens)
	}
	c.MaxNumBatchedTokens, c.MaxNumSeqs = int32(min(tokens, math.MaxInt32)), int32(maxSeqs)
	if !c.EnableChunkedPrefill {
		if longest > tokens {
			p.note("chunked prefill is off: requests end at the token budget of %d", tokens)
		}
		longest = min(longest, tokens)
	}
	p.setup.MaxModelLen = int32(min(longest, math.MaxInt32))
	return nil
}

// warn adds a warning.
func (p *plan) warn(format string, args ...any) {
	p.setup.Warnings = append(slices.Clip(p.setup.Warnings), fmt.Sprintf(format, args...))
}

func (p *plan) note(format string, args ...any) { p.setup.note(format, args...) }

// note adds a note. A copy of the setup does not get it.
func (s *Setup) note(format string, args ...any) {
	s.Notes = append(slices.Clip(s.Notes), fmt.Sprintf(format, args...))
}
