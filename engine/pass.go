package engine

import "blis/vtime"

// Passes says how an instance with a connector waits.
type Passes struct {
	IdlePoll    vtime.Duration // time to the next pass after one that executed nothing; 0: until something can change. Not with Async
	IdleRelease bool           // an idle instance also notices transfers that end (vLLM from mid-2026)

	// KeepDeadlocks leaves an instance as it is whose requests hold blocks that they
	// take from each other, as vLLM 0.19 does.
	KeepDeadlocks bool
}

// pass is one formation of an instance with a connector, with what it handed to the
// worker. A formation that schedules nothing is a pass too: it notices what has ended.
type pass struct {
	batch          bool // something is scheduled: the pass ends with the batch
	preempted      bool
	end            vtime.Time // of a pass without a batch
	sent, received []int32    // slots whose stores, after their request has ended, and whose load or pull were noticed
	over           []int32    // slots whose blocks need not be held for a pull any more
	answers        []int32    // operations of storage tiers whose answers were noticed
	lazy           int        // stores of no request that were noticed
}

// noticed reports whether the pass noticed something that acts at its end.
func (p *pass) noticed() bool {
	return len(p.sent)+len(p.received)+len(p.over)+len(p.answers)+p.lazy > 0
}

// passLoop forms the passes of an instance with a connector and ends them: the loop of
// vLLM's engine core. Open passes were formed and have not ended: at most one, with async
// scheduling two. They stand in memory that is used again.
type passLoop struct {
	e       *Engine
	ring    [2]pass
	head, n int
	until   until
}

// until is what an instance with a connector waits for.
type until uint8

const (
	somethingNew until = iota // a request, a deadline, the end of a transfer
	passEnds                  // of the first open pass; the event for the next step is then
	pollEnds                  // the event for the next step comes by the clock: Passes.IdlePoll
)

func (l *passLoop) first() *pass { return &l.ring[l.head] }

func (l *passLoop) at(k int) *pass { return &l.ring[(l.head+k)&1] }

// blank returns a pass behind the open ones; it is open once it is counted in n.
func (l *passLoop) blank() *pass {
	p := l.at(l.n)
	*p = pass{sent: p.sent[:0], received: p.received[:0], over: p.over[:0], answers: p.answers[:0]}
	return p
}

// pop takes the first pass out, valid until the next blank.
func (l *passLoop) pop() *pass {
	p := l.first()
	l.head, l.n = (l.head+1)&1, l.n-1
	return p
}

// act is the event at which the first open pass ends, or an instance wakes. Passes are
// formed until one has an end ahead, or nothing can change before something else does:
// the loop of vLLM's engine core.
func (l *passLoop) act(now vtime.Time) {
	l.e.integrate(now)
	l.e.agenda.at[eventStep] = vtime.Never
	c := l.e.connector
	waited := l.until
	l.until = somethingNew
	if waited == passEnds {
		if ran, _ := l.end(now); !ran && l.poll(now) {
			return
		}
	}
	for l.due(now) || l.n > 0 {
		ran, changed := false, true
		if l.due(now) {
			p := l.form(now)
			ran, changed = p.batch, p.preempted
			if l.e.cfg.Async && ran && l.n < 2 && l.firstEnd() > now {
				continue
			}
		}
		if end := l.firstEnd(); end > now {
			l.until = passEnds
			l.e.agenda.at[eventStep] = end
			return
		}
		executed, acted := l.end(now)
		switch {
		case !l.e.requests.unfinished() || ran || executed:
		case !changed && !acted && !l.brings() && !l.e.cfg.Passes.KeepDeadlocks && c.breakDeadlock():
		case l.poll(now):
			return
		case changed || acted || l.brings():
		default:
			l.sleep(now)
			return
		}
	}
	if l.e.cfg.Passes.IdleRelease && l.e.agenda.at[eventStep] == vtime.Never {
		l.e.agenda.at[eventStep] = c.next()
	}
}

// idle reports whether a pass begins as soon as a request is queued; without a
// connector always.
func (l *passLoop) idle() bool { return l == nil || l.until == somethingNew }

// due reports whether a pass is to be formed: for a request that is here, after the last
// one ended, or with Passes.IdleRelease to notice the end of a transfer.
func (l *passLoop) due(now vtime.Time) bool {
	c := l.e.connector
	return l.e.requests.unfinished() || c.endings > 0 || l.e.cfg.Passes.IdleRelease && c.next() <= now
}

// wake lets an instance that waits for something new form a pass at now, if a request is here or
// idle instances notice what ends.
func (l *passLoop) wake(now vtime.Time) {
	if l.e.inFlight.n == 0 && l.idle() && (l.e.requests.unfinished() || l.e.cfg.Passes.IdleRelease) {
		l.e.agenda.at[eventStep] = min(l.e.agenda.at[eventStep], now)
	}
}

// quiet reports whether the end of the open passes brings nothing but that of their
// steps.
func (l *passLoop) quiet() bool {
	for k := 0; l != nil && k < l.n; k++ {
		if p := l.at(k); !p.batch || p.noticed() {
			return false
		}
	}
	return true
}

// brings reports whether an open pass has something to bring.
func (l *passLoop) brings() bool {
	for k := range l.n {
		if p := l.at(k); p.batch || p.noticed() {
			return true
		}
	}
	return false
}

// poll lets the time of Passes.IdlePoll pass after a pass that executed nothing, and
// reports whether there is such a time, and a request to wait for.
func (l *passLoop) poll(now vtime.Time) bool {
	every := l.e.cfg.Passes.IdlePoll
	if every == 0 || !l.e.requests.unfinished() {
		return false
	}
	l.until = pollEnds
	l.e.agenda.at[eventStep] = now.Add(every)
	return true
}

// sleep lets the instance wake at the end of a transfer; deliveries and deadlines wake it
// too.
func (l *passLoop) sleep(now vtime.Time) {
	c := l.e.connector
	at := min(c.next(), c.disaggregation.expires())
	l.e.agenda.at[eventStep] = at
	if at == vtime.Never && !l.e.cfg.Passes.KeepDeadlocks && !c.storages.awaited() && !c.disaggregation.awaited() {
		stuck(l.e, now, ", and no transfer is under way")
	}
}

// firstEnd returns when the first open pass ends.
func (l *passLoop) firstEnd() vtime.Time {
	if p := l.first(); !p.batch {
		return p.end
	}
	return l.e.inFlight.executing().end
}

// form forms a batch at now and opens its pass. A pass without tokens ends when the
// worker is done, with async scheduling not before what executes.
func (l *passLoop) form(now vtime.Time) *pass {
	p := l.blank()
	l.e.connector.forming = p
	executing := l.e.batcher.inFlight.lastFormedEnd()
	b := l.e.batcher.form(now)
	if p.batch, p.preempted = !b.empty(), b.preempted > 0; b.empty() {
		if p.end = b.start; l.e.cfg.Async {
			p.end = max(p.end, executing)
		}
	}
	l.n++
	if p.batch && l.e.inFlight.n == 1 && !l.e.batcher.lockStep {
		l.e.begin()
	}
	if h := l.e.connector.hook; h != nil {
		h.formed(p, b)
	}
	return p
}

// work lets the worker do its part of the pass with b, while the batches before it end at
// executing: what earlier passes chose to store is submitted, a victim's stores are waited for,
// what has ended is noticed.
func (f *batcher) work(b *batch, before int, executing vtime.Time) {
	c := f.connector
	b.sums.Transferred = c.submit(b.formedAt, executing)
	f.choose(b, before)
	w := c.flush(b.formedAt)
	b.start = max(b.start, w)
	c.poll(c.forming, w)
	if b.empty() { // it may be the last one for long
		b.sums.Transferred += c.lazy.submit(w, w)
	}
}

// repeatWork is work for a formation of a decode run, in which nobody is a victim and nothing
// that is noticed acts.
func (f *batcher) repeatWork(b *batch) {
	c := f.connector
	if b.sums.Transferred = 0; c.stores(b.number) {
		c.integrate(b.formedAt, entriesUsed(c), c.held)
		c.begins(b.formedAt)
		f.work(b, 0, b.start)
	}
}

// end ends the first open pass. It reports whether something was executed in it,
// and whether something acted.
func (l *passLoop) end(now vtime.Time) (executed, acted bool) {
	c, p := l.e.connector, l.pop()
	left := l.e.requests.running() + l.e.requests.waiting()
	if p.batch {
		l.e.finish(now)
		if l.e.inFlight.n > 0 {
			l.e.begin()
		}
	} else {
		if l.e.inFlight.n == 0 {
			l.collectOverdue(now)
		}
		l.e.expire(now)
	}
	c.disaggregation.fail(p, now)
	left -= l.e.requests.running() + l.e.requests.waiting()
	c.act(p, now)
	l.e.publish(now)
	if c.hook != nil {
		c.hook.ended(p, now)
	}
	return p.batch, p.noticed() || left > 0
}

// collectOverdue makes the requests overdue whose deadline is now: in a pass that
// executed nothing they leave at its end.
func (l *passLoop) collectOverdue(now vtime.Time) {
	for l.e.agenda.at[eventTimeout] <= now {
		m := l.e.agenda.takeDeadline()
		if s := l.e.requests.at(m.slot); s.phase == pending {
			l.e.timeOut(m.slot, now)
		} else {
			becomeOverdue(l.e, m)
		}
	}
}
