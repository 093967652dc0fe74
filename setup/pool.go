package setup

import (
	"blis/bundle"
	"blis/engine"
	"blis/latency"
	"blis/policy"
	"blis/vtime"
)

// Server is what each instance of a pool is: a model on GPUs, and the engine that
// serves it. Nothing in it is left to derive.
type Server struct {
	latency.Deployment // model, GPU and TP
	engine.Args

	Async     bool               // async scheduling
	BlockSize int32              // tokens of a KV block
	Blocks    int64              // KV blocks of an instance
	Scheduler bundle.Selection   // order of the wait queue, and which request is preempted
	CPUTier   *CPUTier           // nil: none
	Ranks     engine.RanksConfig // data-parallel ranks of an instance, each of which is what stands here; of one rank all are 1
	Storage   []StorageTier      // below the CPU tier, in the order in which a request asks them

	Latency latency.Model
	Fitted  Fitted
}

// Fitted is what the latency model of a server was fitted with.
type Fitted struct {
	Set   *latency.PhysicsSet // its coefficients; nil: unknown
	Gamma float64             // as engine.Config.Gamma
}

// Engine returns the configuration of an engine of the server. It lacks what ties an
// engine to a run: scheduler, cache, sink and observers.
func (d *Server) Engine() engine.Config {
	return engine.Config{Args: d.Args, BlockSize: d.BlockSize, Async: d.Async, Model: d.Latency, Gamma: d.Fitted.Gamma}
}

// Endpoints returns the number of endpoints of an instance: addresses that a router knows.
func (d *Server) Endpoints() int { return d.Ranks.Ranks / d.Ranks.Local }

// BlockBytes returns the bytes of a KV block, on all GPUs of an instance.
func (d *Server) BlockBytes() int64 { return d.KVBytesPerToken() * int64(d.BlockSize) }

// CPUEntries returns the entries of the CPU tier of an instance, 0 without one.
func (d *Server) CPUEntries() int64 {
	if d.CPUTier == nil {
		return 0
	}
	return int64(d.CPUTier.Capacity)
}

// Pool is instances of one server among which requests are routed, and whose
// number changes together.
type Pool struct {
	Server
	Instances     int // that the run begins with
	Routing       bundle.Selection
	Observability Observability
	Scaling       *Scaling // nil: the number of instances is fixed
}

// MaxInstances returns the largest number of instances that serve at a time.
func (p *Pool) MaxInstances() int {
	if p.Scaling != nil {
		return p.Scaling.Max
	}
	return p.Instances
}

// Observability is how the router sees the instances of a pool.
type Observability struct {
	Refresh          vtime.Duration                    // interval at which signals are refreshed; 0: always fresh
	Fresh            map[policy.Signals]vtime.Duration // of single signals: Immediate, OnDemand or an interval
	PerStep          bool                              // instances publish at the ends of steps, as a server's metrics do
	InFlightPeriodic bool                              // the router learns at the refresh that a request ended, not at once

	IndexEvents   bool           // its prefix index follows the blocks that instances say they store, not the prompts sent
	IndexedBlocks int32          // that the router remembers per instance, without IndexEvents; 0: as many as its cache has
	KVEventDelay  vtime.Duration // from the end of a step to the router's knowledge of its blocks
}

// Freshness of a signal without an interval.
const (
	Immediate vtime.Duration = 0  // as instances publish it
	OnDemand  vtime.Duration = -1 // as it is when the router reads it
)

// Scaling is how the number of instances of a pool changes.
type Scaling struct {
	Policy   bundle.Selection
	Trigger  string         // as --autoscale-trigger has it
	Interval vtime.Duration // between evaluations; with events at least
	Refresh  vtime.Duration // interval at which what evaluations see is refreshed; 0: always fresh
	Min, Max int            // instances

	Provisioning   RandomDuration // until there is a machine
	Load           RandomDuration // until the model is loaded there
	Warmup         engine.Warmup  // steps take longer at first; From is of each instance
	WarmupRoutable bool           // requests go to instances that are warming
	Drain          string         // DrainWait, DrainImmediate or DrainRedirect
	DrainTimeout   vtime.Duration // requests that remain after it are aborted; 0: never
}

// Drain policies.
const (
	DrainWait      = "wait"      // the instance serves its requests first
	DrainImmediate = "immediate" // its requests end as aborted
	DrainRedirect  = "redirect"  // its requests go on on other instances
)

// completePool fills the pool with what was derived.
func (p *resolver) completePool() error {
	c, d := &p.Config, &p.pool.Server
	b := &c.Policies
	d.Args, d.Async, d.BlockSize, d.Blocks, d.Fitted.Gamma, d.Scheduler = c.Args, *c.AsyncScheduling, c.BlockSizeInTokens, c.TotalKVBlocks, c.PreemptionGamma, b.Scheduler
	d.CPUTier = newCPUTier(c, &d.Deployment)
	var err error
	if d.Storage, err = newStorageTiers(c, &d.Deployment); err != nil {
		return err
	}
	p.pool.Instances, p.pool.Routing = c.NumInstances, b.Routing
	o := &p.pool.Observability
	o.Refresh, o.PerStep, o.InFlightPeriodic = c.SnapshotRefreshInterval, c.Signals == "per-step", c.InFlight == "periodic"
	o.IndexEvents, o.IndexedBlocks, o.KVEventDelay = c.PrefixIndex == IndexEvents, indexedBlocks(c), c.KVEventDelay
	if !scales(c) {
		return nil
	}
	p.pool.Scaling = &Scaling{
		Policy: b.Autoscale.Selection, Trigger: c.AutoscaleTrigger, Interval: c.AutoscaleInterval, Refresh: p.checkRefresh, Min: c.MinReplicas, Max: c.MaxReplicas,
		Provisioning: c.ProvisioningDelay, Load: c.ModelLoadTime,
		Warmup:         engine.Warmup{Duration: c.WarmupDuration, Penalty: c.WarmupPenalty, Curve: engine.Curve(c.WarmupCurve)},
		WarmupRoutable: c.WarmupRoutable, Drain: c.DrainPolicy, DrainTimeout: c.DrainTimeout,
	}
	return nil
}
