package calibrate

import (
	"fmt"

	"blis/actors"
	"blis/calibrate/measured"
	"blis/engine"
	"blis/kv"
	"blis/latency"
	"blis/policy"
)

// Server describes the engine of a measured run for the simulation: its deployment,
// and its settings. Settings that the run does not name are derived.
type Server struct {
	Config     actors.Config // one instance; complete but for the workload
	Deployment *latency.Deployment
	Limits     latency.EngineLimits
}

// Overrides are settings of a server that a measured run may not name.
type Overrides struct {
	Hardware string // GPU; empty: the one that the run names

	// Files of load generators do not have these: the model (empty: the name that the
	// tool used), GPUs per instance, and limits, 0 for vLLM's defaults.
	Model            string
	TP               int
	MaxBatchedTokens int32
	MaxSeqs          int32

	HardwareConfig    string // file with GPUs of the user's own
	ModelConfigFolder string // config.json of the model; empty: a built-in one
}

// NewServer derives the settings of the engine of a run. Errors are errors of the
// input: an unknown model or GPU, limits that contradict each other, a model that
// does not fit into memory.
func NewServer(r *measured.Run, o Overrides) (*Server, error) {
	cfg := actors.DefaultConfig()
	cfg.NumInstances = 1
	cfg.Model, cfg.Hardware, cfg.TP = r.Model, r.GPU, r.TP
	cfg.HardwareConfig, cfg.ModelConfigFolder = o.HardwareConfig, o.ModelConfigFolder
	if o.Hardware != "" {
		cfg.Hardware = o.Hardware
	}
	if cfg.Hardware == "" {
		return nil, fmt.Errorf("run %s: its data names no GPU: give --hardware", r.ID)
	}
	if r.DataParallel > 1 {
		return nil, fmt.Errorf("run %s: %d schedulers share its requests: want a run of one", r.ID, r.DataParallel)
	}
	cfg.MaxNumSeqs, cfg.MaxNumBatchedTokens, cfg.MaxModelLen = r.MaxNumSeqs, r.MaxNumBatchedTokens, r.MaxModelLen
	cfg.TotalKVBlocks = r.KVBlocks
	if r.BlockSize > 0 {
		cfg.BlockSizeInTokens = r.BlockSize
	}
	cfg.EnablePrefixCaching, cfg.EnableChunkedPrefill = r.PrefixCaching, r.ChunkedPrefill
	cfg.AsyncScheduling, cfg.SchedulerReserveFullISL = new(r.AsyncScheduling), r.ReserveFullISL
	deployment, err := cfg.Deployment()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", r.ID, err)
	}
	// Derived settings do not depend on the latency model, so any will do.
	probe := cfg
	probe.Custom.Latency, probe.NumRequests, probe.Rate = latency.Blackbox{Beta: [3]float64{1, 0, 0}}, 1, 1
	full, _, err := actors.Check(probe)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", r.ID, err)
	}
	cfg.MaxNumSeqs, cfg.MaxNumBatchedTokens, cfg.MaxModelLen, cfg.TotalKVBlocks = full.MaxNumSeqs, full.MaxNumBatchedTokens, full.MaxModelLen, full.TotalKVBlocks
	return &Server{cfg, deployment, latency.EngineLimits{
		MaxBatchedTokens: int64(cfg.MaxNumBatchedTokens), MaxSeqs: int64(cfg.MaxNumSeqs), BlockSize: int64(cfg.BlockSizeInTokens),
		GPUBlocks: cfg.TotalKVBlocks, ChunkedPrefill: cfg.EnableChunkedPrefill,
	}}, nil
}

// engine returns the bare engine of the server, without a cluster around it.
func (s *Server) engine(m latency.Model, sink engine.Sink, tracer engine.Observer) (*engine.Engine, error) {
	cfg := &s.Config
	scheduler, err := policy.NewScheduler(cfg.Scheduler, []policy.Setting{{Name: "preemption", Value: cfg.PreemptionPolicy}}, policy.Env{})
	if err != nil {
		return nil, err
	}
	return engine.New(0, engine.Config{
		Args: cfg.Args, BlockSize: cfg.BlockSizeInTokens, Async: *cfg.AsyncScheduling,
		Model: m, Scheduler: scheduler, Cache: kv.NewPool(int(cfg.TotalKVBlocks), cfg.BlockSizeInTokens, cfg.EnablePrefixCaching),
		Sink: sink, Observer: tracer,
	}), nil
}
