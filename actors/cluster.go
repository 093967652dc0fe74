package actors

import (
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
	"context"
	"errors"
	"slices"
	"strconv"
)

// cluster is one run: its processes and the simulation that they are in.
type cluster struct {
	plan        *setup.Plan
	execution   Execution
	began       vtime.Time // first arrival; 0 without any
	simulation  *lookahead.Simulation
	router      *router
	autoscalers []*autoscaler // by pool; nil: a pool but the first one whose size is fixed
	instances   []*instance
	collector   *collector
	storage     []*storage // by pool
	tracer      *tracer    // nil: the run is not traced
	waits       []Wait
	watch       func() // called now and then; nil: not
	printers    printers

	// What instances are made with.
	notify  bool             // the router gets notices of the ends of requests
	signals []policy.Signals // that are read of the instances of a pool
}

// newCluster builds the processes of a plan. How far each may run follows from the
// signals that the policies observe.
func newCluster(p *setup.Plan, x Execution) (*cluster, error) {
	q, err := makePolicies(p)
	if err != nil {
		return nil, err
	}
	return newClusterOf(p, x, q)
}

// newClusterOf is newCluster with the policies of the plan.
func newClusterOf(p *setup.Plan, x Execution, q []policies) (*cluster, error) {
	c := &cluster{plan: p, execution: x, printers: printersOf(q)}
	counterfactual := counterfactualSignals(&x.Tracing)
	options, err := recorderOptions(p, q)
	if err != nil {
		return nil, err
	}
	c.collector = &collector{emit: x.Row, options: options, row: Row{labels: p.Source.Labels()}}
	if c.router, err = newRouter(p, &x, q, options, counterfactual); err != nil {
		return nil, err
	}
	c.collector.row.names, c.collector.part = rowNames{pools: poolNames(p), instance: c.router.fleet.name, nodes: c.router.fleet.nodes.nodeNames()}, c.router.arrivals.numbered
	c.collector.gated(p.Gateway)
	c.waits = waits(p, q, c.router.fleet.pools, counterfactual)
	events := false
	c.notify = p.Loops() || c.router.coordinator != nil || p.Gateway.Evicts() // prompts may end where they are computed
	for i, s := range c.router.fleet.pools {
		c.signals = append(c.signals, q[i].observes())
		c.notify = c.notify || s.endpoints.cluster.notified&^policy.Prefixes != policy.NoSignals || s.plan.Scaling != nil
		events = events || sendsBlockEvents(s.plan, &s.endpoints.plan.Observability, c.signals[i])
	}
	c.simulation = lookahead.New(c.kernelConfig(c.notify || events))
	c.addControl(q)
	for _, s := range c.router.fleet.pools {
		if err := c.addReplicas(s, counterfactual); err != nil {
			return nil, err
		}
	}
	c.simulation.AddSink("collector", c.collector)
	if c.router.tracing != nil {
		c.tracer = newTracer(p, &x.Tracing, c.router.tracing, options, &c.router.fleet)
		c.collector.tracer = c.tracer
	}
	return c, nil
}

// addControl adds the router, the autoscalers and the storage tiers that instances share.
func (c *cluster) addControl(q []policies) {
	receives := []lookahead.NoticeKind{0}
	if c.plan.Failures != nil {
		receives = append(receives, cutOffNotice)
	}
	if c.router.coordinator != nil {
		receives = append(receives, prefilledNotice, pullingNotice, notPulledNotice)
	}
	c.simulation.AddControl("router", c.router, receives...)
	for i, s := range c.router.fleet.pools {
		if i > 0 && s.plan.Scaling == nil {
			c.autoscalers = append(c.autoscalers, nil)
			continue
		}
		name := "autoscaler"
		if s.name != "" && i > 0 {
			name += "-" + s.name
		}
		a := newAutoscaler(s, &q[i], c.router.tracing != nil)
		s.autoscaler = c.simulation.AddControl(name, a, receives...)
		a.seen = newObservations(s.autoscaler, c.plan.Source.Labels(), c.execution.Record != nil)
		c.autoscalers = append(c.autoscalers, a)
	}
	shared := map[string][]lookahead.ProcessID{}
	for _, s := range c.router.fleet.pools {
		c.storage = append(c.storage, newStorage(c.simulation, c.plan, &c.execution, s, shared))
	}
}

// addInstance adds the instance of a server, which is ready then.
func (c *cluster) addInstance(at *server, ready vtime.Time, counterfactual policy.Signals) error {
	k := at.pool.index
	signals := c.signals[k]
	n, err := newInstance(c.plan, &c.execution, at, at.pool.options, ready, signals, c.storage[k])
	if err != nil {
		return err
	}
	n.notify, n.notifyTokens = c.notify, c.plan.Loops() || c.plan.Gateway.Evicts()
	if c.router.fleet.endsWithLatency() {
		n.latencyOptions = &at.pool.options
	}
	seen, ofEndpoints := &at.pool.endpoints.cluster, n.shown[:len(at.places)]
	for _, s := range ofEndpoints {
		s.publish(&seen.signalPlan, signals|counterfactual, at.pool.options)
	}
	if c.execution.Sequential {
		seen.engines = append(seen.engines, ofEndpoints...)
	}
	if a := c.autoscalers[k]; a != nil {
		whole := n.shown[len(n.shown)-1]
		whole.keepRecent(signals|counterfactual, at.pool.options)
		whole.publishGroups(&a.cluster.signalPlan)
		if c.execution.Sequential {
			a.cluster.engines = append(a.cluster.engines, whole)
		}
	}
	if n.outage != nil {
		n.outage.links = c.router.failures.linksFor(at)
	}
	c.instances = append(c.instances, n)
	c.simulation.AddLeaf(instanceName(at.number), n)
	c.router.failures.add(ready)
	return nil
}

func instanceName(i int) string { return "instance-" + strconv.Itoa(i) }

// kernelConfig is how the kernel runs this cluster.
func (c *cluster) kernelConfig(notify bool) lookahead.Config {
	cfg, x := &c.plan.Config, &c.execution
	e := lookahead.Config{Workers: min(workers(x), mostInstances(c.plan)), Sequential: x.Sequential, InlineBelow: x.Inline, Record: x.Record}
	completions := &e.Notices[0]
	completions.Reply = func(k lookahead.Key) lookahead.Key {
		if !notify {
			return lookahead.NeverKey
		}
		return lookahead.Key{At: k.At, Class: vtime.ClassNotice}
	}
	if c.plan.Loops() || slices.ContainsFunc(c.plan.Pools, func(s *setup.Pool) bool {
		return s.Scaling != nil && (s.Scaling.Drain == setup.DrainRedirect || s.Scaling.Trigger != policy.PeriodicTrigger)
	}) || c.plan.Gateway != nil {
		completions.React = c.react
	}
	if s := leastAnswer(c.plan.Pools); s > 0 {
		e.Notices[storageNotice] = lookahead.Notice{
			React: func(k lookahead.Key) lookahead.Key { return lookahead.Key{At: k.At.Add(s), Class: vtime.ClassTransfer} },
			Reply: func(k lookahead.Key) lookahead.Key { return lookahead.Key{At: k.At, Class: vtime.ClassNotice} },
		}
	}
	if c.router.coordinator != nil {
		c.noticesOfPulls(&e.Notices)
		c.alsoOpenGates(&e.Notices)
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

// mostInstances is the largest number of instances that serve at a time.
func mostInstances(p *setup.Plan) (n int) {
	for _, s := range p.Pools {
		n += s.MaxInstances()
	}
	return n
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

// recorderOptions are those of the recorders of each pool, which differ in what clients add: that of
// the latency model of the instance that answers.
func recorderOptions(p *setup.Plan, q []policies) (list []metrics.Options, err error) {
	usual := sharedOptions(p)
	for i := range p.Deployments {
		d := &p.Deployments[i]
		o := usual
		if o.TokenOverhead, err = overhead("token", d.Serving.Latency.TokenOverhead()); err != nil {
			return nil, err
		}
		if o.RequestOverhead, err = overhead("request", d.Serving.Latency.RequestOverhead()); err != nil {
			return nil, err
		}
		for _, of := range d.Pools() {
			if o.BlockSize = 0; q[len(list)].prefixes != nil {
				o.BlockSize = of.BlockSize
			}
			list = append(list, o)
		}
	}
	return list, nil
}

// sharedOptions are the options that the recorders of all pools have.
func sharedOptions(p *setup.Plan) metrics.Options {
	cfg := &p.Config
	o := metrics.Options{From: vtime.Time(cfg.MeasureFrom), To: vtime.Never, SlowPairs: cfg.SlowWithinClass}
	if cfg.MeasureTo > 0 {
		o.To = vtime.Time(cfg.MeasureTo)
	}
	labels := p.Source.Labels()
	for _, t := range p.Targets {
		switch {
		case t.Tenant != "":
			putTargets(&o.Tenants, labels.Tenants.Label(t.Tenant), t.Targets)
		case t.Class != "":
			putTargets(&o.Targets, labels.Classes.Label(t.Class), t.Targets)
		default:
			o.Usual = t.Targets
		}
	}
	return o
}

// putTargets puts the targets of a label into a list by label.
func putTargets(list *[]metrics.Targets, label workload.Label, t metrics.Targets) {
	for len(*list) <= int(label) {
		*list = append(*list, metrics.Targets{})
	}
	(*list)[label] = t
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
	partial, err := c.execute(ctx)
	if err != nil && !partial {
		return nil, err
	}
	result, bad := c.result(partial)
	if bad != nil {
		return nil, bad
	}
	return result, errors.Join(err, c.traceError())
}

// execute executes the simulation. It reports whether it was cancelled, with the context's error.
func (c *cluster) execute(ctx context.Context) (partial bool, err error) {
	if err := c.start(); err != nil {
		return false, err
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
	err = c.simulation.Run(within)
	if few := c.checkEvents(); few != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return false, few
	}
	if partial = err != nil && errors.Is(err, ctx.Err()); partial {
		return true, err
	}
	return false, explain(err)
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
		for i, s := range c.router.fleet.pools {
			if a := c.autoscalers[i]; a != nil {
				a.skip(first)
			}
			if b := s.replicas; b != nil {
				b.began = c.began
			}
		}
	}
	return nil
}

// addReplicas adds the instances with which a pool begins, and the book of the instances where
// their number can change.
func (c *cluster) addReplicas(s *pool, counterfactual policy.Signals) error {
	seed, suffix := c.plan.Config.Seed, ""
	if s.name != "" {
		suffix = "/" + s.name
	}
	b := &replicas{
		pool: s.plan, endpoints: s.endpoints, provisionTimes: vtime.NewStream(seed, "provisioning"+suffix), loadTimes: vtime.NewStream(seed, "replicas"+suffix),
		published: s.published, failures: c.router.failures, nodes: c.router.fleet.nodes, coordinator: c.router.coordinator, place: func() *server { return c.router.fleet.add(s) },
	}
	b.begin()
	for i := range b.list {
		if err := c.addInstance(b.list[i].at, 0, counterfactual); err != nil {
			return err
		}
	}
	if s.plan.Scaling == nil {
		return nil
	}
	k := slices.Index(c.router.fleet.pools, s)
	b.spawn = func(at *server, ready vtime.Time) {
		c.release(b)
		for range at.places {
			s.endpoints.cluster.grow()
		}
		c.autoscalers[k].cluster.grow()
		if err := c.addInstance(at, ready, counterfactual); err != nil {
			panic(err) // the first ones could be made
		}
	}
	s.replicas, c.router.held.transfers = b, map[int32]*transfer{}
	return nil
}

// release frees the memory of instances that are gone and have no step in flight: a
// run may have thousands of them. It is called in turns of the router in which no
// instance runs.
func (c *cluster) release(b *replicas) {
	kept := b.departed[:0]
	for _, i := range b.departed {
		if r := &b.list[i]; !c.instances[r.at.number].release(r.gone) {
			kept = append(kept, i)
		}
	}
	b.departed = kept
}

// react is the Key of the earliest event that a notice at k can cause: a request
// that an instance returns is routed again, an autoscaler is asked, or a request
// follows from an answer.
func (c *cluster) react(k lookahead.Key) lookahead.Key {
	asked := lookahead.Earliest(c.router.fleet.called(k.At), reactGates(c.router, k))
	if l := c.router.loop; l != nil {
		asked = lookahead.Earliest(asked, l.react(k))
	}
	for _, s := range c.router.fleet.pools {
		if b := s.replicas; b != nil && b.handingBack > 0 {
			return lookahead.Earliest(asked, lookahead.Key{At: k.At.Add(1).Add(c.plan.Config.RoutingLatency), Class: vtime.ClassDelivery})
		}
	}
	return asked
}
