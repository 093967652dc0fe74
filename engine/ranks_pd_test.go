package engine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"blis/metrics"
	"blis/vtime"
)

// Disaggregation on ranks: cases of which some requests are prefills for others, whose KV is pulled
// or not, and some pull KV.

// drawDisaggregation lets requests of the case be handed over.
func (x *rankCase) drawDisaggregation(r *rand.Rand) {
	x.delay = vtime.Duration(50 + r.IntN(3000))
	x.pd = &Disaggregation{
		Pull: Link{float64(1 + r.IntN(3000)), float64(r.IntN(200))}, Recompute: r.IntN(2) == 0,
		HoldTimeout: vtime.Duration(2000 + r.IntN(60_000)), MaxHeld: r.IntN(4), SharedLink: r.IntN(3) == 0,
	}
	if !x.pd.SharedLink && r.IntN(3) == 0 {
		x.pd.StartShare = 1 - r.Float64()
	}
	if !x.cfg.Async && r.IntN(3) == 0 {
		x.cfg.Passes.IdlePoll = 700
	}
	x.cfg.Passes.IdleRelease = r.IntN(2) == 0
}

// hand delivers a request as a prefill, or as one whose prompt was computed elsewhere.
func (x *rankCase) hand(e *Endpoint, q *Delivery) {
	if q.ID%3 == 1 {
		e.Prefill(q, q.Arrival)
		return
	}
	s := KVSource{Request: q.ID, Number: 1 + q.ID, Slot: int32(q.ID), Blocks: (q.Input + 3) / 4}
	e.Pull(q, s, q.ID%5 == 0, q.Arrival)
}

// mail is a message to a rank.
type mail struct {
	at     vtime.Time
	rank   int
	number int64 // of the prefill, or of the pull
	source KVSource
	kind   int            // 0: the pull of a prefill is over; 1: nobody will pull it; 2: its own pull has ended
	failed bool           // … in vain
	lasted vtime.Duration // that pull
}

// rankNotices takes what a rank tells the other side, and lets that answer.
type rankNotices struct {
	*rankPlayer
	x    *rankCase
	rank int
}

func (p *rankNotices) note(kind int, now vtime.Time, format string, args ...any) {
	if now < p.foreseen[kind] {
		p.err = fmt.Errorf("at %v: notice of kind %d, and %v was promised", now, kind, p.foreseen[kind])
	}
	p.Outcomes = append(p.Outcomes, fmt.Sprintf("%v rank %d: ", now, p.rank)+fmt.Sprintf(format, args...))
}

func (p *rankNotices) Prefilled(o *metrics.Outcome, s KVSource, now vtime.Time) {
	p.note(0, now, "prefilled %d, %+v", o.ID, s)
	if kind := int(o.ID % 4); s.Blocks > 0 && kind < 2 { // else nobody does anything in time
		p.mail = append(p.mail, mail{at: now.Add(p.x.delay * vtime.Duration(1+o.ID%5)), rank: p.rank, number: s.Number, source: s, kind: kind})
	}
}

func (p *rankNotices) Pulls(q *Pull, now vtime.Time) {
	p.note(1, now, "pulls %+v", *q)
	if p.x.pd.SharedLink || q.Number%6 == 5 {
		failed := q.Number%3 == 2
		lasts := p.x.delay * vtime.Duration(1+q.Number%3)
		p.mail = append(p.mail, mail{at: now.Add(lasts), rank: p.rank, number: q.Number, kind: 2, failed: failed, lasted: lasts})
	}
}

func (p *rankNotices) Left(s KVSource, now vtime.Time) { p.note(2, now, "left %+v", s) }
func (p *rankNotices) Released(n int, now vtime.Time) {
	p.Outcomes = append(p.Outcomes, fmt.Sprintf("%v rank %d: released %d", now, p.rank, n))
}

// advanceByMail is advance for a case whose ranks get messages. An act goes on no further than an answer
// to it may come.
func (x *rankCase) advanceByMail(r *Ranks, p *rankPlayer, m rankMode, to vtime.Time, class uint8) {
	for {
		slices.SortFunc(p.mail, func(a, b mail) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank), cmp.Compare(a.kind, b.kind), cmp.Compare(a.number, b.number))
		})
		at, next := r.Next()
		until, before := to, class
		if len(p.mail) > 0 {
			first := p.mail[0]
			if first.at <= to && (first.at < at || first.at == at && vtime.ClassTransfer < next) {
				p.mail = p.mail[1:]
				x.answer(r, first)
				continue
			}
			if first.at <= until {
				until, before = first.at, vtime.ClassTransfer
			}
		}
		if at > until || at == until && next >= before || at == vtime.Never {
			p.promised, p.foreseen = 0, [3]vtime.Time{}
			return
		}
		if m.bounds {
			p.promised = r.FirstEnd()
			p.foreseen = [3]vtime.Time{r.FirstPrefilled(), r.FirstPull(), r.FirstLeft()}
		}
		if latest := at.Add(x.delay - 1); latest < until {
			until, before = latest, vtime.ClassStep
		}
		if m.slice > 0 && at.Add(m.slice) < until {
			until, before = at.Add(m.slice), vtime.ClassStep
		}
		r.Act(until, before)
	}
}

// answer gives a message to its rank.
func (x *rankCase) answer(r *Ranks, a mail) {
	e := r.Rank(a.rank, a.at, vtime.ClassTransfer)
	switch a.kind {
	case 0:
		e.Pulls.Over(a.source, a.at)
	case 1:
		e.Pulls.Left(a.source, a.at)
	case 2:
		if a.failed {
			e.Pulls.Failed(a.number, a.at)
		} else {
			e.Pulls.Ended(a.number, a.lasted, a.at)
		}
	}
}
