package calibrate

import (
	"cmp"
	"fmt"

	"blis/actors"
	"blis/calibrate/measured"
	"blis/engine"
	"blis/kv"
	"blis/latency"
	"blis/policy"
	"blis/setup"
)

// Server describes the engine of a measured run for the simulation: its deployment,
// and its settings. Settings that the run does not name are derived.
type Server struct {
	// Config is of one instance, and complete but for the workload, and for
	// AsyncScheduling if the run does not name it.
	Config     actors.Config
	Deployment *latency.Deployment
	Limits     latency.EngineLimits
}

// Overrides are settings of a server that a measured run may not name.
type Overrides struct {
	Hardware string // GPU; empty: the one that the run names

	Model            string // empty: the name that a load generator used
	TP               int    // GPUs per instance
	MaxBatchedTokens int64  // 0: vLLM's default for the GPU
	MaxSeqs          int32  // 0: vLLM's default for the GPU; not read for steps and spans

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
	cfg.AsyncScheduling, cfg.SchedulerReserveFullISL = r.AsyncScheduling, r.ReserveFullISL
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

// async reports whether the server schedules asynchronously: as the run says, else as
// blis run does with coefficients of this set; nil: of none.
func (s *Server) async(set *latency.PhysicsSet) bool {
	if said := s.Config.AsyncScheduling; said != nil {
		return *said
	}
	return set.AsyncByDefault()
}

// under returns the server as it schedules with coefficients of this set.
func (s *Server) under(set *latency.PhysicsSet) *Server {
	server := *s
	server.Config.AsyncScheduling = new(s.async(set))
	return &server
}

// Deployment returns the server of a trace of steps or spans, and its limits. model and
// tp are what the trace says, zero if nothing. Errors are *setup.InputError and
// *latency.DoesNotFit.
func (o *Overrides) Deployment(model string, tp int) (*latency.Deployment, latency.EngineLimits, error) {
	none := latency.EngineLimits{}
	model, tp = cmp.Or(model, o.Model), cmp.Or(tp, o.TP)
	if model == "" && o.ModelConfigFolder == "" || o.Hardware == "" {
		return nil, none, &setup.InputError{Text: "--model and --hardware: want the model and GPU that --otlp and --steps files were measured on"}
	}
	spec, err := setup.OpenModel(cmp.Or(o.ModelConfigFolder, model))
	if err != nil {
		return nil, none, err
	}
	gpu, err := setup.OpenHardware(o.Hardware, o.HardwareConfig)
	if err != nil {
		return nil, none, err
	}
	d := &latency.Deployment{Model: &spec, GPU: &gpu, TP: tp}
	m := latency.DefaultMemory()
	blocks, err := d.KVBlocks(m)
	if err != nil {
		return nil, none, err
	}
	tokens, maxSeqs := latency.DefaultLimits(&gpu)
	return d, latency.EngineLimits{MaxBatchedTokens: cmp.Or(o.MaxBatchedTokens, tokens), MaxSeqs: maxSeqs, BlockSize: m.BlockSize, GPUBlocks: blocks, ChunkedPrefill: true}, nil
}

// engine returns the bare engine of the server, without a cluster around it.
func (s *Server) engine(m latency.Model, sink engine.Sink, tracer engine.Observer) (*engine.Engine, error) {
	cfg := &s.Config
	scheduler, err := policy.NewScheduler(cfg.Scheduler, []policy.Setting{{Name: "preemption", Value: cfg.PreemptionPolicy}}, policy.Env{})
	if err != nil {
		return nil, err
	}
	return engine.New(0, engine.Config{
		Args: cfg.Args, BlockSize: cfg.BlockSizeInTokens, Async: s.async(nil),
		Model: m, Scheduler: scheduler, Cache: kv.NewPool(int(cfg.TotalKVBlocks), cfg.BlockSizeInTokens, cfg.EnablePrefixCaching),
		Sink: sink, Observer: tracer,
	}), nil
}
