package actors

import (
	"blis/lookahead"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// replicas is the router's book of the instances that come and go: their phases,
// and what happens to each when. An index is never used again after its instance
// is gone.
type replicas struct {
	pool           *setup.Pool
	endpoints      *endpoints
	provisionTimes *vtime.Stream  // random times to provision a machine
	loadTimes      *vtime.Stream  // random times to load the model
	published      *published     // nil: there is no autoscaler
	failures       *failures      // nil: nothing fails
	nodes          *nodes         // nil: GPUs are unlimited
	coordinator    *coordinator   // nil: no deployment is disaggregated
	place          func() *server // nil: no node has room for one more
	spawn          func(at *server, ready vtime.Time)

	list        []replica  // by slot
	count       int32      // starting, warming or serving: len(list) without those draining or gone
	peak        int32      // the largest count
	pending     int32      // wanted, and no node has had room for them
	phases      schedule   // next changes of phase by time alone: loaded, warm
	overdue     schedule   // ends of the drain timeouts
	began       vtime.Time // first arrival; instances cost nothing before it
	returned    int64      // requests returned by instances
	departed    []int32    // instances that are gone and may still have memory
	handingBack int        // instances that were told to return their requests and have not returned all

	events    []ScaleEvent
	shortages []Shortage
	short     int64 // times that there was no room for an instance that was wanted
}

// replica is one instance. Times that have not come, or never will, are
// vtime.Never.
type replica struct {
	requested, ready, warm, draining, gone vtime.Time

	at     *server
	billed vtime.Time // when its machine is there: it costs from then on
	held   int32      // requests routed there that have not ended
}

// begin adds the instances that a run begins with.
func (b *replicas) begin() {
	for range b.pool.Instances {
		b.list = append(b.list, replica{at: b.place(), warm: 0, draining: vtime.Never, gone: vtime.Never})
		b.add(policy.Slot{Routable: true})
	}
	b.count = int32(b.pool.Instances)
	b.peak = b.count
	if b.published != nil {
		b.published.replicas = b.count
	}
}

// add enters one more instance, the last of the list, in the view, and publishes it.
func (b *replicas) add(s policy.Slot) {
	s.Total = b.pool.Blocks * int64(b.pool.Ranks.Local)
	for range b.pool.Endpoints() {
		b.endpoints.cluster.view.Add(s)
	}
	s.Total = b.pool.Blocks * int64(b.pool.Ranks.Ranks)
	b.published.set(len(b.list)-1, s)
}

// start requests one more instance. It reports whether a node has room for it.
func (b *replicas) start(now vtime.Time) bool {
	i, how, at := len(b.list), b.pool.Scaling, b.place()
	if at == nil {
		return false
	}
	billed := now.Add(how.Provisioning.Draw(b.provisionTimes))
	ready := billed.Add(how.Load.Draw(b.loadTimes))
	b.list = append(b.list, replica{at: at, requested: now, billed: billed, ready: ready, warm: ready.Add(how.Warmup.Duration), draining: vtime.Never, gone: vtime.Never})
	b.add(policy.Slot{Phase: policy.Starting})
	b.spawn(at, ready)
	b.phases.push(entry{ready, int64(i), int32(i)})
	b.count++
	b.peak = max(b.peak, b.count)
	return true
}

// changePhase executes the next change of phase, which is due at now: a model is
// loaded, or an instance is warm.
func (b *replicas) changePhase(now vtime.Time) {
	i := int(b.phases.pop())
	r := &b.list[i]
	if r.draining != vtime.Never || r.gone != vtime.Never || b.failures.decides(r.at.number) {
		return
	}
	slot := r.at.shown()
	if slot.Phase, slot.Routable = policy.Serving, true; r.warm > now {
		slot.Phase, slot.Routable = policy.Warming, b.pool.Scaling.WarmupRoutable
		b.phases.push(entry{r.warm, int64(i), int32(i)})
	}
	r.at.set(slot)
}

// victim is the instance to remove: the newest that is starting, else the newest that
// gets no requests yet, else the newest. Kubernetes removes pods that are not ready
// first, too.
func (b *replicas) victim() int {
	best, highest := -1, 0
	for _, seat := range b.endpoints.cluster.view.Present() {
		at := b.endpoints.places[seat]
		if at.pool.replicas != b {
			continue
		}
		preference := 1
		switch slot := at.shown(); {
		case slot.Phase == policy.Draining:
			continue
		case slot.Phase == policy.Starting:
			preference = 3
		case !slot.Routable:
			preference = 2
		}
		if preference >= highest {
			best, highest = at.slot, preference
		}
	}
	return best
}

// drain makes instance i unroutable. It reports whether the instance still has
// requests; without any the instance is gone at once.
func (b *replicas) drain(i int, now vtime.Time) bool {
	r := &b.list[i]
	slot := r.at.shown()
	b.count--
	if slot.Phase == policy.Starting {
		r.ready, r.warm = vtime.Never, vtime.Never
	}
	r.draining = now
	slot.Phase, slot.Routable = policy.Draining, false
	r.at.set(slot)
	if r.held == 0 {
		b.remove(i, now)
		return false
	}
	return true
}

// ended notes that a request is no longer on instance i. It reports whether that
// was the last one of an instance that drained, which is gone now.
func (b *replicas) ended(i int, now vtime.Time) bool {
	r := &b.list[i]
	if r.held--; r.held > 0 || r.draining == vtime.Never {
		return false
	}
	b.remove(i, now)
	return true
}

// remove notes that instance i is gone.
func (b *replicas) remove(i int, now vtime.Time) {
	r := &b.list[i]
	r.gone = now
	b.failures.remove(r.at.number, now)
	b.nodes.release(r.at)
	b.departed = append(b.departed, int32(i))
	for _, t := range [...]*vtime.Time{&r.billed, &r.ready, &r.warm} {
		if *t > now {
			*t = vtime.Never // the instance does not come that far
		}
	}
	r.at.gone()
}

// nextOverdue is the Key of the next end of a drain timeout of an instance that
// still drains.
func (b *replicas) nextOverdue() lookahead.Key {
	for b.overdue.len() > 0 {
		e, _ := b.overdue.first()
		if b.list[e.slot].gone == vtime.Never {
			return lookahead.Key{At: e.at, Class: vtime.ClassScaleAction}
		}
		b.overdue.pop()
	}
	return lookahead.NeverKey
}

// nextPhase is the Key of the next changePhase.
func (b *replicas) nextPhase() lookahead.Key {
	for b.phases.len() > 0 {
		e, _ := b.phases.first()
		if b.list[e.slot].draining == vtime.Never {
			return lookahead.Key{At: e.at, Class: vtime.ClassReady}
		}
		b.phases.pop()
	}
	return lookahead.NeverKey
}

// cost is the time for which the instance is paid in a run from began to end.
func (r *replica) cost(began, end vtime.Time) vtime.Duration {
	return span(max(r.billed, began), min(r.gone, end))
}

// instances are the numbers of the servers in the run, in their order.
func (b *replicas) instances() (list []int32) {
	for i := range b.list {
		list = append(list, int32(b.list[i].at.number))
	}
	return list
}

// span is the time between from and to, 0 if to is earlier.
func span(from, to vtime.Time) vtime.Duration {
	if from >= to {
		return 0
	}
	return to.Sub(from)
}
