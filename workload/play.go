package workload

import (
	"blis/vtime"
	"blis/vtime/heap"
)

// Play returns a Source of all requests that loop would send if every awaited
// request were answered in full, answer after its arrival. A preview or an
// export uses it to show a workload whose requests follow from answers, without
// a cluster. Answers take at least 1 µs.
//
// The session counts of the loop are the counts of that run.
func Play(loop ClosedLoop, answer func(*Request) vtime.Duration) Source {
	return &played{ClosedLoop: loop, answer: answer}
}

type played struct {
	ClosedLoop
	answer func(*Request) vtime.Duration

	next    Request // valid if pulled
	pulled  bool    // next is not yet handed out
	ended   bool    // Pull of the loop has reported its last request
	lastEnd End
	answers []answer // a heap: answers to come
	count   uint64   // awaited requests so far
}

// answer is the end of an awaited request.
type answer struct {
	End
	order uint64 // of the request among all awaited ones
}

// Before orders answers by time, then by the order of their requests.
func (a *answer) Before(b *answer) bool {
	if a.At != b.At {
		return a.At < b.At
	}
	return a.order < b.order
}

// Pull implements Source.
func (p *played) Pull(r *Request) (bool, error) {
	if !p.pulled && !p.ended {
		more, err := p.ClosedLoop.Pull(&p.next)
		if err != nil {
			return false, err
		}
		p.pulled, p.ended = more, !more
	}
	for {
		first := p.Peek()
		if p.pulled && (first.Arrival == vtime.Never || p.next.Position().Before(first)) {
			first = p.next.Position()
		}
		if len(p.answers) > 0 && p.answers[0].At < first.Arrival {
			p.lastEnd = p.answers[0].End
			p.answers = heap.Pop(p.answers)
			p.Ended(&p.lastEnd)
			continue
		}
		if first.Arrival == vtime.Never {
			return false, nil
		}
		return true, p.fill(r, first)
	}
}

// fill fills r with the request at a position: the pulled one, or one that
// follows from an end.
func (p *played) fill(r *Request, at Position) error {
	if p.pulled && p.next.Position() == at {
		*r, p.pulled = p.next, false
	} else if err := p.Pop(r); err != nil {
		return err
	}
	if r.Awaited {
		p.count++
		end := End{Source: r.Source, Index: r.Index, At: r.Arrival.Add(max(1, p.answer(r))), Completed: true, Generated: r.Output}
		p.answers = heap.Push(p.answers, answer{end, p.count})
		r.Awaited = false
	}
	return nil
}

// Awaits implements ClosedLoop: Play answers all awaited requests itself.
func (p *played) Awaits() bool { return false }
