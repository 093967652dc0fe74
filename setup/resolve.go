package setup

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"blis/input"
	"blis/latency"
	"blis/vtime"
	"blis/workload/spec"
)

// resolver makes a plan, step by step.
type resolver struct {
	*Plan
	pool         *Pool
	gpu          latency.Hardware
	server       *Server             // of the pool
	record       *latency.PhysicsSet // of the error of the latency model; nil: nothing is known of it
	checkRefresh vtime.Duration      // autoscale.refresh
	spec         *spec.Spec          // nil: the workload is not a specification
	role         Role                // of the pool; Monolithic: it is all there is
	label        string              // of the pool in notes; empty: it is all there is
	parts        []*resolver         // of the pools, if there are several
	checks       []func() error
	sharedGPUs   map[string]int // GPUs of the instances of all pools that share a storage tier, by its name; nil: there is one pool
	brief        bool           // only the configuration counts: no estimates, notes or warnings
}

func newResolver(c Config, checks ...func() error) *resolver {
	pool := new(Pool)
	return &resolver{Plan: &Plan{Config: c, Pools: []*Pool{pool}, Deployments: []Deployment{{Serving: pool}}}, pool: pool, server: &pool.Server, checks: checks}
}

// Resolve derives and checks all that a run needs but for how it is executed. Its
// errors are errors in the user's input: *InputError and *latency.DoesNotFit. One
// error lists the faults that checks find and those of other settings.
func Resolve(c Config, checks ...func() error) (*Plan, error) {
	p := newResolver(c, checks...)
	if err := inOrder(p.openSpec, func() error { return OpenDeployments(&p.Config) }, p.resolvePolicies, p.noteUnused, p.checkInputs, func() error { return resolvePools(p) }, func() error { return checkSharedStorage(p.Plan) }, func() error { return resolveNodePools(p) }, p.resolveWorkload, func() error { return resolveModels(p) }, func() error { return resolveFailures(p) }, func() error { return resolveForced(p.Plan) }, func() error { return resolveGateway(p.Plan) }); err != nil {
		return nil, err
	}
	p.Summary.Chance = chanceOf(p)
	return p.Plan, nil
}

// Effective returns the configuration of the plan that Resolve makes, in a fraction of
// the time: a sweep asks for those of a million runs. It opens no trace and makes no
// traffic of a specification, so that faults in these are found by Resolve alone.
func Effective(c Config) (Config, error) {
	p := newResolver(c)
	p.brief = true
	err := inOrder(p.openSpec, func() error { return OpenDeployments(&p.Config) }, p.resolvePolicies, p.checkInputs, func() error { return resolvePools(p) }, func() error { return checkSharedStorage(p.Plan) }, func() error { return resolveNodePools(p) }, func() error { return resolveGenerated(p) }, func() error { return resolveForced(p.Plan) }, func() error { return resolveGateway(p.Plan) })
	return p.Config, err
}

// Cluster returns the plan of c as far as no workload counts: pools, deployments and
// policies. It opens no trace and no specification, and its errors are those of Resolve.
func Cluster(c Config) (*Plan, error) {
	p := newResolver(c)
	err := inOrder(func() error { return OpenDeployments(&p.Config) }, p.resolvePolicies, p.checkInputs, func() error { return resolvePools(p) })
	return p.Plan, err
}

// resolveGenerated is resolveWorkload for generated requests; other workloads leave the
// configuration as it is.
func resolveGenerated(p *resolver) error {
	if p.Config.Custom.Source != nil || p.spec != nil || p.Config.Trace != "" {
		return nil
	}
	return p.resolveWorkload()
}

// KVBlocks returns the KV blocks of an instance, of several pools those of the last one. It
// needs no latency model, and its errors are those of Resolve about model, GPU and memory.
func KVBlocks(c Config) (int64, error) {
	p := newResolver(c)
	p.brief = true
	if SeveralPools(&c) {
		return kvBlocksOfLast(p)
	}
	err := inOrder(p.resolveModel, p.resolveCache)
	return p.Config.TotalKVBlocks, err
}

// LatencyModel returns the latency model that instances of a run of c have, and what
// the user is told of it; of several pools that of the last one, and of all in
// words. It opens no workload. Its errors are those of Resolve.
func LatencyModel(c Config) (latency.Model, Summary, error) {
	p := newResolver(c)
	if SeveralPools(&c) {
		err := inOrder(func() error { return OpenDeployments(&p.Config) }, p.resolvePolicies, p.checkInputs, func() error { return resolvePools(p) })
		return p.server.Latency, p.Summary, err
	}
	if err := inOrder(p.checkInputs, p.resolveCache, p.resolveLimits, func() error { return resolveKVTier(p) }, p.resolveLatency); err != nil {
		return nil, Summary{}, err
	}
	return p.server.Latency, p.Summary, nil
}

// inOrder carries out steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			var fit *latency.DoesNotFit
			var input *InputError
			if errors.As(err, &fit) || errors.As(err, &input) {
				return err
			}
			return &InputError{err.Error()}
		}
	}
	return nil
}

func (p *resolver) resolveModel() error {
	c := &p.Config
	gpu, err := openHardware(c.Hardware, c.HardwareConfig, func(path string, limit int64) ([]byte, error) { return readFile(c, path, limit) })
	if err != nil {
		return err
	}
	spec, err := modelSpec(c)
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
	p.server.Deployment = latency.Deployment{Model: &spec, GPU: &p.gpu, TP: c.TP, ExpertParallel: c.EnableExpertParallel, DataParallel: sharedExperts(c, &spec)}
	p.Summary.Model, p.Summary.Hardware, p.Summary.TP = spec.Name, gpu.Name, c.TP
	if !validTP(c.TP) {
		return nil // checkNumbers says so
	}
	return p.server.Validate()
}

// openFile opens a file that the configuration names.
func openFile(c *Config, path string) (io.ReadCloser, error) {
	if c.Open != nil {
		return c.Open(path)
	}
	return os.Open(path)
}

// readFunc is input.ReadFile, or readFile of a configuration.
type readFunc func(path string, limit int64) ([]byte, error)

// readFile reads a file of at most limit bytes that the configuration names.
func readFile(c *Config, path string, limit int64) ([]byte, error) {
	f, err := openFile(c, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return input.ReadAll(path, f, limit)
}

// fileError returns one line for a file that cannot be read.
func fileError(flag string, err error) error {
	return inputErrorf("--%s: %s", flag, fileProblem(err))
}

// fileProblem returns the error of a file with its path, without the system call.
func fileProblem(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Path + ": " + path.Err.Error()
	}
	return err.Error()
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
func (p *resolver) noteWidths() {
	c, m := &p.Config, p.server.Model
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
	if m.ActivationBits <= 8 && p.gpu.Peak(m.ActivationBits) == p.gpu.BF16 {
		peak = "; " + p.gpu.Name + " computes them at its 16-bit peak"
	}
	p.note("%s: %s bits%s", strings.Join(flags, ", "), m.WidthsText(), peak)
}

// noteExperts notes where spreading whole experts over GPUs changes nothing.
func (p *resolver) noteExperts() {
	because := "one GPU holds all experts"
	switch d := &p.server.Deployment; {
	case d.Model.Experts == 0:
		because = d.Model.Name + " has no experts"
	case d.TP*p.Config.DataParallelSize > 1:
		return
	}
	p.noteIfSet([]string{"enable-expert-parallel"}, because)
}

func (p *resolver) resolveCache() error {
	c := &p.Config
	p.noteWidths()
	p.noteExperts()
	resolveRanks(p)
	if c.NumGPUBlocksOverride > 0 {
		c.TotalKVBlocks, c.NumGPUBlocksOverride = c.NumGPUBlocksOverride-1, 0
	}
	if c.TotalKVBlocks == 0 {
		m := latency.DefaultMemory()
		m.Utilization, m.Activations, m.BlockSize = c.GPUMemoryUtilization, int64(c.ActivationMemory), int64(c.BlockSizeInTokens)
		n, err := p.server.KVBlocks(m)
		if err != nil {
			return err
		}
		c.TotalKVBlocks = min(n, 1<<31-1)
	}
	p.Summary.KVBlocks = c.TotalKVBlocks
	for _, text := range p.server.Model.NotModelled { // most of these are about the cache
		p.note("%s", text)
	}
	return nil
}

// resolveLimits derives max_num_seqs, the token budget of a step and the
// longest request.
func (p *resolver) resolveLimits() error {
	c := &p.Config
	if c.MaxModelLen == 0 {
		c.MaxModelLen = int32(min(p.server.Model.MaxPosition, math.MaxInt32))
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
	p.Summary.MaxModelLen = int32(min(longest, math.MaxInt32))
	return nil
}

// warn adds a warning.
func (p *Plan) warn(format string, args ...any) {
	p.Summary.Warnings = append(slices.Clip(p.Summary.Warnings), fmt.Sprintf(format, args...))
}

func (p *Plan) note(format string, args ...any) { p.Summary.Note(format, args...) }

// noteIfSet is that of the plan, but for a brief resolver.
func (p *resolver) noteIfSet(settings []string, because string) {
	if !p.brief {
		p.Plan.noteIfSet(settings, because)
	}
}

// Note adds a note. A copy of the summary does not get it.
func (s *Summary) Note(format string, args ...any) {
	s.Notes = append(slices.Clip(s.Notes), fmt.Sprintf(format, args...))
}
