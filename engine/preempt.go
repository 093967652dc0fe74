package engine

import (
	"fmt"
	"slices"

	"blis/policy"
)

// formWithPreemption forms the running part of batch b request by request, in order of
// admission, preempting when blocks run out, and returns the budget left. The
// cohort is empty: every running request is among the individuals.
func (e *Engine) formWithPreemption(b *batch) int32 {
	left := e.cfg.MaxBatchedTokens
	e.reserveDecodes()
	for k := 0; k < len(e.individuals) && left > 0; k++ {
		i := e.individuals[k]
		n := min(e.wants(e.slot(i)), left)
		if n <= 0 {
			continue
		}
		for !e.schedule(b, i, n) {
			v := e.victim()
			self := e.individuals[v] == i
			if e.cfg.Observer != nil {
				s := e.slot(e.individuals[v])
				e.cfg.Observer.Preempted(e.now, Preemption{s.ID, e.slot(i).ID, s.computed, e.cache.Free()})
			}
			left += e.preempt(b, v)
			if v <= k {
				k-- // the request being served moved up
			}
			if self {
				return left
			}
		}
		left -= n
	}
	return left
}

// victim is the index in individuals of the request that the scheduler gives up.
func (e *Engine) victim() int {
	e.view = e.view[:0]
	for _, i := range e.individuals {
		s := e.slot(i)
		e.view = append(e.view, policy.Running{ID: s.ID, Priority: s.Priority, Arrival: s.Arrival, Input: s.Input, Computed: s.computed, Generated: s.generated})
	}
	v := e.cfg.Scheduler.Victim(e.view, &e.ctx)
	if v < 0 || v >= len(e.individuals) {
		panic(fmt.Sprintf("engine: the scheduler's victim is %d of %d running requests", v, len(e.individuals)))
	}
	return v
}

// preempt takes the blocks of individuals[v] and puts it at the head of the wait
// queue. It returns the tokens that it had in b. A token of the executing
// batch stays on its way.
func (e *Engine) preempt(b *batch, v int) int32 {
	i := e.individuals[v]
	e.individuals = slices.Delete(e.individuals, v, v+1)
	back := b.remove(i)
	s := e.slot(i)
	e.cache.Preempt(&s.seq)
	s.lost, s.deficit, s.computed = s.computed, max(s.deficit, s.computed), 0
	s.evicted = min(s.evicted, b.formedAt)
	s.preemptions++
	s.Preempted = true
	e.enqueue(i, true)
	b.preempted++
	e.row(&e.rows.preempted, s.ID)
	if e.fruitlessPreemptions++; e.fruitlessPreemptions > 10_000 {
		panic(&Livelock{At: b.formedAt})
	}
	return back
}

// formationRows collects what a ledger says of a formation.
type formationRows struct {
	admitted, resumed, preempted []int64
	cached                       []Share
	shares                       []Share
}

func (e *Engine) row(list *[]int64, id int64) {
	if e.cfg.Ledger != nil {
		*list = append(*list, id)
	}
}

// record passes the formation of b to the ledger, unless it did nothing.
func (e *Engine) record(b *batch) {
	r := &e.rows
	if !b.empty() || b.preempted > 0 {
		f := Formation{
			Formed: b.formedAt, Start: b.formedAt, End: b.formedAt,
			New: r.admitted, Resumed: r.resumed, Preempted: r.preempted, Cached: r.cached,
			Running: e.requests.running(), Waiting: e.requests.waiting(), Free: e.cache.Free(),
		}
		if !b.empty() {
			f.Start, f.End = b.start, b.end
			f.Scheduled = e.shares(b)
		}
		e.cfg.Ledger(&f)
	}
	*r = formationRows{r.admitted[:0], r.resumed[:0], r.preempted[:0], r.cached[:0], r.shares[:0]}
}

// shares lists the tokens of every request in b, members of the cohort too,
// in scheduler order.
func (e *Engine) shares(b *batch) []Share {
	type ordered struct {
		order int64
		Share
	}
	var all []ordered
	for _, it := range b.items {
		all = append(all, ordered{it.order, Share{it.id, it.scheduled}})
	}
	if b.members > 0 {
		e.members(func(i int32) {
			if s := e.slot(i); s.joined <= b.number {
				all = append(all, ordered{s.order, Share{s.ID, 1}})
			}
		})
	}
	slices.SortFunc(all, func(x, y ordered) int { return int(x.order - y.order) })
	for _, o := range all {
		e.rows.shares = append(e.rows.shares, o.Share)
	}
	return e.rows.shares
}
