package chrometrace

import (
	"cmp"
	"math/bits"
	"slices"

	"blis/vtime"
)

// eventKind is what an event is of. IMPORTANT: the order is that of events of one thread at one
// instant; a flow binds to the slice before it.
type eventKind uint8

const (
	stepSlice eventKind = iota
	transferSlice
	requestsCounter
	blocksCounter
	idleCounter  // the requests counter when an instance has nothing to execute
	crashCounter // … and when it has crashed
	crashBlocksCounter
	instancesCounter
	mark // an instant
	handOverStart
	handOverEnd
	transferFlowStart
	transferFlowEnd
	main     // of a request, on its last instance
	prefills // of a request, on the instance that computed its prompt for another one
)

// event is one event, without what is kept of its source.
type event struct {
	ts    vtime.Time
	where uint64 // process and thread
	what  uint64 // kind, index in its list, and for phases the place among those of the request
}

const (
	placeBits = 8
	kindShift = 56
)

func (e *event) kind() eventKind { return eventKind(e.what >> kindShift) }
func (e *event) index() int      { return int(e.what << (64 - kindShift) >> (64 - kindShift + placeBits)) }
func (e *event) place() int      { return int(e.what & (1<<placeBits - 1)) }

// compareEvents is the order of events in the file.
func compareEvents(x, y event) int {
	if x.ts != y.ts {
		return cmp.Compare(x.ts, y.ts)
	}
	if x.where != y.where {
		return cmp.Compare(x.where, y.where)
	}
	return cmp.Compare(x.what, y.what)
}

// control is the process of the control plane; that of instance i is i + firstProcess. No process and no thread is
// 0, which viewers take for the idle thread.
const (
	control      = 1
	firstProcess = 2
	laneStride   = 1 << 21 // between the thread of steps and the lanes of transfers
)

// process is the process of an instance, or of the control plane.
func process(instance int32) uint64 {
	if instance < 0 {
		return control
	}
	return uint64(instance) + firstProcess
}

// thread is a thread of an instance: lane 0 has its steps, others transfers. Its number is that of no other
// thread, since viewers have named threads by their numbers alone.
func thread(instance, lane int32) uint64 {
	p := process(instance)
	return p<<32 | (p + uint64(lane)*laneStride)
}

// eventsOfStep is the number of events of a step after another one of its instance, nil for none.
func eventsOfStep(before, s *step) int {
	n := 1
	changed, blocks, idle := changes(before, s)
	for _, is := range [...]bool{changed, blocks, idle} {
		if is {
			n++
		}
	}
	return n
}

// changes says what a step changes of the counters of its instance, and whether it was idle before.
func changes(before, s *step) (requests, blocks, idle bool) {
	if before == nil {
		return true, true, false
	}
	idle = before.end < s.start
	return idle || before.running != s.running || before.waiting != s.waiting, idle || before.blocks != s.blocks, idle
}

// maker makes the events of what is kept. It does so twice: first it counts those of each bin of time,
// then it puts each event into its bin, and sorts the few of each.
type maker struct {
	of     *Recorder
	end    vtime.Time // of the run, or of the window
	shift  int        // a bin is as wide as 2 to the power of it, in µs
	bins   []int      // how many events; then where the next one goes
	events []event    // nil while they are counted
	meta   []meta
	labels labels
}

// mostBins is the number of bins of time, at most.
const mostBins = 1 << 16

// clip moves a time into the window.
func (m *maker) clip(t vtime.Time) vtime.Time { return min(max(t, m.of.options.From), m.of.options.To) }

func (m *maker) add(ts vtime.Time, where uint64, kind eventKind, index, place int) {
	bin := int((ts - m.of.options.From) >> m.shift)
	if m.events == nil {
		for bin >= len(m.bins) {
			m.bins = append(m.bins, 0)
		}
		m.bins[bin]++
		return
	}
	m.events[m.bins[bin]] = event{ts, where, uint64(kind)<<kindShift | uint64(index)<<placeBits | uint64(place)}
	m.bins[bin]++
}

// make makes all events in their order.
func (m *maker) make() {
	m.lanes()
	m.events, m.bins, m.shift = nil, m.bins[:0], bits.Len64(uint64(max(0, m.of.last-m.of.options.From)/mostBins))
	m.makeAll()
	n := 0
	for i, of := range m.bins {
		m.bins[i] = n
		n += of
	}
	m.events = make([]event, n)
	m.makeAll()
	n = 0
	for _, end := range m.bins { // a bin ends where its next event would go
		slices.SortFunc(m.events[n:end], compareEvents)
		n = end
	}
}

// makeAll makes all events.
func (m *maker) makeAll() {
	for i := range m.of.transfers.len() {
		m.transfer(i, m.of.transfers.at(i))
	}
	for i := range m.of.requests.len() {
		m.request(i, m.of.requests.at(i))
	}
	for i := range m.of.instants.len() {
		x := m.of.instants.at(i)
		m.add(x.at, thread(x.instance, 0), mark, i, 0)
		if x.kind == scaled && x.severity == 0 {
			m.add(x.at, thread(-1, 0), instancesCounter, i, 0)
		}
		if x.kind == failed && x.b == 1 {
			m.add(x.at, thread(x.instance, 0), crashCounter, i, 0)
			m.add(x.at, thread(x.instance, 0), crashBlocksCounter, i, 0)
		}
	}
	m.makeSteps()
}

// makeSteps makes the events of steps.
func (m *maker) makeSteps() {
	for i := range m.of.seats {
		m.of.seats[i].last = -1
	}
	for i := range m.of.steps.len() {
		s := m.of.steps.at(i)
		at, where := &m.of.seats[s.instance], thread(s.instance, 0)
		var before *step
		if at.last >= 0 {
			before = m.of.steps.at(at.last)
		}
		requests, blocks, idle := changes(before, s)
		if idle {
			m.add(m.clip(before.end), where, idleCounter, at.last, 0)
		}
		ts := m.clip(s.start)
		m.add(ts, where, stepSlice, i, 0)
		if requests {
			m.add(ts, where, requestsCounter, i, 0)
		}
		if blocks {
			m.add(ts, where, blocksCounter, i, 0)
		}
		at.last = i
	}
	for i := range m.of.seats {
		if s := m.of.seats[i]; s.last >= 0 && m.of.steps.at(s.last).end < m.of.options.To {
			m.add(m.of.steps.at(s.last).end, thread(int32(i), 0), idleCounter, s.last, 0)
		}
	}
}

// request makes the events of a request.
func (m *maker) request(i int, q *request) {
	here := m.of.showsMain(q)
	if here {
		p := q.phases(m.end)
		m.tree(i, main, q.instance, &p, q.arrival)
	}
	h := q.handed
	if h == nil || !m.of.shows(h.from) {
		return
	}
	p := h.phases()
	m.tree(i, prefills, h.from, &p, h.queued)
	if from, to := h.ended-1, q.scheduled; here && from < to && to != vtime.Never && m.of.inWindow(from, from) && m.of.inWindow(to, to) {
		m.add(from, thread(h.from, 0), handOverStart, i, 0) // in the step that ends then
		m.add(to, thread(q.instance, 0), handOverEnd, i, 0)
	}
}

// tree makes the beginnings and ends of a request and its phases, as far as they are in the window.
// Places are those of the events among them, in their order.
func (m *maker) tree(i int, kind eventKind, instance int32, p *phases, start vtime.Time) {
	if !m.of.inWindow(start, p.end) {
		return
	}
	where := thread(instance, 0)
	m.add(m.clip(start), where, kind, i, 0)
	for k := range p.n {
		from, to := m.clip(p.list[k].start), m.clip(p.list[k].end)
		if from < to {
			place := 1 + 2*int(p.list[k].kind)
			m.add(from, where, kind, i, place)
			m.add(to, where, kind, i, place+1)
		}
	}
	m.add(max(m.clip(p.end), m.clip(start)), where, kind, i, lastPlace)
}

// lastPlace is the place of the end of a request.
const lastPlace = 2*int(phaseKinds) + 1

// lanes gives transfers lanes: no two of a lane overlap.
func (m *maker) lanes() {
	order := make([]int, m.of.transfers.len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := m.of.transfers.at(a), m.of.transfers.at(b)
		return cmp.Or(cmp.Compare(x.instance, y.instance), cmp.Compare(x.start, y.start), cmp.Compare(a, b))
	})
	var ends []vtime.Time // of the lanes of an instance
	instance := int32(-1)
	for _, i := range order {
		t := m.of.transfers.at(i)
		if t.instance != instance {
			ends, instance = ends[:0], t.instance
		}
		lane := slices.IndexFunc(ends, func(end vtime.Time) bool { return end <= t.start })
		if lane < 0 {
			lane, ends = len(ends), append(ends, 0)
		}
		ends[lane] = max(t.end, t.start+1)
		t.lane = int32(lane) + 1
	}
}

// transfer makes the events of a transfer.
func (m *maker) transfer(i int, t *transfer) {
	if !m.of.inWindow(t.start, t.end) {
		return
	}
	steps, lane := thread(t.instance, 0), thread(t.instance, t.lane)
	m.add(m.clip(t.start), lane, transferSlice, i, 0)
	toGPU, fromGPU := m.of.names.quoted[t.to] == `"gpu"` || m.of.names.quoted[t.reason] == `"pd"`, m.of.names.quoted[t.from] == `"gpu"`
	switch {
	case toGPU && t.start < t.noticed && m.of.inWindow(t.start, t.start) && m.of.inWindow(t.noticed, t.noticed):
		m.add(t.start, lane, transferFlowStart, i, 0)
		m.add(t.noticed, steps, transferFlowEnd, i, 0)
	case fromGPU && t.submitted <= t.start && m.of.inWindow(t.start, t.start) && m.of.inWindow(t.submitted, t.submitted):
		m.add(t.submitted, steps, transferFlowStart, i, 0)
		m.add(t.start, lane, transferFlowEnd, i, 0)
	}
}
