package actors

import (
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
	"context"
	"errors"
	"strconv"
)

// cluster is one run: its processes and the simulation that they are in.
type cluster struct {
	plan       *setup.Plan
	execution  Execution
	began      vtime.Time // first arrival; 0 without any
	simulation *lookahead.Simulation
	router     *router
	autoscaler *autoscaler
	instances  []*instance
	add        func(i int, ready vtime.Time) error // adds one more instance
	collector  *collector
	storage    *storage
	tracer     *tracer // nil: the run is not traced
	waits      []Wait
	watch      func() // called now and then; nil: not
}

// newCluster builds the processes of a plan. How far each may run follows from the
// signals that the policies observe.
func newCluster(p *setup.Plan, x Execution) (*cluster, error) {
	q, err := makePolicies(p)
	if err != nil {
		return nil, err
	}
	c := &cluster{plan: p, execution: x}
	signals := q.observes()
	counterfactual := counterfactualSignals(&x.Tracing)
	p.NoteUnread(q.routed(), q.scaling())
	planned := planSignals(p.Pools[0], q.routed(), counterfactual)
	notify, events := planned.notified&^policy.Prefixes != policy.NoSignals || p.Pools[0].Scaling != nil || p.Loops(), sendsBlockEvents(p.Pools[0], signals)
	c.waits = waits(p, &q, &planned, counterfactual)
	c.simulation = lookahead.New(c.kernelConfig(notify || events))
	recorders, err := recorderOptions(p)
	if err != nil {
		return nil, err
	}
	if q.prefixes != nil {
		recorders.BlockSize = p.Pools[0].BlockSize
	}
	c.collector = &collector{emit: x.Row, row: Row{labels: p.Source.Labels(), options: &recorders, token: recorders.TokenOverhead, request: recorders.RequestOverhead}}
	if c.router, err = newRouter(p, &x, &q, planned, recorders, counterfactual); err != nil {
		return nil, err
	}
	c.autoscaler = newAutoscaler(p.Pools[0], &q, c.router.pool.published, c.router.tracing != nil)
	c.autoscaler.seen = newObservations(autoscalerID, p.Source.Labels(), x.Record != nil)
	receives := []lookahead.NoticeKind{0}
	if p.Failures != nil {
		receives = append(receives, cutOffNotice)
	}
	c.simulation.AddControl("router", c.router, receives...)
	c.simulation.AddControl("autoscaler", c.autoscaler, receives...)
	c.storage = newStorage(c.simulation, &x, p.Pools[0])
	c.add = func(i int, ready vtime.Time) error {
		n, err := newInstance(p, &x, i, recorders, ready, signals, c.storage)
		if err != nil {
			return err
		}
		n.notify, n.notifyTokens = notify, p.Loops()
		if signals&policy.ClassLatency != 0 {
			n.latencyOptions = &recorders
		}
		n.publish(&c.router.pool.cluster.signalPlan, signals|counterfactual, recorders)
		n.publishGroups(&c.autoscaler.cluster.signalPlan)
		c.instances = append(c.instances, n)
		if x.Sequential {
			c.router.pool.cluster.engines, c.autoscaler.cluster.engines = c.instances, c.instances
		}
		c.simulation.AddLeaf(instanceName(i), n)
		c.router.failures.add(ready)
		return nil
	}
	if err := c.addReplicas(); err != nil {
		return nil, err
	}
	c.simulation.AddSink("collector", c.collector)
	if c.router.tracing != nil {
		c.tracer = newTracer(p, &x.Tracing, c.router.tracing, recorders)
		c.collector.tracer = c.tracer
	}
	return c, nil
}

func instanceName(i int) string { return "instance-" + strconv.Itoa(i) }

// kernelConfig is how the kernel runs this cluster.
func (c *cluster) kernelConfig(notify bool) lookahead.Config {
	cfg, x := &c.plan.Config, &c.execution
	e := lookahead.Config{Workers: min(workers(x), c.plan.Pools[0].MaxInstances()), Sequential: x.Sequential, InlineBelow: x.Inline, Record: x.Record}
	completions := &e.Notices[0]
	completions.Reply = func(k lookahead.Key) lookahead.Key {
		if !notify {
			return lookahead.NeverKey
		}
		return lookahead.Key{At: k.At, Class: vtime.ClassNotice}
	}
	if s := c.plan.Pools[0].Scaling; c.plan.Loops() || s != nil && (s.Drain == setup.DrainRedirect || s.Trigger != policy.PeriodicTrigger) {
		completions.React = c.react
	}
	if s := leastAnswer(c.plan.Pools[0]); s > 0 {
		e.Notices[storageNotice] = lookahead.Notice{
			React: func(k lookahead.Key) lookahead.Key { return lookahead.Key{At: k.At.Add(s), Class: vtime.ClassTransfer} },
			Reply: func(k lookahead.Key) lookahead.Key { return lookahead.Key{At: k.At, Class: vtime.ClassNotice} },
		}
	}
	if c.plan.Failures != nil {
		e.Notices[cutOffNotice] = lookahead.Notice{React: c.reactLost, Reply: func(k lookahead.Key) lookahead.Key { return c.router.failures.reply(k) }}
	}
	if cfg.Horizon > 0 {
		e.End = lookahead.Key{At: vtime.Time(cfg.Horizon).Add(1)}
	}
	if x.Progress != nil || x.MaxEvents > 0 {
		e.Progress = c.progress
	}
	if x.Inspect != nil {
		e.Trace = x.Inspect.Trace
	}
	return e
}

// progress says how far the run has come.
func (c *cluster) progress(now vtime.Time, _ uint64) {
	if c.execution.Progress != nil {
		c.execution.Progress(now, c.router.arrivals.arrived)
	}
	if c.watch != nil {
		c.watch()
	}
}

// recorderOptions are the same for every recorder of the run.
func recorderOptions(p *setup.Plan) (metrics.Options, error) {
	cfg := &p.Config
	o := metrics.Options{From: vtime.Time(cfg.MeasureFrom), To: vtime.Never, SlowPairs: cfg.SlowWithinClass}
	if cfg.MeasureTo > 0 {
		o.To = vtime.Time(cfg.MeasureTo)
	}
	var err error
	if o.TokenOverhead, err = overhead("token", p.Pools[0].Latency.TokenOverhead()); err != nil {
		return o, err
	}
	if o.RequestOverhead, err = overhead("request", p.Pools[0].Latency.RequestOverhead()); err != nil {
		return o, err
	}
	classes := &p.Source.Labels().Classes
	for _, t := range p.Targets {
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

// overhead is the client overhead per token or per request of a latency model.
func overhead(per string, micros float64) (vtime.Duration, error) {
	d, err := vtime.Truncate(micros)
	if err != nil || d < 0 || d > metrics.MaxOverhead {
		return 0, inputErrorf("the latency model's overhead per %s is %g µs: want 0 to %d (--alpha-coeffs)", per, micros, int64(metrics.MaxOverhead))
	}
	return d, nil
}

// run executes the simulation and checks the books. A cancelled run gives a partial
// result and the context's error.
func (c *cluster) run(ctx context.Context) (*Result, error) {
	if err := c.start(); err != nil {
		return nil, err
	}
	if begin := c.execution.Begin; begin != nil {
		begin(&Config{c.plan.Config, c.execution}, &c.plan.Summary)
	}
	if c.tracer != nil {
		c.tracer.give(traceHeader(c.plan, &c.execution.Tracing))
	}
	within, stop := context.WithCancel(ctx)
	defer stop()
	c.watchEvents(stop)
	err := c.simulation.Run(within)
	if few := c.checkEvents(); few != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return nil, few
	}
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
		if b := c.router.pool.replicas; b != nil {
			b.began = c.began
		}
	}
	return nil
}

// addReplicas adds the instances that the run begins with, and the book of the
// instances where their number can change.
func (c *cluster) addReplicas() error {
	pool, seed := &c.router.pool, c.plan.Config.Seed
	b := &replicas{
		pool: pool.plan, provisionTimes: vtime.NewStream(seed, "provisioning"), loadTimes: vtime.NewStream(seed, "replicas"),
		view: &pool.cluster.view, published: pool.published, prefixes: pool.prefixes,
	}
	b.begin()
	b.failures = c.router.failures
	for i := range pool.plan.Instances {
		if err := c.add(i, 0); err != nil {
			return err
		}
	}
	if pool.plan.Scaling == nil {
		return nil
	}
	b.spawn = func(i int, ready vtime.Time) {
		c.release()
		pool.cluster.grow()
		c.autoscaler.cluster.grow()
		if err := c.add(i, ready); err != nil {
			panic(err) // the first ones could be made
		}
	}
	pool.replicas, c.router.held.transfers = b, map[int32]*transfer{}
	return nil
}

// release frees the memory of instances that are gone and have no step in flight: a
// run may have thousands of them. It is called in turns of the router in which no
// instance runs.
func (c *cluster) release() {
	b := c.router.pool.replicas
	kept := b.departed[:0]
	for _, i := range b.departed {
		if !c.instances[i].release(b.list[i].gone) {
			kept = append(kept, i)
		}
	}
	b.departed = kept
}

// react is the Key of the earliest event that a notice at k can cause: a request
// that an instance returns is routed again, the autoscaler is asked, or a request
// follows from an answer.
func (c *cluster) react(k lookahead.Key) lookahead.Key {
	asked := c.router.pool.trigger.reaction(k.At)
	if l := c.router.loop; l != nil {
		asked = lookahead.Earliest(asked, l.react(k))
	}
	if b := c.router.pool.replicas; b == nil || b.handingBack == 0 {
		return asked
	}
	return lookahead.Earliest(asked, lookahead.Key{At: k.At.Add(1).Add(c.plan.Config.RoutingLatency), Class: vtime.ClassDelivery})
}
