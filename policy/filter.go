package policy

import (
	"slices"

	"blis/vtime"
)

// Filters leave instances out before a routing policy looks at them, as the filters of routers in the field do. If every
// routable instance is left out none is: a request must go somewhere.

var (
	maxQueue = Parameter{Name: "max_queue", Type: Count, Default: "1000000000", Max: mostRequests, Quiet: true,
		Help: "filter: instances with more waiting requests are left out, unless all have"}
	maxKV = Parameter{Name: "max_kv", Type: Number, Default: "1", Min: 0, Max: 1, Quiet: true,
		Help: "filter: instances with a larger share of their KV blocks in use are left out, unless all have"}
)

// withFilters gives templates the parameters of filters.
func withFilters(list []template[Routing]) []template[Routing] {
	for i := range list {
		t := &list[i]
		t.Parameters = append(slices.Clip(t.Parameters), maxQueue, maxKV)
		build := t.build
		t.build = func(v values, env Env) (Routing, error) {
			inner, err := build(v, env)
			if err != nil {
				return nil, err
			}
			return filter(inner, v.count(maxQueue.Name), v.number(maxKV.Name)), nil
		}
	}
	return list
}

// filter puts filters before a policy.
func filter(inner Routing, queue int64, kv float64) Routing {
	f := filtered{inner: inner, queue: queue, kv: kv}
	if queue < mostRequests {
		f.reads |= QueueDepth
	}
	if kv < 1 {
		f.reads |= KVUse
	}
	if f.reads == NoSignals {
		return inner
	}
	f.observer, _ = inner.(RouteObserver)
	if explains, ok := inner.(Explainer); ok {
		return &filteredExplainer{f, explains}
	}
	return &f
}

// filtered is a routing policy that sees fewer instances: its view is a copy of the router's, brought up to it at each
// decision, in which instances that are left out are not routable.
type filtered struct {
	inner    Routing
	observer RouteObserver // inner, if it is one
	reads    Signals       // of the filters
	queue    int64
	kv       float64

	cursor changeCursor
	view   *View   // another one with each view of the router, as inner knows it by its address
	out    []int32 // routable instances that a filter leaves out, ascending
	passed int     // routable instances that pass; 0: all are seen
	both   []int32 // instances that these filters or those of inner leave out
}

type filteredExplainer struct {
	filtered
	Explainer
}

// Observes implements Routing.
func (f *filtered) Observes() Signals { return f.inner.Observes() | f.reads }

// Route implements Routing.
func (f *filtered) Route(req *Request, priority float64, st *RouterState, view *View, now vtime.Time) RoutingDecision {
	f.sync(view)
	d := f.inner.Route(req, priority, st, f.view, now)
	switch {
	case f.passed == 0:
	case len(d.FilteredOut) == 0:
		d.FilteredOut = f.out
	default:
		f.both = append(append(f.both[:0], f.out...), d.FilteredOut...)
		slices.Sort(f.both)
		d.FilteredOut = f.both
	}
	return d
}

// Printed implements Printer.
func (f *filtered) Printed() string {
	if p, ok := f.inner.(Printer); ok {
		return p.Printed()
	}
	return ""
}

// OnRouted implements RouteObserver.
func (f *filtered) OnRouted(req *Request, target int) {
	if f.observer != nil {
		f.observer.OnRouted(req, target)
	}
}

// sync brings the copy up to the view.
func (f *filtered) sync(view *View) {
	if f.cursor.view != view {
		f.view = &View{}
	}
	first, all := f.cursor.sync(view)
	v := f.view
	v.Declared, v.MaxNumSeqs, v.CPUEntries, v.BlockSize = f.inner.Observes(), view.MaxNumSeqs, view.CPUEntries, view.BlockSize
	if all {
		f.out, f.passed = f.out[:0], 0
		for i := range view.Len() {
			f.judge(view, i)
		}
		f.copyAll(view)
		return
	}
	some, turned := f.passed > 0, false // turned: on the way it changed whether any passes, on which all copies depend
	for c := first; c < view.changes; c++ {
		i := view.changed(c)
		if v.Slot(i).Phase != Gone || view.Slot(i).Phase != Gone {
			f.judgeAgain(view, i)
			turned = turned || some != (f.passed > 0)
			f.copy(view, i)
		}
	}
	if turned {
		f.copyAll(view)
	}
}

// leavesOut reports whether a filter leaves out an instance.
func (f *filtered) leavesOut(view *View, i int) bool {
	s := &view.slots[i]
	return int64(s.Queue) > f.queue || f.kv < 1 && float64(s.Used) > float64(f.kv*float64(s.Total))
}

// judge takes in an instance, of which nothing is known yet.
func (f *filtered) judge(view *View, i int) {
	switch {
	case !view.Routable(i):
	case f.leavesOut(view, i):
		at, _ := slices.BinarySearch(f.out, int32(i))
		f.out = slices.Insert(f.out, at, int32(i))
	default:
		f.passed++
	}
}

// judgeAgain takes in what has changed of an instance. What was known of it is in the list, or in the copy.
func (f *filtered) judgeAgain(view *View, i int) {
	if at, out := slices.BinarySearch(f.out, int32(i)); out {
		f.out = slices.Delete(f.out, at, at+1)
	} else if f.view.Routable(i) {
		f.passed--
	}
	f.judge(view, i)
}

// copyAll brings all of the copy up to the view.
func (f *filtered) copyAll(view *View) {
	for i := range view.Len() {
		if i >= f.view.Len() {
			f.view.Add(view.Slot(i))
		}
		f.copy(view, i)
	}
}

// copy brings an instance of the copy up to the view.
func (f *filtered) copy(view *View, i int) {
	s := view.Slot(i)
	if f.passed > 0 {
		_, out := slices.BinarySearch(f.out, int32(i))
		s.Routable = s.Routable && !out
	}
	v := f.view
	v.Set(i, s)
	v.ShowService(i, view.Service(i))
	if i >= len(view.own) {
		return
	}
	for i >= len(v.own) {
		v.own = append(v.own, [MaxOwnSignals]float64{})
	}
	if v.own[i] != view.own[i] {
		v.own[i] = view.own[i]
		v.note(i)
	}
}
