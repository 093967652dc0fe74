package actors

import (
	"fmt"

	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
)

// loop is the router's part in a workload in which requests follow from answers:
// the next round of a conversation, the next request of a user. The router notifies
// the source when an awaited request ends, and pops the request that follows.
//
// An answer at T causes an arrival at T + reaction at the earliest. So an instance with
// an awaited request may run for reaction beyond its next end of a request. A refusal
// at T causes an arrival at T + refusal at the earliest. Requests that end while the
// router holds them are refused.
type loop struct {
	source   workload.ClosedLoop
	reaction vtime.Duration   // least time from an end to the arrival that follows, at least 1 µs
	refusal  vtime.Duration   // least time from an end without an answer, ≥ reaction
	awaited  map[int64]origin // by number of the request; those whose end the source waits for
	next     workload.Request
	begun    int64 // sessions that began

	reads              bool           // an admission decision, or the gateway behind it, reads signals of instances or tells them something
	admission, routing vtime.Duration // latencies from arrival to admission, from there to routing
}

// sessions counts the sessions, nil if none began.
func (l *loop) sessions() *Sessions {
	if l == nil || l.begun == 0 {
		return nil
	}
	s := l.source.Sessions()
	return &Sessions{Begun: l.begun, Completed: s.Completed, EndedEarly: s.EndedEarly, NotSent: s.NotSent, Unfinished: l.begun - s.Completed - s.EndedEarly}
}

// notSent lists the requests of sessions that ended early and were never sent.
func (l *loop) notSent() (list []NotSent) {
	if l == nil {
		return nil
	}
	labels := l.source.Labels()
	for _, u := range l.source.NotSent() {
		list = append(list, NotSent{labels.Tenants.Name(u.Tags.Tenant), labels.Classes.Name(u.Tags.Class), u.Requests})
	}
	return list
}

// users counts the requests of users, nil if none ended.
func (l *loop) users() *Users {
	if l == nil {
		return nil
	}
	s := l.source.Sessions()
	if s.UserRequests == 0 {
		return nil
	}
	return &Users{Ended: s.UserRequests, Refused: s.UserRefused}
}

// origin identifies a request to its source.
type origin struct {
	source uint32
	index  uint64
}

// newLoop returns nil if no request of the workload follows from an answer.
func newLoop(p *setup.Plan, r *router) *loop {
	if !p.Loops() {
		return nil
	}
	l := &loop{source: p.Source.(workload.ClosedLoop), awaited: map[int64]origin{}}
	l.refusal = max(1, l.source.MinThink(false))
	l.reaction = min(l.refusal, max(1, l.source.MinThink(true)))
	l.reads, l.admission, l.routing = r.fleet.readAtAdmission() || p.Gateway.Evicts(), r.admissionLatency, r.routingLatency
	return l
}

// react is the Key of the earliest event that a notice at k can cause: a decision
// that reads instances, or a delivery.
func (l *loop) react(k lookahead.Key) lookahead.Key {
	at := k.At.Add(l.reaction).Add(l.admission)
	if l.reads {
		return lookahead.Key{At: at, Class: vtime.ClassAdmission}
	}
	return lookahead.Key{At: at.Add(l.routing), Class: vtime.ClassRouting}
}

// comesNext reports whether the next arrival follows from an answer.
func (l *loop) comesNext(r *router) bool {
	due := l.source.Peek()
	return due.Arrival != vtime.Never && (!r.arrivals.more || due.Before(r.arrivals.next.Position()))
}

// pop returns the request that follows from an answer and arrives at now.
func (l *loop) pop(r *router, now vtime.Time) *workload.Request {
	if err := l.source.Pop(&l.next); err != nil {
		panic(&sourceError{err})
	}
	if err := r.arrivals.intake.check(&l.next); err != nil {
		panic(&sourceError{fmt.Errorf("the workload yields a request that cannot be: %w", err)})
	}
	if l.next.Arrival != now {
		panic(&sourceError{fmt.Errorf("the workload announces an arrival at %v and yields one at %v", now, l.next.Arrival)})
	}
	return &l.next
}

// await notes a request whose end the source waits for.
func (l *loop) await(d *engine.Delivery) {
	l.awaited[d.ID] = origin{d.Source, d.Index}
	if d.Begins {
		l.begun++
	}
}

// ended notifies the source that a request ended at now, if the source waits for that.
// The client of a completed request has the last token later, by the overheads of o.
func (l *loop) ended(request int64, now vtime.Time, completed bool, generated int32, o *metrics.Options) {
	from, ok := l.awaited[request]
	if !ok {
		return
	}
	delete(l.awaited, request)
	at, least := now, l.refusal
	if completed {
		least = l.reaction
		at = now.Add(vtime.Duration(int64(generated) * int64(o.TokenOverhead))).Add(o.RequestOverhead)
	}
	before := l.source.Peek().Arrival
	l.source.Ended(&workload.End{Source: from.source, Index: from.index, At: at, Completed: completed, Generated: generated})
	if due := l.source.Peek().Arrival; due < before && due.Sub(now) < least {
		panic(&sourceError{fmt.Errorf("the workload answers the end of request %d at %v with an arrival at %v: want it %v later at least, as it says of such ends", request, now, due, least)})
	}
}
