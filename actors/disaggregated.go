package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/setup"
	"blis/vtime"
)

// The instance's part in prefill/decode disaggregation.

// pullNotices tells the router what the rank has to tell the other side.
type pullNotices struct{ *rank }

var _ engine.PullNotices = pullNotices{}

// Prefilled implements engine.PullNotices.
func (p pullNotices) Prefilled(o *metrics.Outcome, s engine.KVSource, now vtime.Time) {
	p.left()
	s.From = p.incarnation().word()
	sendPrefilled(p.instance.out, now, o.Arrival, &prefilled{s, p.instance.engines.of(p.index).Pulls.Awaiting(), metrics.HandedOver(o, now)})
}

// Pulls implements engine.PullNotices.
func (p pullNotices) Pulls(x *engine.Pull, now vtime.Time) {
	sendPulling(p.instance.out, now, p.number, x)
}

// Left implements engine.PullNotices.
func (p pullNotices) Left(s engine.KVSource, now vtime.Time) { sendNotPulled(p.instance.out, now, &s) }

// Released implements engine.PullNotices: an instance that drains is there until then.
func (p pullNotices) Released(n int, now vtime.Time) {
	if p.at.pool.plan.Scaling != nil {
		sendReleased(p.instance.out, now, p.number, n)
	}
}

// pullFaults says which pulls go wrong where instances fail.
type pullFaults struct{ *rank }

var _ engine.PullFaults = pullFaults{}

// Share implements engine.PullFaults.
func (p pullFaults) Share(from int64) float64 {
	return p.instance.outage.share(p.number, int(readIncarnation(from).instance))
}

// GiveBack implements engine.PullFaults: the router decides what becomes of the request.
func (p pullFaults) GiveBack(d *engine.Delivery, progress *engine.Progress, now vtime.Time) {
	p.cutOff(d, &lost{transfer{*progress, int32(p.number)}, itsPullFailed}, now)
}

// disaggregate gives an engine its part, unless the instance serves requests alone.
func (p *rank) disaggregate(plan *setup.Plan, cfg *engine.Config) {
	s := p.at.pool
	if s.role == setup.Monolithic {
		return
	}
	how := s.deployment.plan.PD
	d := how.Disaggregation
	d.Notices = pullNotices{p}
	if plan.Failures != nil {
		d.Faults = pullFaults{p}
	}
	cfg.Disaggregation = &d
	if cfg.Passes = how.DecodePasses; s.role == setup.PrefillRole {
		cfg.Passes = how.PrefillPasses
	}
}

// receivePull receives a message about a request whose prompt and output are of two instances.
func (p *instance) receivePull(m *lookahead.Message, now vtime.Time) {
	var s engine.KVSource
	progress := noProgress()
	switch m.Kind {
	case kindPrefill:
		if readDelivery(&m.Body, &p.delivery); !p.refuse(&progress, now) {
			p.engines.prefill(&p.delivery, now)
		}
	case kindPrefillAgain:
		if readResumed(&m.Body, &p.delivery, &progress); !p.refuse(&progress, now) {
			p.engines.prefillAgain(&p.delivery, &progress, now)
		}
	case kindPull:
		if fails := readPull(&m.Body, &p.delivery, &s); !p.refuse(&progress, now) {
			p.engines.pull(&p.delivery, s, fails, now)
		}
	case kindPullAgain:
		if fails := readPullAgain(&m.Body, &p.delivery, &progress, &s); !p.refuse(&progress, now) {
			p.engines.pullAgain(&p.delivery, &progress, s, fails, now)
		}
	case kindRevoked:
		readSource(&m.Body, &s)
		mustDecode(&m.Body)
		p.engines.rank(p.rankOf(&s), now, m.Stamp.Class).Pulls.Revoke(s)
	case kindPullEnded:
		rank, number, lasted := readPullEnded(&m.Body)
		p.engines.rank(rank, now, m.Stamp.Class).Pulls.Ended(number, lasted, now)
	case kindSourceLost:
		first, n := readSourceLost(&m.Body)
		for k := range p.ranks {
			p.engines.rank(k, now, m.Stamp.Class).Pulls.Lost(func(from int64) bool {
				i := int(readIncarnation(from).instance) - first
				return i >= 0 && i < n
			}, now)
		}
	case kindPulled:
		readSource(&m.Body, &s)
		mustDecode(&m.Body)
		p.source(&s, now).Pulls.Over(s, now)
	case kindGivenUp:
		readSource(&m.Body, &s)
		mustDecode(&m.Body)
		p.source(&s, now).Pulls.Left(s, now)
	}
}

// source returns the engine of the rank that has s, just before what reaches it at now of a transfer.
func (p *instance) source(s *engine.KVSource, now vtime.Time) *engine.Engine {
	return p.engines.rank(p.rankOf(s), now, vtime.ClassTransfer)
}

// rankOf returns which rank of the instance has s.
func (p *instance) rankOf(s *engine.KVSource) int {
	return int(readIncarnation(s.From).instance) - p.server.first
}

// PromiseOf implements lookahead.Notifier: operations of shared storage tiers are submitted in
// passes, and prefills end and pulls begin as the engine says. Requests are lost when their pull fails, when a message
// says so, or when they are delivered while the instance is down (failures.reply knows of the latter two).
func (p *instance) PromiseOf(k lookahead.NoticeKind) lookahead.Key {
	at := vtime.Never
	switch {
	case k == storageNotice && p.sharesStorage:
		at = p.engines.firstSubmission()
	case p.server.pool.role == setup.Monolithic:
	case k == cutOffNotice && p.outage != nil:
		at = p.engines.firstFailed()
	case k == prefilledNotice:
		at = p.engines.firstPrefilled()
	case k == pullingNotice:
		at = p.engines.firstPull()
	case k == notPulledNotice:
		at = p.engines.firstLeft()
	}
	if at == vtime.Never {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: at, Class: vtime.ClassNotice}
}

// noticesOfPulls tells the kernel of the kinds of notices of disaggregation, and what each can cause.
func (c *cluster) noticesOfPulls(list *[lookahead.NoticeKinds]lookahead.Notice) {
	reply := func(k lookahead.Key) lookahead.Key { return lookahead.Key{At: k.At, Class: vtime.ClassNotice} }
	handOver, pull, left := vtime.Duration(vtime.Never), vtime.Duration(vtime.Never), vtime.Duration(vtime.Never)
	for i := range c.plan.Deployments {
		how := c.plan.Deployments[i].PD
		if how == nil {
			continue
		}
		wait := how.HandOffLatency
		if how.AtHandOver {
			wait += c.plan.Config.RoutingLatency
		}
		handOver = min(handOver, wait)
		reaction := how.Pull.Least()
		if !how.SharedLink { // else the instance that pulls hears of its end too
			reaction += how.NotifyLatency
		}
		pull = min(pull, reaction)
		left = min(left, 1+how.NotifyLatency)
	}
	after := func(d vtime.Duration, class uint8) func(lookahead.Key) lookahead.Key {
		return func(k lookahead.Key) lookahead.Key { return lookahead.Key{At: k.At.Add(d), Class: class} }
	}
	list[prefilledNotice] = lookahead.Notice{React: after(handOver, vtime.ClassRouting), Reply: reply}
	list[pullingNotice] = lookahead.Notice{React: after(pull, vtime.ClassTransfer), Reply: reply}
	list[notPulledNotice] = lookahead.Notice{React: after(left, vtime.ClassTransfer), Reply: reply}
}
