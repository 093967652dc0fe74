package engine

import (
	"blis/latency"
	"blis/metrics"
	"blis/vtime"
)

// Deliver hands the instance a request at now, which is not before the last
// event that it executed. d is not kept.
func (e *Engine) Deliver(d *Delivery, now vtime.Time) { e.deliver(d, now) }

// Resume delivers a request that was taken away from another instance.
func (e *Engine) Resume(d *Delivery, p *Progress, now vtime.Time) {
	e.requests.resume(e.deliver(d, now), p)
}

// deliver returns the slot of the request.
func (e *Engine) deliver(d *Delivery, now vtime.Time) int32 {
	return deliverTo(e, queueInput(e, d.Input), d, now)
}

// queueInput returns the state in which a prompt of input tokens is delivered.
func queueInput(e *Engine, input int32) latency.QueueInput {
	f, r := &e.batcher, &e.requests
	return latency.QueueInput{
		Input: int64(input), Running: int64(r.running()), Waiting: int64(r.waiting()),
		UsedBlocks: int64(f.used()), FreeBlocks: int64(f.cache.Free()),
		CachedTokens: e.Counters.CachedTokens, PromptTokens: e.Counters.LookedUpTokens,
		PreemptionEMA: f.average.value,
	}
}

// deliverTo is deliver to a server in state in.
func deliverTo(e *Engine, in latency.QueueInput, d *Delivery, now vtime.Time) int32 {
	delay, err := vtime.Truncate(e.cfg.Model.Queueing(in))
	if err != nil || delay < 0 {
		panic("engine: the latency model gives a queueing delay that is NaN or negative")
	}
	i := e.requests.open(d, now)
	if e.connector != nil {
		e.connector.open(i, &d.HandOver)
	}
	if e.threshold != nil {
		e.threshold.open(i)
	}
	m := member{i, d.ID}
	e.agenda.addArrival(now.Add(delay), d.turn(), m)
	if d.Deadline != vtime.Never {
		e.agenda.addDeadline(d.Deadline, m)
	}
	return i
}

// Next returns the time and class of the earliest event of the instance,
// vtime.Never if there is none.
func (e *Engine) Next() (vtime.Time, uint8) {
	at, kind := e.agenda.at.next()
	return at, classOf[kind]
}

// Advance executes every event before (until, class), in order. A request
// that is delivered afterwards finds the instance as it was just before.
func (e *Engine) Advance(until vtime.Time, class uint8) {
	for {
		at, next := e.Next()
		if at > until || at == until && next >= class || at == vtime.Never {
			return
		}
		e.Act(until, class)
	}
}

// Act executes the event that Next names, which is before (until, class), and
// the steps of a decode run that follow it before then.
func (e *Engine) Act(until vtime.Time, class uint8) {
	at, kind := e.agenda.at.next()
	e.now = at
	switch kind {
	case eventQueued:
		e.queued(at)
	case eventTimeout:
		e.timeout(at)
	case eventStep:
		if e.connector == nil {
			e.step(at)
		} else {
			e.passes.act(at)
		}
		e.run(until, class)
	}
}

// queued moves the first pending request into the wait queue. A request that is too
// long for max-model-len is dropped, see refusal.
func (e *Engine) queued(now vtime.Time) {
	i := e.agenda.takeArrival()
	if refuses(e, i, now) {
		return
	}
	enqueue(e, i, now)
}

// refuses reports whether slot i is not let into the wait queue at now, and ends it then.
func refuses(e *Engine, i int32, now vtime.Time) bool {
	s := e.requests.at(i)
	if s.refusal != metrics.NoReason {
		e.batcher.remove(i)
		e.done(i, metrics.Dropped, s.refusal, now)
		return true
	}
	if isUp(s, now) {
		e.timeOut(i, now)
		return true
	}
	return false
}

// enqueue moves slot i into the wait queue.
func enqueue(e *Engine, i int32, now vtime.Time) {
	e.integrate(now)
	e.requests.at(i).Queued = now
	f := &e.batcher
	if f.queue.reorders || f.asked.told != nil {
		f.refreshContext(now)
	}
	if f.asked.told != nil {
		f.asked.told.OnRequestArrival(&e.requests.at(i).Waiting, &f.ctx)
	}
	e.diagnosis.queued(i)
	e.batcher.queue.push(i, false)
	e.Counters.PeakWaiting = max(e.Counters.PeakWaiting, int64(e.requests.waiting()))
	if e.inFlight.n == 0 && e.passes.idle() {
		e.agenda.at[eventStep] = now
	}
}

// timeout acts on the earliest deadline: a request in the wait queue or in a
// batch leaves when the step in flight ends, any other at once.
func (e *Engine) timeout(now vtime.Time) {
	m := e.agenda.takeDeadline()
	s := e.requests.at(m.slot)
	if s.phase != pending && (e.passes != nil || e.inFlight.n > 0) {
		becomeOverdue(e, m)
		if e.passes != nil && e.passes.idle() {
			e.passes.act(now)
		}
		return
	}
	e.integrate(now)
	e.timeOut(m.slot, now)
}
