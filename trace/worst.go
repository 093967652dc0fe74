package trace

import (
	"cmp"
	"container/heap"
	"slices"
)

// Worst keeps the requests of each class with the largest TTFT, each with the routing
// decision about it. It is a Consumer of a trace of level Decisions or more, and holds the
// decisions about requests that have not ended. Requests without a token are left out.
type Worst struct {
	most    int                // requests of each class
	pending map[int64]*Routing // the last decision about each request that has not ended
	classes map[string]*worstHeap
}

// WorstRequest is a request with the decision about it; nil if nothing routed it.
type WorstRequest struct {
	Outcome Outcome
	Routing *Routing
}

// NewWorst keeps at most so many requests in all, shared by the classes.
func NewWorst(most int) *Worst {
	return &Worst{most: most, pending: map[int64]*Routing{}, classes: map[string]*worstHeap{}}
}

// Consume implements Consumer.
func (w *Worst) Consume(r Record) error {
	switch r := r.(type) {
	case *Routing:
		if r.Target != nil {
			w.pending[r.Request] = keptRouting(r)
		}
	case *Outcome:
		decision := w.pending[r.Request]
		delete(w.pending, r.Request)
		if r.TTFT != nil {
			w.add(r, decision)
		}
	}
	return nil
}

// keptRouting is a routing decision that may be kept: records are valid during the call.
func keptRouting(r *Routing) *Routing {
	c := *r
	c.Target, c.Score, c.Best, c.Regret, c.ExpectedHit = copied(r.Target), copied(r.Score), copied(r.Best), copied(r.Regret), copied(r.ExpectedHit)
	c.Hints, c.FilteredOut = slices.Clone(r.Hints), slices.Clone(r.FilteredOut)
	c.Candidates = slices.Clone(r.Candidates)
	for i := range c.Candidates {
		x := &c.Candidates[i]
		x.Breakdown = slices.Clone(x.Breakdown)
		x.QueueDepth, x.BatchSize, x.InFlight, x.UsedBlocks = copied(x.QueueDepth), copied(x.BatchSize), copied(x.InFlight), copied(x.UsedBlocks)
	}
	c.Held, c.Snapshots, c.Prefix, c.State = nil, nil, nil, nil
	return &c
}

func (w *Worst) add(o *Outcome, decision *Routing) {
	h := w.classes[o.Class]
	if h == nil {
		h = new(worstHeap)
		w.classes[o.Class] = h
	}
	if len(*h) == w.most {
		if !(*h)[0].before(o) {
			return
		}
		heap.Pop(h)
	}
	c := *o
	c.Instance, c.TTFT, c.TPOT, c.E2E, c.QueueWait = copied(o.Instance), copied(o.TTFT), copied(o.TPOT), copied(o.E2E), copied(o.QueueWait)
	c.ActualHit, c.Expected, c.Tier, c.SLOMet = copied(o.ActualHit), copied(o.Expected), copied(o.Tier), copied(o.SLOMet)
	heap.Push(h, WorstRequest{c, decision})
}

// Requests are what was kept: the classes by name, and of each its share, the worst first.
func (w *Worst) Requests() (list []WorstRequest) {
	var names []string
	for name := range w.classes { // in any order: sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		all := slices.Clone(*w.classes[name])
		slices.SortFunc(all, func(a, b WorstRequest) int {
			return cmp.Or(cmp.Compare(*b.Outcome.TTFT, *a.Outcome.TTFT), cmp.Compare(a.Outcome.Request, b.Outcome.Request))
		})
		share := (w.most + len(names) - 1 - i) / len(names)
		list = append(list, all[:min(share, len(all))]...)
	}
	return list
}

// before reports whether an outcome is worse than the request; of equal ones the first
// request is.
func (r *WorstRequest) before(o *Outcome) bool {
	return cmp.Or(cmp.Compare(*r.Outcome.TTFT, *o.TTFT), cmp.Compare(o.Request, r.Outcome.Request)) < 0
}

// worstHeap has the least bad request first.
type worstHeap []WorstRequest

// Len implements heap.Interface.
func (h worstHeap) Len() int { return len(h) }

// Less implements heap.Interface.
func (h worstHeap) Less(i, j int) bool { return h[i].before(&h[j].Outcome) }

// Swap implements heap.Interface.
func (h worstHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *worstHeap) Push(x any) { *h = append(*h, x.(WorstRequest)) }

// Pop implements heap.Interface.
func (h *worstHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
