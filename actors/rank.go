package actors

import (
	"blis/engine"
	"blis/kv"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/trace"
	"blis/vtime"
	"blis/workload"
)

// rank takes what one engine of an instance yields. An instance without data-parallel ranks has one.
type rank struct {
	instance *instance
	at       *place // its endpoint
	index    int    // in the instance
	number   int    // in the run
	recorder *metrics.Recorder
	shown    []*publisher     // of its endpoint, and of the whole instance if that is published too
	below    []engine.Storage // storage tiers; nil: none

	scheduler policy.Scheduler
	series    []*metrics.TimeSeries
}

var _ engine.Sink = (*rank)(nil)

// Group implements engine.Sink.
func (r *rank) Group(class, model workload.Label, arrival vtime.Time) int {
	return r.recorder.Group(class, model, arrival)
}

// ITL implements engine.Sink.
func (r *rank) ITL(group int, gap vtime.Duration, n int) {
	r.recorder.ITL(group, gap, n)
	for _, s := range r.series {
		s.ObserveITL(gap, n)
	}
}

// Done implements engine.Sink.
func (r *rank) Done(o *metrics.Outcome, now vtime.Time) {
	p := r.instance
	r.left()
	o.Pool = int16(r.at.pool.index)
	for _, s := range r.shown {
		if s.recent != nil {
			s.recent.add(o)
		}
	}
	r.recorder.Record(o)
	sendOutcome(p.out, now, o)
	if p.notify {
		sendEnded(p.out, now, r.number, o, p.notifyTokens, p.latencyOf(o))
	}
}

// left counts a request that is no longer here.
func (r *rank) left() {
	for _, s := range r.shown {
		s.finished++
	}
}

// incarnation is the present one of the rank.
func (r *rank) incarnation() incarnation {
	i := incarnation{instance: int32(r.number)}
	if x := r.instance.outage; x != nil {
		i.number = x.crashes
	}
	return i
}

// tracer is the observer of the rank's engine; nil below detailed.
func (r *rank) tracer(level trace.Level) engine.Observer {
	if level != trace.Detailed {
		return nil
	}
	return rankTracer{r}
}

// config returns the configuration of the rank's engine, with caches of its own.
func (r *rank) config(p *setup.Plan, x *Execution, observed policy.Signals, below *storage) (engine.Config, error) {
	pool := r.at.pool
	d := &pool.plan.Server
	cfg := d.Engine()
	s, err := newScheduler(p, pool.plan, pool.hints)
	if err != nil {
		return cfg, err
	}
	r.scheduler = s
	cfg.Cache = kv.NewPool(int(d.Blocks), d.BlockSize, d.EnablePrefixCaching)
	if x.StepByStep && x.Sequential && d.Blocks <= twinBlocks {
		cfg.Cache = kv.NewNaivePool(int(d.Blocks), d.BlockSize, d.EnablePrefixCaching)
	}
	if t := d.CPUTier; t != nil {
		t.AddTo(&cfg, newTier(x, t.TierConfig))
	}
	if cfg.Offload != nil {
		cfg.Offload.Storage = r.storage(x, below)
	}
	r.disaggregate(p, &cfg)
	if _, makes := s.(policy.BatchMaker); makes && (cfg.Offload != nil || cfg.Disaggregation != nil) {
		return cfg, inputErrorf("scheduler %s chooses whom to admit as a set, which instances with a CPU or storage tier, or with prefill/decode disaggregation, cannot: want another scheduler", d.Scheduler.Type)
	}
	cfg.StepByStep, cfg.KeepStepState, cfg.KeepBacklog = x.StepByStep, r.instance.perStep, observed&(policy.EstimatedWait|policy.OwnSignals) != 0
	cfg.TimeSeries = r.series
	cfg.Scheduler, cfg.Sink, cfg.BlockEvents, cfg.Observer = s, r, r.blockEvents(), r.tracer(x.Tracing.Level)
	return cfg, nil
}

// storage returns the storage tiers as the rank reaches them. When it is asked again the instance has crashed: those
// of its own are empty then.
func (r *rank) storage(x *Execution, below *storage) []engine.Storage {
	switch {
	case len(below.plan) == 0:
		return nil
	case r.below == nil:
		r.below = below.links(x, r)
		return r.below
	}
	now := r.instance.engines.of(r.index).Now()
	for i, s := range r.below {
		if own, isLocal := s.(*engine.StorageTier); isLocal {
			own.Lose(newTier(x, below.plan[i].TierConfig), now)
		}
	}
	return r.below
}

// newTier returns the CPU tier of a rank. The sequential twin keeps a small one entry by entry.
func newTier(x *Execution, c kv.TierConfig) kv.Tier {
	if x.StepByStep && x.Sequential && c.Capacity <= twinBlocks {
		return kv.NewNaiveTier(c)
	}
	return kv.NewTier(c)
}

// twinBlocks is the size of a cache up to which the sequential twin keeps it block by block. Larger
// ones would take minutes.
const twinBlocks = 100_000
