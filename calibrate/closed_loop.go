package calibrate

import (
	"cmp"
	"errors"
	"fmt"

	"blis/actors"
	"blis/calibrate/measured"
	"blis/latency"
	"blis/setup"
)

// ClosedLoopSample is a benchmark in which a fixed number of users asks again and again,
// with the server that is simulated for it. Of the measured times only TPOT is compared
// and fitted: TTFT depends on how the users started, which such files do not say.
type ClosedLoopSample struct {
	Point  *measured.ClosedLoop
	Server *Server // one scheduler
	Users  int32   // of that scheduler, from 1

	// Weight in a fit, 1 by default: as the decoding of a whole Sample.
	Weight float64

	family   *Family
	features featureSource
}

// LeftOutLoops are benchmarks of a file that are not simulated.
type LeftOutLoops struct {
	Reason string `json:"reason"`
	Points int    `json:"points"`
	Lines  []int  `json:"lines"` // of the file
}

// LoadClosedLoops reads benchmarks with measured.ReadClosedLoops and derives their
// servers, for fits of the physics model. Points that cannot be simulated are left out,
// by reason in the order of the file. o.ModelConfigFolder describes the model named
// o.Model alone. An error is one of the file or the options.
func LoadClosedLoops(path string, o Overrides) (samples []*ClosedLoopSample, leftOut []LeftOutLoops, err error) {
	if o.ModelConfigFolder != "" && o.Model == "" {
		return nil, nil, &setup.InputError{Text: "--model-config-folder: want --model too: which of the models of the benchmarks it describes"}
	}
	points, err := measured.ReadClosedLoops(path)
	if err != nil {
		return nil, nil, err
	}
	for i := range points {
		if s, err := NewClosedLoopSample(&points[i], o); err != nil {
			leftOut = leaveOut(leftOut, err.Error(), points[i].Line)
		} else {
			samples = append(samples, s)
		}
	}
	return samples, leftOut, nil
}

// NewClosedLoopSample derives the server of a benchmark. Errors say why there is none.
//
// With attention data parallelism one of the schedulers is simulated, with its share of
// the users, rounded up. The experts of its GPUs are its share of all; the batches of
// the others are taken to be equal.
func NewClosedLoopSample(p *measured.ClosedLoop, o Overrides) (*ClosedLoopSample, error) {
	if p.PP > 1 {
		return nil, fmt.Errorf("%d pipeline stages are not simulated", p.PP)
	}
	d, err := o.deploymentOf(p)
	if err != nil {
		return nil, err
	}
	schedulers := int32(p.AttentionDP)
	s := &ClosedLoopSample{Point: p, Users: (p.Concurrency + schedulers - 1) / schedulers, Weight: 1}
	if s.Server, err = newLoopServer(p, d, int64(s.Users)); err != nil {
		return nil, err
	}
	return s.withFamily(Physics)
}

// Crowded reports whether the KV cache may not hold the requests of all users: it does
// not if all of them are at their end. Then TPOT depends on settings of memory that the
// file does not say, and on the width of the cache.
func (s *ClosedLoopSample) Crowded() bool {
	c := &s.Server.Config
	return int64(s.Users)*(int64(s.Point.Input)+int64(s.Point.Output)) > c.TotalKVBlocks*int64(c.BlockSizeInTokens)
}

// withFamily returns a copy of the sample for fits of another kind of latency model.
func (s *ClosedLoopSample) withFamily(f *Family) (*ClosedLoopSample, error) {
	t, err := f.features(s.Server)
	if err != nil {
		return nil, err
	}
	other := *s
	other.family, other.features = f, t
	return &other, nil
}

// Model returns the latency model with these coefficients on the sample's server.
func (s *ClosedLoopSample) Model(c *Coefficients) (latency.Model, error) {
	return s.family.model(s.features, c)
}

// deploymentOf returns the GPUs and the model of a benchmark, with the weights of its
// checkpoint.
func (o *Overrides) deploymentOf(p *measured.ClosedLoop) (*latency.Deployment, error) {
	name := p.Model
	if o.ModelConfigFolder != "" && o.Model == p.Model {
		name = o.ModelConfigFolder
	}
	spec, err := setup.OpenModel(name)
	if err != nil {
		return nil, err
	}
	gpu, err := setup.OpenHardware(p.GPU, o.HardwareConfig)
	if err != nil {
		return nil, err
	}
	if spec, err = quantised(&spec, p); err != nil {
		return nil, err
	}
	// tp counts the GPUs of the server, attention_dp the engines that they are divided
	// into: rows that differ in attention_dp alone have equal times per GPU.
	d := &latency.Deployment{Model: &spec, GPU: &gpu, TP: p.TP, ExpertParallel: p.MoEEP > 1}
	if p.AttentionDP > 1 {
		if p.TP%p.AttentionDP != 0 {
			return nil, fmt.Errorf("attention_dp %d does not divide tp %d", p.AttentionDP, p.TP)
		}
		d.TP = p.TP / p.AttentionDP
		if spec.Experts > 0 { // dense engines share nothing
			d.DataParallel.Ranks = p.AttentionDP
		}
	}
	return d, nil
}

// quantMethods are vLLM's names of methods that benchmarks call otherwise, or by the
// precision alone.
var quantMethods = map[string]string{"int4_wo": "gptq", "int4": "gptq", "int8_wo": "int8_per_channel_weight_only", "fp4": "nvfp4", "bf16": "", "bfloat16": "", "fp16": "", "float16": ""}

// quantised returns a model with the weights of the checkpoint of a benchmark. One that
// does not name its weights has those of the model's description.
func quantised(spec *latency.ModelSpec, p *measured.ClosedLoop) (latency.ModelSpec, error) {
	if p.GEMMQuant != p.MoEQuant && spec.Experts > 0 {
		return *spec, fmt.Errorf("gemm_quant %q and moe_quant %q: different weights of experts are not simulated", p.GEMMQuant, p.MoEQuant)
	}
	method := cmp.Or(p.GEMMQuant, p.Precision)
	if known, ok := quantMethods[method]; ok {
		method = known
	}
	// Benchmarks call every FP4 checkpoint nvfp4. That of gpt-oss is MXFP4, of the
	// experts alone: four bits, and eight of scale for 32 weights.
	if e := spec.ExpertWidth; method == "" || method == "nvfp4" && e.WeightBits == 4 && e.ScaleBits == 8.0/32 {
		return *spec, nil
	}
	return spec.Checkpoint(method)
}

// newLoopServer returns the engine of a benchmark with users on one scheduler. Limits
// that such files do not say are vLLM's defaults, but a server has seats for all users.
func newLoopServer(p *measured.ClosedLoop, d *latency.Deployment, users int64) (*Server, error) {
	memory := latency.DefaultMemory()
	blocks, err := d.KVBlocks(memory)
	if fit := new(latency.DoesNotFit); errors.As(err, &fit) {
		return nil, fmt.Errorf("%s does not fit into memory", d)
	}
	if err != nil {
		return nil, err
	}
	if tokens := int64(p.Input) + int64(p.Output); tokens > blocks*memory.BlockSize {
		return nil, fmt.Errorf("%s: requests are longer than the KV cache of %d tokens", d, blocks*memory.BlockSize)
	}
	batched, seats := latency.DefaultLimits(d.GPU)
	seats = max(seats, users)
	cfg := actors.DefaultConfig()
	cfg.NumInstances = 1
	cfg.Model, cfg.Hardware, cfg.TP = d.Model.Name, d.GPU.Name, d.TP
	cfg.MaxNumSeqs, cfg.MaxNumBatchedTokens, cfg.MaxModelLen = int32(seats), int32(max(batched, seats)), 0
	cfg.TotalKVBlocks, cfg.BlockSizeInTokens = blocks, int32(memory.BlockSize)
	cfg.EnablePrefixCaching, cfg.EnableChunkedPrefill = false, true
	cfg.AsyncScheduling, cfg.SchedulerReserveFullISL = new(p.AsyncScheduling()), p.ReserveFullISL()
	return &Server{cfg, d, latency.EngineLimits{
		MaxBatchedTokens: int64(cfg.MaxNumBatchedTokens), MaxSeqs: int64(cfg.MaxNumSeqs), BlockSize: memory.BlockSize, GPUBlocks: blocks, ChunkedPrefill: true,
	}}, nil
}
