package engine

import (
	"fmt"

	"blis/kv"
	"blis/latency"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
)

// Engine is one serving instance. It is not safe for concurrent use.
type Engine struct {
	cfg   Config
	index int32
	now   vtime.Time // of the event executed last

	requests  requests
	agenda    agenda
	inFlight  inFlight
	batcher   batcher
	diagnosis diagnosis
	books     books
	connector *connector // nil: no tier below the GPU, and no disaggregation
	passes    *passLoop  // with a connector
	threshold *threshold // nil: blocks move to no tier

	overdue   []member             // requests with overdue
	stepState policy.InstanceState // at the end of the last step, with Config.KeepStepState
	changes   []BlockChange        // since the last publish, with Config.BlockEvents
	outcome   metrics.Outcome      // of the request that ends
	released  *remains             // nil: not yet
	fault     error                // of the books before a restart; nil: they balanced

	Counters metrics.Counters
	Tier     metrics.KVTier   // with Config.Offload or Config.Threshold
	Blocks   metrics.Integral // Counters.BlockMicros over time
	Reach    Reach

	Storage StoragePort // with storage tiers that answer by messages
	Pulls   PullPort    // with Config.Disaggregation

	Disaggregated metrics.Disaggregation // with Config.Disaggregation
}

// New returns an idle instance with the given index.
func New(index int, cfg Config) *Engine {
	e := new(Engine)
	initialise(e, index, cfg)
	return e
}

// initialise makes e, which is zero, an idle instance.
func initialise(e *Engine, index int, cfg Config) {
	_, makesBatches := cfg.Scheduler.(policy.BatchMaker) // it looks at every running request
	if makesBatches && cfg.Scheduler.Reorders() {
		panic("engine: a scheduler that makes batches reorders the wait queue")
	}
	cfg.StepByStep = cfg.StepByStep || cfg.BlockEvents != nil || makesBatches
	e.cfg, e.index = cfg, int32(index)
	e.requests.cfg, e.requests.maxLen = &e.cfg, cfg.EffectiveMaxModelLen()
	if cfg.KeepBacklog {
		e.requests.backlog = &backlog{}
	}
	e.agenda = newAgenda(&e.requests)
	e.inFlight = newInFlight(cfg.Async)
	e.books = books{counters: &e.Counters, pulled: &e.Disaggregated, blocks: &e.Blocks, instance: e.index, series: cfg.TimeSeries}
	e.diagnosis = diagnosis{requests: &e.requests, counters: &e.Counters, observer: cfg.Observer}
	e.diagnosis.storm.most = min(int(cfg.MaxNumSeqs), cfg.Cache.Total()) // a running request counts for max_num_seqs and has a block
	if cfg.Offload != nil || cfg.Disaggregation != nil {
		e.connector, e.passes = newConnector(e), &passLoop{e: e}
	}
	e.threshold, e.Storage, e.Pulls = newThreshold(e), StoragePort{e}, PullPort{e}
	e.batcher.init(e)
	e.Counters.TotalBlocks = int64(cfg.Cache.Total())
	if cfg.BlockEvents != nil {
		cfg.Cache.Journal(journalOf(kv.GPU, &e.changes))
		_, tier, storage := Caches(e)
		if tier != nil {
			tier.Journal(journalOf(kv.CPU, &e.changes))
		}
		if storage != nil {
			storage.Journal(journalOf(kv.Storage, &e.changes))
		}
	}
}

// ownStorage returns the first storage tier that an instance has to itself; nil if there is none.
// The others are left out of the changes: what instances share makes no difference between them.
func ownStorage(list []Storage) *StorageTier {
	for _, s := range list {
		if t, ok := s.(*StorageTier); ok {
			return t
		}
	}
	return nil
}

// journalOf returns what notes the changes of a medium in a list.
func journalOf(m kv.Medium, list *[]BlockChange) func(key uint64, stored bool) {
	return func(key uint64, stored bool) { *list = append(*list, BlockChange{key, stored, m}) }
}

// init makes the batcher of e.
func (f *batcher) init(e *Engine) {
	cfg := &e.cfg
	*f = batcher{
		cfg: cfg, cache: cfg.Cache, total: cfg.Cache.Total(), requests: &e.requests, inFlight: &e.inFlight, diagnosis: &e.diagnosis,
		counters: &e.Counters, reach: &e.Reach, pace: newPace(cfg), connector: e.connector, threshold: e.threshold,
	}
	f.queue = waitQueue{reorders: cfg.Scheduler.Reorders(), scheduler: cfg.Scheduler, ctx: &f.ctx, requests: &e.requests}
	f.asked.maker, _ = cfg.Scheduler.(policy.BatchMaker)
	f.asked.told, _ = cfg.Scheduler.(policy.ArrivalObserver)
	f.individuals.requests = &e.requests
	f.cohort = cohort{
		cross: make([]int32, cfg.BlockSize), blockSize: int64(cfg.BlockSize), async: cfg.Async, cache: cfg.Cache,
		requests: &e.requests, inFlight: &e.inFlight, individuals: &f.individuals, connector: e.connector,
	}
	f.cohort.ends.first, f.cohort.ends.requests = never, &e.requests
	if f.average.gamma = cfg.Gamma; cfg.Gamma == 0 {
		f.average.gamma = latency.Gamma(cfg.Model)
	}
}

// State returns the signals of the instance as they are now. The numbers of waiting
// and prefilled tokens need Config.KeepBacklog. Latencies are 0: the actor around the
// instance has them.
func (e *Engine) State() policy.InstanceState {
	c := &e.Counters
	s := policy.InstanceState{
		Waiting: int64(e.Waiting()), Running: int64(e.Running()), Used: int64(e.UsedBlocks()),
		Blocks: c.TotalBlocks, Preemptions: c.Preemptions,
	}
	s.CachedTokens, s.LookedUpTokens = c.CachedTokens-e.Disaggregated.RemoteTokens, c.LookedUpTokens
	if k := e.requests.backlog; k != nil {
		s.WaitingTokens, s.PrefillTokens, s.PrefillMicros = k.waiting, k.tokens, k.micros
	}
	if c := e.connector; c != nil {
		s.TierUsed, s.TierEntries = entriesUsed(c), c.counts.Capacity
		s.Stores, s.Loads, s.ChosenStores = int64(len(c.store.moving)), int64(len(c.load.moving)), int64(len(c.chosen))
		s.StorageUsed = c.storages.used
	}
	if t := e.threshold; t != nil {
		s.TierUsed, s.TierEntries = int64(t.cfg.Tier.Used()), t.counts.Capacity
	}
	return s
}

// StepState returns the state as of the end of the last step, before the next batch
// was formed: what a server publishes that updates its metrics once per step. It
// needs Config.KeepStepState.
func (e *Engine) StepState() policy.InstanceState { return e.stepState }

// Waiting returns the length of the wait queue, preempted requests included.
func (e *Engine) Waiting() int32 { return e.requests.waiting() }

// Running returns the length of the running list.
func (e *Engine) Running() int32 { return e.requests.running() }

// UsedBlocks returns the number of KV blocks that requests hold.
func (e *Engine) UsedBlocks() int {
	if e.released != nil {
		return 0
	}
	return e.batcher.used()
}

// Now returns the time of the last event that the instance executed.
func (e *Engine) Now() vtime.Time { return e.now }

// level is what the books integrate from now on.
func (e *Engine) level() level {
	r := &e.requests
	return level{int64(e.UsedBlocks()), int64(r.waiting()), int64(r.running()), e.batcher.blocked, e.inFlight.n > 0 && r.running() > 0}
}

// report fills e.outcome with what became of slot i.
func (e *Engine) report(i int32, state metrics.State, reason metrics.Reason, finished vtime.Time) {
	s := e.requests.at(i)
	e.outcome = metrics.Outcome{
		Identity: s.Identity, Progress: s.progress(e.requests.migration(i)), State: state, Reason: reason, Instance: e.index,
		Expected: s.expected, Retries: s.retries, HandOver: handOverOf(e, i, min(finished, e.now)), Admitted: s.admitted, Finished: finished,
	}
	if s.scheduled != vtime.Never {
		e.Reach.Context = max(e.Reach.Context, int64(s.known()))
	}
}

// Unfinished calls f for every request that the instance still holds, with the
// outcome that it has when the run ends here. The engine must not be advanced
// afterwards.
func (e *Engine) Unfinished(f func(o *metrics.Outcome)) {
	if e.released != nil {
		return
	}
	states := [...]metrics.State{pending: metrics.Pending, waiting: metrics.Queued, running: metrics.Running}
	e.batcher.cohort.disband()
	for i := range int32(len(e.requests.slots)) {
		s := e.requests.at(i)
		if s.phase == vacant || s.phase == holding {
			continue
		}
		state := states[s.phase]
		if s.phase == pending && e.requests.migration(i).queued != vtime.Never {
			state = metrics.Queued // it has been, elsewhere
		}
		e.report(i, state, metrics.NoReason, vtime.Never)
		f(&e.outcome)
	}
}

// Check verifies the books of the instance: the running list, the wait queue
// and the cache. It ends decode runs and is meant for the end of a run.
func (e *Engine) Check() error {
	if e.released != nil {
		return e.released.verdict
	}
	if e.fault != nil {
		return e.fault
	}
	e.batcher.cohort.disband()
	var count [phases]int32
	var held []*kv.Sequence
	for i := range e.requests.slots {
		s := &e.requests.slots[i]
		count[s.phase]++
		if s.phase != vacant {
			held = append(held, &s.seq)
		}
	}
	if listed := len(e.batcher.individuals.list); count != e.requests.count || int(count[running]) != listed {
		return fmt.Errorf("instance %d: requests by phase %v by the slots, %v by the books, %d running ones listed", e.index, count, e.requests.count, listed)
	}
	if k := e.requests.backlog; k != nil && k.waiting != e.requests.waitingTokens() {
		return fmt.Errorf("instance %d: %d tokens wait by the slots, %d by the books", e.index, e.requests.waitingTokens(), k.waiting)
	}
	if err := e.cfg.Cache.Check(held); err != nil {
		return fmt.Errorf("instance %d: %w", e.index, err)
	}
	if e.connector != nil {
		if err := e.connector.check(); err != nil {
			return fmt.Errorf("instance %d: %w", e.index, err)
		}
	}
	if e.threshold != nil {
		if err := e.threshold.check(); err != nil {
			return fmt.Errorf("instance %d: %w", e.index, err)
		}
	}
	return nil
}

// Caches returns the cache of the GPU, the CPU tier and the first storage tier of its own of e, nil
// where there is none, for checks.
func Caches(e *Engine) (gpu kv.Cache, cpu, storage kv.Tier) {
	switch c := &e.cfg; {
	case c.Threshold != nil:
		return c.Cache, c.Threshold.Tier, nil
	case c.Offload == nil:
		return c.Cache, nil, nil
	}
	if t := ownStorage(e.cfg.Offload.Storage); t != nil {
		storage = t.cfg.Tier
	}
	return e.cfg.Cache, e.cfg.Offload.Tier, storage
}

// Fold hashes the part of the final state that is in no message: the free list.
func (e *Engine) Fold() uint64 {
	if e.released != nil {
		return e.released.folded
	}
	return e.cfg.Cache.Fold()
}
