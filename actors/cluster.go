package actors

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"

	"blis/engine"
	"blis/kv"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
)

// cluster is one run: its processes and the simulation that they are in.
type cluster struct {
	plan       *plan
	began      vtime.Time // first arrival; 0 without any
	simulation *lookahead.Simulation
	router     *router
	autoscaler *autoscaler
	instances  []*instance
	add        func(i int, ready vtime.Time) error // adds one more instance
	collector  *collector
	tracer     *tracer // nil: the run is not traced
	waits      []Wait
}

// newCluster builds the processes of a plan. How far each may run follows from the
// signals that the policies observe.
func newCluster(p *plan) (*cluster, error) {
	q, err := p.makePolicies()
	if err != nil {
		return nil, err
	}
	c := &cluster{plan: p}
	cfg := &p.config
	signals := q.observes()
	extra := p.counterfactualSignals()
	p.noteUnread(signals)
	planned := p.planSignals(signals, extra)
	notify, events := planned.notified&^policy.Prefixes != policy.NoSignals || p.scales() || p.loops(), p.tellsBlocks(signals)
	c.waits = p.waits(&q, &planned, extra)
	c.simulation = lookahead.New(p.execution(c, notify || events))
	recorders, err := p.recorderOptions()
	if err != nil {
		return nil, err
	}
	if q.prefixes != nil {
		recorders.BlockSize = cfg.BlockSizeInTokens
	}
	c.collector = &collector{emit: cfg.Row, row: Row{labels: p.source.Labels(), options: &recorders, token: recorders.TokenOverhead, request: recorders.RequestOverhead}}
	if c.router, err = p.newRouter(&q, planned, recorders, signals, extra); err != nil {
		return nil, err
	}
	c.autoscaler = p.newAutoscaler(&q, c.router)
	c.simulation.AddControl("router", c.router)
	c.simulation.AddControl("autoscaler", c.autoscaler)
	c.add = func(i int, ready vtime.Time) error {
		n, err := p.newInstance(i, recorders, ready, signals)
		if err != nil {
			return err
		}
		n.notify, n.notifyTokens = notify, p.loops()
		if planned.notified&policy.ClassLatency != 0 {
			n.latencyOptions = &recorders
		}
		n.publish(&c.router.cluster.signalPlan, signals|extra, recorders)
		c.instances = append(c.instances, n)
		if cfg.Sequential {
			c.router.cluster.engines = c.instances
		}
		c.simulation.AddLeaf(instanceName(i), n)
		return nil
	}
	if err := c.addReplicas(); err != nil {
		return nil, err
	}
	c.simulation.AddSink("collector", c.collector)
	if c.router.tracing != nil {
		c.tracer = p.newTracer(c.router.tracing, recorders)
		c.collector.tracer = c.tracer
	}
	return c, nil
}

// newRouter makes the router of a run whose policies observe signals. The extra
// signals are for a counterfactual trace.
func (p *plan) newRouter(q *policies, planned signalPlan, recorders metrics.Options, signals, extra policy.Signals) (*router, error) {
	cfg := &p.config
	forced, err := parseForced(cfg.ForceRouting)
	if err != nil {
		return nil, err
	}
	r := &router{
		intake: newIntake(p.source), admission: q.admission, priority: q.priority, routing: q.routing, stream: q.stream,
		ahead: streamAhead(cfg), forced: forced, prefixes: q.prefixes, inversions: policy.NewClassInversions(p.source.Labels()),
		admissionLatency: cfg.AdmissionLatency, routingLatency: cfg.RoutingLatency, model: p.model,
		recorder: metrics.NewRecorder(recorders),
		cluster: clusterView{
			signals: signals | extra, signalPlan: planned, refresh: -1, foreseen: !p.scales() && !p.loops(), sent: make([]int32, cfg.NumInstances),
			atAdmission: q.admission.Observes()&instanceSignals != 0,
			atRouting:   (q.priority.Observes()|q.routing.Observes()|extra)&instanceSignals != 0,
		},
	}
	r.loop = p.newLoop(r, recorders)
	r.reads.admission, r.reads.priority, r.reads.routing = q.admission.Observes(), q.priority.Observes(), q.routing.Observes()
	r.observer, _ = q.routing.(policy.RouteObserver)
	r.tracing = p.newTracing(q.routing, extra, (r.reads.priority|r.reads.routing|extra)&shownSignals)
	view := &r.cluster.view
	view.MaxSeqs, view.BlockSize = cfg.MaxNumSeqs, cfg.BlockSizeInTokens
	r.state.View, r.state.Prefixes = view, q.prefixes
	r.state.Track(signals)
	return r, nil
}

func instanceName(i int) string { return "instance-" + strconv.Itoa(i) }

// execution is how the kernel runs this cluster.
func (p *plan) execution(c *cluster, notify bool) lookahead.Config {
	cfg := &p.config
	e := lookahead.Config{Workers: min(p.workers(), p.mostReplicas()), Sequential: cfg.Sequential, InlineBelow: cfg.Inline, Record: cfg.Record}
	e.Reply = func(k lookahead.Key) lookahead.Key {
		if !notify {
			return lookahead.NeverKey
		}
		return lookahead.Key{At: k.At, Class: vtime.ClassNotice}
	}
	if p.loops() || p.scales() && (cfg.DrainPolicy == drainRedirect || cfg.AutoscaleTrigger != policy.PeriodicTrigger) {
		e.React = c.react
	}
	if cfg.Horizon > 0 {
		e.End = lookahead.Key{At: vtime.Time(cfg.Horizon).Add(1)}
	}
	if cfg.Progress != nil {
		e.Progress = func(now vtime.Time, _ uint64) { cfg.Progress(now, c.router.arrived) }
	}
	if cfg.Inspect != nil {
		e.Trace = cfg.Inspect.Trace
	}
	return e
}

// workers is the number of goroutines that the run may use.
func (p *plan) workers() int {
	switch {
	case p.config.Sequential:
		return 1
	case p.config.Workers == 0:
		return runtime.GOMAXPROCS(0)
	}
	return p.config.Workers
}

// recorderOptions are the same for every recorder of the run.
func (p *plan) recorderOptions() (metrics.Options, error) {
	cfg := &p.config
	o := metrics.Options{From: vtime.Time(cfg.MeasureFrom), To: vtime.Never, SlowPairs: cfg.SlowWithinClass}
	if cfg.MeasureTo > 0 {
		o.To = vtime.Time(cfg.MeasureTo)
	}
	var err error
	if o.TokenOverhead, err = overhead("token", p.model.TokenOverhead()); err != nil {
		return o, err
	}
	if o.RequestOverhead, err = overhead("request", p.model.RequestOverhead()); err != nil {
		return o, err
	}
	classes := &p.source.Labels().Classes
	for _, t := range p.targets {
		if t.Class == "" {
			o.Usual = t.Targets
			continue
		}
		l := int(classes.Label(t.Class))
		for len(o.Targets) <= l {
			o.Targets = append(o.Targets, metrics.Targets{})
		}
		o.Targets[l] = t.Targets
	}
	return o, nil
}

// newInstance makes instance i of a run that observes signals. The instance is
// ready at the time ready.
func (p *plan) newInstance(i int, recorders metrics.Options, ready vtime.Time, observed policy.Signals) (*instance, error) {
	cfg := &p.config
	s, err := p.scheduler()
	if err != nil {
		return nil, err
	}
	n := &instance{index: i, recorder: metrics.NewRecorder(recorders), perStep: cfg.Signals == "per-step"}
	warmup := p.warmup()
	if warmup.From = ready; i < cfg.NumInstances {
		warmup = engine.Warmup{} // a run begins with warm instances
	}
	var cache kv.Cache = kv.NewPool(int(cfg.TotalKVBlocks), cfg.BlockSizeInTokens, cfg.EnablePrefixCaching)
	if cfg.StepByStep && cfg.Sequential && cfg.TotalKVBlocks <= twinBlocks {
		cache = kv.NewNaivePool(int(cfg.TotalKVBlocks), cfg.BlockSizeInTokens, cfg.EnablePrefixCaching)
	}
	if p.tellsBlocks(observed) {
		n.events, n.eventDelay = true, cfg.KVEventDelay
	}
	n.engine = engine.New(i, engine.Config{
		BlockSize: cfg.BlockSizeInTokens, MaxBatchedTokens: cfg.MaxNumBatchedTokens, MaxSeqs: cfg.MaxNumSeqs,
		MaxModelLen: cfg.MaxModelLen, LongPrefillThreshold: cfg.LongPrefillTokenThreshold,
		PrefixCaching: cfg.EnablePrefixCaching, ChunkedPrefill: cfg.EnableChunkedPrefill,
		ReserveFullISL: cfg.SchedulerReserveFullISL, Async: *cfg.AsyncScheduling, StepByStep: cfg.StepByStep, KeepStepState: n.perStep, Warmup: warmup,
		Model: p.model, Gamma: cfg.PreemptionGamma, Scheduler: s, Cache: cache, Sink: n, KeepBacklog: observed&policy.EstimatedWait != 0, BlockEvents: n.blockEvents(), Observer: n.tracer(cfg.Tracing.Level),
	})
	return n, nil
}

// twinBlocks is the size of a cache up to which the sequential twin keeps it block
// by block. Larger ones would take minutes.
const twinBlocks = 100_000

// run executes the simulation and checks the books. A cancelled run gives a partial
// result and the context's error.
func (c *cluster) run(ctx context.Context) (*Result, error) {
	if err := c.start(); err != nil {
		return nil, err
	}
	if begin := c.plan.config.Begin; begin != nil {
		begin(&c.plan.config, &c.plan.setup)
	}
	if c.tracer != nil {
		c.tracer.give(c.plan.header())
	}
	err := c.simulation.Run(ctx)
	partial := err != nil && errors.Is(err, ctx.Err())
	if err != nil && !partial {
		return nil, explain(err)
	}
	result, bad := c.result(partial)
	if bad != nil {
		return nil, bad
	}
	return result, errors.Join(err, c.traceError())
}

// start pulls the first request. Scale checks begin with its arrival.
func (c *cluster) start() (err error) {
	defer func() {
		if v := recover(); v != nil {
			e, ok := v.(*sourceError)
			if !ok {
				panic(v)
			}
			err = explain(e)
		}
	}()
	c.router.pull()
	if first := c.router.nextArrival(); first != vtime.Never {
		c.began = first
		c.autoscaler.skip(first)
		if b := c.router.replicas; b != nil {
			b.began = c.began
		}
	}
	return nil
}

// result makes the result of a run that has ended.
func (c *cluster) result(partial bool) (*Result, error) {
	cfg := c.plan.config
	r := &Result{Config: cfg, Setup: c.plan.setup, Partial: partial, Stats: c.simulation.Stats(), Waits: c.waits, latency: c.plan.model}
	if in := cfg.Inspect; in != nil {
		in.Result = c.simulation.Trace()
	}
	if partial {
		if err := c.takeUndelivered(); err != nil {
			return nil, err
		}
	}
	r.Began, r.End = c.began, c.end(partial)
	if b := c.router.replicas; b != nil {
		r.Scaling = b.scaling(int32(cfg.NumInstances), c.autoscaler, r.End)
	}
	cut := c.finishAll(r.End)
	if !cut && !partial {
		if err := c.router.checkForced(); err != nil {
			return nil, err
		}
	}
	if !partial {
		c.router.noteUnusedForced(&r.Setup)
	}
	c.router.noteTies(c.plan, &r.Setup)
	r.Names = c.router.intake.names
	run := metrics.Run{Router: c.router.recorder, Injected: c.router.arrived, End: r.End, Cut: cut || partial,
		Classes: r.Names.Classes, Tenants: r.Names.Tenants, Models: r.Names.Models}
	if c.router.arrived >= parallelFrom {
		run.Each = inParallel(c.plan.workers())
	}
	var reach engine.Reach
	for i, n := range c.instances {
		if err := n.engine.Check(); err != nil {
			return nil, err
		}
		reach.Context, reach.StepTokens = max(reach.Context, n.engine.Reach.Context), max(reach.StepTokens, n.engine.Reach.StepTokens)
		ready, gone := c.life(i, r.End)
		n.engine.Counters.LifeMicros = int64(span(ready, gone))
		r.Names.Instances = append(r.Names.Instances, instanceName(i))
		run.Instances = append(run.Instances, n.recorder)
		run.Counters = append(run.Counters, n.engine.Counters)
		run.Lives = append(run.Lives, metrics.Life{Ready: ready, Gone: gone, Blocks: &n.engine.Blocks})
	}
	if c.tracer != nil && !partial {
		c.tracer.finish(r.End, run.Counters)
	}
	run.InstanceNames = r.Names.Instances
	report, err := metrics.Collect(run)
	if err != nil {
		return nil, fmt.Errorf("the books do not balance: %w", err)
	}
	r.Report = report
	r.noteCutSums()
	r.BeyondFit = beyondFit(c.plan.set, reach, report.Overall.Resources.Counters.PeakRunning)
	if r.Scaling != nil {
		n := int64(r.Scaling.Oscillations)
		report.Anomalies.ScaleOscillation = &n
	}
	r.Sessions, r.Users = c.router.loop.sessions(), c.router.loop.users()
	r.score(&c.plan.fitness)
	if !partial {
		r.Digest = c.digest()
	}
	return r, nil
}

// end is the time of the run's last event, or its horizon if that came first.
// A partial run has not come to its horizon. Its router may be far ahead of the
// instances, unless these come and go: then it is the time of their last event.
// It does not end before its first arrival, even when no instance had a turn.
func (c *cluster) end(partial bool) vtime.Time {
	end := c.router.last
	switch b := c.router.replicas; {
	case partial && b == nil:
		end = c.began
	case partial: // it waits for the instances; they may have had nothing to do
		end = max(end, c.autoscaler.last)
	}
	for _, n := range c.instances {
		end = max(end, n.engine.Now())
	}
	if h := c.plan.config.Horizon; h > 0 && !partial && c.busy() {
		end = vtime.Time(h)
	}
	return end
}

// busy reports whether the run ended with work left.
func (c *cluster) busy() bool {
	for _, n := range c.instances {
		if at, _ := n.engine.Next(); at != vtime.Never {
			return true
		}
	}
	return c.router.more || c.router.Next() != lookahead.NeverKey
}

// finishAll records the requests that have not ended when the run does, and
// reports whether the run was cut.
func (c *cluster) finishAll(end vtime.Time) bool {
	cut := c.busy()
	c.router.unfinished(func(o *metrics.Outcome) {
		c.router.recorder.Record(o)
		c.acceptUnfinished(o)
	})
	for _, n := range c.instances {
		n.engine.Finish(end)
		n.engine.Unfinished(func(o *metrics.Outcome) {
			n.recorder.Record(o)
			c.acceptUnfinished(o)
		})
	}
	return cut
}
