package actors

import (
	"blis/lookahead"
	"blis/metrics"
	"blis/setup"
	"blis/vtime"
	"blis/vtime/heap"
)

// evictions end requests in flight that may be shed, for requests of higher bands that wait at a closed gate: as the
// reclamation controller of llm-d's endpoint picker. A decision names one or two; the next one is made a while after
// the instances have said that these are gone.
type evictions struct {
	grace    vtime.Duration // from the last notice to the next decision
	earliest vtime.Time     // next decision
	awaited  int            // that were told to end and have not yet
	list     map[int64]*sheddable
	order    []victim // heap of those that may be evicted, and of some that no longer may
	entries  int64    // so far
}

// sheddable is a request of a band below 0 that was dispatched and has not ended.
type sheddable struct {
	place      metrics.GatewayPlace
	dispatched vtime.Time
	at         *place // nil: on its way to an instance, or back from one
	entry      int64  // in the order; 0: not there
	told       bool   // to end
}

// victim is an entry of the order.
type victim struct {
	band       int
	dispatched vtime.Time
	number     int64
	entry      int64
}

// Before implements heap.Ordered: the lowest band, in it the latest dispatch, then the highest number.
func (v *victim) Before(o *victim) bool {
	switch {
	case v.band != o.band:
		return v.band < o.band
	case v.dispatched != o.dispatched:
		return v.dispatched > o.dispatched
	}
	return v.number > o.number
}

// newEvictions returns nil for a gateway that evicts nothing.
func newEvictions(p *setup.Plan) *evictions {
	if !p.Gateway.Evict {
		return nil
	}
	e := &evictions{list: map[int64]*sheddable{}, grace: evictionGrace}
	if !p.Gateway.Detector.InFlight() {
		e.grace = graceOfSignals + p.Config.SnapshotRefreshInterval
	}
	return e
}

// Time from a notice to the next decision, by what the detector reads: requests in flight, or signals, from their
// next refresh on. They are those of llm-d.
const (
	evictionGrace  = 10 * vtime.Millisecond
	graceOfSignals = 250 * vtime.Millisecond
)

// dispatch notes that a request was dispatched.
func (e *evictions) dispatch(number int64, of metrics.GatewayPlace, now vtime.Time) {
	if e != nil && of.Band < 0 {
		e.list[number] = &sheddable{place: of, dispatched: now}
	}
}

// deliver notes that a request is delivered to an endpoint.
func (e *evictions) deliver(number int64, at *place) {
	if e == nil || e.list[number] == nil {
		return
	}
	x := e.list[number]
	e.entries++
	x.at, x.entry = at, e.entries
	e.order = heap.Push(e.order, victim{x.place.Band, x.dispatched, number, x.entry})
}

// back notes that a request is no longer on its instance, as a notice says.
func (e *evictions) back(number int64, now vtime.Time) {
	if e == nil || e.list[number] == nil {
		return
	}
	x := e.list[number]
	if x.told {
		e.awaited--
		e.earliest = now.Add(e.grace)
	}
	x.at, x.entry, x.told = nil, 0, false
}

// end notes that a request has ended.
func (e *evictions) end(number int64) {
	if e != nil {
		delete(e.list, number)
	}
}

// first returns the first victim; nil without any.
func (e *evictions) first() *victim {
	for len(e.order) > 0 {
		v := &e.order[0]
		if x := e.list[v.number]; x != nil && x.entry == v.entry {
			return v
		}
		e.order = heap.Pop(e.order)
	}
	return nil
}

// evicts reports whether there is some request to evict.
func (f *flowControl) evicts() bool {
	return f != nil && f.evictions != nil && f.evictions.first() != nil
}

// delivers notes that a request is delivered to an endpoint.
func (f *flowControl) delivers(number int64, at *place) {
	if f != nil {
		f.evictions.deliver(number, at)
	}
}

// returned notes that a request is no longer on its instance, and has not ended.
func (f *flowControl) returned(number int64, now vtime.Time) {
	if f != nil {
		f.evictions.back(number, now)
	}
}

// forget notes that a request has ended here.
func (f *flowControl) forget(number int64) {
	if f != nil {
		f.evictions.end(number)
	}
}

// ended notes that a request has ended on an instance.
func (f *flowControl) ended(e *ended, now vtime.Time) {
	if f == nil || f.evictions == nil {
		return
	}
	if x := f.evictions.list[e.request]; x != nil && e.state == metrics.Evicted {
		f.use.Evict(x.place, e.generated)
	}
	f.evictions.back(e.request, now)
	f.evictions.end(e.request)
}

// reclaim decides on evictions after a cycle that ended at a ceiling, at saturation s.
func (f *flowControl) reclaim(s float64, tick int64, now vtime.Time, out *lookahead.Outbox) {
	e := f.evictions
	if e.awaited > 0 || now < e.earliest {
		return
	}
	v := e.first()
	if v == nil {
		return
	}
	d := f.queue.Demand(s, tick, v.band, s/float64(f.flying()))
	for ; d.Requests > 0; d.Requests-- {
		if v = e.first(); v == nil || v.band >= d.Band {
			return
		}
		x := e.list[v.number]
		x.told, x.entry = true, 0
		e.awaited++
		sendEvict(out, x.at.process(), now, v.number)
	}
}

// flying is the number of requests in flight to the instances that may be given requests.
func (f *flowControl) flying() (n int64) {
	for i := range f.stages {
		f.stages[i].candidates(func(e *endpoints, seat int) { n += int64(e.cluster.view.Slot(seat).InFlight) })
	}
	return n
}

// nextDecision is when the next eviction may be decided on, while one is put off; vtime.Never: none is.
func (f *flowControl) nextDecision(now vtime.Time) vtime.Time {
	if e := f.evictions; f.evicts() && e.awaited == 0 && e.earliest > now {
		return e.earliest
	}
	return vtime.Never
}

// firstEviction is the Key of the first message that may tell an instance to evict a request.
func (f *flowControl) firstEviction(r *router) lookahead.Key {
	if !f.evicts() {
		return lookahead.NeverKey
	}
	at := min(nextEntry(r), f.firstTick(r))
	if at == vtime.Never {
		return lookahead.NeverKey
	}
	return key(at, vtime.ClassDelivery)
}

// sendEvict tells an instance to end a request.
func sendEvict(out *lookahead.Outbox, to lookahead.ProcessID, now vtime.Time, request int64) {
	out.Begin(to, key(now, vtime.ClassDelivery), kindEvict, 1)
	out.Int(request)
	out.End()
}

func readEvict(b *lookahead.Decoder) (request int64) {
	request = b.Int()
	mustDecode(b)
	return request
}
