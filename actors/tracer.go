package actors

import (
	"cmp"
	"fmt"
	"slices"

	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/trace"
	"blis/vtime"
	"blis/workload"
)

// tracer makes the records of a trace from the messages that the collector gets, and
// hands them on. Its memory does not grow with the run.
type tracer struct {
	consumer trace.Consumer
	err      error // first error of the consumer, which gets no more records then
	level    trace.Level
	shown    policy.Signals
	named    [][]string        // scorers of the routing policies, by pool
	expects  bool              // the router expects prefix hits
	options  []metrics.Options // by pool
	row      Row
	labels   *workload.Labels
	fleet    *fleet

	// The records, whose memory is used again, and the values that they point to.
	admission      trace.Admission
	priority       trace.Priority
	routing        trace.Routing
	scale          trace.Scale
	disaggregation trace.Disaggregation
	batch          trace.Batch
	preemption     trace.Preemption
	transfer       trace.Transfer
	failure        trace.Failure
	anomaly        trace.Anomaly
	outcome        trace.Outcome
	store          struct {
		wait, ttft, tpot, e2e vtime.Duration
		instance, target      int
		request               int64
		retries               int32
		score, best, regret   float64
		hit, cached, blocks   int32
		met                   bool
		tier                  string
		candidates            []seenCandidate
		list                  []trace.Candidate
		filtered              []int
		hints                 []trace.Hint
		snapshots             trace.Snapshots
		known                 knownState
		requests              []int64
	}
	unfinished []metrics.Outcome
	last       vtime.Time // of the last message: checks of autoscalers may come after the end of a run
}

// seenCandidate has the values that a candidate points to.
type seenCandidate struct {
	signals [3]int32
	used    int64
	shares  []trace.Breakdown
}

// newTracer makes the tracer of a run.
func newTracer(p *setup.Plan, asked *Tracing, t *tracing, options []metrics.Options, of *fleet) *tracer {
	labels := p.Source.Labels()
	x := &tracer{
		consumer: asked.Consumer, level: t.level, shown: t.shown, named: t.named, expects: options[0].BlockSize > 0, options: options, labels: labels,
		fleet: of, row: Row{labels: labels},
	}
	x.store.hints = namedHints(t.hints)
	return x
}

// take makes the records of a message.
func (t *tracer) take(m *lookahead.Message) {
	at, b := m.Stamp.At, &m.Body
	t.last = max(t.last, at)
	switch m.Kind {
	case kindTracedAdmission:
		t.admit(at, b)
	case kindTracedRouting:
		t.route(at, b)
	case kindTracedScale:
		t.evaluate(at, b)
	case kindTracedStep:
		t.form(at, m.Stamp.Source, b)
	case kindTracedPreemption:
		t.preempt(at, m.Stamp.Source, b)
	case kindTracedTransfer:
		t.move(at, m.Stamp.Source, b)
	case kindTracedAnomaly:
		t.odd(at, m.Stamp.Source, b)
	case kindTracedInversion:
		t.inverted(at, b)
	case kindTracedFailure:
		t.fail(at, b)
	case kindTracedBackpressure:
		t.pressed(at, b)
	case kindTracedNoCapacity:
		t.lacks(at, b)
	case kindTracedDisaggregation:
		t.disaggregated(at, b)
	case kindTracedExpiry:
		t.expired(at, m.Stamp.Source, b)
	}
}

// give hands a record on.
func (t *tracer) give(r trace.Record) {
	if t.err == nil {
		t.err = t.consumer.Consume(r)
	}
}

var verdictNames = [...]string{policy.Admit: "admit", policy.Reject: "reject", policy.Delay: "delay"}

func (t *tracer) admit(at vtime.Time, b *lookahead.Decoder) {
	subject, a := readTracedAdmission(b)
	if int(a.Verdict) >= len(verdictNames) {
		a.Verdict = policy.Reject // as the router takes it
	}
	r := &t.admission
	*r = trace.Admission{
		Type: "admission", At: at, Request: subject.ID, Tenant: t.tenant(&subject), Class: t.class(&subject), Input: subject.Input,
		Verdict: verdictNames[a.Verdict], Reason: a.Reason.String(),
	}
	if a.Verdict == policy.Delay {
		t.store.wait = a.Wait
		r.Delay = &t.store.wait
	}
	t.give(r)
}

func (t *tracer) tenant(r *workload.Identity) string { return t.labels.Tenants.Name(r.Tenant) }
func (t *tracer) class(r *workload.Identity) string  { return t.labels.Classes.Name(r.Class) }

// route makes two records: the priority, unless the request had one, and the
// routing decision.
func (t *tracer) route(at vtime.Time, b *lookahead.Decoder) {
	r := &t.routing
	if again := t.readRouting(at, b, r); !again {
		t.priority = trace.Priority{Type: "priority", At: at, Request: r.Request, Class: r.Class, Priority: r.Priority, Hints: r.Hints}
		t.give(&t.priority)
	}
	t.give(r)
}

func (t *tracer) evaluate(at vtime.Time, b *lookahead.Decoder) {
	r := &t.scale
	e := readTracedScale(b)
	*r = trace.Scale{Type: "scale", At: at, Pool: t.fleet.pools[e.pool].name, Action: "hold", From: e.from, To: e.to, Wanted: e.wanted, Ready: e.ready, Reason: e.reason.String()}
	if r.To > r.From {
		r.Action = "up"
	} else if r.To < r.From {
		r.Action = "down"
	}
	t.give(r)
	if e.turned >= 0 && t.level == trace.Detailed {
		t.anomalous(at, "scale_oscillation", "", -1, float64(e.turned))
	}
}

// source returns the rank from which a message about a step came.
func (t *tracer) source(of uint32, b *lookahead.Decoder) (number int) {
	return t.fleet.servers[int(of)-int(lookahead.FirstLeaf)].first + int(b.Int())
}

func (t *tracer) form(at vtime.Time, source uint32, b *lookahead.Decoder) {
	of := t.source(source, b)
	x := readTracedStep(b)
	t.batch = trace.Batch{
		Type: "batch", At: at, Instance: of, Running: x.Running, Waiting: x.Waiting,
		PrefillTokens: int32(x.PrefillTokens), DecodeTokens: int32(x.DecodeTokens), UsedBlocks: int64(x.Used), End: x.End,
	}
	t.give(&t.batch)
}

func (t *tracer) preempt(at vtime.Time, source uint32, b *lookahead.Decoder) {
	of := t.source(source, b)
	x := readTracedPreemption(b)
	t.preemption = trace.Preemption{
		Type: "preemption", At: at, Instance: of, Request: x.Request, For: x.For, Computed: x.Computed, Free: int32(x.Free),
	}
	t.give(&t.preemption)
}

func (t *tracer) move(at vtime.Time, source uint32, b *lookahead.Decoder) {
	number := t.source(source, b)
	x := readTracedTransfer(b)
	of := t.fleet.ranks[number].pool.plan
	t.transfer = trace.Transfer{
		Type: "kv_transfer", At: at, Instance: number, Request: x.Request, Reason: "offload", From: "gpu", To: "cpu", Blocks: x.Blocks,
		Bytes: int64(x.Blocks) * of.BlockBytes(), Submitted: x.Submitted, Start: x.Start, End: x.End, Noticed: x.Noticed,
	}
	switch r := &t.transfer; x.Way {
	case engine.WayReload:
		r.Reason, r.From, r.To = "reload", "cpu", "gpu"
	case engine.WayPromote:
		r.Reason, r.From, r.To = "promotion", of.Storage[x.Storage].Name, "cpu"
	case engine.WayPull:
		r.Reason, r.From, r.To = "pd", t.fleet.name(int(readIncarnation(x.From).instance)), t.fleet.name(r.Instance)
	case engine.WayWrite:
		r.From, r.To = "cpu", of.Storage[x.Storage].Name
	}
	t.give(&t.transfer)
}

// anomalyNames are the names of the anomalies of instances.
var anomalyNames = [...]string{engine.PriorityInversion: "priority_inversion", engine.HeadOfLineBlocking: "head_of_line_blocking",
	engine.BlockedHead: "blocked_head", engine.PreemptionStorm: "preemption_storm", engine.KVThrashing: "kv_thrashing"}

func (t *tracer) odd(at vtime.Time, source uint32, b *lookahead.Decoder) {
	of := t.source(source, b)
	x := engine.Anomaly{Requests: t.store.requests}
	readTracedAnomaly(b, &x)
	t.store.requests = x.Requests
	t.anomalous(at, anomalyNames[x.Kind], "", of, x.Severity, x.Requests...)
}

func (t *tracer) inverted(at vtime.Time, b *lookahead.Decoder) {
	id, x := readTracedInversion(b)
	t.store.requests = append(t.store.requests[:0], x.Urgent, id)
	t.anomalous(at, "class_inversion", "", -1, x.By, t.store.requests...)
}

// anomalous gives the record of an anomaly; instance is −1 for none.
func (t *tracer) anomalous(at vtime.Time, name, detail string, instance int, severity float64, requests ...int64) {
	t.store.instance = instance
	t.anomaly = trace.Anomaly{Type: "anomaly", At: at, Name: name, Detail: detail, Requests: requests, Severity: severity}
	if instance >= 0 {
		t.anomaly.Instance = &t.store.instance
	}
	if requests == nil {
		t.anomaly.Requests = []int64{}
	}
	t.give(&t.anomaly)
}

// end gives the outcome of a request and its anomalies: when it ends, or at the end
// of the run.
func (t *tracer) end(at vtime.Time, o *metrics.Outcome) {
	r, s := &t.outcome, &t.store
	t.row.Outcome, t.row.options = o, &t.options[o.Pool]
	found := o.Lookup()
	*r = trace.Outcome{Type: "outcome", At: at, Request: o.ID, State: o.State.String(), Reason: o.Reason.String(),
		Tenant: t.row.TenantName(), Class: t.row.ClassName(), Arrival: o.Arrival, Generated: o.Generated, Preempted: o.Preemptions + o.HandOver.Preemptions}
	if s.instance = int(o.Instance); s.instance >= 0 {
		r.Instance = &s.instance
		if s.hit = found.Expected; t.expects {
			r.Expected = &s.hit
		}
	}
	var has bool
	if s.ttft, has = t.row.TTFT(); has {
		r.TTFT = &s.ttft
	}
	if s.tpot, has = t.row.TPOT(); has {
		r.TPOT = &s.tpot
	}
	if s.e2e, has = t.row.E2E(); has {
		r.E2E = &s.e2e
	}
	if o.Scheduled != vtime.Never {
		s.wait, s.cached = o.Scheduled.Sub(o.Queued), found.Cached
		r.QueueWait, r.ActualHit = &s.wait, &s.cached
		if s.tier = "gpu"; found.CPU > 0 {
			s.tier = "cpu"
		}
		if found.Storage > 0 {
			s.tier = "storage"
		}
		if found.Cached > 0 {
			r.Tier = &s.tier
		}
	}
	if has, s.met = t.row.options.Attained(o); has {
		r.SLOMet = &s.met
	}
	t.give(r)
	if t.level == trace.Detailed && t.row.options.InWindow(o.Arrival) {
		t.wrong(at, o)
	}
}

// wrong gives the anomalies of one request.
func (t *tracer) wrong(at vtime.Time, o *metrics.Outcome) {
	if t.row.options.Diverges(o) {
		l := o.Lookup()
		t.anomalous(at, "shadow_divergence", "", int(l.Instance), float64(max(l.Expected-l.Cached, l.Cached-l.Expected)), o.ID)
	}
	over := t.row.options.Exceeded(o)
	for _, x := range [...]struct {
		target string
		over   vtime.Duration
	}{{"ttft", over.TTFT}, {"tpot", over.TPOT}, {"e2e", over.E2E}} {
		if x.over > 0 {
			t.anomalous(at, "slo_violation", x.target, int(o.Instance), float64(x.over), o.ID)
		}
	}
}

// finish ends the trace of a run that ended at end, with the requests that have not
// ended, in order of arrival. Time does not go back to the end where autoscalers went on
// to check while KV was held for nobody.
func (t *tracer) finish(end vtime.Time, run *metrics.Run) {
	end = max(end, t.last)
	slices.SortFunc(t.unfinished, func(a, b metrics.Outcome) int { return cmp.Compare(a.ID, b.ID) })
	for i := range t.unfinished {
		t.end(end, &t.unfinished[i])
	}
	if t.level == trace.Detailed {
		for _, x := range metrics.ImbalancedInPools(run.Counters, run.Deployments) {
			t.anomalous(end, "queue_imbalance", "", x.Instance, x.Times)
		}
	}
}

// acceptUnfinished takes the outcome of a request that had not ended when the run
// did.
func (c *cluster) acceptUnfinished(o *metrics.Outcome) {
	c.collector.accept(o)
	if c.tracer != nil {
		c.tracer.unfinished = append(c.tracer.unfinished, *o)
	}
}

// traceError is the error of the trace's consumer, or nil.
func (c *cluster) traceError() error {
	if c.tracer == nil || c.tracer.err == nil {
		return nil
	}
	return fmt.Errorf("the trace is not complete: %w", c.tracer.err)
}

// ranksOf is the number of instances that a run begins with, counted by their data-parallel ranks.
func ranksOf(p *setup.Plan) (n int) {
	for _, s := range p.Pools {
		n += s.Instances * s.Ranks.Ranks
	}
	return n
}

// header is the first record of the trace.
func traceHeader(p *setup.Plan, asked *Tracing) *trace.Header {
	c := &p.Config
	name := func(custom bool, name string) string {
		if custom {
			return "custom"
		}
		return name
	}
	h := &trace.Header{
		Type: "header", Schema: trace.Schema, Level: asked.Level.String(), Seed: c.Seed, Instances: ranksOf(p),
		Admission: name(c.Custom.Admission != nil, c.AdmissionPolicy), Priority: name(c.Custom.Priority != nil, c.PriorityPolicy),
		Routing: name(c.Custom.Routing != nil, c.RoutingPolicy), Scheduler: name(c.Custom.Scheduler != nil, c.Scheduler),
		Autoscale: name(c.Custom.Autoscale != nil, c.AutoscalePolicy), Counterfactual: asked.Counterfactual, Targets: []trace.ClassTargets{},
	}
	some := func(d vtime.Duration) *vtime.Duration {
		if d == 0 {
			return nil
		}
		return &d
	}
	for _, t := range p.Targets {
		h.Targets = append(h.Targets, trace.ClassTargets{Class: t.Class, Tenant: t.Tenant, TTFT: some(t.TTFT), TPOT: some(t.TPOT), E2E: some(t.E2E)})
	}
	return h
}
