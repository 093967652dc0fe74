package actors

import (
	"strconv"

	"blis/lookahead"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
	"blis/vtime/heap"
)

// failures is the router's book of what fails: when, and what it knows of it. Failures are periodic
// events, which keep no run alive. They come from the configuration and from streams of their own,
// so the router knows the next one ahead. The nil book is of a run in which nothing fails.
//
// An instance that crashes at T learns of it at T + 1, before all else that reaches it then. With
// probes the router sends requests there until enough of them have failed.
type failures struct {
	plan        *setup.Failures
	seed        uint64
	fleet       *fleet
	coordinator *coordinator   // nil: no instances share the work of prompts
	leastPull   vtime.Duration // from the delivery of a request until its pull fails; vtime.Never: none does
	due         []dueFailure   // heap of beginnings and ends
	probes      schedule       // when the router will know another state of an instance; stale ones stay
	warm        schedule       // when instances that were repaired are warm; stale ones stay
	list        []condition
	onNodes     []nodeFailure

	exposed  int        // instances that are down and to which the router still sends
	lastLoss vtime.Time // of an instance, or a link; −2: none yet

	attempts map[int64]*attempts // by request, of those that were lost with an instance
	counts   FailureCounts
}

// dueFailure is the next beginning or end of a failure of one instance.
type dueFailure struct {
	at       vtime.Time
	begins   bool
	line     int32         // index in the plan's list
	instance int32         // −1: all on the node
	node     int32         // index in failures.onNodes; −1: it is not of a node
	stream   *vtime.Stream // nil: it does not come by chance
}

// Before implements heap.Ordered: at one instant ends come first.
func (x *dueFailure) Before(y *dueFailure) bool {
	switch {
	case x.at != y.at:
		return x.at < y.at
	case x.begins != y.begins:
		return y.begins
	case x.line != y.line:
		return x.line < y.line
	case x.node != y.node:
		return x.node < y.node
	}
	return x.instance < y.instance
}

// condition is how an instance is, and what the router knows of it.
type condition struct {
	life
	crashes int32   // so far: the number of its incarnation
	causes  int32   // crashes of which it is not repaired; it is down while there are any
	slow    []int32 // lines of slow-downs that hold, ascending
	links   []int32 // … of links
	probed  probed
	known   bool       // the router knows it to be down
	flip    vtime.Time // when the router will know another state, unless that changes before; Never: not
	warm    vtime.Time // when it is warm after its last repair
}

// life is what is counted of an instance.
type life struct {
	Ready     vtime.Time
	Gone      bool
	Crashes   int64
	DownSince vtime.Time // while it is down
	Down      vtime.Duration
	Detected  int64          // crashes that the router learnt of
	Detection vtime.Duration // from these to that
}

// probed is the run of equal results of probes.
type probed struct {
	changed    vtime.Time // when the state changed last
	run, prior vtime.Time // first probe of the present run, and of another one that goes on if no probe has seen the present state
}

// change notes that the state changes at t; probe is the first probe that sees it.
func (p *probed) change(t, probe, unseen vtime.Time) {
	if unseen > t { // no probe saw the state that ends: the run before it goes on
		p.run, p.prior = p.prior, probe
	} else {
		p.run, p.prior = probe, p.run
	}
	p.changed = t
}

func newFailures(p *setup.Plan, r *router) *failures {
	if p.Failures == nil {
		return nil
	}
	f := &failures{
		plan: p.Failures, seed: p.Config.Seed, fleet: &r.fleet, coordinator: r.coordinator, leastPull: leastFailingPull(p),
		lastLoss: -2, attempts: map[int64]*attempts{},
	}
	f.addNodes()
	return f
}

// add takes in one more instance, which is ready then.
func (f *failures) add(ready vtime.Time) {
	if f == nil {
		return
	}
	i := len(f.list)
	at := f.fleet.servers[i]
	first, last := at.endpoints()
	f.list = append(f.list, condition{life: life{Ready: ready}, flip: vtime.Never, warm: vtime.Never, probed: probed{changed: -1, run: -1, prior: -1}})
	for k := range f.plan.List {
		x := &f.plan.List[k]
		if x.Storage != "" || !x.Of.Has(at.pool.index, at.slot, first, last) {
			continue
		}
		e := dueFailure{at: x.At, begins: true, line: int32(k), instance: int32(i), node: -1}
		if x.MTBF > 0 {
			e.stream = vtime.NewStream(f.seed, "failure/"+strconv.Itoa(x.Line)+"/"+instanceName(i))
			e.at = ready.Add(f.uptime(&e))
		}
		if e.at >= ready {
			f.due = heap.Push(f.due, e)
		}
	}
	f.placed(int32(i))
}

// uptime draws the time to the next failure.
func (f *failures) uptime(e *dueFailure) vtime.Duration {
	return uptime(&f.plan.List[e.line], e.stream)
}

// uptime draws the time to the next failure of a line.
func uptime(x *setup.Failure, stream *vtime.Stream) vtime.Duration {
	d, err := vtime.Truncate(float64(float64(x.MTBF) * stream.ExpFloat64()))
	if err != nil {
		panic("actors: " + err.Error())
	}
	return max(1, d)
}

// repaired is how instance i comes back.
func (f *failures) repaired(i int) *setup.Repaired {
	return &f.plan.Repaired[f.fleet.servers[i].pool.index]
}

// down reports whether instance i is down.
func (f *failures) down(i int) bool { return f != nil && f.list[i].causes > 0 }

// decides reports whether the phase of instance i follows from its failures: the router knew it to
// be down once.
func (f *failures) decides(i int) bool { return f != nil && f.list[i].Detected > 0 }

// outlived reports whether instance i has crashed since it had crashed so often.
func (f *failures) outlived(i int, crashes int32) bool {
	return f != nil && crashes < f.list[i].crashes
}

// next is the Key of the next event.
func (f *failures) next() lookahead.Key {
	if f == nil {
		return lookahead.NeverKey
	}
	k := lookahead.Earliest(f.nextProbe(), f.nextWarm())
	if len(f.due) > 0 && f.due[0].at != vtime.Never {
		k = lookahead.Earliest(k, lookahead.Key{At: f.due[0].at, Class: vtime.ClassScaleAction})
	}
	return k
}

// nextProbe is the Key of the next probe by which the router learns something.
func (f *failures) nextProbe() lookahead.Key {
	return f.first(&f.probes, vtime.ClassScale, func(c *condition) vtime.Time { return c.flip })
}

func (f *failures) nextWarm() lookahead.Key {
	return f.first(&f.warm, vtime.ClassReady, func(c *condition) vtime.Time { return c.warm })
}

// first drops the stale entries before the first one of a schedule, and returns its Key. An entry is
// stale if its instance has another time now, or is gone.
func (f *failures) first(s *schedule, class uint8, at func(*condition) vtime.Time) lookahead.Key {
	for s.len() > 0 {
		e, _ := s.first()
		if c := &f.list[e.slot]; at(c) == e.at && !c.Gone {
			return lookahead.Key{At: e.at, Class: class}
		}
		s.pop()
	}
	return lookahead.NeverKey
}

// act executes the next event, which is at k.
func (f *failures) act(k lookahead.Key, out *lookahead.Outbox, t *tracing) {
	switch k.Class {
	case vtime.ClassScale:
		f.probe(int(f.probes.pop()), k.At, out, t)
	case vtime.ClassReady:
		f.warmed(int(f.warm.pop()))
	default:
		e := f.due[0]
		f.due = heap.Pop(f.due)
		f.fail(&e, out, t)
	}
}

// fail lets a failure begin or end, and files what comes next of it.
func (f *failures) fail(e *dueFailure, out *lookahead.Outbox, t *tracing) {
	x := &f.plan.List[e.line]
	switch {
	case e.instance < 0:
		f.failNode(e, out, t)
	case e.node >= 0:
		f.join(e, out, t)
		return
	case f.list[e.instance].Gone:
		return
	default:
		f.happen(int(e.instance), e, out, t)
	}
	lasts := x.For
	switch {
	case e.stream != nil && e.begins:
		lasts = max(1, x.MTTR.Draw(e.stream))
	case e.stream != nil:
		lasts = f.uptime(e)
	case !e.begins:
		return
	}
	if e.begins = !e.begins; lasts > 0 {
		e.at = e.at.Add(lasts)
		f.due = heap.Push(f.due, *e)
	}
}

// happen lets a failure of instance i begin or end.
func (f *failures) happen(i int, e *dueFailure, out *lookahead.Outbox, t *tracing) {
	switch f.plan.List[e.line].Kind {
	case setup.Crash:
		f.crash(i, e, out, t)
	case setup.LinkShare:
		f.link(i, e, out, t)
	default:
		f.slow(i, e, out, t)
	}
}

// crash takes instance i down, or brings it back when the last crash has ended.
func (f *failures) crash(i int, e *dueFailure, out *lookahead.Outbox, t *tracing) {
	c, at, now := &f.list[i], f.fleet.servers[i], e.at
	if e.begins {
		if c.causes++; c.causes > 1 {
			return
		}
		c.crashes++
		c.Crashes++
		c.DownSince, c.warm, f.lastLoss = now, vtime.Never, now
		if !c.known {
			f.exposed++
		}
		sendCrash(out, at.process(), now)
		f.coordinator.lose(at, now, out)
		t.failure(out, traceCrash, at.first)
	} else {
		if c.causes--; c.causes > 0 {
			return
		}
		c.Down += now.Sub(c.DownSince)
		if !c.known {
			f.exposed--
		}
		if s := at.pool.endpoints; s.prefixes != nil && s.plan.Observability.IndexEvents { // it says that it has nothing
			at.forgetPrefixes()
		}
		c.warm = now.Add(1).Add(f.repaired(i).Warmup.Duration)
		sendRepair(out, at.process(), now)
		t.failure(out, traceRepair, at.first)
	}
	f.foresee(i, now, out, t)
}

// foresee finds out when the router will know the state of instance i, which changes at now.
func (f *failures) foresee(i int, now vtime.Time, out *lookahead.Outbox, t *tracing) {
	c, h := &f.list[i], &f.plan.Health
	if h.Interval == 0 {
		f.know(i, now, out, t)
		return
	}
	c.probed.change(now, h.Next(now), h.Next(c.probed.changed))
	c.flip = vtime.Never
	down := c.causes > 0
	if down == c.known {
		return
	}
	n := h.Successes
	if down {
		n = h.Failures
	}
	c.flip = c.probed.run.Add(vtime.Duration(n-1) * h.Interval)
	f.probes.push(entry{c.flip, int64(i), int32(i)})
}

// probe is the probe by which the router learns the state of instance i.
func (f *failures) probe(i int, now vtime.Time, out *lookahead.Outbox, t *tracing) {
	f.list[i].flip = vtime.Never
	f.know(i, now, out, t)
}

// know makes the router know whether instance i is down.
func (f *failures) know(i int, now vtime.Time, out *lookahead.Outbox, t *tracing) {
	c, at := &f.list[i], f.fleet.servers[i]
	slot := at.shown()
	if c.known = c.causes > 0; c.known {
		f.exposed--
		c.Detected++
		c.Detection += now.Sub(c.DownSince)
		at.forgetPrefixes()
		t.failure(out, traceDown, at.first)
	} else {
		t.failure(out, traceUp, at.first)
	}
	if slot.Phase == policy.Draining || slot.Phase == policy.Gone {
		return
	}
	switch {
	case c.known:
		slot.Phase, slot.Routable = policy.Down, false
	case c.warm > now && f.repaired(i).Warmup.Duration > 0:
		slot.Phase, slot.Routable = policy.Warming, f.repaired(i).Routable
		f.warm.push(entry{c.warm, int64(i), int32(i)})
	default:
		slot.Phase, slot.Routable = policy.Serving, true
	}
	at.set(slot)
}

// warmed notes that instance i is warm after a repair.
func (f *failures) warmed(i int) {
	f.list[i].warm = vtime.Never
	at := f.fleet.servers[i]
	slot := at.shown()
	if slot.Phase != policy.Warming {
		return
	}
	slot.Phase, slot.Routable = policy.Serving, true
	at.set(slot)
}

// slow makes steps of instance i take longer, or no longer: by the product of all that hold.
func (f *failures) slow(i int, e *dueFailure, out *lookahead.Outbox, t *tracing) {
	c, at := &f.list[i], f.fleet.servers[i]
	c.slow = holding(c.slow, e.line, e.begins)
	factor := 1.0
	for _, line := range c.slow {
		factor = min(float64(factor*f.plan.List[line].Factor), setup.MostFactor)
	}
	sendSlow(out, at.process(), e.at, factor)
	what := traceSlow
	if !e.begins {
		what = traceSlowEnd
	}
	t.failure(out, what, at.first)
}

// remove notes that instance i is gone.
func (f *failures) remove(i int, now vtime.Time) {
	if f == nil {
		return
	}
	c := &f.list[i]
	if c.Gone = true; c.causes > 0 {
		c.Down += now.Sub(min(c.DownSince, now))
		if !c.known {
			f.exposed--
		}
	}
}
