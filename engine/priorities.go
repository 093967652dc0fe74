package engine

import (
	"cmp"
	"math"
	"slices"

	"blis/vtime"
)

// priorityIndex knows which requests were queued when, and which of them wait
// with what priority, for the two anomalies that are about priorities. It
// exists from the second priority on that an instance meets: most never do.
//
// Each request has an arrival slot from the time at which it is queued until it
// leaves the instance. Slots are in the order in which requests were queued: a
// preempted request comes back to its own. When there are no more slots, those
// of requests that left are taken back.
//
//	arrival slots   [A][–][B][C][D][–]…    – left the instance
//	tree             2  ∞  1  ∞  1  ∞      priorities of those that wait, the
//	                  \/    \/    \/         greater of two above each pair
type priorityIndex struct {
	arrivals []arrivalSlot
	tree     maxTree
	requests *requests
}

// arrivalSlot is a request that was queued.
type arrivalSlot struct {
	member
	queued       vtime.Time
	simultaneous int32 // the first arrival slot with the same time
}

// newPriorityIndex returns the index of the requests that are queued or running, none
// of which was overtaken: their priorities are equal.
func newPriorityIndex(r *requests) *priorityIndex {
	p := &priorityIndex{requests: r}
	for i := range r.slots {
		if s := &r.slots[i]; s.phase == waiting || s.phase.runs() {
			p.arrivals = append(p.arrivals, arrivalSlot{member: member{int32(i), s.ID}, queued: s.Queued})
		}
	}
	slices.SortFunc(p.arrivals, func(x, y arrivalSlot) int {
		return cmp.Or(cmp.Compare(x.queued, y.queued), cmp.Compare(x.id, y.id))
	})
	p.renumber()
	return p
}

// add gives slot i, about to be queued, the next arrival slot.
func (p *priorityIndex) add(i int32) {
	if len(p.arrivals) == p.tree.room() {
		p.renumber()
	}
	p.assign(i)
}

func (p *priorityIndex) assign(i int32) {
	s := p.requests.at(i)
	s.arrivalSlot = int32(len(p.arrivals))
	first := s.arrivalSlot
	if first > 0 && p.arrivals[first-1].queued == s.Queued {
		first = p.arrivals[first-1].simultaneous
	}
	p.arrivals = append(p.arrivals, arrivalSlot{member{i, s.ID}, s.Queued, first})
}

// renumber takes back the arrival slots of requests that left. Half of all are
// free afterwards, so that it is rare.
func (p *priorityIndex) renumber() {
	held := p.arrivals
	p.arrivals = held[:0]
	for _, x := range held { // reads ahead of what assign writes
		if p.requests.holds(x.member) {
			p.assign(x.slot)
		}
	}
	p.tree.reset(2*len(p.arrivals) + 2)
	for _, x := range p.arrivals {
		if p.requests.is(x.member, waiting) {
			p.startsWaiting(x.slot)
		}
	}
}

// startsWaiting enters slot i, which waits from now on.
func (p *priorityIndex) startsWaiting(i int32) {
	s := p.requests.at(i)
	h := highest{s.Priority, s.Priority}
	if s.overtaken {
		h.uncounted = lowest
	}
	p.tree.set(int(s.arrivalSlot), h)
}

// stopsWaiting removes slot i from those that wait.
func (p *priorityIndex) stopsWaiting(i int32) {
	p.tree.set(int(p.requests.at(i).arrivalSlot), noRequest)
}

// highest returns the highest priority of requests that wait.
func (p *priorityIndex) highest() float64 { return p.tree.all().waiting }

// first returns the first arrival that waits with a priority of at least the given one.
func (p *priorityIndex) first(priority float64) *arrivalSlot {
	return &p.arrivals[p.tree.next(0, func(h highest) bool { return h.waiting >= priority })]
}

// overtaken calls f for each request that waits with a higher priority than s
// and was queued before it, once for each such request.
func (p *priorityIndex) overtaken(s *slot, f func(w *slot)) {
	higher := func(h highest) bool { return h.uncounted > s.Priority }
	before := int(p.arrivals[s.arrivalSlot].simultaneous)
	for k := p.tree.next(0, higher); k >= 0 && k < before; k = p.tree.next(k+1, higher) {
		i := p.arrivals[k].slot
		w := p.requests.at(i)
		w.overtaken = true
		p.startsWaiting(i)
		f(w)
	}
}

// highest is the highest priority of requests that wait, and of those among
// them that were not counted as overtaken; lowest where there are none.
type highest struct{ waiting, uncounted float64 }

var lowest = math.Inf(-1)

var noRequest = highest{lowest, lowest}

func (h highest) join(o highest) highest {
	return highest{max(h.waiting, o.waiting), max(h.uncounted, o.uncounted)}
}
