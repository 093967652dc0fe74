package gateway

import "blis/vtime"

// waiting is a request in the queue, or a free slot.
type waiting struct {
	Request
	flow     *flow
	entry    vtime.Time
	key      [2]vtime.Time // the order of the flow, before the number
	at       int           // in the heap of its flow; −1: it does not wait
	sequence int64         // of its entry, among all
	// Neighbours in the order of entry, in its band; −1: none.
	earlier, later int32
}

// before is the order of the requests of a queue.
func (w *waiting) before(o *waiting) bool {
	switch {
	case w.key[0] != o.key[0]:
		return w.key[0] < o.key[0]
	case w.key[1] != o.key[1]:
		return w.key[1] < o.key[1]
	}
	return w.Number < o.Number
}

// keyOf is the order of a request that enters at now.
func (r *Rules) keyOf(w *Request, now vtime.Time) [2]vtime.Time {
	switch {
	case r.Order == EDF && r.TTL > 0:
		return [2]vtime.Time{now.Add(r.TTL), now}
	case r.Order == SLODeadline && w.Target > 0:
		return [2]vtime.Time{w.Arrival.Add(w.Target), w.Arrival}
	case r.Order == SLODeadline:
		return [2]vtime.Time{vtime.Never, w.Arrival}
	}
	return [2]vtime.Time{now, 0}
}

// flow is the requests of a tenant in a band. It never ceases to exist.
type flow struct {
	name    string
	band    *band
	slots   indexed[int32] // of its requests
	rank    int            // among the flows of its band by name
	at      int            // in the heap of the band; −1: empty, or there is no heap
	counter int64          // VTC
	charge  float64        // of VTC, per prompt token
}

func newFlow(q *Queue, b *band, name string) *flow {
	f := &flow{name: name, band: b, at: -1, charge: 1 << 16}
	if q.rules.Weight != nil {
		f.charge /= q.rules.Weight(name)
	}
	f.slots = indexed[int32]{
		before: func(a, b int32) bool { return q.slots[a].before(&q.slots[b]) },
		moved:  func(x int32, to int) { q.slots[x].at = to },
	}
	return f
}

func (f *flow) empty() bool { return len(f.slots.list) == 0 }

// head is the slot of the first request.
func (f *flow) head() int32 { return f.slots.list[0] }
