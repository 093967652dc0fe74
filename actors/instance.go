package actors

import (
	"blis/engine"
	"blis/kv"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
)

// instance is the actor of one serving instance: an engine, its recorder, and its
// place in the snapshots.
type instance struct {
	index        int
	place        *place
	engine       *engine.Engine
	recorder     *metrics.Recorder
	notify       bool // the router gets a notice when a request ends …
	notifyTokens bool // … with the number of its tokens
	finished     int64

	snapshots        *snapshots[load] // nil: no policy observes the load
	groups           []*signalGroup   // those with immediate signals
	writers          []refreshWriter  // of snapshots with periodic signals
	readsKVUse       bool             // snapshots has KV use
	inFlightFromLoad bool             // snapshots has the number of finished requests
	perStep          bool             // what it publishes changes only at ends of steps
	recent           *recent          // nil: no policy observes recent latencies
	latencyOptions   *metrics.Options // overheads and targets for the latency in notices; nil: notices have none

	outage *outage // nil: nothing fails

	sharesStorage bool // some of the storage tiers are processes of their own

	events     bool           // the router gets the changes of the prefix cache, and of the tiers …
	tiered     bool           // … of which there are some
	eventDelay vtime.Duration // … this long after the step that made them

	delivery      engine.Delivery
	endingLatency policy.Ending     // memory of latencyOf
	out           *lookahead.Outbox // of the turn in progress
}

var (
	_ lookahead.Process   = (*instance)(nil)
	_ lookahead.Publisher = (*instance)(nil)
	_ lookahead.Estimator = (*instance)(nil)
	_ lookahead.Folder    = (*instance)(nil)
	_ lookahead.Notifier  = (*instance)(nil)
	_ engine.Sink         = (*instance)(nil)
)

// Next implements lookahead.Process.
func (p *instance) Next() lookahead.Key {
	at, class := p.engine.Next()
	if at == vtime.Never {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: at, Class: class}
}

// Promise implements lookahead.Process: a notice follows the end of a request in
// the same microsecond, block changes follow the end of a step.
func (p *instance) Promise() lookahead.Key {
	at := vtime.Never
	if p.notify {
		at = p.engine.FirstEnd()
	}
	if p.place.pool.plan.Scaling != nil && p.place.pool.role == setup.PrefillRole {
		at = min(at, p.engine.Pulls.FirstReleased())
	}
	if p.events {
		at = min(at, p.engine.FirstStepState(false).Add(p.eventDelay))
	}
	if at == vtime.Never {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: at, Class: vtime.ClassNotice}
}

// load is the load of the engine as the instance publishes it.
func (p *instance) load() load {
	if p.isDown() {
		r := p.outage.load
		r.finished = p.finished
		return r
	}
	if p.perStep {
		state := p.engine.StepState()
		r := load{waiting: int32(state.Waiting), running: int32(state.Running), finished: p.finished}
		if p.readsKVUse {
			r.used = state.Used
		}
		return r
	}
	r := load{waiting: p.engine.Waiting(), running: p.engine.Running(), finished: p.finished}
	if p.readsKVUse {
		r.used = int64(p.engine.UsedBlocks())
	}
	return r
}

// Receive implements lookahead.Process: a request is delivered, a storage tier answers, the
// instance is taken away, or it fails.
func (p *instance) Receive(m *lookahead.Message, out *lookahead.Outbox) {
	now := m.Stamp.At
	switch m.Kind {
	case kindDelivery:
		readDelivery(&m.Body, &p.delivery)
		if p.isDown() {
			p.out = out
			p.refuse(noProgress(), now)
			return
		}
		p.engine.Deliver(&p.delivery, now)
	case kindResumed:
		var progress engine.Progress
		readResumed(&m.Body, &p.delivery, &progress)
		if p.isDown() {
			p.out = out
			p.refuse(progress, now)
			return
		}
		p.engine.Resume(&p.delivery, &progress, now)
	case kindPrefill, kindPull, kindPulled, kindGivenUp:
		p.receivePull(m, now)
	case kindStorageAnswer:
		p.engine.Storage.Answer(readStorageAnswer(m), now)
	case kindStop:
		p.out = out
		p.stop(readStop(&m.Body), now)
	default:
		p.out = out
		p.receiveFailure(m)
	}
}

// stop ends the instance. Its requests are returned with giveBack, else aborted.
func (p *instance) stop(giveBack bool, now vtime.Time) {
	if !giveBack {
		p.engine.Abort(now)
		return
	}
	p.engine.HandBack(now, func(d *engine.Delivery, progress *engine.Progress) {
		p.finished++
		sendReturned(p.out, now, d, &transfer{*progress, int32(p.index)})
	})
}

// release frees the memory of an instance that is gone. It reports false, and
// frees nothing, while a step is in flight, or an answer of a storage tier on its way;
// they yield nothing.
func (p *instance) release(gone vtime.Time) bool {
	if !p.Next().IsNever() || !p.engine.Release(gone) {
		return false
	}
	p.recorder.Trim()
	p.delivery = engine.Delivery{}
	return true
}

// Advance implements lookahead.Process.
func (p *instance) Advance(_ lookahead.Key, out *lookahead.Outbox) {
	p.out = out
	if len(p.writers) > 0 {
		p.advanceByRefresh(out)
	} else {
		for out.Execute(p.Next()) {
			h := out.Horizon()
			p.engine.Act(h.At, h.Class)
		}
	}
	if p.snapshots != nil && p.snapshots.cadence == immediate {
		p.snapshots.set(p.place.seat, p.load())
	}
	for _, f := range p.groups {
		f.snapshots.set(p.seatOf(f), p.observe(f))
	}
}

// Work implements lookahead.Estimator: steps until h at the mean pace so far.
func (p *instance) Work(h lookahead.Key) int {
	at, _ := p.engine.Next()
	if at == vtime.Never || at >= h.At {
		return 1
	}
	c := &p.engine.Counters
	pace := max(1, c.BusyMicros/max(1, c.Steps))
	return 1 + int(min(int64(h.At-at)/pace, 1<<20))
}

// Fold implements lookahead.Folder.
func (p *instance) Fold() uint64 { return p.engine.Fold() }

// Group implements engine.Sink.
func (p *instance) Group(class, model workload.Label, arrival vtime.Time) int {
	return p.recorder.Group(class, model, arrival)
}

// ITL implements engine.Sink.
func (p *instance) ITL(group int, gap vtime.Duration, n int) { p.recorder.ITL(group, gap, n) }

// Done implements engine.Sink.
func (p *instance) Done(o *metrics.Outcome, now vtime.Time) {
	p.finished++
	o.Pool = int16(p.place.pool.index)
	if p.recent != nil {
		p.recent.add(o)
	}
	p.recorder.Record(o)
	sendOutcome(p.out, now, o)
	if p.notify {
		sendEnded(p.out, now, p.index, o, p.notifyTokens, p.latencyOf(o))
	}
}

// latencyOf is the latency of a request for the notice of its end; nil if notices
// have none.
func (p *instance) latencyOf(o *metrics.Outcome) *policy.Ending {
	if p.latencyOptions == nil {
		return nil
	}
	x := &p.endingLatency
	*x = policy.Ending{TTFT: -1, TPOT: -1, E2E: -1}
	if d, ok := o.TTFT(p.latencyOptions.TokenOverhead); ok {
		x.TTFT = d
	}
	if d, ok := o.TPOT(p.latencyOptions.TokenOverhead, p.latencyOptions.RequestOverhead); ok {
		x.TPOT = d
	}
	if d, ok := o.E2E(p.latencyOptions.TokenOverhead, p.latencyOptions.RequestOverhead); ok {
		x.E2E = d
	}
	x.Judged, x.Attained = p.latencyOptions.Attained(o)
	return x
}

// newInstance makes the instance at a place of a run that observes signals. The instance is
// ready at the time ready.
func newInstance(p *setup.Plan, x *Execution, at *place, recorders metrics.Options, ready vtime.Time, observed policy.Signals, below *storage) (*instance, error) {
	of, seen := at.pool.plan, &at.pool.endpoints.plan.Observability
	n := &instance{index: at.instance, place: at, recorder: metrics.NewRecorder(recorders), perStep: seen.PerStep}
	if sendsBlockEvents(of, seen, observed) {
		n.events, n.tiered, n.eventDelay = true, of.CPUTier != nil, seen.KVEventDelay
	}
	cfg, err := n.engineConfig(p, x, observed, below)
	if err != nil {
		return nil, err
	}
	if at.slot >= of.Instances { // a run begins with warm instances
		cfg.Warmup = of.Scaling.Warmup
		cfg.Warmup.From = ready
	}
	if f := p.Failures; f != nil {
		n.outage = &outage{rebuild: func() engine.Config {
			cfg, err := n.engineConfig(p, x, observed, below)
			if err != nil {
				panic(err) // the first one could be made
			}
			cfg.Warmup = f.Warmup
			return cfg
		}}
	}
	n.engine = engine.New(n.index, cfg)
	return n, nil
}

// engineConfig returns the configuration of the instance's engine, with caches of its own.
func (n *instance) engineConfig(p *setup.Plan, x *Execution, observed policy.Signals, below *storage) (engine.Config, error) {
	d := &n.place.pool.plan.Server
	cfg := d.Engine()
	s, err := newScheduler(p, n.place.pool.plan)
	if err != nil {
		return cfg, err
	}
	cfg.Cache = kv.NewPool(int(d.Blocks), d.BlockSize, d.EnablePrefixCaching)
	if x.StepByStep && x.Sequential && d.Blocks <= twinBlocks {
		cfg.Cache = kv.NewNaivePool(int(d.Blocks), d.BlockSize, d.EnablePrefixCaching)
	}
	if t := d.CPUTier; t != nil {
		t.AddTo(&cfg, newTier(x, t.TierConfig))
	}
	if cfg.Offload != nil {
		cfg.Offload.Storage = below.links(x, n)
	}
	n.disaggregate(&cfg)
	cfg.StepByStep, cfg.KeepStepState, cfg.KeepBacklog = x.StepByStep, n.perStep, observed&(policy.EstimatedWait|policy.OwnSignals) != 0
	cfg.Scheduler, cfg.Sink, cfg.BlockEvents, cfg.Observer = s, n, n.blockEvents(), n.tracer(x.Tracing.Level)
	return cfg, nil
}

// newTier returns the CPU tier of an instance. The sequential twin keeps a small one
// entry by entry.
func newTier(x *Execution, c kv.TierConfig) kv.Tier {
	if x.StepByStep && x.Sequential && c.Capacity <= twinBlocks {
		return kv.NewNaiveTier(c)
	}
	return kv.NewTier(c)
}

// twinBlocks is the size of a cache up to which the sequential twin keeps it block
// by block. Larger ones would take minutes.
const twinBlocks = 100_000
