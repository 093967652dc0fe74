package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// Messages to the tracer, which sits with the collector. Each is stamped with
// the instant of what it is about and with a class after that of the event, so
// the tracer hears of everything in one order on any number of workers: within
// an instant admission, routing, what instances do, ends of requests, scaling.
// Of ends it hears what the collector does. The others are silent: digests know
// nothing of them.

// Kinds of these messages.
const (
	kindTracedAdmission      lookahead.Kind = lookahead.Silent + iota // router: an admission decision
	kindTracedRouting                                                 // router: priority and routing decision
	kindTracedScale                                                   // autoscaler: an evaluation
	kindTracedStep                                                    // instance: a step that was formed
	kindTracedPreemption                                              // instance: a preemption
	kindTracedAnomaly                                                 // instance: an anomaly
	kindTracedInversion                                               // router: a class inversion
	kindTracedTransfer                                                // instance: a transfer of KV
	kindTracedFailure                                                 // router: something about a failure
	kindTracedBackpressure                                            // router: a hand-over while many prefills await their pull
	kindTracedNoCapacity                                              // router: no node has room for an instance that is wanted
	kindTracedDisaggregation                                          // router: a step of a request whose prompt and output may be of two instances
	kindTracedExpiry                                                  // instance: KV that was not pulled in time
	kindDispatched                                                    // router: a request that leaves the queue of a gateway; for rows
)

// writeSubject writes the request that a decision is about: its number, then
// tenant, class and prompt length in one word.
func writeSubject(out *lookahead.Outbox, r *workload.Identity) {
	out.Int(r.ID)
	out.Uint(uint64(r.Input)<<32 | uint64(r.Tenant)<<16 | uint64(r.Class))
}

func readSubject(b *lookahead.Decoder) (r workload.Identity) {
	r.ID = b.Int()
	word := b.Uint()
	r.Input, r.Tenant, r.Class = int32(word>>32), workload.Label(word>>16), workload.Label(word)
	return r
}

// sendTracedAdmission sends an admission decision at now.
func sendTracedAdmission(out *lookahead.Outbox, now vtime.Time, r *workload.Identity, a *policy.AdmissionDecision) {
	fields := 3
	if a.Verdict == policy.Delay {
		fields++
	}
	out.Begin(collectorID, lookahead.Key{At: now, Class: vtime.ClassRouting}, kindTracedAdmission, fields)
	writeSubject(out, r)
	out.Uint(uint64(a.Verdict)<<8 | uint64(a.Reason))
	if a.Verdict == policy.Delay {
		out.Int(int64(a.Wait))
	}
	out.End()
}

func readTracedAdmission(b *lookahead.Decoder) (r workload.Identity, a policy.AdmissionDecision) {
	r = readSubject(b)
	word := b.Uint()
	a.Verdict, a.Reason = policy.Verdict(word>>8), policy.Reason(word)
	if b.Left() > 0 {
		a.Wait = vtime.Duration(b.Int())
	}
	mustDecode(b)
	return r, a
}

// sendTracedInversion says that request id got a higher priority at now than a
// more urgent one.
func sendTracedInversion(out *lookahead.Outbox, now vtime.Time, id int64, x policy.ClassInversion) {
	out.Begin(collectorID, lookahead.Key{At: now, Class: vtime.ClassDelivery}, kindTracedInversion, 3)
	out.Int(x.Urgent)
	out.Int(id)
	out.Float(x.By)
	out.End()
}

func readTracedInversion(b *lookahead.Decoder) (id int64, x policy.ClassInversion) {
	x.Urgent = b.Int()
	id = b.Int()
	x.By = b.Float()
	mustDecode(b)
	return id, x
}

// tracedScale is an evaluation of the autoscaler on its way to the tracer.
type tracedScale struct {
	pool                    int
	from, to, wanted, ready int32
	reason                  policy.Reason
	turned                  vtime.Duration // since the last change, if that was in the other direction and within the window; else −1
}

func sendTracedScale(out *lookahead.Outbox, now vtime.Time, e *tracedScale) {
	out.Begin(collectorID, lookahead.Key{At: now, Class: vtime.ClassScaleAction}, kindTracedScale, 7)
	out.Int(int64(e.pool))
	out.Int(int64(e.from))
	out.Int(int64(e.to))
	out.Int(int64(e.wanted))
	out.Int(int64(e.ready))
	out.Uint(uint64(e.reason))
	out.Int(int64(e.turned))
	out.End()
}

func readTracedScale(b *lookahead.Decoder) (e tracedScale) {
	e.pool = int(b.Int())
	e.from = int32(b.Int())
	e.to = int32(b.Int())
	e.wanted = int32(b.Int())
	e.ready = int32(b.Int())
	e.reason = policy.Reason(b.Uint())
	e.turned = vtime.Duration(b.Int())
	mustDecode(b)
	return e
}

// rankTracer sends the tracer what an engine does in a step.
type rankTracer struct{ *rank }

var _ engine.Observer = rankTracer{}

// Formed implements engine.Observer.
func (t rankTracer) Formed(now vtime.Time, f *engine.Formation) {
	if !f.Empty() {
		sendTracedStep(t.instance.out, t.index, now, &f.Step)
	}
}

// Preempted implements engine.Observer.
func (t rankTracer) Preempted(now vtime.Time, p engine.Preemption) {
	sendTracedPreemption(t.instance.out, t.index, now, &p)
}

// Transferred implements engine.Observer.
func (t rankTracer) Transferred(now vtime.Time, x engine.Transfer) {
	sendTracedTransfer(t.instance.out, t.index, now, &x)
}

// Expired implements engine.Observer.
func (t rankTracer) Expired(now vtime.Time, request int64, blocks int32) {
	sendTracedExpiry(t.instance.out, t.index, now, request, blocks)
}

// Anomaly implements engine.Observer.
func (t rankTracer) Anomaly(now vtime.Time, a engine.Anomaly) {
	sendTracedAnomaly(t.instance.out, t.index, now, &a)
}

// beginInStep begins a message about a step of a rank at now. A time-out may lead to a pass, which is
// later than steps of that microsecond.
func beginInStep(out *lookahead.Outbox, rank int, now vtime.Time, kind lookahead.Kind, fields int) {
	k := lookahead.Key{At: now, Class: vtime.ClassStep + 1}
	if !out.Cause().Less(k) {
		k = out.Cause().Next()
	}
	out.Begin(collectorID, k, kind, 1+fields)
	out.Int(int64(rank))
}

// sendTracedStep sends a step without its start, which no record has.
func sendTracedStep(out *lookahead.Outbox, rank int, now vtime.Time, s *engine.Step) {
	beginInStep(out, rank, now, kindTracedStep, 6)
	out.Int(int64(s.Running))
	out.Int(int64(s.Waiting))
	out.Int(s.PrefillTokens)
	out.Int(s.DecodeTokens)
	out.Int(int64(s.Used))
	out.Int(int64(s.End))
	out.End()
}

func readTracedStep(b *lookahead.Decoder) (s engine.Step) {
	s.Running = int32(b.Int())
	s.Waiting = int32(b.Int())
	s.PrefillTokens = b.Int()
	s.DecodeTokens = b.Int()
	s.Used = int(b.Int())
	s.End = vtime.Time(b.Int())
	mustDecode(b)
	return s
}

func sendTracedPreemption(out *lookahead.Outbox, rank int, now vtime.Time, p *engine.Preemption) {
	beginInStep(out, rank, now, kindTracedPreemption, 4)
	out.Int(p.Request)
	out.Int(p.For)
	out.Int(int64(p.Computed))
	out.Int(int64(p.Free))
	out.End()
}

func readTracedPreemption(b *lookahead.Decoder) (p engine.Preemption) {
	p.Request = b.Int()
	p.For = b.Int()
	p.Computed = int32(b.Int())
	p.Free = int(b.Int())
	mustDecode(b)
	return p
}

func sendTracedTransfer(out *lookahead.Outbox, rank int, now vtime.Time, t *engine.Transfer) {
	fields := 7
	if t.From != 0 {
		fields++
	}
	beginInStep(out, rank, now, kindTracedTransfer, fields)
	out.Int(t.Request)
	out.Uint(uint64(t.Storage)<<8 | uint64(t.Way))
	out.Int(int64(t.Blocks))
	out.Int(int64(t.Submitted))
	out.Int(int64(t.Start))
	out.Int(int64(t.End))
	out.Int(int64(t.Noticed))
	if t.From != 0 {
		out.Int(t.From)
	}
	out.End()
}

func readTracedTransfer(b *lookahead.Decoder) (t engine.Transfer) {
	t.Request = b.Int()
	way := b.Uint()
	t.Way, t.Storage = engine.TransferWay(way), int32(way>>8)
	t.Blocks = int32(b.Int())
	t.Submitted = vtime.Time(b.Int())
	t.Start = vtime.Time(b.Int())
	t.End = vtime.Time(b.Int())
	t.Noticed = vtime.Time(b.Int())
	if b.Left() > 0 {
		t.From = b.Int()
	}
	mustDecode(b)
	return t
}

func sendTracedAnomaly(out *lookahead.Outbox, rank int, now vtime.Time, a *engine.Anomaly) {
	beginInStep(out, rank, now, kindTracedAnomaly, 2+len(a.Requests))
	out.Uint(uint64(a.Kind))
	out.Float(a.Severity)
	for _, id := range a.Requests {
		out.Int(id)
	}
	out.End()
}

// readTracedAnomaly uses the memory of a.Requests again.
func readTracedAnomaly(b *lookahead.Decoder, a *engine.Anomaly) {
	a.Kind = engine.AnomalyKind(b.Uint())
	a.Severity = b.Float()
	a.Requests = a.Requests[:0]
	for b.Left() > 0 {
		a.Requests = append(a.Requests, b.Int())
	}
	mustDecode(b)
}
