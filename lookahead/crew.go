package lookahead

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// crew is the workers. They live for the whole run; the coordinator is the
// first of them. A window is opened by storing its number of turns in a
// counter that every worker watches; a worker claims a turn with one atomic
// add and nobody waits for a worker that has claimed nothing, so one that the
// system does not schedule holds nobody up.
type crew struct {
	stocks []stock // of each worker
	lanes  []lane  // one, or one per worker when turns are assigned
	assign func(ProcessID) int
	wake   int // expected events for which parked workers are woken
	spins  int // loads of the counter before a worker yields
	yields int // yields before it parks

	left    atomic.Int64 // turns of the window not finished
	closing atomic.Bool
	parked  atomic.Int64
	mu      sync.Mutex
	cond    *sync.Cond
	done    sync.WaitGroup
	_       [64]byte
}

// lane is a list of turns to claim. Claims count down, so the turn with the
// most work stands last.
type lane struct {
	claim atomic.Int64 // turns not claimed; negative when closed
	turns []*node
	_     [64]byte
}

// How long a worker without work stays awake. Spinning covers the serial part
// between two windows (well below 10 µs where windows are worth sharing);
// a yield costs some hundred nanoseconds and lets others have the core.
const (
	spinLoads  = 8192
	spinYields = 64
)

// newCrew prepares the workers, the coordinator included.
func newCrew(workers int, assign func(ProcessID) int) *crew {
	c := &crew{stocks: make([]stock, workers), lanes: make([]lane, 1), assign: assign, spins: spinLoads, yields: spinYields}
	if assign != nil {
		c.lanes = make([]lane, workers)
	}
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

// lane is where worker w claims.
func (c *crew) lane(w int) *lane { return &c.lanes[min(w, len(c.lanes)-1)] }

// share runs the turns on all workers and returns when all are done.
func (c *crew) share(turns []*node, work int) {
	for i := range c.lanes {
		c.lanes[i].turns = c.lanes[i].turns[:0]
	}
	for _, n := range turns {
		l := &c.lanes[0]
		if c.assign != nil {
			l = &c.lanes[uint(c.assign(n.id))%uint(len(c.lanes))]
		}
		l.turns = append(l.turns, n)
	}
	c.left.Store(int64(len(turns)))
	for i := range c.lanes {
		l := &c.lanes[i]
		slices.SortFunc(l.turns, func(a, b *node) int { return a.work - b.work })
		l.claim.Store(int64(len(l.turns)))
	}
	if c.parked.Load() > 0 && (work >= c.wake || c.assign != nil) {
		c.mu.Lock()
		c.cond.Broadcast()
		c.mu.Unlock()
	}
	c.work(0)
	for i := 0; c.left.Load() > 0; i++ {
		if i > c.spins {
			runtime.Gosched()
		}
	}
}

// work claims and runs turns until none is left to claim.
func (c *crew) work(w int) {
	l := c.lane(w)
	for l.claim.Load() > 0 {
		i := l.claim.Add(-1)
		if i < 0 {
			return
		}
		n := l.turns[i]
		n.take(n.horizon, &c.stocks[w])
		c.left.Add(-1)
	}
}

// attend is the life of a worker: work, spin, yield, park.
func (c *crew) attend(w int) {
	l, idle := c.lane(w), 0
	for !c.closing.Load() {
		switch {
		case l.claim.Load() > 0:
			c.work(w)
			idle = 0
		case idle < c.spins:
			idle++
		case idle < c.spins+c.yields:
			idle++
			runtime.Gosched()
		default:
			c.park(l)
			idle = 0
		}
	}
}

// park sleeps until there is something to claim. The counter of the parked
// goes up before the claims are looked at, and the coordinator stores claims
// before it looks at that counter: one of them sees the other.
func (c *crew) park(l *lane) {
	c.mu.Lock()
	c.parked.Add(1)
	if l.claim.Load() <= 0 && !c.closing.Load() {
		c.cond.Wait()
	}
	c.parked.Add(-1)
	c.mu.Unlock()
}
