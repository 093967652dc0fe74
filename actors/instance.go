package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// instance is the actor of one serving instance: its engine, or those of its data-parallel ranks, with
// their recorders, and its places in the snapshots.
type instance struct {
	server       *server
	engines      engines
	ranks        []rank
	shown        []*publisher // by endpoint; of several in a pool that scales also of the whole, last
	notify       bool         // the router gets a notice when a request ends …
	notifyTokens bool         // … with the number of its tokens

	writers        []refreshWriter  // of snapshots with periodic signals
	perStep        bool             // what it publishes changes only at ends of steps
	latencyOptions *metrics.Options // overheads and targets for the latency in notices; nil: notices have none

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
)

// Next implements lookahead.Process.
func (p *instance) Next() lookahead.Key {
	at, class := p.engines.next()
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
		at = p.engines.firstEnd()
	}
	if p.server.pool.plan.Scaling != nil && p.server.pool.role == setup.PrefillRole {
		at = min(at, p.engines.firstReleased())
	}
	if p.events {
		at = min(at, p.engines.firstStepState(false).Add(p.eventDelay))
	}
	if at == vtime.Never {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: at, Class: vtime.ClassNotice}
}

// Receive implements lookahead.Process: a request is delivered, a storage tier answers, the
// instance is taken away, or it fails.
func (p *instance) Receive(m *lookahead.Message, out *lookahead.Outbox) {
	p.out = out
	now := m.Stamp.At
	switch m.Kind {
	case kindDelivery:
		progress := noProgress()
		if readDelivery(&m.Body, &p.delivery); !p.refuse(&progress, now) {
			p.engines.deliver(&p.delivery, now)
		}
	case kindResumed:
		var progress engine.Progress
		if readResumed(&m.Body, &p.delivery, &progress); !p.refuse(&progress, now) {
			p.engines.resume(&p.delivery, &progress, now)
		}
	case kindPrefill, kindPrefillAgain, kindPull, kindPullAgain, kindPulled, kindGivenUp, kindRevoked, kindSourceLost, kindPullEnded:
		p.receivePull(m, now)
	case kindStorageAnswer:
		if to, a := readStorageAnswer(m); to == p.ranks[to.rank].asker() { // else it has crashed since
			p.engines.rank(int(to.rank), now, m.Stamp.Class).Storage.Answer(a, now)
		}
	case kindStop:
		p.stop(readStop(&m.Body), now)
	case kindEvict:
		p.engines.evict(readEvict(&m.Body), now)
	default:
		p.receiveFailure(m)
	}
}

// stop ends the instance. Its requests are returned with giveBack, else aborted.
func (p *instance) stop(giveBack bool, now vtime.Time) {
	if !giveBack {
		p.engines.abort(now)
		return
	}
	p.engines.handBack(now, func(rank int, d *engine.Delivery, progress *engine.Progress) {
		r := &p.ranks[rank]
		r.left()
		sendReturned(p.out, now, d, &transfer{*progress, int32(r.number)})
	})
}

// release frees the memory of an instance that is gone. It reports false, and
// frees nothing, while a step is in flight, or an answer of a storage tier on its way;
// they yield nothing.
func (p *instance) release(gone vtime.Time) bool {
	if !p.Next().IsNever() || !p.engines.release(gone) {
		return false
	}
	for i := range p.ranks {
		p.ranks[i].recorder.Trim()
	}
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
			p.engines.act(h.At, h.Class)
		}
	}
	for _, s := range p.shown {
		s.write()
	}
}

// Work implements lookahead.Estimator: steps until h at the mean pace so far.
func (p *instance) Work(h lookahead.Key) int {
	at, _ := p.engines.next()
	if at == vtime.Never || at >= h.At {
		return 1
	}
	c := &p.engines.of(0).Counters
	pace := max(1, c.BusyMicros/max(1, c.Steps))
	return 1 + len(p.ranks)*int(min(int64(h.At-at)/pace, 1<<20))
}

// Fold implements lookahead.Folder.
func (p *instance) Fold() uint64 { return p.engines.fold() }

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

// newInstance makes the instance of a server of a run that observes signals. The instance is
// ready at the time ready.
func newInstance(p *setup.Plan, x *Execution, at *server, recorders metrics.Options, ready vtime.Time, observed policy.Signals, below *storage) (*instance, error) {
	of, seen := at.pool.plan, &at.pool.endpoints.plan.Observability
	n := &instance{server: at, perStep: seen.PerStep, ranks: make([]rank, of.Ranks.Ranks)}
	if sendsBlockEvents(of, seen, observed) {
		n.events, n.tiered, n.eventDelay = true, of.CPUTier != nil, seen.KVEventDelay
	}
	for _, e := range at.places {
		n.shown = append(n.shown, &publisher{instance: n, seat: e.seat})
	}
	if len(at.places) > 1 && of.Scaling != nil {
		n.shown = append(n.shown, &publisher{instance: n, seat: at.slot})
	}
	var configs []engine.Config
	for i := range n.ranks {
		k := i / of.Ranks.Local
		n.ranks[i] = rank{instance: n, at: at.places[k], index: i, number: at.first + i, recorder: metrics.NewRecorder(recorders), shown: append(n.shown[k:k+1:k+1], n.shown[len(at.places):]...), series: newSeries(x.TimeSeries)}
		cfg, err := n.ranks[i].config(p, x, observed, below)
		if err != nil {
			return nil, err
		}
		if at.slot >= of.Instances { // a run begins with warm instances
			cfg.Warmup = of.Scaling.Warmup
			cfg.Warmup.From = ready
		}
		configs = append(configs, cfg)
	}
	if f := p.Failures; f != nil {
		n.outage = &outage{rebuild: func(rank int) engine.Config {
			cfg, err := n.ranks[rank].config(p, x, observed, below)
			if err != nil {
				panic(err) // the first one could be made
			}
			cfg.Warmup = f.Repaired[at.pool.index].Warmup
			return cfg
		}}
	}
	if len(configs) == 1 {
		n.engines.engine = engine.New(at.first, configs[0])
		n.shown[0].engine = n.engines.engine
		return n, nil
	}
	n.engines.ranks = engine.NewRanks(of.Ranks, func(rank int) (int, engine.Config) { return at.first + rank, configs[rank] })
	for k := range n.engines.ranks.Endpoints {
		n.shown[k].engine = &n.engines.ranks.Endpoints[k]
	}
	if len(n.shown) > len(at.places) {
		n.shown[len(at.places)].engine = n.engines.ranks.Whole()
	}
	return n, nil
}
