package engine

import (
	"blis/latency"
	"blis/metrics"
	"blis/vtime"
)

// wave is the number of steps after which the ranks of a group ask each other whether any of them has
// a request, as in vLLM (DPEngineCoreProc).
const wave = 32

// lockStep drives ranks that share experts: no rank can run its MoE layers without the others, so all
// begin and end their steps together.
//
//	paused    no rank has a request. A request that is queued on any of them starts all at once
//	running   when a step ends, each rank in turn ends its part; then each in turn forms the next
//
// The step of the group begins when the last rank can begin and takes as long as the slowest one. A
// rank that schedules nothing executes a dummy: one decode token without a request. With async
// scheduling the ranks form step n+1 when n begins; what is queued on a rank that forms nothing for n+1
// waits for n+2.
//
// Steps count from 1. After the end of a step whose number is a multiple of wave the group pauses if no
// rank has a request. So up to wave−1 steps of dummies alone follow the last request. They are no
// events: they are executed once something else needs to know which of them is in flight. Nor is the
// last pass of a rank with a connector one, if it has nothing to notice.
//
// Not modelled: messages between the ranks, which take no time here.
type lockStep struct {
	ranks     []*Engine
	endpoints []Endpoint
	eager     bool // steps of dummies are events: the slow twin

	running bool
	rests   bool  // running, and all are dummies until something new comes: their ends are no events
	late    bool  // a step whose number is a multiple of wave had ended when what was formed behind it still had to be executed
	number  int64 // of the step that executes
	formed  groupStep
	dummy   latency.Batch // what a rank executes in it that schedules nothing
	counts  metrics.DataParallel
	now     vtime.Time // of the last event
	runs    []decodeRun
}

// groupStep is a step of the group as it was formed.
type groupStep struct {
	tokens, most int64          // of all ranks, a dummy 1; of the rank with the most
	prefill      int64          // of tokens, those of requests in prefill
	dummies      int64          // ranks that execute one
	waits        vtime.Duration // Σ time that ranks wait for the slowest
}

// newLockStep makes the engines of r, which are idle, one group.
func newLockStep(r *Ranks) *lockStep {
	g := &lockStep{ranks: r.list, endpoints: r.Endpoints, runs: make([]decodeRun, len(r.list)), dummy: latency.Batch{DecodeTokens: 1}}
	if r.group != nil { // before the restart
		g.counts, g.eager, g.now = r.group.counts, r.group.eager, r.group.now
	}
	for _, e := range g.ranks {
		if e.cfg.Passes.KeepDeadlocks || e.cfg.Async != g.ranks[0].cfg.Async {
			panic("engine: ranks in lock-step that keep deadlocks, or of which some schedule asynchronously")
		}
		e.batcher.lockStep = true
	}
	return g
}

// end returns when the executing step ends.
func (g *lockStep) end() vtime.Time { return g.ranks[0].inFlight.executing().end }

// renew decides whether steps are events, and enters the end of the executing one in the agendas.
func (g *lockStep) renew() {
	if !g.running {
		return
	}
	if rests := g.waits() && !g.eager; rests != g.rests {
		g.rests = rests
		at := vtime.Never
		if !rests {
			at = g.end()
		}
		g.setAgendas(at)
	}
}

// setAgendas enters the end of the executing step.
func (g *lockStep) setAgendas(at vtime.Time) {
	for _, e := range g.ranks {
		e.agenda.at[eventStep] = at
	}
}

// waits reports whether all that the ranks do until something new comes is dummies.
func (g *lockStep) waits() bool {
	for _, e := range g.ranks {
		if e.requests.unfinished() || len(e.overdue) > 0 || !idles(e) {
			return false
		}
		if len(e.changes) > 0 { // the end of the step publishes them
			return false
		}
		c := e.connector
		if c == nil {
			continue
		}
		if c.endings > 0 || c.storages.fresh != nil || e.cfg.Passes.IdleRelease && c.next() != vtime.Never {
			return false
		}
		if e.cfg.KeepStepState && e.stepState != e.State() { // the last pass began transfers: the end of its step shows them
			return false
		}
	}
	return true
}

// idles reports whether all batches in flight are dummies, and no open pass has noticed anything.
func idles(e *Engine) bool {
	for k := range e.inFlight.n {
		if !e.inFlight.at(k).empty() {
			return false
		}
	}
	for k := 0; e.passes != nil && k < e.passes.n; k++ {
		if e.passes.at(k).noticed() {
			return false
		}
	}
	return true
}

// catchUp executes the steps that are no events and end before (now, class).
func (g *lockStep) catchUp(now vtime.Time, class uint8) {
	for {
		if g.renew(); !g.rests {
			return
		}
		end := g.end()
		if end > now || end == now && class <= vtime.ClassStep {
			return
		}
		g.step(end)
	}
}

// act is an event of the group: the end of a step, or what a paused rank wakes for.
func (g *lockStep) act(now vtime.Time) {
	g.setNow(now)
	if g.running {
		g.step(now)
		return
	}
	for _, e := range g.ranks {
		if e.requests.unfinished() {
			g.start(now)
			return
		}
	}
	for _, e := range g.ranks {
		if e.agenda.at[eventStep] <= now {
			e.passes.act(now)
		}
	}
}

// setNow notes the time of the last event.
func (g *lockStep) setNow(now vtime.Time) {
	g.now = now
	for _, e := range g.ranks {
		e.now = max(e.now, now)
	}
}

// start lets the first step begin.
func (g *lockStep) start(now vtime.Time) {
	g.running, g.rests, g.late, g.number = true, false, false, 0
	for i := range g.endpoints {
		g.endpoints[i].fronts.starts()
	}
	for _, e := range g.ranks {
		e.integrate(now)
		if e.passes != nil {
			e.passes.until = passEnds
		}
	}
	g.form(now)
	g.begin()
	if g.ranks[0].cfg.Async {
		g.form(now)
	}
}

// step ends the executing step and begins the next one, or pauses.
func (g *lockStep) step(now vtime.Time) {
	for _, e := range g.ranks {
		endGroupStep(e, now)
	}
	for i := range g.endpoints {
		p := &g.endpoints[i]
		p.fronts.stepEnds(p.list, now)
	}
	if (g.late || g.number%wave == 0) && !g.busy(now) {
		if g.late = !g.idles(); !g.late {
			g.pause(now)
			return
		}
	} else {
		g.late = false
	}
	if g.ranks[0].cfg.Async {
		g.begin()
		g.form(now)
	} else {
		g.form(now)
		g.begin()
	}
}

// busy reports whether a request is here that was queued before now.
func (g *lockStep) busy(now vtime.Time) bool {
	for _, e := range g.ranks {
		r := &e.requests
		if r.running() > 0 {
			return true
		}
		if r.waiting() == 0 {
			continue
		}
		for i := range r.slots {
			if s := &r.slots[i]; s.phase == waiting && s.Queued < now {
				return true
			}
		}
	}
	return false
}

// idles reports whether nothing but dummies was formed behind the step that ended.
func (g *lockStep) idles() bool {
	for _, e := range g.ranks {
		if !idles(e) {
			return false
		}
	}
	return true
}

// pause stops the ranks at now. What was queued at this very instant starts them again.
func (g *lockStep) pause(now vtime.Time) {
	g.stop()
	for i := range g.endpoints {
		g.endpoints[i].fronts.pauses(now)
	}
	for _, e := range g.ranks {
		if e.requests.waiting() > 0 {
			g.start(now)
			return
		}
	}
	for _, e := range g.ranks {
		if e.passes != nil {
			e.passes.act(now)
		}
	}
}

// stop forgets the steps in flight.
func (g *lockStep) stop() {
	g.running, g.rests, g.late = false, false, false
	for _, e := range g.ranks {
		e.inFlight.n = 0
		if e.passes != nil {
			e.passes.n, e.passes.until = 0, somethingNew
		}
	}
	g.setAgendas(vtime.Never)
}

// form lets each rank form its part of the next step, and settles how long that takes.
func (g *lockStep) form(now vtime.Time) {
	for _, e := range g.ranks {
		formGroupStep(e, now)
	}
	g.settle()
	for _, e := range g.ranks {
		e.batcher.diagnosis.formed(e.inFlight.last(), &e.batcher)
	}
}

// settle computes when the step that was formed last executes: all ranks know the tokens of all then.
func (g *lockStep) settle() {
	s := groupStep{}
	start, end := vtime.Time(0), vtime.Time(0)
	for _, e := range g.ranks {
		b := e.inFlight.last()
		n := max(1, b.sums.Scheduled())
		s.tokens += n
		s.prefill += b.sums.PrefillTokens
		s.most = max(s.most, n)
		start = max(start, b.start)
		end = max(end, b.notBefore)
	}
	g.dummy.GroupTokens, g.dummy.GroupPrefill = s.tokens, s.prefill
	longest := vtime.Duration(0)
	for _, e := range g.ranks {
		b := e.inFlight.last()
		if b.empty() {
			b.duration = e.batcher.pace.duration(&g.dummy, b.formedAt)
			s.dummies++
		} else {
			b.sums.GroupTokens, b.sums.GroupPrefill = s.tokens, s.prefill
			b.duration = e.batcher.duration(b)
		}
		longest = max(longest, b.duration)
	}
	end = max(end, start.Add(longest))
	for _, e := range g.ranks {
		b := e.inFlight.last()
		s.waits += end.Sub(start) - b.duration
		b.start, b.end, b.duration = start, end, end.Sub(start)
	}
	g.formed = s
}

// begin lets the first step in flight execute.
func (g *lockStep) begin() {
	g.number++
	g.book(&g.formed)
	for _, e := range g.ranks {
		if b := e.inFlight.executing(); b.empty() {
			e.agenda.at[eventStep] = b.end
		} else {
			e.begin()
		}
	}
	g.rests = false // until renew
}

// book enters a step that begins in the counts.
func (g *lockStep) book(s *groupStep) {
	k := &g.counts
	k.GroupSteps++
	k.WaitMicros += int64(s.waits)
	if k.DummySteps += s.dummies; s.dummies < int64(len(g.ranks)) {
		k.Tokens += s.tokens
		k.MaxTokens += s.most
	}
}

// endGroupStep ends the part of the rank in the step that ends now.
func endGroupStep(e *Engine, now vtime.Time) {
	e.integrate(now)
	e.finish(now)
	if e.passes != nil {
		e.passes.endInGroup(now)
		return
	}
	if e.threshold != nil {
		e.threshold.stepEnds(now)
	}
	e.publish(now)
}

// formGroupStep forms the part of the rank in the next step; a dummy if that is nothing.
func formGroupStep(e *Engine, now vtime.Time) {
	f := &e.inFlight
	if e.passes != nil {
		e.passes.formInGroup(now)
		return
	}
	if !e.requests.unfinished() {
		f.blank(now)
		f.push()
		return
	}
	b := e.batcher.form(now)
	if !b.empty() {
		return
	}
	if b.preempted == 0 && idles(e) && len(e.overdue) == 0 {
		stuck(e, now, "")
	}
	f.push()
}
