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
	if e.formation != nil {
		e.formation.Preempted = append(e.formation.Preempted, s.ID)
	}
	if e.fruitlessPreemptions++; e.fruitlessPreemptions > 10_000 {
		panic(&Livelock{At: b.formedAt})
	}
	return back
}
