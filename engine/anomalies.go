package engine

import (
	"cmp"
	"math"
	"slices"

	"blis/vtime"
)

// Anomalies of one instance, counted in Counters; docs/metrics.md says step by
// step what each of them is. None of it feeds back into what the instance
// does. Priorities cost nothing until two different ones were here.

// watch says what of the following is kept. It stands with what every event
// reads, the rest of it apart.
type watch struct {
	priorities bool // two priorities were here: priorityIndex
	any        bool // a priority was here: level
	level      float64
}

// priorityIndex is who waits and who came first, for the two anomalies that are
// about priorities.
type priorityIndex struct {
	// Whoever was queued has a place until it leaves the instance, in the
	// order in which they were queued: a preempted request comes back to its
	// own. Places of those who left are taken back when there are no more.
	arrivals []arrivalSlot
	tree     maxTree[highest]
}

// arrivalSlot is the place of one request.
type arrivalSlot struct {
	member
	queued       vtime.Time
	simultaneous int32 // the first place with the same time
}

// highest is the highest priority of requests that wait, and of those among them
// that do not count as overtaken yet; lowest where there are none.
type highest struct{ waiting, uncounted float64 }

var lowest = math.Inf(-1)

var noPriority = highest{lowest, lowest}

func (r highest) join(o highest) highest {
	return highest{max(r.waiting, o.waiting), max(r.uncounted, o.uncounted)}
}

// indexPriority gives slot i, about to be queued, its place, if priorities differ.
func (e *Engine) indexPriority(i int32) {
	w, p, priority := &e.watch, &e.priorities, e.slot(i).Priority
	switch {
	case !w.any:
		w.any, w.level = true, priority
		return
	case !w.priorities && priority == w.level:
		return
	case !w.priorities:
		w.priorities = true
		e.indexAll()
	case len(p.arrivals) == p.tree.room():
		e.renumber()
	}
	e.assignArrivalSlot(i)
}

// assignArrivalSlot gives slot i the next place.
func (e *Engine) assignArrivalSlot(i int32) {
	p, s := &e.priorities, e.slot(i)
	s.arrivalSlot = int32(len(p.arrivals))
	tick := s.arrivalSlot
	if tick > 0 && p.arrivals[tick-1].queued == s.Queued {
		tick = p.arrivals[tick-1].simultaneous
	}
	p.arrivals = append(p.arrivals, arrivalSlot{member{i, s.ID}, s.Queued, tick})
}

// indexAll gives places to all that are queued or running, none of which was
// overtaken: their priorities are equal.
func (e *Engine) indexAll() {
	p := &e.priorities
	p.arrivals = p.arrivals[:0]
	for i := range int32(len(e.requests.slots)) {
		if s := e.slot(i); s.phase == waiting || s.phase == running {
			p.arrivals = append(p.arrivals, arrivalSlot{member: member{i, s.ID}, queued: s.Queued})
		}
	}
	slices.SortFunc(p.arrivals, func(x, y arrivalSlot) int {
		return cmp.Or(cmp.Compare(x.queued, y.queued), cmp.Compare(x.id, y.id))
	})
	e.renumber()
}

// renumber takes back the places of those who left and makes sure that half of
// all places are vacant, so that it is rare.
func (e *Engine) renumber() {
	p := &e.priorities
	held := p.arrivals
	p.arrivals = held[:0]
	for _, x := range held { // reads ahead of what assignArrivalSlot writes
		if e.requests.holds(x.member) {
			e.assignArrivalSlot(x.slot)
		}
	}
	if n := 2*len(p.arrivals) + 2; n > p.tree.room() {
		p.tree.reset(n, noPriority)
	} else {
		p.tree.reset(0, noPriority)
	}
	for _, x := range p.arrivals {
		if e.waits(x.member) {
			e.enterPriority(x.slot)
		}
	}
}

// enterPriority enters slot i, which waits and has a place.
func (e *Engine) enterPriority(i int32) {
	s := e.slot(i)
	r := highest{s.Priority, s.Priority}
	if s.overtaken {
		r.uncounted = lowest
	}
	e.priorities.tree.set(int(s.arrivalSlot), r)
}

// joinedQueue and leftQueue keep account of who waits.
func (e *Engine) joinedQueue(i int32) {
	if e.watch.priorities {
		e.enterPriority(i)
	}
}

func (e *Engine) leftQueue(i int32) {
	if e.watch.priorities {
		e.priorities.tree.set(int(e.slot(i).arrivalSlot), noPriority)
	}
}

// countInversions counts those of the admitted that are scheduled for the
// first time while one of higher priority stays in the queue. Whoever is in it
// now was when the formation began.
func (e *Engine) countInversions(admitted []item) {
	if !e.watch.priorities || e.waiting == 0 {
		return
	}
	highest := e.priorities.tree.all().waiting
	for _, it := range admitted {
		if s := e.slot(it.slot); s.preemptions == 0 && s.Priority < highest {
			e.Counters.PriorityInversions++
			if e.cfg.Observer != nil {
				e.observeInversion(s, highest)
			}
		}
	}
}

// countOvertaken counts, once each, those who wait with a higher priority than
// s, which completes, and were queued before it.
func (e *Engine) countOvertaken(s *slot) {
	p := &e.priorities
	if !e.watch.priorities || e.waiting == 0 {
		return
	}
	higher := func(r highest) bool { return r.uncounted > s.Priority }
	before := int(p.arrivals[s.arrivalSlot].simultaneous)
	for i := p.tree.next(0, higher); i >= 0 && i < before; i = p.tree.next(i+1, higher) {
		w := p.arrivals[i].slot
		e.slot(w).overtaken = true
		e.enterPriority(w)
		e.Counters.HeadOfLineBlocked++
		if e.cfg.Observer != nil {
			e.observeAnomaly(HeadOfLineBlocking, float64(e.now.Sub(p.arrivals[i].queued)), e.slot(w).ID, s.ID)
		}
	}
}

// countBlockedHead counts the step just formed, whose queue head does not fit,
// if others wait behind the head.
func (e *Engine) countBlockedHead() {
	if e.waiting < 2 {
		return
	}
	e.Counters.BlockedHeads++
	if e.cfg.Observer != nil {
		e.observeAnomaly(BlockedHead, float64(e.waiting), e.slot(e.head()).ID)
	}
}

// storm remembers the times of the last preemptions, as many as can matter.
type storm struct {
	times []vtime.Time // a ring
	n     int64        // preemptions so far
	last  vtime.Time   // when there were too many last
	any   bool         // there were
}

// stormSpan is the time over which preemptions add up to a storm, and the
// calm that ends one.
const stormSpan = vtime.Second

// countStorm notes the preemptions of a formation at now: more of them within
// a second than requests are left running are a storm, the same one as long
// as less than a second passes between two such formations.
func (e *Engine) countStorm(preempted int, now vtime.Time) {
	if preempted == 0 {
		return
	}
	w := &e.storm
	if w.times == nil { // whoever runs has a seat and a block
		w.times = make([]vtime.Time, min(int(e.cfg.MaxSeqs), e.cache.Total())+1)
	}
	size := int64(len(w.times))
	for range preempted {
		w.times[w.n%size] = now
		w.n++
	}
	running := int64(e.running)
	if w.n <= running || now.Sub(w.times[(w.n-1-running)%size]) >= stormSpan {
		return
	}
	if !w.any || now.Sub(w.last) >= stormSpan {
		e.Counters.PreemptionStorms++
		if e.cfg.Observer != nil {
			e.observeAnomaly(PreemptionStorm, float64(w.recentPreemptions(now)))
		}
	}
	w.any, w.last = true, now
}
