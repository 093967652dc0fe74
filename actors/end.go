package actors

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/setup"
	"blis/vtime"
)

// The end of a run: what is left of it, and its result.

// result makes the result of a run that has ended.
func (c *cluster) result(partial bool) (*Result, error) {
	cfg := &c.plan.Config
	r := &Result{Config: Config{*cfg, c.execution}, Setup: c.plan.Summary, Partial: partial, Stats: c.simulation.Stats(), Waits: c.waits, rest: restOfResult{deployments: c.plan.Deployments}}
	if in := c.execution.Inspect; in != nil {
		in.Result = c.simulation.Trace()
	}
	if partial {
		if err := c.recordUndelivered(); err != nil {
			return nil, err
		}
	}
	r.Began, r.End = c.began, c.end(partial)
	for i, s := range c.router.fleet.pools {
		if s.replicas != nil {
			r.PoolScaling = append(r.PoolScaling, PoolScaling{s.name, s.replicas.instances(), s.replicas.scaling(c.autoscalers[i], r.End)})
		}
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
	noteTies(c.plan, &r.Setup, c.router.arrivals.ties.tied, c.router.arrivals.arrived)
	r.Names = c.router.arrivals.intake.names
	c.describeNodes(r)
	run, err := c.books(r, cut || partial)
	if err != nil {
		return nil, err
	}
	if c.tracer != nil && !partial {
		c.tracer.finish(r.End, run)
	}
	var unbalanced error
	if r.Failures, unbalanced = c.router.failures.result(r.End, run, func(i int) (ready, gone vtime.Time) { return c.life(i, r.End) }); unbalanced != nil && !partial {
		return nil, fmt.Errorf("the books of failures do not balance: %w", unbalanced)
	}
	r.Sessions, r.Users = c.router.loop.sessions(), c.router.loop.users()
	r.rest.notSent = c.router.loop.notSent()
	if len(c.router.fleet.pools) == 1 && len(r.PoolScaling) > 0 {
		r.Scaling = r.PoolScaling[0].Scaling
	}
	if err := r.collect(run, c.plan); err != nil {
		return nil, err
	}
	if err := c.addGateways(r); err != nil {
		return nil, err
	}
	r.rest.printed = c.printed()
	if !partial {
		r.Digest = c.digest()
	}
	return r, nil
}

// books is what the report is made of.
func (c *cluster) books(r *Result, cut bool) (*metrics.Run, error) {
	run := &metrics.Run{Routers: []*metrics.Recorder{c.router.recorder}, Injected: c.router.arrivals.arrived, End: r.End, Cut: cut,
		Classes: r.Names.Classes, Tenants: r.Names.Tenants, Models: r.Names.Models}
	if c.router.arrivals.arrived >= parallelFrom {
		run.Each = inParallel(workers(&c.execution))
	}
	var reach reaches
	for _, n := range c.instances {
		if err := bookServer(r, run, n, n.server.name()); err != nil {
			return nil, err
		}
		for k := range n.ranks {
			c.bookRank(r, run, &n.ranks[k], c.router.fleet.name(n.ranks[k].number), setup.Tiered(c.plan))
		}
		reach.add(n)
	}
	r.BeyondFit = reach.beyond()
	run.InstanceNames, run.Tiers = r.Names.Instances, r.KVTiers
	run.BlockBytes = c.plan.Pools[0].BlockBytes()
	c.describePools(run, r.End)
	if err := c.addStorage(r, r.End); err != nil {
		return nil, err
	}
	run.Storage = r.KVStorage
	return run, nil
}

// bookServer checks the books of an instance, and tells the report of what its data-parallel ranks did
// together.
func bookServer(r *Result, run *metrics.Run, n *instance, name string) error {
	r.Names.Servers = append(r.Names.Servers, name)
	if n.server.pool.plan.Ranks.LockStep {
		run.DataParallel = append(run.DataParallel, metrics.RanksOf{Name: name, Ranks: len(n.ranks), Counts: n.engines.ranks.DataParallel()})
	}
	return n.engines.check()
}

// bookRank tells the report of a rank of that name; tiered says whether instances of the run have CPU
// tiers.
func (c *cluster) bookRank(r *Result, run *metrics.Run, n *rank, name string, tiered bool) {
	e := n.instance.engines.of(n.index)
	ready, gone := c.life(n.at.number, r.End)
	e.Counters.LifeMicros = int64(span(ready, gone))
	r.Names.Instances = append(r.Names.Instances, name)
	run.Instances = append(run.Instances, n.recorder)
	run.Counters = append(run.Counters, e.Counters)
	if tiered {
		r.KVTiers = append(r.KVTiers, e.Tier)
	}
	run.Lives = append(run.Lives, metrics.Life{Ready: ready, Gone: gone, Blocks: &e.Blocks})
	r.addSeries(n, name, ready, gone)
}

// addStorage adds what the storage tiers counted.
func (c *cluster) addStorage(r *Result, end vtime.Time) error {
	for _, s := range c.storage {
		list, series, err := s.counts(end, func(i int) (from, to vtime.Time) { return c.life(i, end) })
		if err != nil {
			return err
		}
		r.KVStorage = append(r.KVStorage, list...)
		r.rest.storage = append(r.rest.storage, series...)
	}
	return nil
}

// collect makes the report of r.
func (r *Result) collect(run *metrics.Run, p *setup.Plan) error {
	report, err := metrics.Collect(*run)
	if err != nil {
		return fmt.Errorf("the books do not balance: %w", err)
	}
	r.Report = report
	if r.Config.Curves {
		report.Curves = metrics.NewCurves(*run)
	}
	r.noteCutSums()
	for _, s := range r.PoolScaling {
		if report.Anomalies.ScaleOscillation == nil {
			report.Anomalies.ScaleOscillation = new(int64)
		}
		*report.Anomalies.ScaleOscillation += int64(s.Oscillations)
	}
	r.score(&p.Fitness)
	return nil
}

// end is the time of the last event of the run, or its horizon if that came first. A
// partial run has not come to its horizon. In one with a fixed number of instances
// the router may be far ahead of them: there the last event of an instance counts, or
// the first arrival if no instance had an event.
func (c *cluster) end(partial bool) vtime.Time {
	end := c.router.last
	if partial {
		scaled := false
		for i, s := range c.router.fleet.pools {
			if s.replicas != nil { // the router is not ahead of scale checks
				scaled, end = true, max(end, c.autoscalers[i].last)
			}
		}
		if !scaled {
			end = c.began
		}
	}
	for _, n := range c.instances {
		end = max(end, n.engines.now())
	}
	if h := c.plan.Config.Horizon; h > 0 && !partial && c.busy() {
		end = vtime.Time(h)
	}
	return end
}

// busy reports whether the run ended with work left.
func (c *cluster) busy() bool {
	for _, n := range c.instances {
		if n.engines.busy() {
			return true
		}
	}
	return c.router.arrivals.more || c.router.Next() != lookahead.NeverKey
}

// finishAll records the requests that have not ended at the end of the run. It
// reports whether there was work left.
func (c *cluster) finishAll(end vtime.Time) bool {
	cut := c.busy()
	c.router.unfinished(func(o *metrics.Outcome) {
		c.router.recorder.Record(o)
		c.acceptUnfinished(o)
	})
	for i, n := range c.instances {
		_, gone := c.life(i, end)
		n.engines.finish(end, gone)
		for k, e := range n.engines.all() {
			e.Unfinished(func(o *metrics.Outcome) {
				o.Pool = int16(n.server.pool.index)
				n.ranks[k].recorder.Record(o)
				c.acceptUnfinished(o)
			})
		}
	}
	return cut
}

// life is the span in which instance i was ready in a run that ended at end.
func (c *cluster) life(i int, end vtime.Time) (ready, gone vtime.Time) {
	at := c.router.fleet.servers[i]
	if at.pool.replicas == nil {
		return 0, end
	}
	r := &at.pool.replicas.list[at.slot]
	return r.ready, min(r.gone, end)
}

// noteCutSums notes sums over the instances that are cut off at 2⁶³−1.
func (r *Result) noteCutSums() {
	c := &r.Report.Overall.Resources.Counters
	for _, sum := range []struct {
		name  string
		value int64
	}{{"block_us", c.BlockMicros}, {"running_us", c.RunningMicros}, {"waiting_us", c.WaitingMicros}} {
		if sum.value == math.MaxInt64 {
			r.Setup.Notes = append(slices.Clone(r.Setup.Notes), fmt.Sprintf("%s of all instances passes 2⁶³−1 and is cut off there; those of single instances and of kv_use are exact", sum.name))
		}
	}
}

// recordUndelivered records the requests in messages that no process received when a
// run was cancelled: they are pending. The collector receives their outcomes.
func (c *cluster) recordUndelivered() error {
	var d engine.Delivery
	known := c.known()
	return c.simulation.Undelivered(func(to lookahead.ProcessID, m *lookahead.Message) {
		var of *transfer
		if to == collectorID { // its messages come after all others
			c.collector.recordUndelivered(m, known)
			return
		}
		known = lookahead.Earliest(known, m.Stamp.Key())
		switch m.Kind {
		case kindDelivery, kindPrefill:
			readDelivery(&m.Body, &d)
		case kindPull:
			readPull(&m.Body, &d, new(engine.KVSource))
		case kindPrefillAgain:
			of = &transfer{from: int32(c.router.fleet.servers[to-lookahead.FirstLeaf].first)}
			readResumed(&m.Body, &d, &of.Progress)
		case kindPullAgain:
			of = &transfer{from: int32(c.router.fleet.servers[to-lookahead.FirstLeaf].first)}
			readPullAgain(&m.Body, &d, &of.Progress, new(engine.KVSource))
		case kindPrefilled:
			var p prefilled
			readPrefilled(&m.Body, &p)
			d = *c.router.coordinator.delivery(p.source.Request)
			of = c.router.coordinator.progress(p.source.Request)
			d.HandOver = p.handOver
		case kindResumed:
			of = &transfer{from: int32(c.router.fleet.servers[to-lookahead.FirstLeaf].first)}
			readResumed(&m.Body, &d, &of.Progress)
		case kindReturned:
			of = new(transfer)
			readReturned(&m.Body, &d, of)
		case kindCutOff:
			l := new(lost)
			readCutOff(&m.Body, &d, l)
			of = &l.transfer
		default:
			return
		}
		c.router.describe(&d, metrics.Pending, metrics.NoReason, vtime.Never)
		c.router.describeTransfer(of)
		c.router.recorder.Record(&c.router.outcome)
		c.collector.accept(&c.router.outcome)
	})
}

// known is the Key of the earliest event that a cancelled run did not execute, except
// the receipt of messages. All messages that it would still have sent are later.
func (c *cluster) known() lookahead.Key {
	k := lookahead.Earliest(lookahead.Earliest(c.router.Next(), c.router.NextPeriodic()), lookahead.NeverKey)
	for _, a := range c.autoscalers {
		if a != nil {
			k = lookahead.Earliest(k, a.NextPeriodic())
		}
	}
	for _, n := range c.instances {
		k = lookahead.Earliest(k, n.Next())
	}
	return k
}

// parallelFrom is the number of requests from which the end of a run uses several
// goroutines.
const parallelFrom = 1 << 13

// inParallel returns a function that calls f(0) … f(n−1), each once and started in
// that order, on workers goroutines with the caller's, and returns when all have
// returned.
func inParallel(workers int) func(n int, f func(i int)) {
	return func(n int, f func(i int)) {
		var next atomic.Int64
		work := func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		}
		var others sync.WaitGroup
		for range min(workers, n) - 1 {
			others.Go(work)
		}
		work()
		others.Wait()
	}
}

// workers is the number of goroutines that the run may use.
func workers(e *Execution) int {
	switch {
	case e.Sequential:
		return 1
	case e.Workers == 0:
		return runtime.GOMAXPROCS(0)
	}
	return e.Workers
}
