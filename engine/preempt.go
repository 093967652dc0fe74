package engine

import (
	"fmt"

	"blis/policy"
)

// formWithPreemption forms the running part of batch b request by request, in
// order of admission, preempting when blocks run out, and returns the budget
// left. The cohort is empty: every running request is among the individuals.
func (f *batcher) formWithPreemption(b *batch) int32 {
	left := f.cfg.MaxNumBatchedTokens
	f.reserveDecodes()
	for k := 0; k < len(f.individuals.list) && left > 0; k++ {
		i := f.individuals.list[k]
		n := min(f.wants(f.requests.at(i)), left)
		if n <= 0 {
			continue
		}
		for !f.schedule(b, i, n) {
			v := f.victim()
			victim := f.individuals.list[v]
			f.diagnosis.preempts(f.requests.at(victim), f.requests.at(i), f.cache.Free(), b.formedAt)
			f.individuals.removeAt(v)
			left += b.remove(victim)
			f.preempt(b, victim)
			if v <= k {
				k-- // the request being served moved up
			}
			if victim == i {
				return left
			}
		}
		left -= n
	}
	return left
}

// victim returns the index in individuals of the request that the scheduler gives up.
func (f *batcher) victim() int {
	v := f.cfg.Scheduler.Victim(f.runningView(), &f.ctx)
	if v < 0 || v >= len(f.individuals.list) {
		panic(fmt.Sprintf("engine: the scheduler's victim is %d of %d running requests", v, len(f.individuals.list)))
	}
	return v
}

// runningView returns the running list as a scheduler sees it, where every running request is an individual.
func (f *batcher) runningView() []policy.Running {
	f.asked.running = f.asked.running[:0]
	for _, i := range f.individuals.list {
		s := f.requests.at(i)
		f.asked.running = append(f.asked.running, policy.Running{ID: s.ID, Priority: s.Priority, Arrival: s.Arrival, Input: s.Input, Computed: s.computed, Generated: s.generated, Hints: s.Hints})
	}
	return f.asked.running
}

// preempt takes the blocks of slot i, which is in no list any more, and puts it at
// the head of the wait queue. A token of the executing batch stays on its way.
func (f *batcher) preempt(b *batch, i int32) {
	s := f.requests.at(i)
	f.cache.Preempt(&s.seq)
	s.lost, s.deficit, s.computed = s.computed, max(s.deficit, s.computed), 0
	s.evicted = min(s.evicted, b.formedAt)
	s.preemptions++
	s.Preempted = true
	f.queue.push(i, true)
	if f.connector != nil {
		f.connector.preempted(i)
	}
	b.preempted++
	if f.fruitlessPreemptions++; f.fruitlessPreemptions > mostFruitless {
		panic(&Livelock{At: b.formedAt})
	}
}

// mostFruitless is the number of preemptions without a token after which an
// instance is taken to preempt for ever. The text of Livelock says it.
const mostFruitless = 10_000
