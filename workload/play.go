package workload

import "blis/vtime"

// Play is a Source of everything that a Loop would send if every request that
// it waits for were answered in full, answer after its arrival: what a preview
// or an export can show of a workload whose requests follow from answers,
// without a cluster that gives them. Answers are 1 µs or later.
//
// Session counts of the loop are those of that run.
func Play(loop Loop, answer func(*Request) vtime.Duration) Source {
	return &played{Loop: loop, answer: answer}
}

type played struct {
	Loop
	answer func(*Request) vtime.Duration

	next    Request // pulled
	pulled  bool
	ended   bool
	told    End
	answers []End // a binary heap, by At and then in order of arrival
	order   []uint64
	count   uint64
}

// Pull implements Source.
func (p *played) Pull(r *Request) (bool, error) {
	if !p.pulled && !p.ended {
		more, err := p.Loop.Pull(&p.next)
		if err != nil {
			return false, err
		}
		p.pulled, p.ended = more, !more
	}
	for {
		first := p.Due()
		if p.pulled && (first.Arrival == vtime.Never || p.next.Place().Before(first)) {
			first = p.next.Place()
		}
		if len(p.answers) > 0 && p.answers[0].At < first.Arrival {
			p.told = p.pop()
			p.Ended(&p.told)
			continue
		}
		if first.Arrival == vtime.Never {
			return false, nil
		}
		return true, p.give(r, first)
	}
}

// give fills r with the request at a place: the one that was pulled, or one that
// is due.
func (p *played) give(r *Request, at Place) error {
	if p.pulled && p.next.Place() == at {
		*r, p.pulled = p.next, false
	} else if err := p.Take(r); err != nil {
		return err
	}
	if r.Awaited {
		p.push(End{Source: r.Source, Index: r.Index, At: r.Arrival.Add(max(1, p.answer(r))), Completed: true, Generated: r.Output})
		r.Awaited = false
	}
	return nil
}

// Waits implements Loop: nothing is awaited of what this source yields.
func (p *played) Waits() bool { return false }

// before is the order of answers: by time, then as their requests came.
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
