package lookahead

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// crew is the workers. They live for the whole run; the coordinator is the
// first of them. A window is opened by storing numbers of turns in counters
// that every worker watches; a worker claims some with one atomic add and
// nobody waits for a worker that has claimed nothing, so one that the system
// does not schedule holds nobody up.
type crew struct {
	stocks []stock // of each worker
	ahead  []*node // control processes that can prepare
	lanes  []lane  // of each worker
	assign func(ProcessID) int
	wake   int // expected events for which parked workers are woken
	missed int // expected events of windows that somebody slept through since
	spins  int // looks at the counter before a worker yields
	yields int // yields before it parks

	horizon Key     // of the leaves in the window
	turns   []*node // of the window, worker by worker

	left    atomic.Int64 // turns of the window not finished
	_       [64]byte
	open    atomic.Int64 // turns not claimed; what idle workers watch
	_       [64]byte
	closing atomic.Bool
	parked  atomic.Int64
	mu      sync.Mutex
	cond    *sync.Cond
	done    sync.WaitGroup
}

// lane is a list of turns that a worker claims first; when it is empty the
// worker goes on in the next one. Claims count down.
type lane struct {
	claim atomic.Int64 // turns not claimed; not positive when closed
	turns []*node
	_     [64]byte
}

// How long a worker without work stays awake: about a millisecond, then some
// hundred nanoseconds per yield, which lets others have the core. Spinning covers
// the serial part between two windows. With signals that are refreshed now and
// then that is the router's share of an interval, a few hundred microseconds up
// to that, and to wake a sleeper takes nearly as long.
const (
	spinLooks  = 8192
	pauses     = 8 // between two looks
	spinYields = 64
)

// newCrew prepares the workers, the coordinator included.
func newCrew(workers int, assign func(ProcessID) int) *crew {
	c := &crew{stocks: make([]stock, workers), lanes: make([]lane, workers), assign: assign, spins: spinLooks, yields: spinYields}
	if workers > runtime.GOMAXPROCS(0) {
		c.spins, c.yields = 1, 2
	}
	c.cond = sync.NewCond(&c.mu)
	d := &depot{}
	for i := range c.stocks {
		c.stocks[i].depot = d
	}
	return c
}

// start starts the workers other than the coordinator.
func (c *crew) start() {
	for w := 1; w < len(c.stocks); w++ {
		c.done.Add(1)
		go func() {
			defer c.done.Done()
			c.attend(w)
		}()
	}
}

// dismiss ends them.
func (c *crew) dismiss() {
	c.closing.Store(true)
	c.mu.Lock()
	c.cond.Broadcast()
	c.mu.Unlock()
	c.done.Wait()
}

// share runs the turns on all workers and returns when all are done: leaves up
// to h, sinks up to their own horizons, and on this goroutine that of beside
// (nil: none). Each worker starts with a stretch of its own, the same as in the
// window before if the turns are: what it left in its caches is there, and
// neighbours do not write to the same lines. With sorted, the works are known
// and the largest of a stretch are begun first.
func (c *crew) share(turns []*node, h Key, beside *node, sorted bool, work int) {
	c.horizon = h
	c.left.Store(int64(len(turns)))
	if c.assign != nil {
		c.fillAssigned(turns)
	} else {
		c.fillAll(turns, sorted)
	}
	// Only now, or the idle would find the lanes of others before their own.
	c.open.Add(int64(len(turns)))
	if c.parked.Load() > 0 {
		if c.missed += work; c.missed >= c.wake || beside != nil || c.assign != nil {
			c.missed = 0
			c.mu.Lock()
			c.cond.Broadcast()
			c.mu.Unlock()
		}
	}
	if beside != nil {
		beside.takeBeside(beside.horizon, &c.stocks[0])
	}
	for _, n := range c.ahead {
		if n != beside {
			n.prepare()
		}
	}
	c.work(0)
	for i := 0; c.left.Load() > 0; i++ {
		if i > c.spins {
			runtime.Gosched()
			continue
		}
		pause(pauses)
	}
}

// fillAll gives each worker its stretch of the turns.
func (c *crew) fillAll(turns []*node, sorted bool) {
	c.turns = append(c.turns[:0], turns...) // the window's own order is for recordings
	for w := range c.lanes {
		mine := c.turns[w*len(turns)/len(c.lanes) : (w+1)*len(turns)/len(c.lanes)]
		if sorted {
			slices.SortFunc(mine, func(a, b *node) int { return a.work - b.work })
		}
		c.lanes[w].fill(mine)
	}
}

// fillAssigned fills the lanes as Config.Assign says.
func (c *crew) fillAssigned(turns []*node) {
	lists := make([][]*node, len(c.lanes))
	for _, n := range turns {
		w := uint(c.assign(n.id)) % uint(len(lists))
		lists[w] = append(lists[w], n)
	}
	for w := range c.lanes {
		c.lanes[w].fill(lists[w])
	}
}

// fill opens the lane.
func (l *lane) fill(turns []*node) {
	l.turns = turns
	l.claim.Store(int64(len(turns)))
}

// A claim takes several turns while there are many, so that the counters move
// from cache to cache less often; towards the end one, so that nobody is left
// with several.
const (
	claimSeveral = 8
	claimSingly  = 4 * claimSeveral
)

// take claims turns of the lane; none are left if there are none in it.
func (l *lane) take() []*node {
	left := l.claim.Load()
	if left <= 0 {
		return nil
	}
	several := int64(1)
	if left > claimSingly {
		several = claimSeveral
	}
	to := l.claim.Add(-several) + several
	if to <= 0 {
		return nil
	}
	return l.turns[max(0, to-several):to]
}

// work claims and runs turns until none is left to claim.
func (c *crew) work(w int) {
	for i := range c.lanes {
		l := &c.lanes[(w+i)%len(c.lanes)]
		for turns := l.take(); turns != nil; turns = l.take() {
			c.open.Add(-int64(len(turns)))
			for k := len(turns) - 1; k >= 0; k-- {
				turns[k].take(turns[k].turnUntil(c.horizon), &c.stocks[w])
			}
			c.left.Add(-int64(len(turns)))
		}
		if c.assign != nil {
			return
		}
	}
}

// attend is the life of a worker: work, spin, yield, park.
func (c *crew) attend(w int) {
	idle := 0
	for !c.closing.Load() {
		switch {
		case c.waiting(w):
			c.work(w)
			idle = 0
		case idle < c.spins:
			idle++
			pause(pauses)
		case idle < c.spins+c.yields:
			idle++
			runtime.Gosched()
		default:
			c.park(w)
			idle = 0
		}
	}
}

// waiting reports whether there is something for worker w to claim.
func (c *crew) waiting(w int) bool {
	if c.assign != nil {
		return c.lanes[w].claim.Load() > 0
	}
	return c.open.Load() > 0
}

// park sleeps until there is something to claim. The counter of the parked
// goes up before the claims are looked at, and the coordinator stores claims
// before it looks at that counter: one of them sees the other.
func (c *crew) park(w int) {
	c.mu.Lock()
	c.parked.Add(1)
	if !c.waiting(w) && !c.closing.Load() {
		c.cond.Wait()
	}
	c.parked.Add(-1)
	c.mu.Unlock()
}
