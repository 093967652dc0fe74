package engine

import (
	"blis/latency"
	"blis/policy"
	"blis/vtime"
)

// Endpoint is one or more data-parallel ranks behind one address. The router knows endpoints; which
// rank serves a request is chosen by a front end when it is queued. Until then the first rank keeps it,
// and counts it if it is dropped or times out.
type Endpoint struct {
	of     *Ranks
	list   []*Engine
	fronts frontEnds
}

// Deliver hands the endpoint a request at now, as Engine.Deliver does.
func (p *Endpoint) Deliver(d *Delivery, now vtime.Time) { p.deliver(d, now) }

// Resume delivers a request that was taken away from another instance.
func (p *Endpoint) Resume(d *Delivery, progress *Progress, now vtime.Time) {
	i := p.deliver(d, now)
	p.list[0].requests.resume(i, progress)
}

// Prefill hands the endpoint a request of which it computes the prompt alone, as PullPort.Prefill
// does.
func (p *Endpoint) Prefill(d *Delivery, now vtime.Time) {
	one := prefillOf(d)
	p.list[0].Pulls.prefills(p.deliver(&one, now), d)
}

// PrefillAgain is Prefill for a request that was taken away from another instance.
func (p *Endpoint) PrefillAgain(d *Delivery, progress *Progress, now vtime.Time) {
	one := prefillOf(d)
	i := p.deliver(&one, now)
	p.list[0].Pulls.prefills(i, d)
	p.list[0].requests.resume(i, progress)
}

// PullAgain is Pull for a request that was taken away from another instance.
func (p *Endpoint) PullAgain(d *Delivery, progress *Progress, s KVSource, fails bool, now vtime.Time) {
	i := p.deliver(d, now)
	p.list[0].Pulls.pulls(i, s, fails)
	p.list[0].requests.resume(i, progress)
}

// Pull hands the endpoint a request whose prompt was computed elsewhere, as PullPort.Pull does.
func (p *Endpoint) Pull(d *Delivery, s KVSource, fails bool, now vtime.Time) {
	p.list[0].Pulls.pulls(p.deliver(d, now), s, fails)
}

// deliver returns the slot of the request in the first rank.
func (p *Endpoint) deliver(d *Delivery, now vtime.Time) int32 {
	p.of.catchUp(now, vtime.ClassDelivery)
	e := p.list[0]
	i := deliverTo(e, p.queueInput(d.Input), d, now)
	e.requests.at(i).front = p.fronts.take()
	return i
}

// queueInput returns the state in which a prompt of input tokens is delivered. It is the state of the
// mean rank, in whole numbers rounded down: the limits that a latency model compares them with are
// those of one rank. Of cached and prompt tokens only the ratio matters.
func (p *Endpoint) queueInput(input int32) latency.QueueInput {
	if len(p.list) == 1 {
		return queueInput(p.list[0], input)
	}
	mean := latency.QueueInput{Input: int64(input)}
	for _, e := range p.list {
		in := queueInput(e, input)
		mean.Running += in.Running
		mean.Waiting += in.Waiting
		mean.UsedBlocks += in.UsedBlocks
		mean.FreeBlocks += in.FreeBlocks
		mean.CachedTokens += in.CachedTokens
		mean.PromptTokens += in.PromptTokens
		mean.PreemptionEMA += in.PreemptionEMA
	}
	n := int64(len(p.list))
	mean.Running, mean.Waiting = mean.Running/n, mean.Waiting/n
	mean.UsedBlocks, mean.FreeBlocks = mean.UsedBlocks/n, mean.FreeBlocks/n
	mean.PreemptionEMA /= float64(n)
	return mean
}

// before returns (until, class), or before that the next time at which a request is queued: on any of
// the ranks.
func (p *Endpoint) before(until vtime.Time, class uint8) (vtime.Time, uint8) {
	if at := p.list[0].agenda.at[eventQueued]; len(p.list) > 1 && (at < until || at == until && vtime.ClassQueued < class) {
		return at, vtime.ClassQueued
	}
	return until, class
}

// queued moves the request that is queued next, at now, into the wait queue of a rank.
func (p *Endpoint) queued(now vtime.Time) {
	first := p.list[0]
	i := first.agenda.takeArrival()
	if refuses(first, i, now) {
		return
	}
	e := first
	if len(p.list) > 1 {
		e = p.list[p.fronts.choose(first.requests.at(i).front, now)]
	}
	if e != first {
		i = move(first, i, e)
	}
	enqueue(e, i, now)
}

// move gives the pending request in slot i, which is to be queued now, to another rank and returns its
// slot there.
func move(e *Engine, i int32, to *Engine) int32 {
	s := e.requests.at(i)
	d := s.delivery()
	k := to.requests.open(&d, s.routed)
	t := to.requests.at(k)
	group := t.group
	t.request = s.request
	t.group = group
	if m := to.requests.member(k); s.deadline != vtime.Never {
		to.agenda.addDeadline(s.deadline, m)
	}
	if s.migrated {
		to.requests.keepMigration(k, e.requests.migration(i))
	}
	if to.connector != nil {
		to.connector.open(k, &d.HandOver)
		to.connector.disaggregation.takeOver(k, e.connector.disaggregation, i)
	}
	if to.threshold != nil {
		to.threshold.open(k)
	}
	e.requests.to(i, leaving)
	e.vacate(i)
	return k
}

// member returns a reference to the request in slot i.
func (r *requests) member(i int32) member { return member{i, r.at(i).ID} }

// keepMigration notes how slot i came from another instance.
func (r *requests) keepMigration(i int32, m migration) {
	if r.migrations == nil {
		r.migrations = map[int32]migration{}
	}
	r.migrations[i] = m
}

// takeOver takes slot k over that was slot i of another rank.
func (d *disaggregation) takeOver(k int32, from *disaggregation, i int32) {
	if d == nil {
		return
	}
	*d.at(k) = *from.at(i)
	if d.wants(k) {
		d.wanting++
		from.wanting--
		if d.at(k).fails {
			d.failing++
			from.failing--
		}
		if d.at(k).linkDown {
			d.linksDown++
			from.linksDown--
		}
	}
	if d.at(k).prefill {
		d.computing++
		from.computing--
	}
	*from.at(i) = handOver{}
}

// Whole returns all ranks as if they were behind one endpoint, to be looked at alone.
func (r *Ranks) Whole() *Endpoint { return &Endpoint{of: r, list: r.list} }

// State returns the signals of the endpoint as they are now: sums over its ranks. What a storage tier
// has in use counts for each rank that uses the tier. Engine.State says what needs which setting.
func (p *Endpoint) State() policy.InstanceState { return p.sum((*Engine).State) }

// StepState returns the sum of the states that the ranks had at the end of their last steps.
func (p *Endpoint) StepState() policy.InstanceState { return p.sum((*Engine).StepState) }

func (p *Endpoint) sum(of func(*Engine) policy.InstanceState) policy.InstanceState {
	sum := of(p.list[0])
	for _, e := range p.list[1:] {
		s := of(e)
		sum.Waiting += s.Waiting
		sum.Running += s.Running
		sum.Used += s.Used
		sum.Blocks += s.Blocks
		sum.TierEntries += s.TierEntries
		sum.Preemptions += s.Preemptions
		sum.CachedTokens += s.CachedTokens
		sum.LookedUpTokens += s.LookedUpTokens
		sum.WaitingTokens += s.WaitingTokens
		sum.PrefillTokens += s.PrefillTokens
		sum.PrefillMicros += s.PrefillMicros
		sum.TierUsed += s.TierUsed
		sum.Stores += s.Stores
		sum.Loads += s.Loads
		sum.ChosenStores += s.ChosenStores
		sum.StorageUsed += s.StorageUsed
	}
	sum.PrefillMicros /= int64(len(p.list)) // the ranks prefill beside each other
	return sum
}

// Waiting returns the number of requests in the wait queues of the ranks.
func (p *Endpoint) Waiting() int32 { return p.count((*Engine).Waiting) }

// Running returns the number of requests in the running lists of the ranks.
func (p *Endpoint) Running() int32 { return p.count((*Engine).Running) }

func (p *Endpoint) count(of func(*Engine) int32) (n int32) {
	for _, e := range p.list {
		n += of(e)
	}
	return n
}

// UsedBlocks returns the number of KV blocks that requests hold on the ranks.
func (p *Endpoint) UsedBlocks() int {
	n := 0
	for _, e := range p.list {
		n += e.UsedBlocks()
	}
	return n
}
