package policy

import (
	"slices"

	"blis/vtime"
)

// Filters leave instances out before a routing policy looks at them, as the filters of routers in the field do. If every
// routable instance is left out none is: a request must go somewhere. filter_request.go has those that look at the request.

// limit is a filter that leaves out instances of which a number is too large.
type limit struct {
	parameter Parameter // as large as its Max: none is left out
	reads     Signals
	above     func(s *Slot, most float64) bool
}

var limits = []limit{
	{Parameter{Name: "max_queue", Type: Count, Default: "1000000000", Max: mostRequests, Quiet: true,
		Help: "filter: instances with more waiting requests are left out, unless all have"},
		QueueDepth, func(s *Slot, most float64) bool { return float64(s.Queue) > most }},
	{Parameter{Name: "max_kv", Type: Number, Default: "1", Min: 0, Max: 1, Quiet: true,
		Help: "filter: instances with a larger share of their KV blocks in use are left out, unless all have"},
		KVUse, func(s *Slot, most float64) bool { return float64(s.Used) > float64(most*float64(s.Total)) }},
	{Parameter{Name: "max_in_flight", Type: Count, Default: "1000000000", Max: mostRequests, Quiet: true,
		Help: "filter: instances with more requests in flight are left out, unless all have"},
		InFlight, func(s *Slot, most float64) bool { return float64(s.InFlight) > most }},
	{Parameter{Name: "max_running", Type: Count, Default: "1000000000", Max: mostRequests, Quiet: true,
		Help: "filter: instances with more running requests are left out, unless all have"},
		BatchSize, func(s *Slot, most float64) bool { return float64(s.Batch) > most }},
}

// withFilters gives templates the parameters of filters.
func withFilters(list []template[Routing]) []template[Routing] {
	for i := range list {
		t := &list[i]
		t.Parameters = slices.Clip(t.Parameters)
		for k := range limits {
			t.Parameters = append(t.Parameters, limits[k].parameter)
		}
		t.Parameters = append(t.Parameters, stickySession, minPrefix)
		build := t.build
		t.build = func(v values, env Env) (Routing, error) {
			inner, err := build(v, env)
			if err != nil {
				return nil, err
			}
			return filter(narrow(inner, v, env), v), nil
		}
	}
	return list
}

// filter puts the filters that are set before a policy.
func filter(inner Routing, v values) Routing {
	f := filtered{masked: behind(inner)}
	for k := range limits {
		l := &limits[k]
		if most := v.number(l.parameter.Name); most < l.parameter.Max {
			f.limits = append(f.limits, setLimit{l.above, most})
			f.reads |= l.reads
		}
	}
	if f.limits == nil {
		return inner
	}
	if explains, ok := inner.(Explainer); ok {
		return &filteredExplainer{f, explains}
	}
	return &f
}

// setLimit is a limit with its value.
type setLimit struct {
	above func(s *Slot, most float64) bool
	most  float64
}

// filtered is a routing policy that sees no instances above limits.
type filtered struct {
	masked
	reads  Signals // of the limits
	limits []setLimit
	passed int // routable instances that pass; 0: all are seen
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
	if f.passed > 0 {
		f.tell(&d)
	}
	return d
}

// sync brings the copy up to the view.
func (f *filtered) sync(view *View) {
	first, all := f.follow(view)
	v := f.view
	if all {
		f.out, f.passed = f.out[:0], 0
		for i := range view.Len() {
			f.judge(view, i)
		}
		f.copyAll(view, f.passed > 0)
		return
	}
	some, turned := f.passed > 0, false // turned: on the way it changed whether any passes, on which all copies depend
	for c := first; c < view.changes; c++ {
		i := view.changed(c)
		if v.Slot(i).Phase != Gone || view.Slot(i).Phase != Gone {
			f.judgeAgain(view, i)
			turned = turned || some != (f.passed > 0)
			f.copy(view, i, f.passed > 0)
		}
	}
	if turned {
		f.copyAll(view, f.passed > 0)
	}
}

// leavesOut reports whether a limit leaves out an instance.
func (f *filtered) leavesOut(view *View, i int) bool {
	for k := range f.limits {
		if f.limits[k].above(&view.slots[i], f.limits[k].most) {
			return true
		}
	}
	return false
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
