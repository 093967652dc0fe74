package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
)

// Requests that are lost with their instance: the router routes them again, or their clients send
// them again, or they have failed.

// attempts counts how often a request was tried again.
type attempts struct{ byRouter, byClient int64 }

// FailureCounts counts what became of requests that were lost with their instances.
type FailureCounts struct {
	CutOff     int64 // attempts that were lost with their instance, or refused by one that was down, or whose pull failed
	PullFailed int64 // of them, those whose pull of KV failed
	Refused    int64 // of them, delivered while it was down
	Unplaced   int64 // requests that were to be routed again and found no instance, each time
	Redirected int64 // requests that the router routed again, each time
	Resent     int64 // requests that clients sent again, each time
	Retried    int64 // requests that were tried again at least once
	Recovered  int64 // of them, completed
	Failed     int64 // requests that were not tried again
	TimedOut   int64 // requests whose deadline had passed when they were lost
	LostTokens int64 // tokens whose KV was on an instance when it crashed
}

// receiveCutOff receives a request that was lost with its instance.
func receiveCutOff(r *router, m *lookahead.Message, out *lookahead.Outbox) {
	i, now, f := r.held.add(), m.Stamp.At, r.failures
	d := &r.held.requests[i]
	*d = engine.Delivery{Request: workload.Request{Terms: workload.Terms{Spans: d.Spans}}, Hints: d.Hints}
	l := new(lost)
	readCutOff(&m.Body, d, l)
	d.Turn = 0
	from := r.fleet.ranks[l.from]
	f.counts.CutOff++
	switch t := l.tokens; t {
	case itsPullFailed:
		f.counts.PullFailed++
	case wasRefused:
		f.counts.Refused++
	default:
		f.counts.LostTokens += int64(t)
	}
	r.tracing.lost(out, traceCutOff, int(l.from), d)
	r.held.transfers[i] = &l.transfer
	from.left()
	from.requestLeft(now)
	from.pool.deployment.service.flow.returned(d.ID, now)
	r.coordinator.ended(d.ID, now)
	r.goOn(i, now, l.reason(), out)
}

// goOn decides what becomes of request i, which is lost at now for a reason: routed again, sent again by its client, or
// failed. Without a reason it was to be routed again and found no instance.
func (r *router) goOn(i int32, now vtime.Time, why metrics.Reason, out *lookahead.Outbox) {
	d, t, f := &r.held.requests[i], r.held.transfers[i], r.failures
	routable := why != metrics.NoReason
	if !routable {
		why = metrics.InstanceLost
		f.counts.Unplaced++
	}
	if d.Deadline <= now {
		f.counts.TimedOut++
		endLost(r, i, metrics.TimedOut, metrics.NoReason, now, out)
		return
	}
	a := f.attempts[d.ID]
	if a == nil {
		a = new(attempts)
		f.attempts[d.ID] = a
	}
	how := &f.plan.Retry
	switch {
	case routable && a.byRouter < how.Router && (t.FirstToken == vtime.Never || how.Migrate):
		a.byRouter++
		f.counts.Redirected++
		f.retry(d)
		decideAnew(r, i)
		r.held.plan(&r.held.route, i, now.Add(how.Redirect).Add(r.routingLatency))
	case a.byClient < how.Client:
		wait := how.Wait(a.byClient)
		a.byClient++
		f.counts.Resent++
		f.retry(d)
		r.describe(d, metrics.Failed, why, now)
		r.describeTransfer(t)
		r.recorder.Lose(&r.outcome)
		r.tell(d.Model, func(s *policy.RouterState) { s.End(d.Tenant, false, now) })
		r.fleet.publish(d.Model, func(p *published) { p.end(d.Tenant, false, now) })
		d.Admitted, d.Expected, d.HandOver = vtime.Never, 0, metrics.NoHandOver()
		delete(r.held.transfers, i)
		r.held.plan(&r.held.retry, i, now.Add(wait))
	default:
		f.counts.Failed++
		endLost(r, i, metrics.Failed, why, now, out)
	}
}

// endLost ends request i, which was lost with its instance.
func endLost(r *router, i int32, state metrics.State, reason metrics.Reason, now vtime.Time, out *lookahead.Outbox) {
	r.end(i, state, reason, now, out)
	r.fleet.noteEvent(now, out)
}

// retry counts that d is tried again.
func (f *failures) retry(d *engine.Delivery) {
	if d.Retries++; d.Retries == 1 {
		f.counts.Retried++
	}
}

// arriveAgain is the arrival of a request that its client sends again: with its number, its first
// arrival, its deadline and its priority.
func (r *router) arriveAgain(now vtime.Time, out *lookahead.Outbox) {
	i := r.held.retry.pop()
	d := &r.held.requests[i]
	r.tracing.lost(out, traceRetry, -1, d)
	r.enter(i, now, out)
}

// reactLost is the Key of the earliest event that a notice at k of a lost request can cause.
func (c *cluster) reactLost(k lookahead.Key) lookahead.Key {
	r := c.router
	how := &r.failures.plan.Retry
	first := lookahead.Earliest(r.fleet.called(k.At), reactGates(r, k))
	if r.loop != nil {
		first = lookahead.Earliest(first, r.loop.react(k))
	}
	if how.Router > 0 {
		first = lookahead.Earliest(first, lookahead.Key{At: k.At.Add(how.Redirect).Add(r.routingLatency), Class: vtime.ClassRouting})
	}
	if how.Client > 0 {
		first = lookahead.Earliest(first, lookahead.Key{At: k.At.Add(how.Backoff).Add(r.admissionLatency), Class: vtime.ClassAdmission})
	}
	return first
}

// reply is the Key of the earliest notice of a lost request that can follow from a message to an
// instance: of a crash, or of a request to one that is down, or whose pull fails.
func (f *failures) reply(k lookahead.Key) lookahead.Key {
	if f.exposed > 0 || k.At <= f.lastLoss.Add(1) {
		return lookahead.Key{At: k.At, Class: vtime.ClassNotice}
	}
	if f.leastPull == vtime.Duration(vtime.Never) {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: k.At.Add(f.leastPull), Class: vtime.ClassNotice}
}

// note notes that pulls may fail at now + 1.
func (f *failures) note(now vtime.Time) {
	if f != nil {
		f.lastLoss = now
	}
}

// leastFailingPull returns the least time from a message to an instance until a request fails since its pull does; vtime.Never:
// none does.
func leastFailingPull(p *setup.Plan) vtime.Duration {
	least := vtime.Duration(vtime.Never)
	for i := range p.Deployments {
		switch how := p.Deployments[i].PD; {
		case how == nil || how.Recompute:
		case how.SharedLink && how.FailureRate > 0: // a message says when a pull ends
			return 0
		default:
			least = min(least, how.Pull.Latency())
		}
	}
	return least
}
