package actors

import (
	"blis/lookahead"
	"blis/policy"
	"blis/vtime"
)

// autoscaler is the actor that asks the autoscale policy at every multiple of its
// interval, or when the router says, and tells the router the wanted number of
// instances. It is a control process: a check at T sees the state after all other
// events at T. It has eyes of its own: what instances publish for it, and what the
// router publishes. A check is a periodic event, before which the kernel lets all
// that comes first happen; so it announces no Observation.
type autoscaler struct {
	policy   policy.Autoscale
	trigger  *policy.Trigger // nil: every check asks the policy
	minGap   vtime.Duration  // least time between two evaluations that the trigger lets through
	asked    bool
	askedAt  vtime.Time     // last such evaluation, if asked
	interval vtime.Duration // 0: checks come when the router says
	next     vtime.Time     // next check; Never: none
	context  policy.AutoscaleContext

	cluster   clusterView        // the instances as it sees them
	state     policy.RouterState // the requests as the router publishes them
	published *published         // nil: the number of instances is fixed
	traced    bool
	pool      int           // its number
	seen      *observations // nil: the run is not recorded

	checks int64
	last   vtime.Time // last check
}

var (
	_ lookahead.Process  = (*autoscaler)(nil)
	_ lookahead.Periodic = (*autoscaler)(nil)
	_ lookahead.Folder   = (*autoscaler)(nil)
)

// skip leaves out the checks before t. Timestamps since 1970 would otherwise bring
// millions of checks.
func (a *autoscaler) skip(t vtime.Time) {
	if a.next < t && a.interval > 0 {
		more := (int64(t-a.next) - 1) / int64(a.interval) // besides the next one
		a.next = a.next.Add(vtime.Duration(more) * a.interval).Add(a.interval)
	}
}

// Next implements lookahead.Process: all its events are periodic.
func (a *autoscaler) Next() lookahead.Key { return lookahead.NeverKey }

// NextPeriodic implements lookahead.Periodic.
func (a *autoscaler) NextPeriodic() lookahead.Key {
	if a.next == vtime.Never {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: a.next, Class: vtime.ClassScale}
}

// Promise implements lookahead.Process: it sends to the router alone, at the Key
// after a check.
func (a *autoscaler) Promise() lookahead.Key { return a.NextPeriodic().Next() }

// Receive implements lookahead.Process: the router says when the next check is.
func (a *autoscaler) Receive(m *lookahead.Message, _ *lookahead.Outbox) {
	if m.Kind != kindEvaluate || a.next != vtime.Never {
		panic("actors: the autoscaler, which is to check at " + a.next.String() + ", received a message from " + m.Stamp.String())
	}
	a.next = readEvaluate(&m.Body)
}

// Advance implements lookahead.Process.
func (a *autoscaler) Advance(_ lookahead.Key, out *lookahead.Outbox) {
	for out.Execute(a.NextPeriodic()) {
		now := a.next
		if a.interval > 0 {
			a.next = a.next.Add(a.interval)
		} else {
			a.next = vtime.Never
		}
		a.last = now
		if a.fires(now, out) {
			a.checks++
			a.check(now, out)
		} else {
			a.askAgain(now, out)
		}
	}
}

// prepareView makes the context show signals at now.
func (a *autoscaler) prepareView(signals policy.Signals, now vtime.Time) {
	a.published.follow(&a.state, &a.cluster.view)
	if ofInstances(signals) {
		a.cluster.update(now)
	}
	a.cluster.view.Declared, a.state.Declared = signals, signals
	a.context.Now, a.context.Replicas, a.context.Ready = now, a.published.replicas, a.cluster.view.Ready()
	a.context.LastScale = a.published.lastScale()
	a.context.AtGateway = a.published.waiting
}

// fires reports whether the policy should be asked: without trigger always, else if
// a condition holds and the last evaluation is at least minGap ago. The conditions
// see every check.
func (a *autoscaler) fires(now vtime.Time, out *lookahead.Outbox) bool {
	if a.trigger == nil {
		return true
	}
	a.prepareView(a.trigger.Observes(), now)
	a.observe(out, seenAtTrigger, a.trigger.Observes())
	if !a.trigger.Fires(&a.context) || a.asked && now.Sub(a.askedAt) < a.minGap {
		return false
	}
	a.trigger.Asked(&a.context)
	a.asked, a.askedAt = true, now
	return true
}

// check asks the policy and tells the router the wanted number, within the bounds.
func (a *autoscaler) check(now vtime.Time, out *lookahead.Outbox) {
	a.prepareView(a.policy.Observes(), now)
	a.observe(out, seenAtScaling, a.policy.Observes())
	d := a.policy.Evaluate(&a.context)
	target := min(max(d.Target, a.context.Min), a.context.Max)
	if d.Action == policy.Hold {
		target = a.context.Replicas
	}
	if a.traced {
		e := ScaleEvent{now, a.context.Replicas, target, d.Reason}
		sendTracedScale(out, now, &tracedScale{a.pool, a.context.Replicas, target, d.Target, a.context.Ready, d.Reason, a.published.turned(e)})
	}
	if target == a.context.Replicas {
		a.askAgain(now, out)
		return
	}
	sendScale(out, now, target, d.Reason)
}

// askAgain asks for the instances that are wanted and for which no node has had room, as a scheduler of
// Kubernetes does with pending pods.
func (a *autoscaler) askAgain(now vtime.Time, out *lookahead.Outbox) {
	if p := a.published; p != nil && p.pending > 0 {
		sendScale(out, now, p.replicas, p.last.Reason)
	}
}

// Fold implements lookahead.Folder.
func (a *autoscaler) Fold() uint64 { return uint64(a.checks) }

// newAutoscaler makes the actor that asks the policy. It reads what the router and
// the instances publish, at its own cadence.
func newAutoscaler(s *pool, q *policies, traced bool) *autoscaler {
	a := &autoscaler{pool: s.index, policy: q.autoscale, next: vtime.Never, published: s.published, traced: traced}
	p, how := s.plan, s.plan.Scaling
	if how == nil {
		return a
	}
	switch {
	case q.trigger.Conditional():
		a.trigger, a.minGap = q.trigger, how.Interval
	case how.Trigger != policy.EventTrigger:
		a.interval, a.next = how.Interval, vtime.Time(how.Interval)
	}
	a.cluster.signalPlan = planChecks(p, q.scaling())
	a.cluster.sizeOf(p, p.Ranks.Ranks)
	a.state.View = &a.cluster.view
	a.state.Track(q.scaling())
	a.context = policy.AutoscaleContext{
		Interval: how.Interval, Min: int32(how.Min), Max: int32(how.Max), MaxNumSeqs: a.cluster.view.MaxNumSeqs,
		View: &a.cluster.view, State: &a.state,
	}
	return a
}
