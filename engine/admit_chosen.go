package engine

import (
	"fmt"

	"blis/policy"
)

// asked is what a scheduler is asked about, and the more that some schedulers are.
type asked struct {
	maker policy.BatchMaker      // the scheduler, if it chooses whom to admit; nil: it does not
	told  policy.ArrivalObserver // the scheduler, if it is told of arrivals; nil: it is not

	one     policy.Running   // the request that gets a chunk
	running []policy.Running // the running list
	slots   []int32          // of the wait queue, in its order
	waiting []policy.Waiting
	choice  []int32
}

// admitChosen is admit for a scheduler that chooses whom to admit: those chosen that fit, each by itself.
func (f *batcher) admitChosen(b *batch, left int32) {
	if f.requests.waiting() == 0 {
		return
	}
	c := &f.asked
	c.slots, c.waiting = f.queue.list(c.slots[:0]), c.waiting[:0]
	for _, i := range c.slots {
		c.waiting = append(c.waiting, f.requests.at(i).Waiting)
	}
	f.refreshContext(b.formedAt) // running requests took blocks
	f.ctx.Budget = left
	c.choice = c.maker.MakeBatch(c.waiting, f.runningView(), &f.ctx, c.choice[:0])
	f.ctx.Budget = 0
	head := free
	for _, k := range c.choice {
		if k < 0 || int(k) >= len(c.slots) {
			panic(fmt.Sprintf("engine: the scheduler chooses request %d of %d waiting ones", k, len(c.slots)))
		}
		took, why := f.tryChosen(b, c.slots[k], left)
		if left -= took; f.blocked == free {
			f.blocked = why
		}
		if k == 0 {
			head = why
		}
	}
	f.queue.fifo.keep(func(m member) bool { return f.requests.is(m, waiting) })
	if head.headBlocked() {
		f.stops(b, c.slots[0], head)
	}
}

// tryChosen admits slot i if it fits. It returns the tokens that it took of those left, or what keeps it.
func (f *batcher) tryChosen(b *batch, i, left int32) (took int32, why blockade) {
	s := f.requests.at(i)
	switch {
	case s.phase != waiting:
		panic(fmt.Sprintf("engine: the scheduler chooses request %d twice", s.ID))
	case f.requests.running() >= f.cfg.MaxNumSeqs:
		return 0, atMaxSeqs
	case left <= 0:
		return 0, noBudget
	}
	known := s.known()
	cached, n, why := f.offer(i, left)
	if why != free || n <= 0 {
		return 0, why
	}
	f.requests.to(i, running)
	f.enter(b, i, cached, n, known)
	return n, free
}
