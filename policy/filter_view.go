package policy

import "slices"

// masked is a routing policy that sees fewer instances: its view is a copy of the router's, brought up to it at each
// decision, in which instances that are left out are not routable.
type masked struct {
	inner    Routing
	observer RouteObserver // inner, if it is one

	cursor changeCursor
	view   *View   // another one with each view of the router, as inner knows it by its address
	out    []int32 // routable instances that are left out, ascending
	both   []int32 // these and those that filters of inner leave out
}

// behind returns the mask of a policy.
func behind(inner Routing) masked {
	m := masked{inner: inner}
	m.observer, _ = inner.(RouteObserver)
	return m
}

// Printed implements Printer.
func (m *masked) Printed() string {
	if p, ok := m.inner.(Printer); ok {
		return p.Printed()
	}
	return ""
}

// OnRouted implements RouteObserver.
func (m *masked) OnRouted(req *Request, target int) {
	if m.observer != nil {
		m.observer.OnRouted(req, target)
	}
}

// follow does what changeCursor.sync does. The caller copies what changed.
func (m *masked) follow(view *View) (first uint64, all bool) {
	if m.cursor.view != view {
		m.view = &View{}
	}
	v := m.view
	v.Declared, v.MaxNumSeqs, v.CPUEntries, v.BlockSize = m.inner.Observes(), view.MaxNumSeqs, view.CPUEntries, view.BlockSize
	return m.cursor.sync(view)
}

// copyAll brings all of the copy up to the view.
func (m *masked) copyAll(view *View, hide bool) {
	for i := range view.Len() {
		if i >= m.view.Len() {
			m.view.Add(view.Slot(i))
		}
		m.copy(view, i, hide)
	}
}

// copy brings an instance of the copy up to the view. With hide one that is left out is not routable there.
func (m *masked) copy(view *View, i int, hide bool) {
	s := view.Slot(i)
	if hide {
		_, out := slices.BinarySearch(m.out, int32(i))
		s.Routable = s.Routable && !out
	}
	v := m.view
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

// tell adds those that are left out to a decision.
func (m *masked) tell(d *RoutingDecision) {
	if len(d.FilteredOut) == 0 {
		d.FilteredOut = m.out
		return
	}
	m.both = append(append(m.both[:0], m.out...), d.FilteredOut...)
	slices.Sort(m.both)
	d.FilteredOut = m.both
}
