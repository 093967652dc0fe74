package policy

import (
	"blis/prefixindex"
	"blis/vtime"
)

// Filters that look at the request. They come after the limits, and leave out nobody where they would leave out all.

var (
	stickySession = Parameter{Name: "sticky_session", Type: Duration, Default: "0", Max: LongestDuration, Quiet: true,
		Help: "filter: a session stays on the instance that served it last, if a candidate, until it is idle for so long; 0: off"}
	minPrefix = Parameter{Name: "min_prefix", Type: Number, Default: "0", Min: 0, Max: 1, Quiet: true,
		Help: "filter: instances that are expected to have a smaller share of the prompt's full blocks are left out, unless all have; 0: off"}
)

// requestFilter keeps a request to some instances.
type requestFilter interface {
	observes() Signals
	// keep appends the routable instances of the view to which the request is kept, ascending; none: it is kept to none.
	keep(list []int32, req *Request, view *View, now vtime.Time) []int32
	// routed is told where the request that was asked about last at now went.
	routed(req *Request, target int, now vtime.Time)
}

// narrow puts the filters by request that are set before a policy.
func narrow(inner Routing, v values, env Env) Routing {
	n := narrowed{masked: behind(inner)}
	if ttl := v.duration(stickySession.Name); ttl > 0 {
		n.filters = append(n.filters, &sticky{newSessionMemory(sessionCapacity, ttl)})
	}
	if least := v.number(minPrefix.Name); least > 0 {
		n.filters = append(n.filters, &cachedShare{env.Prefixes, least})
	}
	if n.filters == nil {
		return inner
	}
	if explains, ok := inner.(Explainer); ok {
		return &narrowedExplainer{n, explains}
	}
	return &n
}

// narrowed is a routing policy that sees the instances to which a request is kept.
type narrowed struct {
	masked
	filters []requestFilter // the first one that keeps the request anywhere decides
	now     vtime.Time      // of the last decision
	kept    []int32
	next    []int32 // memory of the next masked.out
}

type narrowedExplainer struct {
	narrowed
	Explainer
}

// Observes implements Routing.
func (n *narrowed) Observes() Signals {
	s := n.inner.Observes()
	for _, f := range n.filters {
		s |= f.observes()
	}
	return s
}

// Route implements Routing.
func (n *narrowed) Route(req *Request, priority float64, st *RouterState, view *View, now vtime.Time) RoutingDecision {
	n.now = now
	n.sync(req, view)
	d := n.inner.Route(req, priority, st, n.view, now)
	n.tell(&d)
	return d
}

// OnRouted implements RouteObserver.
func (n *narrowed) OnRouted(req *Request, target int) {
	for _, f := range n.filters {
		f.routed(req, target, n.now)
	}
	n.masked.OnRouted(req, target)
}

// sync brings the copy up to the view, for a request.
func (n *narrowed) sync(req *Request, view *View) {
	first, all := n.follow(view)
	before := n.out
	n.out = n.leftOut(n.next[:0], req, view)
	n.next = before
	if all {
		n.copyAll(view, true)
		return
	}
	for c := first; c < view.changes; c++ {
		n.copy(view, view.changed(c), true)
	}
	for _, list := range [...][]int32{before, n.out} {
		for _, i := range list {
			n.copy(view, int(i), true)
		}
	}
}

// leftOut appends the routable instances to which the request is not kept.
func (n *narrowed) leftOut(list []int32, req *Request, view *View) []int32 {
	n.kept = n.kept[:0]
	for _, f := range n.filters {
		if n.kept = f.keep(n.kept, req, view, n.now); len(n.kept) > 0 {
			break
		}
	}
	kept := n.kept
	if len(kept) == 0 {
		return list
	}
	for _, i := range view.present {
		switch {
		case len(kept) > 0 && kept[0] == i:
			kept = kept[1:]
		case view.Routable(int(i)):
			list = append(list, i)
		}
	}
	return list
}

// sticky keeps a session where it was served last: llm-d's session-affinity-filter. A single instance is left, of which
// no later filter can leave out more.
type sticky struct{ sessions *sessionMemory }

func (*sticky) observes() Signals { return NoSignals }

func (f *sticky) keep(list []int32, req *Request, view *View, now vtime.Time) []int32 {
	if i := f.sessions.last(req.Session, now); i >= 0 && int(i) < view.Len() && view.Routable(int(i)) { // session 0, none, is never recorded
		return append(list, i)
	}
	return list
}

func (f *sticky) routed(req *Request, target int, now vtime.Time) {
	if req.Session != 0 {
		f.sessions.record(req.Session, target, now)
	}
}

// cachedShare keeps a request to instances that are expected to have enough of its prompt, in whatever medium.
type cachedShare struct {
	index *prefixindex.Index
	least float64 // share of the prompt's full blocks, above 0
}

func (*cachedShare) observes() Signals { return Prefixes }

func (f *cachedShare) keep(list []int32, _ *Request, view *View, _ vtime.Time) []int32 {
	holders := f.index.Holders()
	for k := range holders {
		h := &holders[k]
		if i := int(h.Instance); i < view.Len() && view.Routable(i) && f.index.Affinity(h.Blocks) >= f.least {
			list = append(list, h.Instance)
		}
	}
	return list
}

func (*cachedShare) routed(*Request, int, vtime.Time) {}
