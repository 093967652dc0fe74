package lookahead

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// workers is a pool of goroutines that run the turns of a window. They live for
// the whole run; the coordinator is worker 0.
//
// The coordinator opens a window: it fills a work list per worker, then stores
// the number of turns in a counter that idle workers watch. A worker claims
// turns with one atomic add, and the window ends when all turns are finished. A
// worker that has claimed nothing keeps no other waiting, so it does not matter
// when the operating system schedules it.
type workers struct {
	list      []worker   // 0: the coordinator
	queues    []workList // by worker
	preparers []*node    // control processes with a Preparer
	assign    func(ProcessID) int

	wakeAt     int // expected work for which parked workers are woken
	missedWork int // expected work of windows since then in which a worker was parked
	spins      int // looks at the counter before an idle worker yields
	yields     int // yields before it parks

	horizon Key     // of the leaves in the window
	turns   []*node // of the window, stretch by stretch

	unfinished atomic.Int64 // turns of the window that have not ended
	_          [64]byte
	unclaimed  atomic.Int64 // turns of the window that no worker has claimed; idle workers watch it
	_          [64]byte
	closing    atomic.Bool
	parked     atomic.Int64 // workers in park
	mu         sync.Mutex
	cond       *sync.Cond
	running    sync.WaitGroup // the goroutines
}

// worker is the memory of one worker. Only the turns that it runs write to it,
// and the coordinator between windows.
type worker struct {
	frames framePool

	// Of the turns of leaves, since the coordinator read them after the last window.
	executed int // messages
	work     int // messages and events

	sinkSenders []*node // processes with unposted frames to sinks (Outbox.open)

	done uint64 // messages executed, messages sent and events, of all turns of the run

	_ [64]byte // no two workers write to one cache line
}

// workList is the list of turns that a worker claims first. When it is empty the
// worker goes on in the list of the next worker.
type workList struct {
	unclaimed atomic.Int64 // claims count it down; not positive: nothing to claim
	turns     []*node      // claimed from the end
	_         [64]byte
}

// An idle worker spins for about a millisecond, then yields its core some times,
// then parks. Spinning covers the serial part between two windows: with signals
// that are refreshed at intervals that is the router's share of an interval, up
// to a few hundred microseconds, and waking a parked worker takes nearly as long.
const (
	spinLooks  = 8192
	pauses     = 8 // between two looks
	spinYields = 64
)

// newWorkers returns count workers, the coordinator included, not started.
func newWorkers(count int, assign func(ProcessID) int) *workers {
	c := &workers{list: make([]worker, count), queues: make([]workList, count), assign: assign, spins: spinLooks, yields: spinYields}
	if count > runtime.GOMAXPROCS(0) {
		c.spins, c.yields = 1, 2
	}
	c.cond = sync.NewCond(&c.mu)
	shared := &sharedPool{}
	for i := range c.list {
		c.list[i].frames.shared = shared
	}
	return c
}

// done returns the work done so far: any progress increases it. The workers
// count it, because a sum over all processes would cost more the more processes
// the run has had.
func (c *workers) done() uint64 {
	sum := uint64(0)
	for w := range c.list {
		sum += c.list[w].done
	}
	return sum
}

// start starts the goroutines of the workers other than the coordinator.
func (c *workers) start() {
	for w := 1; w < len(c.list); w++ {
		c.running.Add(1)
		go func() {
			defer c.running.Done()
			c.loop(w)
		}()
	}
}

// stop ends the goroutines and waits for their end.
func (c *workers) stop() {
	c.closing.Store(true)
	c.mu.Lock()
	c.cond.Broadcast()
	c.mu.Unlock()
	c.running.Wait()
}

// runParallel runs the turns of a window on all workers and returns when all
// have ended: leaves up to h, sinks up to their own horizons, and overlapped, if
// it is not nil, on this goroutine. Each worker starts with a stretch of the
// turns, the same as in the last window if the turns are the same: the leaves
// are in that core's cache, and neighbours in memory are not written by two
// cores. If sorted, node.expected is known, and each stretch begins with its
// largest turns.
func (c *workers) runParallel(turns []*node, h Key, overlapped *node, sorted bool, work int) {
	c.horizon = h
	c.unfinished.Store(int64(len(turns)))
	if c.assign != nil {
		c.fillAssigned(turns)
	} else {
		c.fillStretches(turns, sorted)
	}
	// Only now, or idle workers would claim from other lists before their own is filled.
	c.unclaimed.Add(int64(len(turns)))
	if c.parked.Load() > 0 {
		if c.missedWork += work; c.missedWork >= c.wakeAt || overlapped != nil || c.assign != nil {
			c.missedWork = 0
			c.mu.Lock()
			c.cond.Broadcast()
			c.mu.Unlock()
		}
	}
	if overlapped != nil {
		overlapped.runOverlapped(overlapped.horizon, &c.list[0])
	}
	for _, n := range c.preparers {
		if n != overlapped {
			n.prepare()
		}
	}
	c.runClaimed(0)
	for i := 0; c.unfinished.Load() > 0; i++ {
		if i > c.spins {
			runtime.Gosched()
			continue
		}
		pause(pauses)
	}
}

// fillStretches fills each work list with a stretch of the turns.
func (c *workers) fillStretches(turns []*node, sorted bool) {
	c.turns = append(c.turns[:0], turns...) // a copy: recordTurns needs the order of turns
	for w := range c.queues {
		mine := c.turns[w*len(turns)/len(c.queues) : (w+1)*len(turns)/len(c.queues)]
		if sorted {
			slices.SortFunc(mine, func(a, b *node) int { return a.expected - b.expected })
		}
		c.queues[w].fill(mine)
	}
}

// fillAssigned fills the work lists by Config.Assign.
func (c *workers) fillAssigned(turns []*node) {
	lists := make([][]*node, len(c.queues))
	for _, n := range turns {
		w := uint(c.assign(n.id)) % uint(len(lists))
		lists[w] = append(lists[w], n)
	}
	for w := range c.queues {
		c.queues[w].fill(lists[w])
	}
}

// fill opens the list for claims.
func (l *workList) fill(turns []*node) {
	l.turns = turns
	l.unclaimed.Store(int64(len(turns)))
}

// A claim takes claimSeveral turns while more than claimSingly are left, so that
// the counters move from cache to cache less often. Then it takes one, so that
// no worker is left with several at the end of the window.
const (
	claimSeveral = 8
	claimSingly  = 4 * claimSeveral
)

// claim claims turns from the end of the list; it returns none if none are left.
func (l *workList) claim() []*node {
	left := l.unclaimed.Load()
	if left <= 0 {
		return nil
	}
	several := int64(1)
	if left > claimSingly {
		several = claimSeveral
	}
	to := l.unclaimed.Add(-several) + several
	if to <= 0 {
		return nil
	}
	return l.turns[max(0, to-several):to]
}

// runClaimed claims and runs turns as worker w until none is left to claim.
func (c *workers) runClaimed(w int) {
	for i := range c.queues {
		l := &c.queues[(w+i)%len(c.queues)]
		for turns := l.claim(); turns != nil; turns = l.claim() {
			c.unclaimed.Add(-int64(len(turns)))
			for k := len(turns) - 1; k >= 0; k-- {
				turns[k].runTurn(turns[k].turnUntil(c.horizon), &c.list[w])
			}
			c.unfinished.Add(-int64(len(turns)))
		}
		if c.assign != nil {
			return
		}
	}
}

// loop is what the goroutine of worker w does: run turns, spin, yield, park.
func (c *workers) loop(w int) {
	idle := 0
	for !c.closing.Load() {
		switch {
		case c.hasWork(w):
			c.runClaimed(w)
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

// hasWork reports whether worker w can claim a turn.
func (c *workers) hasWork(w int) bool {
	if c.assign != nil {
		return c.queues[w].unclaimed.Load() > 0
	}
	return c.unclaimed.Load() > 0
}

// park sleeps until worker w can claim a turn. It increases parked before it
// looks for turns, and the coordinator stores turns before it looks at parked: so
// one of the two sees the other, and no wake-up is lost.
func (c *workers) park(w int) {
	c.mu.Lock()
	c.parked.Add(1)
	if !c.hasWork(w) && !c.closing.Load() {
		c.cond.Wait()
	}
	c.parked.Add(-1)
	c.mu.Unlock()
}
