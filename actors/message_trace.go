package actors

import (
	"math/bits"

	"blis/engine"
	"blis/lookahead"
	"blis/policy"
	"blis/vtime"
)

// Messages to the tracer, which sits with the collector. Each is stamped with
// the instant of what it is about and with a class after that of the event, so
// the tracer hears of everything in one order on any number of workers: within
// an instant admission, routing, what instances do, ends of requests, scaling.
// Of ends it hears what the collector does. The others are silent: digests know
// nothing of them.

// Kinds of these messages.
const (
	kindTracedAdmission  lookahead.Kind = lookahead.Silent + iota // router: an admission decision
	kindTracedRouting                                             // router: priority and routing decision
	kindTracedScale                                               // autoscaler: an evaluation
	kindTracedStep                                                // instance: a step that was formed
	kindTracedPreemption                                          // instance: a preemption
	kindTracedAnomaly                                             // instance: an anomaly
	kindTracedInversion                                           // router: a class inversion
)

// tracedRequest is the request that a decision is about.
type tracedRequest = engine.Delivery

// sendTracedAdmission tells of an admission decision at now.
func sendTracedAdmission(out *lookahead.Outbox, now vtime.Time, d *tracedRequest, a *policy.AdmissionDecision) {
	fields := 3
	if a.Verdict == policy.Delay {
		fields++
	}
	out.Begin(collectorID, lookahead.Key{At: now, Class: vtime.ClassRouting}, kindTracedAdmission, fields)
	out.Int(d.ID)
	out.Uint(who(d))
	out.Uint(uint64(a.Verdict)<<8 | uint64(a.Reason))
	if a.Verdict == policy.Delay {
		out.Int(int64(a.Wait))
	}
	out.End()
}

// who is tenant, class and prompt length of a request in one word.
func who(d *tracedRequest) uint64 {
	return uint64(d.Input)<<32 | uint64(d.Tenant)<<16 | uint64(d.Class)
}

// sendTracedInversion tells that request id got a higher priority at now than a
// more urgent one.
func sendTracedInversion(out *lookahead.Outbox, now vtime.Time, id int64, x policy.ClassInversion) {
	out.Begin(collectorID, lookahead.Key{At: now, Class: vtime.ClassDelivery}, kindTracedInversion, 3)
	out.Int(x.Urgent)
	out.Int(id)
	out.Float(x.By)
	out.End()
}

// tracedRouting is a routing decision on its way to the tracer.
type tracedRouting struct {
	decided
	reason      policy.Reason
	hit         int32 // expected at the target; −1: nobody expects
	signals     policy.Signals
	score, best float64     // of the target and of the best candidate
	candidates  []candidate // the best of them
	explain     policy.Explainer
	shares      int // that the score of a candidate has; 0: they are not told
	scratch     *[]float64
	snapshots   bool
}

// Flags in the message of a routing decision.
const (
	flagForced = 1 << iota
	flagMoved  // its priority is that of before
	flagCounterfactual
	flagExplained
)

// send sends it: what every decision has, then candidates, then snapshots of
// all instances.
func (t *tracedRouting) send(out *lookahead.Outbox, now vtime.Time, d *tracedRequest, view *policy.View, counterfactual bool) {
	flags, fields := uint64(0), 6
	if t.forced {
		flags |= flagForced
	}
	if t.moved {
		flags |= flagMoved
	}
	if counterfactual {
		flags |= flagCounterfactual
	}
	if t.explain != nil {
		flags |= flagExplained
	}
	signals := bits.OnesCount32(uint32(t.signals))
	if counterfactual {
		fields += 3 + len(t.candidates)*(2+t.shares+signals)
	}
	if t.snapshots {
		fields += view.Len() * (1 + signals)
	}
	out.Begin(collectorID, lookahead.Key{At: now, Class: vtime.ClassDelivery}, kindTracedRouting, fields)
	out.Int(d.ID)
	out.Uint(who(d))
	out.Uint(flags<<8 | uint64(t.reason))
	out.Float(d.Priority)
	out.Int(int64(t.target))
	out.Int(int64(t.hit))
	if counterfactual {
		t.sendCandidates(out, view)
	}
	for i := 0; t.snapshots && i < view.Len(); i++ {
		routable := uint64(0)
		if view.Routable(i) {
			routable = 1
		}
		out.Uint(routable)
		t.sendSignals(out, view.Slot(i))
	}
	out.End()
}

func (t *tracedRouting) sendCandidates(out *lookahead.Outbox, view *policy.View) {
	out.Float(t.score)
	out.Float(t.best)
	out.Int(int64(len(t.candidates)))
	for _, c := range t.candidates {
		out.Int(int64(c.instance))
		out.Float(c.score)
		if t.explain != nil {
			*t.scratch = t.explain.Explain(c.instance, (*t.scratch)[:0])
			for _, share := range (*t.scratch)[:t.shares] {
				out.Float(share)
			}
		}
		t.sendSignals(out, view.Slot(c.instance))
	}
}

// tracedSignals are those that candidates and snapshots have, in the order of
// the message.
var tracedSignals = [...]policy.Signals{policy.QueueDepth, policy.BatchSize, policy.InFlight, policy.KVUse}

func (t *tracedRouting) sendSignals(out *lookahead.Outbox, s policy.Slot) {
	for i, v := range [...]int64{int64(s.Queue), int64(s.Batch), int64(s.InFlight), s.Used} {
		if t.signals&tracedSignals[i] != 0 {
			out.Int(v)
		}
	}
}

// sendTracedScale tells of an evaluation that wants so many instances; turned is
// how long ago the last change was, in the other direction, −1 if there was
// none within the window.
func sendTracedScale(out *lookahead.Outbox, e *ScaleEvent, wanted, ready int32, turned vtime.Duration) {
	out.Begin(collectorID, lookahead.Key{At: e.At, Class: vtime.ClassScaleAction}, kindTracedScale, 6)
	out.Int(int64(e.From))
	out.Int(int64(e.To))
	out.Int(int64(wanted))
	out.Int(int64(ready))
	out.Uint(uint64(e.Reason))
	out.Int(int64(turned))
	out.End()
}

// instanceTracer tells the tracer what an engine does in a step.
type instanceTracer struct{ *instance }

var _ engine.Observer = instanceTracer{}

// Formed implements engine.Observer.
func (t instanceTracer) Formed(now vtime.Time, s engine.Step) {
	t.begin(now, kindTracedStep, 6)
	t.out.Int(int64(s.Running))
	t.out.Int(int64(s.Waiting))
	t.out.Int(s.PrefillTokens)
	t.out.Int(s.DecodeTokens)
	t.out.Int(int64(s.Used))
	t.out.Int(int64(s.End))
	t.out.End()
}

// Preempted implements engine.Observer.
func (t instanceTracer) Preempted(now vtime.Time, p engine.Preemption) {
	t.begin(now, kindTracedPreemption, 4)
	t.out.Int(p.Request)
	t.out.Int(p.For)
	t.out.Int(int64(p.Computed))
	t.out.Int(int64(p.Free))
	t.out.End()
}

// Anomaly implements engine.Observer.
func (t instanceTracer) Anomaly(now vtime.Time, o engine.Anomaly) {
	t.begin(now, kindTracedAnomaly, 2+len(o.Requests))
	t.out.Uint(uint64(o.Kind))
	t.out.Float(o.Severity)
	for _, id := range o.Requests {
		t.out.Int(id)
	}
	t.out.End()
}

// begin begins a message about a step at now.
func (t instanceTracer) begin(now vtime.Time, kind lookahead.Kind, fields int) {
	t.out.Begin(collectorID, lookahead.Key{At: now, Class: vtime.ClassStep + 1}, kind, fields)
}
