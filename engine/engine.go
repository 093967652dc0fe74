package engine

import (
	"fmt"
	"math/bits"

	"blis/kv"
	"blis/latency"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
)

// Engine is one serving instance. It is not safe for concurrent use.
type Engine struct {
	cfg      Config
	index    int32
	cache    kv.Cache
	model    latency.Model
	sink     Sink
	maxLen   int32 // effective max-model-len
	minStep  vtime.Duration
	warm     vtime.Time // until when steps take longer
	reorders bool

	now      vtime.Time // of the last executed event
	requests requests
	newest   int32 // the slot opened last
	agenda   agenda

	overdue []member
	line    line
	ranked  []ranked

	// The running list is the cohort and the individuals; individuals are slots in
	// order of admission.
	individuals []int32
	cohort      cohort
	ending      []int32 // members taken out of it last
	orders      int64   // admissions so far

	inFlight inFlight

	blocked              blockade // why the wait queue stands still since the last formation
	diagnosis            diagnosis
	fruitlessPreemptions int     // preemptions since the last token
	ema                  float64 // preemption average
	gamma                float64 // weight of the newest step in it
	integratedTo         vtime.Time

	ctx  policy.SchedulerContext
	ask  policy.Running   // the request a scheduler is asked about
	view []policy.Running // running list as a scheduler sees it
	plan []int32          // tokens per other of the formation at hand

	prefillLeft int32 // budget for prefill in the formation at hand

	held      []*kv.Sequence
	outcome   metrics.Outcome
	formation *Formation // for the observer; nil without one

	Counters metrics.Counters
	Blocks   metrics.Integral // Counters.BlockMicros over time
	Reach    Reach

	// What Release leaves behind.
	released bool
	verdict  error  // of Check
	folded   uint64 // Fold

	// What most runs never touch.
	stepState State               // as of the last end of a step, with Config.KeepStepState
	migrated  map[int32]migration // slots of requests that came from other instances
	changes   []BlockChange       // since the last end of a step, with Config.BlockEvents
}

// blockade is why requests wait although a batch was just formed.
type blockade uint8

const (
	free     blockade = iota
	noSeat            // the running list is full
	noBudget          // the token budget is spent
	noFit             // the head's prompt exceeds the budget left, and chunked prefill is off
	noBlocks          // the head needs more KV blocks than are free
)

// headBlocked reports whether the queue stands still because its head does not
// fit into what is left.
func (b blockade) headBlocked() bool { return b >= noFit }

// New returns an idle instance with the given index.
func New(index int, cfg Config) *Engine {
	e := &Engine{
		cfg: cfg, index: int32(index), cache: cfg.Cache, model: cfg.Model, sink: cfg.Sink,
		maxLen: cfg.EffectiveMaxModelLen(), reorders: cfg.Scheduler.Reorders(),
	}
	e.agenda = newAgenda(&e.requests)
	e.diagnosis = diagnosis{
		requests: &e.requests, counters: &e.Counters, observer: cfg.Observer,
		storm: storm{most: min(int(cfg.MaxSeqs), cfg.Cache.Total())}, // a running request has a place and a block
	}
	depth := 1
	if cfg.Async {
		depth = 2
	}
	e.inFlight.ring = make([]batch, depth)
	e.minStep = minStep(cfg.Model)
	if e.gamma = cfg.Gamma; e.gamma == 0 {
		e.gamma = latency.Gamma(cfg.Model)
	}
	e.cfg.StepByStep = cfg.StepByStep || cfg.BlockEvents != nil
	if cfg.Observer != nil {
		e.formation = &Formation{}
	}
	if cfg.BlockEvents != nil {
		e.cache.Journal(func(key uint64, stored bool) { e.changes = append(e.changes, BlockChange{key, stored}) })
	}
	if cfg.KeepBacklog {
		e.requests.backlog = &backlog{}
	}
	e.cohort.ends.first = never
	e.warm = cfg.Warmup.end()
	e.cohort.cross = make([]int32, cfg.BlockSize)
	e.Counters.TotalBlocks = int64(cfg.Cache.Total())
	return e
}

// State is what can be seen of an instance from outside.
type State struct {
	Waiting, Running             int32 // requests in the wait queue, preempted ones included, and in the running list
	Used                         int64 // KV blocks that requests hold
	CachedTokens, LookedUpTokens int64 // prompt tokens found in the prefix cache, and looked up, at first admissions

	// With Config.KeepBacklog: tokens that wait to be prefilled, and what was
	// prefilled in how many µs in the last RecentPrefills steps that did any.
	WaitingTokens, PrefillTokens, PrefillMicros int64
}

// State is the state as it is.
func (e *Engine) State() State {
	s := State{Waiting: e.requests.waiting(), Running: e.requests.running(), Used: int64(e.UsedBlocks()), CachedTokens: e.Counters.CachedTokens, LookedUpTokens: e.Counters.LookedUpTokens}
	if k := e.requests.backlog; k != nil {
		s.WaitingTokens, s.PrefillTokens, s.PrefillMicros = k.waiting, k.tokens, k.micros
	}
	return s
}

// StepState is the state as of the end of the last step, before the next batch was
// formed: what a server publishes that updates its metrics once per step. It
// needs Config.KeepStepState.
func (e *Engine) StepState() State { return e.stepState }

// Waiting is the length of the wait queue, preempted requests included.
func (e *Engine) Waiting() int32 { return e.requests.waiting() }

// Running is the length of the running list.
func (e *Engine) Running() int32 { return e.requests.running() }

// UsedBlocks is the number of KV blocks that requests hold.
func (e *Engine) UsedBlocks() int {
	if e.released {
		return 0
	}
	return e.cache.Total() - e.cache.Free()
}

// Now is the time of the last event that the instance executed.
func (e *Engine) Now() vtime.Time { return e.now }

// Finish brings the time integrals of Counters up to the end of the run.
func (e *Engine) Finish(end vtime.Time) { e.integrate(end) }

// Fold hashes what of the final state no message tells: the free list.
func (e *Engine) Fold() uint64 {
	if e.released {
		return e.folded
	}
	return e.cache.Fold()
}

// integrate brings the time integrals up to now.
//
// The books are checked when a bin of Blocks ends: often enough, as bins are a
// small part of the time so far.
func (e *Engine) integrate(now vtime.Time) {
	dt := int64(now - e.integratedTo)
	if dt < 0 {
		panic(fmt.Sprintf("engine: instance %d: time goes back from %v to %v", e.index, e.integratedTo, now))
	}
	c, used := &e.Counters, int64(e.UsedBlocks())
	if e.Blocks.Due(now) {
		e.checkBooks(now, dt, used)
		e.Blocks.Pass(c.BlockMicros, e.integratedTo, now, used)
	}
	e.integratedTo = now
	c.BlockMicros += dt * used
	c.RunningMicros += dt * int64(e.requests.running())
	if e.requests.waiting() == 0 {
		return
	}
	c.WaitingMicros += dt * int64(e.requests.waiting())
	switch e.blocked {
	case noSeat:
		c.LimitMaxSeqsMicros += dt
	case noBlocks:
		c.LimitKVMicros += dt
	case noBudget, noFit:
		c.LimitBudgetMicros += dt
	}
}

// checkBooks panics when an integral would pass 2⁶² by the end of the next bin.
func (e *Engine) checkBooks(now vtime.Time, dt, used int64) {
	const most = 1 << 62
	c := &e.Counters
	ahead := uint64(now)/16 + 1<<11 // more than the width of a bin
	for _, b := range [...]struct{ sum, level, peak int64 }{
		{c.BlockMicros, used, c.PeakBlocks}, {c.RunningMicros, int64(e.requests.running()), c.PeakRunning}, {c.WaitingMicros, int64(e.requests.waiting()), c.PeakWaiting},
	} {
		high, grown := bits.Mul64(uint64(dt), uint64(b.level))
		higher, next := bits.Mul64(ahead, uint64(max(b.level, b.peak)))
		if high|higher != 0 || grown > most || next > most || uint64(b.sum)+grown+next > most {
			panic(&TooLong{now})
		}
	}
}

// Check verifies the books of the instance: the running list, the wait queue
// and the cache. It ends decode runs and is meant for the end of a run.
func (e *Engine) Check() error {
	if e.released {
		return e.verdict
	}
	e.disband()
	counts := [phases]int32{}
	e.held = e.held[:0]
	for i := range int32(len(e.requests.slots)) {
		s := e.slot(i)
		counts[s.phase]++
		if s.phase != vacant {
			e.held = append(e.held, &s.seq)
		}
	}
	if counts != e.requests.count || int(counts[running]) != len(e.individuals) {
		return fmt.Errorf("instance %d: requests by phase %v by the slots, %v by the books, %d running ones listed",
			e.index, counts, e.requests.count, len(e.individuals))
	}
	if k := e.requests.backlog; k != nil && k.waiting != e.requests.waitingTokens() {
		return fmt.Errorf("instance %d: %d tokens wait by the slots, %d by the books", e.index, e.requests.waitingTokens(), k.waiting)
	}
	if err := e.cache.Check(e.held); err != nil {
		return fmt.Errorf("instance %d: %w", e.index, err)
	}
	return nil
}
