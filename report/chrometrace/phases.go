package chrometrace

import "blis/vtime"

// phaseKind is a part of the life of a request. IMPORTANT: the order is that in which requests come to them.
type phaseKind uint8

const (
	gateway phaseKind = iota
	frontEnd
	prefillElsewhere
	handingOver
	queue
	transferring
	prefill
	decode
	phaseKinds
)

var phaseNames = [phaseKinds]string{"gateway", "front_end", "prefill_elsewhere", "hand_over", "queue", "transfer", "prefill", "decode"}

// phase is a phase of one request.
type phase struct {
	kind       phaseKind
	start, end vtime.Time
}

// phases are phases of a request, one after the other, without those that take no time.
type phases struct {
	list [phaseKinds]phase
	n    int
	from vtime.Time // the beginning of the next one
	end  vtime.Time // of the request; a phase that has no end ends there
}

// until adds the phase from the end of the one before to a time. Times of requests that went on on
// another instance may be before that: then the phase is empty.
func (p *phases) until(kind phaseKind, to vtime.Time) {
	to = min(to, p.end)
	if to <= p.from {
		return
	}
	p.list[p.n] = phase{kind, p.from, to}
	p.n, p.from = p.n+1, to
}

// phases are those of a request, where it ends at the latest at end.
func (q *request) phases(end vtime.Time) phases {
	p := phases{from: q.arrival, end: min(q.finished, end)}
	if h := q.handed; h != nil {
		routed := q.routed
		if routed > h.queued { // that of the decode instance, which is chosen at the hand-over
			routed = q.admitted
		}
		p.until(gateway, routed)
		p.until(frontEnd, h.queued)
		p.until(prefillElsewhere, h.ended)
		p.until(handingOver, q.queued)
		p.until(queue, min(h.pulled, q.scheduled))
		p.until(transferring, q.scheduled)
	} else {
		p.until(gateway, q.routed)
		p.until(frontEnd, q.queued)
		p.until(queue, q.scheduled)
		p.until(prefill, q.first)
	}
	p.until(decode, vtime.Never)
	return p
}

// phases are those on the instance that computes a prompt for another one.
func (h *handOver) phases() phases {
	p := phases{from: h.queued, end: h.ended}
	p.until(queue, h.scheduled)
	p.until(prefill, h.ended)
	return p
}

// eventsOfRequest is the number of events of a request at most.
func (r *Recorder) eventsOfRequest(q *request) (n int) {
	here := r.showsMain(q)
	if here {
		p := q.phases(vtime.Never)
		n += 2 + 2*p.n
	}
	if h := q.handed; h != nil && r.shows(h.from) {
		p := h.phases()
		n += 2 + 2*p.n
		if here {
			n += 2
		}
	}
	return n
}

// showsMain reports whether the trace has the phases of a request on its last instance.
func (r *Recorder) showsMain(q *request) bool {
	if q.instance < 0 {
		return len(r.options.Instances) == 0
	}
	return r.shows(q.instance)
}
