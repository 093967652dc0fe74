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
	ranks bool // two priorities were here: precedence
	any   bool // a priority was here: level
	level float64
}

// precedence is who waits and who came first, for the two anomalies that are
// about priorities.
type precedence struct {
	// Whoever was queued has a place until it leaves the instance, in the
	// order in which they were queued: a preempted request comes back to its
	// own. Places of those who left are taken back when there are no more.
	places []place
	ranks  bracket[rank]
}

// place is that of one request.
type place struct {
	member
	queued vtime.Time
	tick   int32 // the first place with the same time
}

// rank is the highest priority of requests that wait, and of those among them
// that do not count as overtaken yet; lowest where there are none.
type rank struct{ waiting, untold float64 }

var lowest = math.Inf(-1)

var noRank = rank{lowest, lowest}

func (r rank) join(o rank) rank { return rank{max(r.waiting, o.waiting), max(r.untold, o.untold)} }

// giveRank gives slot i, about to be queued, its place, if priorities differ.
func (e *Engine) giveRank(i int32) {
	w, p, priority := &e.watch, &e.precedence, e.slot(i).Priority
	switch {
	case !w.any:
		w.any, w.level = true, priority
		return
	case !w.ranks && priority == w.level:
		return
	case !w.ranks:
		w.ranks = true
		e.rankAll()
	case len(p.places) == p.ranks.room():
		e.renumber()
	}
	e.place(i)
}

// place gives slot i the next place.
func (e *Engine) place(i int32) {
	p, s := &e.precedence, e.slot(i)
	s.place = int32(len(p.places))
	tick := s.place
	if tick > 0 && p.places[tick-1].queued == s.Queued {
		tick = p.places[tick-1].tick
	}
	p.places = append(p.places, place{member{i, s.ID}, s.Queued, tick})
}

// holds reports whether the request is still in the instance.
func (e *Engine) holds(m member) bool { return e.slot(m.slot).ID == m.id }

// rankAll gives places to all that are queued or running, none of which was
// overtaken: their priorities are equal.
func (e *Engine) rankAll() {
	p := &e.precedence
	p.places = p.places[:0]
	for i := range int32(len(e.slots)) {
		if s := e.slot(i); s.phase == waiting || s.phase == running {
			p.places = append(p.places, place{member: member{i, s.ID}, queued: s.Queued})
		}
	}
	slices.SortFunc(p.places, func(x, y place) int {
		return cmp.Or(cmp.Compare(x.queued, y.queued), cmp.Compare(x.id, y.id))
	})
	e.renumber()
}

// renumber takes back the places of those who left and makes sure that half of
// all places are vacant, so that it is rare.
func (e *Engine) renumber() {
	p := &e.precedence
	held := p.places
	p.places = held[:0]
	for _, x := range held { // reads ahead of what place writes
		if e.holds(x.member) {
			e.place(x.slot)
		}
	}
	if n := 2*len(p.places) + 2; n > p.ranks.room() {
		p.ranks.reset(n, noRank)
	} else {
		p.ranks.reset(0, noRank)
	}
	for _, x := range p.places {
		if e.waits(x.member) {
			e.rank(x.slot)
		}
	}
}

// rank enters slot i, which waits and has a place.
func (e *Engine) rank(i int32) {
	s := e.slot(i)
	r := rank{s.Priority, s.Priority}
	if s.overtaken {
		r.untold = lowest
	}
	e.precedence.ranks.set(int(s.place), r)
}

// joinedQueue and leftQueue keep account of who waits.
func (e *Engine) joinedQueue(i int32) {
	if e.watch.ranks {
		e.rank(i)
	}
}

func (e *Engine) leftQueue(i int32) {
	if e.watch.ranks {
		e.precedence.ranks.set(int(e.slot(i).place), noRank)
	}
}

// countInversions counts those of the admitted that are scheduled for the
// first time while one of higher priority stays in the queue. Whoever is in it
// now was when the formation began.
func (e *Engine) countInversions(admitted []item) {
	if !e.watch.ranks || e.waiting == 0 {
		return
	}
	highest := e.precedence.ranks.all().waiting
	for _, it := range admitted {
		if s := e.slot(it.slot); s.preemptions == 0 && s.Priority < highest {
			e.Counters.PriorityInversions++
			if e.cfg.Tracer != nil {
				e.tellInversion(s, highest)
			}
		}
	}
}

// countOvertaken counts, once each, those who wait with a higher priority than
// s, which completes, and were queued before it.
func (e *Engine) countOvertaken(s *slot) {
	p := &e.precedence
	if !e.watch.ranks || e.waiting == 0 {
		return
	}
	higher := func(r rank) bool { return r.untold > s.Priority }
	before := int(p.places[s.place].tick)
	for i := p.ranks.next(0, higher); i >= 0 && i < before; i = p.ranks.next(i+1, higher) {
		w := p.places[i].slot
		e.slot(w).overtaken = true
		e.rank(w)
		e.Counters.HeadOfLineBlocked++
		if e.cfg.Tracer != nil {
			e.odd(HeadOfLineBlocking, float64(e.now.Sub(p.places[i].queued)), e.slot(w).ID, s.ID)
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
	if e.cfg.Tracer != nil {
		e.odd(BlockedHead, float64(e.waiting), e.slot(e.head()).ID)
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
		if e.cfg.Tracer != nil {
			e.odd(PreemptionStorm, float64(w.recentPreemptions(now)))
		}
	}
	w.any, w.last = true, now
}
