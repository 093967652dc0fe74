package workload

import "blis/vtime"

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

	next    Request // pulled
	pulled  bool
	ended   bool
	lastEnd End
	answers []End // a binary heap, by At and then in order of arrival
	order   []uint64
	count   uint64
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
			p.lastEnd = p.pop()
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
		p.push(End{Source: r.Source, Index: r.Index, At: r.Arrival.Add(max(1, p.answer(r))), Completed: true, Generated: r.Output})
		r.Awaited = false
	}
	return nil
}

// Awaits implements ClosedLoop: Play answers all awaited requests itself.
func (p *played) Awaits() bool { return false }

// before is the order of answers: by time, then in the order of their requests.
func (p *played) before(i, j int) bool {
	if p.answers[i].At != p.answers[j].At {
		return p.answers[i].At < p.answers[j].At
	}
	return p.order[i] < p.order[j]
}

func (p *played) swap(i, j int) {
	p.answers[i], p.answers[j] = p.answers[j], p.answers[i]
	p.order[i], p.order[j] = p.order[j], p.order[i]
}

func (p *played) push(e End) {
	p.count++
	p.answers, p.order = append(p.answers, e), append(p.order, p.count)
	for i := len(p.answers) - 1; i > 0 && p.before(i, (i-1)/2); i = (i - 1) / 2 {
		p.swap(i, (i-1)/2)
	}
}

func (p *played) pop() End {
	e, last := p.answers[0], len(p.answers)-1
	p.swap(0, last)
	p.answers, p.order = p.answers[:last], p.order[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if p.before(child, least) {
				least = child
			}
		}
		if least == i {
			return e
		}
		p.swap(i, least)
		i = least
	}
}
