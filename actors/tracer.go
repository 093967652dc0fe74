package actors

import (
	"cmp"
	"slices"

	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/trace"
	"blis/vtime"
	"blis/workload"
)

// tracer makes the records of a trace out of what the collector is told and hands
// them on. Its memory does not grow with the run.
type tracer struct {
	consumer trace.Consumer
	err      error // the first of the consumer's: it gets no more
	level    trace.Level
	shown    policy.Signals
	named    []string // scorers
	expects  bool     // the router expects prefix hits
	options  metrics.Options
	row      Row
	labels   *workload.Labels

	// The records, whose memory is used again, and what they point to.
	admission  trace.Admission
	priority   trace.Priority
	routing    trace.Routing
	scale      trace.Scale
	batch      trace.Batch
	preemption trace.Preemption
	anomaly    trace.Anomaly
	outcome    trace.Outcome
	store      struct {
		wait, ttft, tpot, e2e vtime.Duration
		instance, target      int
		score, best, regret   float64
		hit, cached           int32
		met                   bool
		tier                  string
		candidates            []seenCandidate
		list                  []trace.Candidate
		snapshots             trace.Snapshots
		requests              []int64
	}
	unfinished []metrics.Outcome
}

// seenCandidate is what the pointers of a candidate point to.
type seenCandidate struct {
	signals [3]int32
	used    int64
	shares  []trace.Breakdown
}

// newTracer makes the tracer of a run with that router.
func (p *plan) newTracer(t *tracing, o metrics.Options) *tracer {
	labels := p.source.Labels()
	return &tracer{
		consumer: p.config.Tracing.Consumer, level: t.level, shown: t.shown, named: t.named, expects: o.BlockSize > 0, options: o, labels: labels,
		row: Row{labels: labels, options: &o, token: o.TokenOverhead, request: o.RequestOverhead},
	}
}

// tracer is what an instance tells its engine to report to; nil below detailed.
func (p *instance) tracer(level trace.Level) engine.Observer {
	if level != trace.Detailed {
		return nil
	}
	return instanceTracer{p}
}

// take makes records of a message.
func (t *tracer) take(m *lookahead.Message) {
	at, b := m.Stamp.At, &m.Body
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
	case kindTracedAnomaly:
		t.odd(at, m.Stamp.Source, b)
	case kindTracedInversion:
		t.inverted(at, b)
	}
}

// give hands a record on.
func (t *tracer) give(r trace.Record) {
	if t.err == nil {
		t.err = t.consumer.Take(r)
	}
}

var verdictNames = [...]string{policy.Admit: "admit", policy.Reject: "reject", policy.Delay: "delay"}

func (t *tracer) admit(at vtime.Time, b *lookahead.Decoder) {
	r := &t.admission
	*r = trace.Admission{Type: "admission", At: at, Request: b.Int()}
	r.Tenant, r.Class, r.Input = t.who(b.Uint())
	word := b.Uint()
	verdict := policy.Verdict(word >> 8)
	if int(verdict) >= len(verdictNames) {
		verdict = policy.Reject // as the router takes it
	}
	r.Verdict, r.Reason = verdictNames[verdict], policy.Reason(word).String()
	if verdict == policy.Delay {
		t.store.wait = vtime.Duration(b.Int())
		r.Delay = &t.store.wait
	}
	mustDecode(b)
	t.give(r)
}

// who is the names of tenant and class, and the prompt length.
func (t *tracer) who(word uint64) (tenant, class string, input int32) {
	return t.labels.Tenants.Name(workload.Label(word >> 16)), t.labels.Classes.Name(workload.Label(word)), int32(word >> 32)
}

// route makes two records: the priority, unless the request had one, and the
// routing decision.
func (t *tracer) route(at vtime.Time, b *lookahead.Decoder) {
	r, s := &t.routing, &t.store
	*r = trace.Routing{Type: "routing", At: at, Request: b.Int()}
	r.Tenant, r.Class, r.Input = t.who(b.Uint())
	word := b.Uint()
	flags := word >> 8
	r.Reason, r.Forced = policy.Reason(word).String(), flags&flagForced != 0
	r.Priority = b.Float()
	if flags&flagMoved == 0 {
		t.priority = trace.Priority{Type: "priority", At: at, Request: r.Request, Class: r.Class, Priority: r.Priority}
		t.give(&t.priority)
	}
	if s.target = int(b.Int()); s.target >= 0 {
		r.Target = &s.target
	}
	if s.hit = int32(b.Int()); s.hit >= 0 {
		r.ExpectedHit = &s.hit
	}
	if flags&flagCounterfactual != 0 {
		t.readCandidates(r, b, flags&flagExplained != 0)
	}
	if t.level == trace.Detailed {
		t.readSnapshots(b)
		r.Snapshots = &s.snapshots
	}
	mustDecode(b)
	t.give(r)
}

// readCandidates reads scores and candidates.
func (t *tracer) readCandidates(r *trace.Routing, b *lookahead.Decoder, explained bool) {
	s := &t.store
	s.score, s.best = b.Float(), b.Float()
	n := int(b.Int())
	if n > 0 {
		r.Best = &s.best
		if r.Target != nil {
			s.regret = max(0, s.best-s.score)
			r.Score, r.Regret = &s.score, &s.regret
		}
	}
	for len(s.candidates) < n {
		s.candidates = append(s.candidates, seenCandidate{shares: []trace.Breakdown{}})
	}
	s.list = s.list[:0]
	for i := range n {
		seen := &s.candidates[i]
		c := trace.Candidate{Instance: int(b.Int()), Score: b.Float()}
		seen.shares = seen.shares[:0]
		if explained {
			for _, name := range t.named {
				seen.shares = append(seen.shares, trace.Breakdown{Scorer: name, Share: b.Float()})
			}
		}
		c.Breakdown = seen.shares
		for k, p := range [...]**int32{&c.QueueDepth, &c.BatchSize, &c.InFlight} {
			if t.shown&tracedSignals[k] != 0 {
				seen.signals[k] = int32(b.Int())
				*p = &seen.signals[k]
			}
		}
		if t.shown&policy.KVUse != 0 {
			seen.used = b.Int()
			c.UsedBlocks = &seen.used
		}
		s.list = append(s.list, c)
	}
	r.Candidates = s.list
	if n == 0 {
		r.Candidates = []trace.Candidate{}
	}
}

// readSnapshots reads the signals of all instances, to the end of the message.
func (t *tracer) readSnapshots(b *lookahead.Decoder) {
	s := &t.store.snapshots
	s.Routable, s.QueueDepth, s.BatchSize, s.InFlight, s.UsedBlocks = s.Routable[:0], s.QueueDepth[:0], s.BatchSize[:0], s.InFlight[:0], s.UsedBlocks[:0]
	for b.Left() > 0 {
		s.Routable = append(s.Routable, b.Uint() == 1)
		for k, list := range [...]*[]int32{&s.QueueDepth, &s.BatchSize, &s.InFlight} {
			if t.shown&tracedSignals[k] != 0 {
				*list = append(*list, int32(b.Int()))
			}
		}
		if t.shown&policy.KVUse != 0 {
			s.UsedBlocks = append(s.UsedBlocks, b.Int())
		}
	}
}

func (t *tracer) evaluate(at vtime.Time, b *lookahead.Decoder) {
	r := &t.scale
	*r = trace.Scale{Type: "scale", At: at, Action: "hold", From: int32(b.Int()), To: int32(b.Int()), Wanted: int32(b.Int()), Ready: int32(b.Int())}
	r.Reason = policy.Reason(b.Uint()).String()
	turned := b.Int()
	mustDecode(b)
	if r.To > r.From {
		r.Action = "up"
	} else if r.To < r.From {
		r.Action = "down"
	}
	t.give(r)
	if turned >= 0 && t.level == trace.Detailed {
		t.anomalous(at, "scale_oscillation", "", -1, float64(turned))
	}
}

// instanceOf is the index of the instance that is the source of a message.
func instanceOf(source uint32) int { return int(source) - int(lookahead.FirstLeaf) }

func (t *tracer) form(at vtime.Time, source uint32, b *lookahead.Decoder) {
	t.batch = trace.Batch{Type: "batch", At: at, Instance: instanceOf(source), Running: int32(b.Int()), Waiting: int32(b.Int()),
		PrefillTokens: int32(b.Int()), DecodeTokens: int32(b.Int()), UsedBlocks: b.Int(), End: vtime.Time(b.Int())}
	mustDecode(b)
	t.give(&t.batch)
}

func (t *tracer) preempt(at vtime.Time, source uint32, b *lookahead.Decoder) {
	t.preemption = trace.Preemption{Type: "preemption", At: at, Instance: instanceOf(source), Request: b.Int(), For: b.Int(), Computed: int32(b.Int()), Free: int32(b.Int())}
	mustDecode(b)
	t.give(&t.preemption)
}

// anomalyNames are the names of the anomalies of instances.
var anomalyNames = [...]string{engine.PriorityInversion: "priority_inversion", engine.HeadOfLineBlocking: "head_of_line_blocking",
	engine.BlockedHead: "blocked_head", engine.PreemptionStorm: "preemption_storm"}

func (t *tracer) odd(at vtime.Time, source uint32, b *lookahead.Decoder) {
	name, severity := anomalyNames[b.Uint()], b.Float()
	t.store.requests = t.store.requests[:0]
	for b.Left() > 0 {
		t.store.requests = append(t.store.requests, b.Int())
	}
	mustDecode(b)
	t.anomalous(at, name, "", instanceOf(source), severity, t.store.requests...)
}

func (t *tracer) inverted(at vtime.Time, b *lookahead.Decoder) {
	t.store.requests = append(t.store.requests[:0], b.Int(), b.Int())
	by := b.Float()
	mustDecode(b)
	t.anomalous(at, "class_inversion", "", -1, by, t.store.requests...)
}

// anomalous gives an anomaly of an instance, −1 for none.
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

// end gives the outcome of a request, at the end of the run for those that have
// not ended, and what was wrong with it.
func (t *tracer) end(at vtime.Time, o *metrics.Outcome) {
	r, s := &t.outcome, &t.store
	t.row.Outcome = o
	*r = trace.Outcome{Type: "outcome", At: at, Request: o.ID, State: o.State.String(), Reason: o.Reason.String(),
		Tenant: t.row.TenantName(), Class: t.row.ClassName(), Arrival: o.Arrival, Generated: o.Generated, Preempted: o.Preemptions}
	if s.instance = int(o.Instance); s.instance >= 0 {
		r.Instance = &s.instance
		if s.hit = o.Expected; t.expects {
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
		s.wait, s.cached = o.Scheduled.Sub(o.Queued), o.Cached
		r.QueueWait, r.ActualHit = &s.wait, &s.cached
		if s.tier = "gpu"; o.Cached > 0 {
			r.Tier = &s.tier
		}
	}
	if has, s.met = t.options.Attained(o); has {
		r.SLOMet = &s.met
	}
	t.give(r)
	if t.level == trace.Detailed && t.options.Measures(o.Arrival) {
		t.wrong(at, o)
	}
}

// wrong gives the anomalies of one request.
func (t *tracer) wrong(at vtime.Time, o *metrics.Outcome) {
	if t.options.Diverges(o) {
		t.anomalous(at, "shadow_divergence", "", int(o.Instance), float64(max(o.Expected-o.Cached, o.Cached-o.Expected)), o.ID)
	}
	over := t.options.Beyond(o)
	for _, x := range [...]struct {
		target string
		over   vtime.Duration
	}{{"ttft", over.TTFT}, {"tpot", over.TPOT}, {"e2e", over.E2E}} {
		if x.over > 0 {
			t.anomalous(at, "slo_violation", x.target, int(o.Instance), float64(x.over), o.ID)
		}
	}
}

// finish ends the trace of a run that ended then, with those that have not in
// order of arrival.
func (t *tracer) finish(end vtime.Time, counters []metrics.Counters) {
	slices.SortFunc(t.unfinished, func(a, b metrics.Outcome) int { return cmp.Compare(a.ID, b.ID) })
	for i := range t.unfinished {
		t.end(end, &t.unfinished[i])
	}
	if t.level == trace.Detailed {
		for _, x := range metrics.Imbalanced(counters) {
			t.anomalous(end, "queue_imbalance", "", x.Instance, x.Times)
		}
	}
}
